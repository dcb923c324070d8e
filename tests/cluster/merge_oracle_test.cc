// Compares ThreeWayMerge with the apiserver's server-side apply.
//
// Two workloads receive the same random series of templates: one by server-side apply, the other by ThreeWayMerge and
// PUT. Another manager adds its own fields to both. After each step, both workloads must be equal, and a second merge
// must change nothing.
//
// Three differences are allowed:
// - The order of items in lists with keys. ThreeWayMerge uses the order of the template, except for the other manager's
//   items.
// - Default values that stay after a change: the defaults of a removed struct (a probe), or of a union's old type (a
//   volume's source, a strategy's type). ThreeWayMerge removes them, as `kubectl apply` does. Server-side apply keeps
//   them, because they have no owner, and the apiserver then rejects the object. Only the last two tests have steps
//   that remove a struct or change the type of a union.
// - The annotation deployment.kubernetes.io/revision, which the Deployment controller sets.
#include <algorithm>
#include <random>

#include "operator/client/auth/config.h"
#include "operator/workload/merge.h"
#include "tests/cluster/fixture.h"

namespace yad::testing {
namespace {

const std::vector<std::string> kQuantities = {"1", "1000m", "0.5", "500m", "2", "2000m", "1500m", "100m", "0.1"};
const std::vector<std::string> kBytes = {"1Gi", "1024Mi", "1073741824", "128974848", "129e6", "129M", "123Mi", "2Gi"};

// A random template. Each step changes it.
class RandomTemplate {
 public:
  RandomTemplate(std::uint64_t seed, WorkloadKind kind) : random_(seed), kind_(kind) {}

  // Returns the fields that the operator owns: metadata.labels, metadata.annotations and spec.
  Json Object() const {
    Json pod = {{"containers", Json::array()}};
    for (const std::string& name : containers_) pod["containers"].push_back(Container(name));
    if (init_) pod["initContainers"] = Json::array({{{"name", "init"}, {"image", "example.org/init:1"}}});
    if (!volumes_.empty()) {
      pod["volumes"] = Json::array();
      for (const std::string& name : volumes_) pod["volumes"].push_back(Volume(name));
    }
    if (!tolerations_.empty()) pod["tolerations"] = tolerations_;
    if (!node_selector_.empty()) pod["nodeSelector"] = node_selector_;
    if (grace_ > 0) pod["terminationGracePeriodSeconds"] = grace_;
    if (!host_aliases_.empty()) pod["hostAliases"] = host_aliases_;
    Json pod_labels = labels_;
    pod_labels["app"] = "oracle";
    Json spec = {{"selector", {{"matchLabels", {{"app", "oracle"}}}}},
                 {"template", {{"metadata", {{"labels", pod_labels}}}, {"spec", pod}}}};
    if (!annotations_.empty()) spec["template"]["metadata"]["annotations"] = annotations_;
    spec["replicas"] = 0;
    if (min_ready_ > 0) spec["minReadySeconds"] = min_ready_;
    if (kind_ == WorkloadKind::kStatefulSet) spec["serviceName"] = "oracle";
    Json metadata = {{"labels", pod_labels}};
    if (!annotations_.empty()) metadata["annotations"] = annotations_;
    return {{"metadata", metadata}, {"spec", spec}};
  }

  void Step() {
    const int changes = 1 + static_cast<int>(Below(3));
    for (int i = 0; i < changes; ++i) Change();
  }

 private:
  struct ContainerState {
    int tag = 1;
    std::vector<std::string> env;        // names in order
    std::map<std::string, Json> values;  // by name
    std::vector<Json> ports;
    std::vector<std::string> mounts;  // volume names
    std::map<std::string, std::string> requests, limits;
    Json args;
    int period = 0;  // of the liveness probe, which every container has
    std::string path = "/";
    int timeout = 0;
  };

  std::uint64_t Below(std::uint64_t bound) { return random_() % bound; }
  template <typename T>
  const T& Pick(const std::vector<T>& choices) {
    return choices[Below(choices.size())];
  }

