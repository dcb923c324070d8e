// Merges random small workloads. Compares the results with a simple model, and checks the invariants of a merge.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "operator/workload/merge.h"
#include "tests/unit/workload/json.h"

namespace yad {
namespace {

// Under sanitizers, a tenth of the rounds is run. model_test also runs this file, optimized and with all rounds.
#ifdef NDEBUG
constexpr int kRounds = 2000;
#else
constexpr int kRounds = 200;
#endif

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  int Below(int n) { return static_cast<int>(engine_() % static_cast<unsigned>(n)); }
  bool Chance(int percent) { return Below(100) < percent; }
  std::string Name(const char* prefix, int n) { return prefix + std::to_string(Below(n)); }

  // Returns some of the names, in random order and without duplicates.
  std::vector<std::string> Names(const char* prefix, int n) {
    std::vector<std::string> names;
    for (int i = 0; i < n; ++i) {
      if (Chance(50)) names.push_back(prefix + std::to_string(i));
    }
    std::shuffle(names.begin(), names.end(), engine_);
    return names;
  }

 private:
  std::mt19937 engine_;
};

Json Env(Random& random) {
  Json list = Json::array();
  for (const std::string& name : random.Names("E", 4)) {
    if (random.Chance(70)) {
      list.push_back({{"name", name}, {"value", random.Name("v", 3)}});
    } else {
      list.push_back({{"name", name}, {"valueFrom", {{"fieldRef", {{"fieldPath", random.Name("f", 2)}}}}}});
    }
  }
  return list;
}

Json Ports(Random& random) {
  Json list = Json::array();
  for (const std::string& name : random.Names("", 3)) {
    Json port = {{"containerPort", 80 + std::stoi(name)}, {"name", random.Name("p", 3)}};
    if (random.Chance(50)) port["protocol"] = random.Chance(50) ? "TCP" : "UDP";
    list.push_back(std::move(port));
  }
  return list;
}

Json Probe(Random& random) {
  Json probe = Json::object();
  if (random.Chance(50)) {
    probe["httpGet"] = {{"port", 80 + random.Below(2)}};
  } else {
    probe["exec"] = {{"command", Json::array({random.Name("c", 2)})}};
  }
  if (random.Chance(50)) probe["failureThreshold"] = 1 + random.Below(3);
  return probe;
}

Json Containers(Random& random) {
  Json list = Json::array();
  for (const std::string& name : random.Names("c", 4)) {
    Json container = {{"name", name}, {"image", random.Name("i", 3)}};
    if (random.Chance(60)) container["env"] = Env(random);
    if (random.Chance(40)) container["ports"] = Ports(random);
    if (random.Chance(30)) container["args"] = Json::array({random.Name("a", 2), random.Name("a", 2)});
    if (random.Chance(30)) container["livenessProbe"] = Probe(random);
    if (random.Chance(30)) container["resources"] = {{"limits", {{random.Name("r", 2), random.Name("", 3)}}}};
    list.push_back(std::move(container));
  }
  return list;
}

Json Map(Random& random) {
  Json map = Json::object();
  for (const std::string& key : random.Names("k", 4)) map[key] = random.Name("", 2);
  return map;
}

Json Workload(Random& random) {
  Json pod = {{"containers", Containers(random)}};
  if (random.Chance(50)) pod["nodeSelector"] = Map(random);
  if (random.Chance(30)) pod["tolerations"] = Json::array({{{"key", random.Name("t", 3)}}});
  if (random.Chance(40)) {
    pod["volumes"] = Json::array();
    for (const std::string& name : random.Names("v", 3)) {
      Json volume = {{"name", name}};
      if (random.Chance(50)) {
        if (random.Chance(50)) volume["emptyDir"] = Json::object();
      } else {
        volume["configMap"] = {{"name", random.Name("m", 2)}};
      }
      pod["volumes"].push_back(std::move(volume));
    }
  }
  if (random.Chance(30)) pod["securityContext"] = {{random.Name("s", 3), random.Below(2)}};
  Json workload = {{"metadata", {{"labels", Map(random)}}}, {"spec", {{"template", {{"spec", std::move(pod)}}}}}};
  if (random.Chance(50)) workload["spec"]["replicas"] = random.Below(3);
  if (random.Chance(40)) {
    workload["spec"]["strategy"] = random.Chance(50) ? J(R"({"type":"Recreate"})")
                                                     : J(R"({"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}})");
  }
  return workload;
}