  Json Container(const std::string& name) const {
    const ContainerState& state = states_.at(name);
    Json container = {{"name", name}, {"image", "example.org/" + name + ":" + std::to_string(state.tag)}};
    if (!state.env.empty()) container["env"] = Json::array();
    for (const std::string& one : state.env) {
      Json entry = state.values.at(one);
      entry["name"] = one;
      container["env"].push_back(entry);
    }
    if (!state.ports.empty()) container["ports"] = state.ports;
    for (const std::string& volume : state.mounts) {
      container["volumeMounts"].push_back({{"name", volume}, {"mountPath", "/" + volume}});
    }
    if (!state.requests.empty()) container["resources"]["requests"] = state.requests;
    if (!state.limits.empty()) container["resources"]["limits"] = state.limits;
    if (!state.args.is_null()) container["args"] = state.args;
    container["livenessProbe"] = {{"httpGet", {{"path", state.path}, {"port", 80}}}};
    if (state.period > 0) container["livenessProbe"]["periodSeconds"] = state.period;
    if (state.timeout > 0) container["livenessProbe"]["timeoutSeconds"] = state.timeout;
    return container;
  }

  Json Volume(const std::string& name) const {
    // The name determines the kind of source, so no step changes it.
    if (name[0] == 'e') return {{"name", name}, {"emptyDir", {{"sizeLimit", sizes_.at(name)}}}};
    return {{"name", name}, {"configMap", {{"name", "map-" + sizes_.at(name)}}}};
  }

  void Change() {
    ContainerState& state = states_[Pick(containers_)];
    switch (Below(17)) {
      case 0:
        return ChangeContainers();
      case 1:
        ++state.tag;
        return;
      case 2:
      case 3:
        return ChangeEnv(state);
      case 4:
        if (!state.env.empty()) state.values[Pick(state.env)] = {{"value", Below(2) == 0 ? "" : "x y"}};
        return;
      case 5:
        return ChangePorts(state);
      case 6:
        return ChangeVolumes();
      case 7:
        return ChangeSize();
      case 8:
        return ChangeMounts(state);
      case 9:
        labels_[Pick(std::vector<std::string>{"l1", "l2", "l3"})] = std::to_string(Below(3));
        return;
      case 10:
        if (!labels_.empty()) labels_.erase(labels_.begin());
        return;
      case 11:
        return ChangeAnnotations();
      case 12:
        return ChangeTolerations();
      case 13:
        return ChangeResources(state);
      case 14:
        (Below(2) == 0 ? state.period : state.timeout) = static_cast<int>(Below(4));  // 0: back to the default
        state.path = Pick(std::vector<std::string>{"/", "/healthz"});
        return;
      case 15:
        grace_ = static_cast<int>(Below(3)) * 15;
        min_ready_ = static_cast<int>(Below(3));
        state.args = Pick(std::vector<Json>{Json(), Json::array({"a", "b"}), Json::array({"b"})});
        return;
      default:
        return ChangePlacement();
    }
  }

  // Adds or removes a container. Keeps "main", because the other manager has fields in it.
  void ChangeContainers() {
    static const std::vector<std::string> names = {"alpha", "beta", "gamma"};
    const std::string& name = Pick(names);
    const auto found = std::find(containers_.begin(), containers_.end(), name);
    if (found != containers_.end()) {
      containers_.erase(found);
      states_.erase(name);
    } else {
      containers_.insert(containers_.begin() + static_cast<std::ptrdiff_t>(Below(containers_.size() + 1)), name);
      states_[name] = {};
    }
  }
  void ChangeEnv(ContainerState& state) {
    static const std::vector<std::string> names = {"A", "B", "C", "D", "E"};
    const std::string& name = Pick(names);
    const auto found = std::find(state.env.begin(), state.env.end(), name);
    if (found != state.env.end()) {
      state.env.erase(found);
    } else {
      state.env.insert(state.env.begin() + static_cast<std::ptrdiff_t>(Below(state.env.size() + 1)), name);
      state.values[name] = {{"value", std::to_string(Below(3))}};
    }
  }
  void ChangePorts(ContainerState& state) {
    const Json port = Pick(std::vector<Json>{{{"containerPort", 80}},
                                             {{"containerPort", 80}, {"protocol", "UDP"}},
                                             {{"containerPort", 443}, {"protocol", "TCP"}, {"name", "tls"}},
                                             {{"containerPort", 53}, {"protocol", "UDP"}, {"name", "dns"}}});
    const auto found = std::find(state.ports.begin(), state.ports.end(), port);
    if (found != state.ports.end()) {
      state.ports.erase(found);
    } else {
      state.ports.push_back(port);
    }
  }
  void ChangeVolumes() {
    static const std::vector<std::string> names = {"e1", "e2", "c1", "c2"};
    const std::string& name = Pick(names);
    const auto found = std::find(volumes_.begin(), volumes_.end(), name);
    if (found != volumes_.end()) {
      volumes_.erase(found);
      for (auto& [container, one] : states_) std::erase(one.mounts, name);
    } else {
      volumes_.push_back(name);
      sizes_[name] = "1Gi";
      if (name[0] == 'c') sizes_[name] = "1";
    }
  }
  void ChangeSize() {
    if (volumes_.empty()) return;
    const std::string& name = Pick(volumes_);
    sizes_[name] = name[0] == 'e' ? Pick(kBytes) : std::to_string(Below(3));
  }
  void ChangeMounts(ContainerState& state) {
    if (volumes_.empty()) return;
    const std::string& name = Pick(volumes_);
    if (std::erase(state.mounts, name) == 0) state.mounts.push_back(name);
  }
  void ChangeAnnotations() {
    if (annotations_.size() < 3) {
      annotations_[Pick(std::vector<std::string>{"a1", "a2", "a3"})] = std::to_string(Below(3));
    } else {
      annotations_.clear();
    }
  }
  void ChangeTolerations() {
    if (tolerations_.size() < 3) {
      tolerations_.push_back(Pick(std::vector<Json>{{{"key", "t" + std::to_string(Below(4))}, {"operator", "Exists"}},
                                                    {{"key", "u"}, {"value", "v"}, {"effect", "NoSchedule"}}}));
    } else {
      tolerations_.erase(tolerations_.begin() + static_cast<std::ptrdiff_t>(Below(tolerations_.size())));
    }
  }
  void ChangeResources(ContainerState& state) {
    auto& resources = Below(2) == 0 ? state.requests : state.limits;
    if (Below(4) == 0) {
      resources.clear();
    } else if (&resources == &state.requests) {
      resources[Below(2) == 0 ? "cpu" : "ephemeral-storage"] = Pick(std::vector<std::string>{"100m", "0.1", "10m"});
    } else {
      resources[Below(2) == 0 ? "cpu" : "memory"] = Below(2) == 0 ? Pick(kQuantities) : Pick(kBytes);
    }
  }
  void ChangePlacement() {
    init_ = Below(2) == 0;
    if (Below(2) == 0) {
      node_selector_["disk"] = Pick(std::vector<std::string>{"ssd", "hdd"});
    } else {
      node_selector_.clear();
    }
    host_aliases_ = Below(2) == 0
                        ? Json::array()
                        : Json::array({{{"ip", "10.0.0." + std::to_string(1 + Below(2))}, {"hostnames", {"a", "b"}}}});
  }

  std::mt19937_64 random_;
  WorkloadKind kind_;
  std::vector<std::string> containers_ = {"main"};
  std::map<std::string, ContainerState> states_ = {{"main", {}}};
  bool init_ = false;
  std::vector<std::string> volumes_;
  std::map<std::string, std::string> sizes_;
  StringMap labels_, annotations_, node_selector_;
  std::vector<Json> tolerations_;
  Json host_aliases_ = Json::array();
  int grace_ = 0, min_ready_ = 0;
};

// Sorts the lists that server-side apply merges by key, so that they compare as sets.
void SortKeyedLists(Json& value) {
  static const std::vector<std::string> keyed = {"containers", "initContainers", "env",        "ports",
                                                 "volumes",    "volumeMounts",   "hostAliases"};
  if (value.is_array()) {
    for (Json& item : value) SortKeyedLists(item);
  } else if (value.is_object()) {
    for (auto& [name, child] : value.items()) {
      SortKeyedLists(child);
      if (child.is_array() && std::find(keyed.begin(), keyed.end(), name) != keyed.end()) {
        std::sort(child.begin(), child.end(), [](const Json& a, const Json& b) { return a.dump() < b.dump(); });
      }
    }
  }
}

Json Comparable(const Json& object) {
  Json result = {{"labels", At(object, "/metadata/labels")},
                 {"annotations", At(object, "/metadata/annotations")},
                 {"spec", object["spec"]}};
  if (result["annotations"].is_object()) {
    result["annotations"].erase("deployment.kubernetes.io/revision");
    if (result["annotations"].empty()) result["annotations"] = nullptr;
  }
  SortKeyedLists(result);
  return result;
}

// Returns the names in both lists, in the order of `list`.
std::vector<std::string> OrderOf(const Json& list, const Json& wanted) {
  std::vector<std::string> names;
  if (!list.is_array() || !wanted.is_array()) return names;
  for (const Json& item : list) {
    for (const Json& other : wanted) {
      if (StringAt(item, {"name"}) == StringAt(other, {"name"})) names.push_back(StringAt(item, {"name"}));
    }
  }
  return names;
}

class MergeOracleTest : public BothKinds {
 protected:
  static constexpr char kApplied[] = "applied";
  static constexpr char kMerged[] = "merged";