// Adds the defaults that an apiserver fills in.
void AddDefaults(Json& workload) {
  Json& pod = workload["spec"]["template"]["spec"];
  for (Json& container : pod["containers"]) {
    container["terminationMessagePolicy"] = "File";
    if (!container.contains("resources")) container["resources"] = Json::object();
    if (container.contains("ports")) {
      for (Json& port : container["ports"]) port.emplace("protocol", "TCP");
    }
    if (container.contains("env")) {
      for (Json& env : container["env"]) {
        if (env.contains("valueFrom")) env["valueFrom"]["fieldRef"]["apiVersion"] = "v1";
      }
    }
    if (container.contains("livenessProbe")) {
      Json& probe = container["livenessProbe"];
      probe.emplace("failureThreshold", 3);
      probe.emplace("periodSeconds", 10);
      if (probe.contains("httpGet")) probe["httpGet"].update(J(R"({"path":"/","scheme":"HTTP"})"));
    }
    for (const char* list : {"env", "ports"}) {
      if (container.contains(list) && container[list].empty()) container.erase(list);
    }
  }
  if (pod.contains("volumes")) {
    for (Json& volume : pod["volumes"]) {
      if (volume.contains("configMap")) volume["configMap"]["defaultMode"] = 420;
      if (volume.size() == 1) volume["emptyDir"] = Json::object();
    }
    if (pod["volumes"].empty()) pod.erase("volumes");
  }
  for (const char* name : {"nodeSelector", "containers"}) {
    if (pod.contains(name) && pod[name].empty()) pod.erase(name);
  }
  pod.emplace("securityContext", Json::object());
  pod["dnsPolicy"] = "ClusterFirst";
  Json& spec = workload["spec"];
  spec.emplace("replicas", 1);
  if (!spec.contains("strategy"))
    spec["strategy"] = J(R"({"type":"RollingUpdate","rollingUpdate":{"maxSurge":"25%"}})");
  workload["status"] = {{"replicas", 1}};
}

// An object as a map from paths to values, such as "spec/…/containers[c1]/image", for the simple model. The values are
// scalars and atomic lists.
using Flat = std::map<std::string, Json>;

std::string ItemKey(const Json& item) {
  if (item.contains("containerPort")) {
    return item["containerPort"].dump() + "/" + item.value("protocol", "TCP");
  }
  return item.value("name", "");
}

void Flatten(const Json& value, const std::string& path, Flat& flat) {
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) Flatten(member, path + "/" + key, flat);
  } else if (value.is_array() && !value.empty() && value[0].is_object() && !ItemKey(value[0]).empty()) {
    for (const Json& item : value) Flatten(item, path + "[" + ItemKey(item) + "]", flat);
  } else if (!value.is_array() || !value.empty()) {
    flat[path] = value;
  }
}

Flat Flattened(const Json& value) {
  Flat flat;
  Flatten(value, "", flat);
  return flat;
}

bool Under(const std::string& path, const std::string& prefix) {
  return path.starts_with(prefix) &&
         (path.size() == prefix.size() || path[prefix.size()] == '/' || path[prefix.size()] == '[');
}

// Adds each list of named items to `orders`: its path, and the names in their order.
void Orders(const Json& value, const std::string& path, std::map<std::string, std::vector<std::string>>& orders) {
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) Orders(member, path + "/" + key, orders);
  } else if (value.is_array() && !value.empty() && value[0].is_object() && !ItemKey(value[0]).empty()) {
    for (const Json& item : value) {
      orders[path].push_back(ItemKey(item));
      Orders(item, path + "[" + ItemKey(item) + "]", orders);
    }
  }
}

// Returns true if a merge may remove the field as a part of another change: together with its parent, or because it
// excludes another field.
bool GoesWithAChoice(const std::string& path) {
  for (const char* part :
       {"/env[", "/volumes[", "/livenessProbe", "/strategy", "/resources", "/securityContext", "/ports["}) {
    if (path.find(part) != std::string::npos) return true;
  }
  return false;
}

TEST(MergeModelTest, MergingAgainChangesNothing) {
  Random random(1);
  for (int round = 0; round < kRounds; ++round) {
    const Json last = Workload(random);
    const Json now = Workload(random);
    const Json live = Workload(random);
    const Json merged = ThreeWayMerge(last, now, live);
    ASSERT_EQ(ThreeWayMerge(now, now, merged), merged) << last << "\n" << now << "\n" << live;
    ASSERT_EQ(ThreeWayMerge(last, now, merged), merged) << last << "\n" << now << "\n" << live;
  }
}