  Result<Json> ApplyAs(const std::string& manager, const std::string& name, Json object) {
    object["apiVersion"] = type().ApiVersion();
    object["kind"] = type().kind;
    object["metadata"]["name"] = name;
    object["metadata"]["namespace"] = ns();
    // A client has one field manager, so each manager needs its own client.
    Result<ClusterConfig> config = LoadClusterConfig(plane().kubeconfig());
    ClientOptions options;
    options.field_manager = manager;
    Result<std::unique_ptr<Client>> client = MakeClient(*config, options);
    if (!client.has_value()) return Fail(client.error());
    return (*client)->Patch(type(), {ns(), name}, PatchType::kApply, object);
  }

  // Returns the other manager's fields of both workloads.
  Json ForeignFields(int step) const {
    return {{"metadata", {{"labels", {{"foreign", std::to_string(step)}}}, {"annotations", {{"foreign", "x"}}}}},
            {"spec",
             {{"template",
               {{"metadata", {{"annotations", {{"kubectl.kubernetes.io/restartedAt", std::to_string(step)}}}}},
                {"spec",
                 {{"containers",
                   Json::array({{{"name", "main"},
                                 {"env", Json::array({{{"name", "FOREIGN"}, {"value", std::to_string(step)}}})},
                                 {"ports", Json::array({{{"containerPort", 9999}, {"protocol", "TCP"}}})}},
                                {{"name", "sidecar"}, {"image", "example.org/sidecar:1"}}})},
                  {"volumes", Json::array({{{"name", "foreign"}, {"emptyDir", Json::object()}}})}}}}}}}};
  }

  void CreateMerged(Json object) {
    object["metadata"]["name"] = kMerged;
    kube().Create(type(), object);
  }
  // Merges with the live object, and PUTs the result if it differs. Returns whether a write was necessary.
  bool MergeAndPut(const Json& last, const Json& now) {
    while (true) {
      const Json live = kube().Get(type(), kMerged);
      const Json merged = ThreeWayMerge(last, now, live);
      if (merged == live) return false;
      Result<Json> result = kube().client().Update(type(), merged);
      if (result.has_value()) return true;
      if (result.error().reason != Reason::kConflict) throw TestFailure("PUT: " + result.error().ToString());
    }
  }
  void ExpectSettled(const Json& now) {
    const Json live = kube().Get(type(), kMerged);
    const Json again = ThreeWayMerge(now, now, live);
    EXPECT_EQ(again, live) << "a second merge changes the object: " << Json::diff(live, again);
  }
};
INSTANTIATE_BOTH_KINDS(MergeOracleTest);

TEST_P(MergeOracleTest, ARandomSeriesOfTemplatesGivesTheResultOfServerSideApply) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomTemplate random(seed, kind());
    Json last = random.Object();
    ASSERT_TRUE(ApplyAs("us", kApplied, last).has_value());
    Json first = last;
    first["metadata"]["name"] = kMerged;
    kube().Create(type(), first);
    for (int step = 0; step < 40; ++step) {
      if (step % 8 == 2) {
        for (const char* name : {kApplied, kMerged}) {
          const Result<Json> result = ApplyAs("them", name, ForeignFields(step));
          ASSERT_TRUE(result.has_value()) << result.error().message;
        }
      }
      random.Step();
      const Json now = random.Object();
      const Result<Json> applied = ApplyAs("us", kApplied, now);
      ASSERT_TRUE(applied.has_value()) << "step " << step << ": " << applied.error().message << now.dump(1);
      MergeAndPut(last, now);
      const Json merged = kube().Get(type(), kMerged);
      const Json want = Comparable(*applied);
      const Json have = Comparable(merged);
      ASSERT_EQ(have, want) << "step " << step
                            << ", from server-side apply's to ours: " << Json::diff(want, have).dump(1)
                            << "\nlast: " << last.dump() << "\nnow: " << now.dump();
      for (const char* list : {"/spec/template/spec/containers", "/spec/template/spec/volumes"}) {
        ASSERT_EQ(OrderOf(At(merged, list), At(now, list)), OrderOf(At(now, list), At(now, list))) << list;
      }
      ExpectSettled(now);
      last = now;
      if (HasFailure()) return;
    }
    kube().Delete(type(), kApplied);
    kube().Delete(type(), kMerged);
    Eventually("both workloads are gone", [&] { return kube().List(type()).empty(); });
  }
}