TEST(MergeModelTest, RenderedFieldsAreInTheResultInTheirOrder) {
  Random random(2);
  for (int round = 0; round < kRounds; ++round) {
    const Json last = Workload(random);
    const Json now = Workload(random);
    const Json live = Workload(random);
    const Json merged = ThreeWayMerge(last, now, live);
    const Flat result = Flattened(merged);
    for (const auto& [path, value] : Flattened(now)) {
      const auto found = result.find(path);
      const bool default_protocol = path.ends_with("/protocol") && value == "TCP";
      ASSERT_TRUE(default_protocol || (found != result.end() && found->second == value)) << path << "\n"
                                                                                         << now << "\n"
                                                                                         << merged;
    }
    std::map<std::string, std::vector<std::string>> wished;
    std::map<std::string, std::vector<std::string>> got;
    Orders(now, "", wished);
    Orders(merged, "", got);
    for (const auto& [path, order] : wished) {
      std::vector<std::string> ours;
      for (const std::string& name : got[path]) {
        if (std::find(order.begin(), order.end(), name) != order.end()) ours.push_back(name);
      }
      ASSERT_EQ(ours, order) << path;
    }
  }
}

TEST(MergeModelTest, OtherFieldsOfTheLiveObjectAreKeptExceptDroppedOnes) {
  Random random(3);
  for (int round = 0; round < kRounds; ++round) {
    const Json last = Workload(random);
    const Json now = Workload(random);
    Json live = Workload(random);
    if (round % 2 == 0) AddDefaults(live);
    const Json merged = ThreeWayMerge(last, now, live);
    const Flat said = Flattened(last);
    const Flat wished = Flattened(now);
    const Flat before = Flattened(live);
    const Flat result = Flattened(merged);
    for (const auto& [path, value] : before) {
      if (wished.contains(path) || GoesWithAChoice(path)) continue;
      const bool item_gone = std::any_of(said.begin(), said.end(), [&](const auto& entry) {
        // If `now` lacks an item that `last` has, the merge removes the whole item.
        for (std::size_t end = entry.first.find(']'); end != std::string::npos; end = entry.first.find(']', end + 1)) {
          const std::string item = entry.first.substr(0, end + 1);
          const bool kept =
              std::any_of(wished.begin(), wished.end(), [&](const auto& wish) { return Under(wish.first, item); });
          if (!kept && Under(path, item)) return true;
        }
        return false;
      });
      const bool field_gone = said.contains(path) && path != "/spec/replicas";
      if (item_gone || field_gone) {
        ASSERT_FALSE(result.contains(path)) << path << "\n" << last << "\n" << now << "\n" << live << "\n" << merged;
      } else {
        const auto found = result.find(path);
        ASSERT_TRUE(found != result.end() && found->second == value) << path << "\n"
                                                                     << last << "\n"
                                                                     << now << "\n"
                                                                     << live << "\n"
                                                                     << merged;
      }
    }
    for (const auto& [path, value] : result) ASSERT_TRUE(before.contains(path) || wished.contains(path)) << path;
  }
}

TEST(MergeModelTest, DefaultsOfTheServerAreNotDrift) {
  Random random(4);
  for (int round = 0; round < kRounds; ++round) {
    const Json now = Workload(random);
    Json live = now;
    AddDefaults(live);
    ASSERT_EQ(ThreeWayMerge(now, now, live), live) << now;
  }
}

TEST(MergeModelTest, ChangeOfRenderedFieldsGivesTheSameWorkloadAsACreation) {
  Random random(5);
  for (int round = 0; round < kRounds; ++round) {
    Json last = Workload(random);
    Json now = Workload(random);
    // If the template has no replicas, other clients own this field.
    last["spec"]["replicas"] = now["spec"]["replicas"] = 1;
    Json live = last;
    AddDefaults(live);
    Json updated = ThreeWayMerge(last, now, live);
    AddDefaults(updated);
    Json created = now;
    AddDefaults(created);
    Flat got = Flattened(updated);
    // The update has exactly the fields of a new workload, with the same values, except the default of maxSurge.
    for (const auto& [path, value] : Flattened(created)) {
      ASSERT_TRUE(got.contains(path)) << path;
      if (path != "/spec/strategy/rollingUpdate/maxSurge") {
        ASSERT_EQ(got[path], value) << path << "\n" << last << "\n" << now;
      }
      got.erase(path);
    }
    for (const auto& [path, value] : got)
      ADD_FAILURE() << path << " = " << value << "\n" << last << "\n" << now << "\n" << updated;
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace yad