TEST_P(MergeOracleTest, AStructThatTheTemplateDropsIsRemovedWithItsDefaults) {
  RandomTemplate random(7, kind());
  const Json first = random.Object();  // with a liveness probe
  CreateMerged(first);
  Json now = first;
  now["spec"]["template"]["spec"]["containers"][0].erase("livenessProbe");
  EXPECT_TRUE(MergeAndPut(first, now));
  EXPECT_FALSE(Container(kube().Get(type(), kMerged), "main")->contains("livenessProbe"));
  ExpectSettled(now);
}

TEST_P(MergeOracleTest, AUnionThatChangesItsMemberLosesTheOldMember) {
  RandomTemplate random(7, kind());
  Json first = random.Object();
  first["spec"]["template"]["spec"]["volumes"] = R"([{"name": "v", "configMap": {"name": "m"}}])"_json;
  CreateMerged(first);
  Json now = first;
  now["spec"]["template"]["spec"]["volumes"] = R"([{"name": "v", "emptyDir": {}}])"_json;
  now["spec"]["template"]["spec"]["containers"][0]["livenessProbe"] = R"({"tcpSocket": {"port": 80}})"_json;
  now["spec"][kind() == WorkloadKind::kDeployment ? "strategy" : "updateStrategy"] = {
      {"type", kind() == WorkloadKind::kDeployment ? "Recreate" : "OnDelete"}};
  EXPECT_TRUE(MergeAndPut(first, now));
  const Json live = kube().Get(type(), kMerged);
  EXPECT_EQ(At(live, "/spec/template/spec/volumes/0"), R"({"name": "v", "emptyDir": {}})"_json);
  EXPECT_FALSE(At(*Container(live, "main"), "/livenessProbe").contains("httpGet"));
  ExpectSettled(now);
  // A merge back to the first template also works.
  EXPECT_TRUE(MergeAndPut(now, first));
  EXPECT_EQ(At(kube().Get(type(), kMerged), "/spec/template/spec/volumes/0/configMap/name"), "m");
  ExpectSettled(first);
}

TEST_P(MergeOracleTest, AVolumeThatLosesItsSourceBecomesAnEmptyDir) {
  RandomTemplate random(7, kind());
  Json first = random.Object();
  first["spec"]["template"]["spec"]["volumes"] = R"([{"name": "v", "configMap": {"name": "m"}}])"_json;
  CreateMerged(first);
  Json now = first;
  now["spec"]["template"]["spec"]["volumes"] = R"([{"name": "v"}])"_json;
  EXPECT_TRUE(MergeAndPut(first, now));
  const Json stored = R"({"name": "v", "emptyDir": {}})"_json;
  EXPECT_EQ(At(kube().Get(type(), kMerged), "/spec/template/spec/volumes/0"), stored);
  ExpectSettled(now);
  Json defaulted = now;
  defaulted["spec"]["template"]["spec"]["volumes"][0] = stored;
  EXPECT_FALSE(MergeAndPut(now, defaulted));
  EXPECT_FALSE(MergeAndPut(defaulted, now));
}

}  // namespace
}  // namespace yad::testing
