// The test sets, changes, empties, invalidates and reverts every property of a YurtAppDaemon. After each step the
// cluster matches naive_model.h and the apiserver's own dry run; an invalid value does not change a running workload;
// the revert repairs everything.
//
// The CRD itself lists the properties, and the apiserver's OpenAPI those of apps/v1, which pass through.
// property_values.yaml has the facts that schemas lack. Each property has its own daemon; many run at the same time.
//   YAD_ALL=1                         all of them; otherwise a sample
//   YAD_SEED=7                        another sample
//   YAD_PROPERTY=spec.nodePools.type  only this one, to replay a failure
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <set>
#include <thread>

#include "tests/cluster/fixture.h"
#include "tests/cluster/live_view.h"
#include "tests/cluster/naive_model.h"
#include "tests/cluster/property_space.h"
#include "tests/support/webhook_setup.h"
#include "tests/support/yaml.h"

namespace yad::testing {
namespace {

constexpr std::size_t kAtOnce = 24;
constexpr char kPropertyLabel[] = "cluster-test-property";

std::string ReplaceAll(std::string text, const std::string& what, const std::string& by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

std::string Short(const Json& value) {
  const std::string text = value.dump();
  return text.size() < 400 ? text : text.substr(0, 400) + "…";
}

// null, "", [] and {} have no more content than an absent value.
bool SaysNothing(const Json& value) {
  return value.is_null() || value == "" || (value.is_structured() && value.empty());
}

// Removes nulls and empty objects, at any depth: the operator treats them as absent, as docs/api.md describes for
// revisions.
Json WithoutEmpty(const Json& value) {
  if (!value.is_structured()) return value;
  Json kept = value.is_object() ? Json::object() : Json::array();
  for (const auto& [key, member] : value.items()) {
    Json inner = WithoutEmpty(member);
    if (value.is_array()) {
      kept.push_back(std::move(inner));
    } else if (!inner.is_null() && inner != Json::object()) {
      kept[key] = std::move(inner);
    }
  }
  return kept;
}

// The apiserver sets the partition if updateStrategy has no type, and a merge keeps an existing one, so both are equal.
Json WithoutFirstPartition(Json spec) {
  const Json::json_pointer at("/updateStrategy/rollingUpdate/partition");
  if (At(spec, at.to_string()) == 0) spec[at.parent_pointer()].erase("partition");
  return spec;
}

struct Task {
  WorkloadKind kind = WorkloadKind::kDeployment;
  Property property;
  bool as_server = false;  // the apiserver decides which values are good
  std::string Name() const { return std::string(TypeOf(kind).kind) + " " + property.path; }
};

// Counted over all tasks of a test.
struct Tally {
  std::atomic<int> steps = 0, applied = 0, refused = 0, told = 0;
};

class PropertyTest : public ClusterTest, public ::testing::WithParamInterface<bool> {
 protected:
  bool reviewed() const { return GetParam(); }
  void SetUp() override {
    ClusterTest::SetUp();
    if (!HasControlPlane()) return;
    const char* tiers[] = {"one", "two", "three"};
    for (int i = 0; i < 3; ++i) {
      const std::string suffix(1, static_cast<char>('a' + i));
      AddPool(suffix, {{"type", i == 1 ? "Cloud" : "Edge"}}, {{"tier", tiers[i]}, {kPropertyLabel, ns()}});
      AddNode(Pool(suffix));
      pool_objects_.push_back(kube().Get(kNodePoolType, Pool(suffix)));
    }
    std::vector<std::string> flags = {"--workers=8"};
    if (reviewed()) {
      webhooks_ = std::make_unique<WebhookSetup>(kube(), plane().dir());
      for (const std::string& flag : webhooks_->flags()) flags.push_back(flag);
    }
    StartOperator(flags);
    if (reviewed()) webhooks_->Install();
    daemons_ = std::make_unique<LiveView>(kube().client(), kYurtAppDaemonType, ns());
    deployments_ = std::make_unique<LiveView>(kube().client(), kDeploymentType, ns());
    stateful_sets_ = std::make_unique<LiveView>(kube().client(), kStatefulSetType, ns());

    const Json crd =
        ParseYaml(ReadFile(std::string(YAD_SOURCE_DIR) + "/crds/apps.openyurt.io_yurtappdaemons.yaml")).at(0);
    spec_schema_ = At(crd, "/spec/versions/0/schema/openAPIV3Schema/properties/spec");
    const Result<std::string> text = kube().client().GetRaw("/openapi/v3/apis/apps/v1");
    if (!text) throw TestFailure(text.error().ToString());
    std::string table = ReadFile(std::string(YAD_SOURCE_DIR) + "/tests/cluster/property_values.yaml");
    for (const char* suffix : {"a", "b", "c"}) {
      table = ReplaceAll(table, std::string("<") + suffix + ">", Pool(suffix));
    }
    space_ = std::make_unique<PropertySpace>(Json::parse(*text).at("components").at("schemas"),
                                             ValueTable(ParseYaml(table).at(0)));
    for (const WorkloadKind kind : {WorkloadKind::kDeployment, WorkloadKind::kStatefulSet}) {
      const std::string at = std::string("/properties/workloadTemplate/properties/") + TemplateField(kind);
      // The CRD leaves the template open, so the schema of apps/v1 describes it.
      whole_schema_ = whole_schema_.is_null() ? spec_schema_ : whole_schema_;
      whole_schema_[Json::json_pointer(at + "/properties/spec")] = AppsSchema(kind);
    }
  }
  void TearDown() override {
    webhooks_.reset();
    daemons_.reset();
    deployments_.reset();
    stateful_sets_.reset();
    ClusterTest::TearDown();
  }

  static Json AppsSchema(WorkloadKind kind) {
    return {{"$ref", std::string("#/components/schemas/io.k8s.api.apps.v1.") + TypeOf(kind).kind + "Spec"}};
  }
  const PropertySpace& space() const { return *space_; }
  const Json& spec_schema() const { return spec_schema_; }

  // ---- one daemon and the last observation of it ----
  struct Known {
    std::string uid;
    std::string name;
    std::int64_t generation = 0;
  };
  struct Cell {
    const Task& task;
    std::string name;  // of the daemon, and its label
    Json base;         // its spec
    std::string uid;
    std::map<std::string, Known> workloads;      // by pool, as they were when last looked at
    std::map<std::string, std::string> names;    // by pool, for ever
    std::map<std::string, Json> base_workloads;  // their specs under the base, by pool
  };
  enum class Outcome { kApplied, kRefused, kTold };

  Json BaseSpec(const Cell& cell) const {
    Json pod = Json::parse(R"({"containers": [{"name": "main", "image": "example.org/app:1", "command": ["start"]}],
                               "volumes": [{"name": "cache", "emptyDir": {}}], "priorityClassName": ""})");
    Json workload = {{"replicas", 0}, {"template", {{"metadata", {{"labels", {{"app", cell.name}}}}}, {"spec", pod}}}};
    if (cell.task.kind == WorkloadKind::kStatefulSet) workload["serviceName"] = "app";
    return {
        {"selector", {{"matchLabels", {{"app", cell.name}}}}},
        {"nodepoolSelector", {{"matchLabels", {{"tier", "one"}}}}},
        {"workloadTemplate",
         {{TemplateField(cell.task.kind), {{"metadata", {{"labels", {{"app", cell.name}}}}}, {"spec", workload}}}}}};
  }

  const LiveView& workloads(WorkloadKind kind) const {
    return kind == WorkloadKind::kDeployment ? *deployments_ : *stateful_sets_;
  }

  // Returns the pool's workload after all changes of the apiserver, or the apiserver's error.
  Result<Json> AsTheServerHasIt(const Cell& cell, const Json& naive, const std::string& pool) const {
    const ResourceType& type = TypeOf(cell.task.kind);
    WriteOptions dry;
    dry.dry_run = true;
    Json object = naive;
    object["apiVersion"] = type.ApiVersion();
    object["kind"] = type.kind;
    object["metadata"]["namespace"] = ns();
    std::optional<Json> live;
    if (const auto known = cell.workloads.find(pool); known != cell.workloads.end()) {
      live = kube().Find(type, known->second.name);
    }
    if (!live) {
      object["metadata"]["name"] = "as-the-server-has-it";
      return kube().client().Create(type, object, dry);
    }
    object["metadata"]["name"] = NameOf(*live);
    if (!object["spec"].contains("replicas")) object["spec"]["replicas"] = At(*live, "/spec/replicas");
    return kube().client().Update(type, object, dry);
  }

  // Returns the workloads that a spec leads to. nullopt: the spec cannot be applied.
  std::optional<std::map<std::string, Json>> Expected(const Cell& cell, const Json& spec) const {
    const auto pools = NaivePools(spec, pool_objects_);
    if (!pools) return std::nullopt;
    std::map<std::string, Json> expected;
    for (const Json& pool : pool_objects_) {
      const std::string name = NameOf(pool);
      if (!std::count(pools->begin(), pools->end(), name)) continue;
      const auto naive = NaiveWorkload(spec, cell.task.kind, pool);
      if (!naive) return std::nullopt;
      Result<Json> workload = AsTheServerHasIt(cell, *naive, name);
      if (!workload) return std::nullopt;
      workload->at("metadata") = naive->at("metadata");
      if (!At(*naive, "/spec").contains("replicas")) workload->at("spec").erase("replicas");
      expected.emplace(name, *std::move(workload));
    }
    return expected;
  }

  // Returns "" if the daemon has exactly these workloads, its status reports it, and the earlier ones are the same
  // objects.
  std::string WhyNotApplied(const Cell& cell, const Json& daemon, const std::map<std::string, Json>& expected) const {
    if (ConditionStatus(daemon, "Ready") != "True") return "not Ready: " + Short(At(daemon, "/status/conditions"));
    for (const char* type : {"Ready", "Progressing", "Degraded", "Paused"}) {
      if (At(ConditionOf(daemon, type), "/observedGeneration") != At(daemon, "/metadata/generation"))
        return std::string("condition ") + type + " is of another generation";
    }
    if (ConditionStatus(daemon, "WorkLoadFailure") == "True") return "WorkLoadFailure is True";
    std::vector<std::string> names;
    for (const auto& [pool, workload] : expected) names.push_back(pool);
    if (At(daemon, "/status/nodepools") != Json(names)) return "nodepools: " + Short(At(daemon, "/status/nodepools"));
    for (const char* all : {"desiredPools", "updatedPools", "readyPools"}) {
      if (At(daemon, std::string("/status/") + all) != names.size())
        return std::string(all) + ": " + Short(At(daemon, std::string("/status/") + all));
    }
    std::vector<Json> have = workloads(cell.task.kind).ControlledBy(cell.uid);
    std::erase_if(have, [](const Json& workload) { return ParseMeta(workload).deleting(); });
    if (have.size() != expected.size())
      return std::to_string(have.size()) + " workloads, and not " + std::to_string(expected.size());
    for (const Json& workload : have) {
      const std::string pool = Annotation(workload, kRefNodePoolAnnotation);
      const auto wanted = expected.find(pool);
      if (wanted == expected.end()) return "a workload of pool " + pool;
      if (const std::string why = WhyNotThis(workload, wanted->second); !why.empty()) return pool + ": " + why;
      const auto known = cell.workloads.find(pool);
      if (known != cell.workloads.end() && known->second.uid != UidOf(workload)) return pool + ": another uid";
      const auto name = cell.names.find(pool);
      if (name != cell.names.end() && name->second != NameOf(workload)) return pool + ": another name";
    }
    return "";
  }

  static std::string WhyNotThis(const Json& live, const Json& wanted) {
    Json spec = WithoutEmpty(WithoutFirstPartition(At(live, "/spec")));
    const Json wanted_spec = WithoutEmpty(WithoutFirstPartition(wanted.at("spec")));
    if (!wanted_spec.contains("replicas")) spec.erase("replicas");
    if (spec != wanted_spec) return "spec differs: " + Short(Json::diff(wanted_spec, spec));
    Json labels = At(live, "/metadata/labels");
    labels.erase(kRevisionLabel);
    if (labels != At(wanted, "/metadata/labels")) return "labels are " + Short(labels);
    Json annotations = At(live, "/metadata/annotations");
    for (const char* ours : {kRenderedFromAnnotation, "deployment.kubernetes.io/revision"}) annotations.erase(ours);
    if (annotations != At(wanted, "/metadata/annotations")) return "annotations are " + Short(annotations);
    return "";
  }

  // Reports whether the status names the spec as not valid, or pools as failed.
  static bool Tells(const Json& daemon) {
    return ConditionStatus(daemon, "WorkLoadFailure") == "True" && ConditionStatus(daemon, "Ready") == "False" &&
           At(ConditionOf(daemon, "Ready"), "/observedGeneration") == At(daemon, "/metadata/generation");
  }

  // Throws TestFailure unless the running workloads are unchanged.
  void ExpectUntouched(const Cell& cell) const {
    for (const auto& [pool, known] : cell.workloads) {
      const auto live = kube().Find(TypeOf(cell.task.kind), known.name);
      if (!live || UidOf(*live) != known.uid) throw TestFailure("the workload of " + pool + " is gone");
      if (At(*live, "/metadata/generation") != known.generation) {
        throw TestFailure("the workload of " + pool + " was written: " + Short(At(*live, "/spec")));
      }
    }
  }

  // Writes the spec, and checks the result. If `empty`, the value has no content, and the operator may treat it as
  // absent.
  Outcome Step(Cell& cell, const Json& spec, Sense sense, bool empty = false) const {
    Json object = daemons_->Find(cell.name).value_or(Json());
    Result<Json> written = Json();
    if (object.is_null()) {
      written = kube().Create(kYurtAppDaemonType, {{"metadata", {{"name", cell.name}}}, {"spec", spec}});
      cell.uid = UidOf(*written);
    } else {
      object["spec"] = spec;
      object["metadata"].erase("resourceVersion");
      object["metadata"]["resourceVersion"] = VersionOf(kube().Get(kYurtAppDaemonType, cell.name));
      for (int attempt = 0; attempt < 5; ++attempt) {
        written = kube().client().Update(kYurtAppDaemonType, object);
        if (written || written.error().reason != Reason::kConflict) break;
        object["metadata"]["resourceVersion"] = VersionOf(kube().Get(kYurtAppDaemonType, cell.name));
      }
    }
    if (!written) {
      const Reason reason = written.error().reason;
      if (reason != Reason::kInvalid && reason != Reason::kBadRequest) throw TestFailure(written.error().ToString());
      if (sense == Sense::kGood) throw TestFailure("it was refused: " + written.error().message);
      if (cell.task.as_server && Expected(cell, spec)) {
        throw TestFailure("it was refused, though an apiserver takes such a workload: " + written.error().message);
      }
      ExpectUntouched(cell);
      return Outcome::kRefused;
    }

    const Json generation = At(*written, "/metadata/generation");
    auto expected = Expected(cell, At(*written, "/spec"));
    const bool either = cell.task.as_server ? empty && !expected : sense != Sense::kGood;
    if (!expected && empty) expected = Expected(cell, cell.base);
    if (sense == Sense::kGood && !expected) throw TestFailure("the model takes a good value for a wrong one");
    if (sense == Sense::kWrong && expected && reviewed()) throw TestFailure("it was accepted");
    Outcome outcome = Outcome::kApplied;
    Eventually("the cluster is what was asked for", [&]() -> std::string {
      const Json daemon = daemons_->Find(cell.name).value_or(Json());
      if (At(daemon, "/metadata/generation") != generation || At(daemon, "/status/observedGeneration") != generation)
        return "it is not observed: " + Short(At(daemon, "/status"));
      outcome = Outcome::kTold;
      const bool may_tell = !expected || either;
      if (may_tell && Tells(daemon)) return "";
      outcome = Outcome::kApplied;
      if (!expected) return "it can't be, and is not told of: " + Short(At(daemon, "/status/conditions"));
      return WhyNotApplied(cell, daemon, *expected);
    });
    if (outcome == Outcome::kTold) {
      if (reviewed()) throw TestFailure("the webhook let it through");
      ExpectUntouched(cell);
      return outcome;
    }
    if (sense == Sense::kWrong) throw TestFailure("it was acted upon");
    std::map<std::string, Known> now;
    for (const Json& workload : workloads(cell.task.kind).ControlledBy(cell.uid)) {
      if (ParseMeta(workload).deleting()) continue;
      const std::string pool = Annotation(workload, kRefNodePoolAnnotation);
      cell.names[pool] = NameOf(workload);
      now[pool] = {UidOf(workload), NameOf(workload), IntAt(workload, {"metadata", "generation"})};
    }
    cell.workloads = std::move(now);
    return outcome;
  }

  void RememberBase(Cell& cell) const {
    for (const auto& [pool, known] : cell.workloads) {
      cell.base_workloads[pool] = At(kube().Get(TypeOf(cell.task.kind), known.name), "/spec");
    }
  }
  void PutBack(Cell& cell, bool applied) const {
    if (!applied) {
      const auto before = cell.workloads;
      Step(cell, cell.base, Sense::kGood);
      for (const auto& [pool, known] : before) {
        if (cell.workloads.at(pool).generation != known.generation)
          throw TestFailure("putting it back wrote the workload of " + pool);
      }
    } else {
      Step(cell, cell.base, Sense::kGood);
    }
    for (const auto& [pool, spec] : cell.base_workloads) {
      const Json live = At(kube().Get(TypeOf(cell.task.kind), cell.workloads.at(pool).name), "/spec");
      if (WithoutEmpty(live) != WithoutEmpty(spec))
        throw TestFailure("put back, " + pool + " differs: " + Short(Json::diff(spec, live)));
    }
  }

  // Tries all values of one property. Returns the failures.
  std::vector<std::string> Play(const Task& task, Tally& tally) const {
    std::vector<std::string> failures;
    static std::atomic<int> number = 0;
    Cell cell{task, "p" + std::to_string(++number), {}, {}, {}, {}, {}};
    cell.base = BaseSpec(cell);
    bool started = false;
    const std::string frozen[] = {
        "spec.selector", std::string("spec.workloadTemplate.") + TemplateField(task.kind == WorkloadKind::kDeployment
                                                                                   ? WorkloadKind::kStatefulSet
                                                                                   : WorkloadKind::kDeployment)};
    for (const PropertyValue& one : task.property.values) {
      const Json value = Json::parse(ReplaceAll(one.value.dump(), "<app>", cell.name));
      Sense sense = task.as_server ? Sense::kOpen : one.sense;
      for (const std::string& path : frozen) {
        if (sense == Sense::kGood && task.property.path.starts_with(path)) sense = Sense::kWrong;
      }
      std::string doing = "base";
      try {
        if (!started) {
          Step(cell, cell.base, Sense::kGood);
          RememberBase(cell);
          started = true;
        }
        doing = Short(value);
        Json spec = cell.base;
        space_->Place(whole_schema_, task.property.path, value, spec);
        spec = Json::parse(ReplaceAll(spec.dump(), "<app>", cell.name));
        ++tally.steps;
        const Outcome outcome = Step(cell, spec, sense, task.as_server && SaysNothing(value));
        ++(outcome == Outcome::kApplied ? tally.applied : outcome == Outcome::kRefused ? tally.refused : tally.told);
        doing += ", put back";
        if (outcome != Outcome::kRefused) PutBack(cell, outcome == Outcome::kApplied);
      } catch (const std::exception& failure) {
        failures.push_back(task.Name() + " = " + doing + ": " + failure.what());
        if (!started) return failures;
        try {
          cell.workloads.clear();  // the state is unknown
          Step(cell, cell.base, Sense::kGood);
        } catch (const std::exception& again) {
          failures.push_back(task.Name() + ": put back after that: " + again.what());
          break;
        }
      }
    }
    try {
      kube().Delete(kYurtAppDaemonType, cell.name);
    } catch (const std::exception& failure) {
      failures.push_back(task.Name() + ": " + failure.what());
    }
    return failures;
  }

  // Returns the tasks of this run: one in `share`, or all, or the one that is replayed.
  static std::vector<Task> Sample(std::vector<Task> tasks, std::uint64_t share) {
    const char* seed = std::getenv("YAD_SEED");
    const std::string salt = seed == nullptr ? "1" : seed;
    if (const char* only = std::getenv("YAD_PROPERTY")) {
      std::erase_if(tasks, [&](const Task& task) { return task.property.path != only; });
    } else if (!RunsEverything()) {
      std::erase_if(tasks, [&](const Task& task) { return Fnv1a64(salt + task.Name()) % share != 0; });
      for (Task& task : tasks) {  // all good values, and two others
        int others = 0;
        std::uint64_t at = Fnv1a64(salt + task.Name()) / share;
        std::erase_if(task.property.values, [&](const PropertyValue& value) {
          return value.sense != Sense::kGood && (at++ % 3 != 0 || ++others > 2);
        });
      }
      std::cout << "[   sample ] seed " << salt << "\n";
    }
    return tasks;
  }

  void Run(const std::vector<Task>& tasks) {
    Tally tally;
    std::mutex mutex;
    std::vector<std::string> failures;
    std::atomic<std::size_t> next = 0;
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < kAtOnce; ++i) {
        threads.emplace_back([&] {
          for (std::size_t at = next++; at < tasks.size(); at = next++) {
            std::vector<std::string> found = Play(tasks[at], tally);
            const std::lock_guard lock(mutex);
            for (std::string& failure : found) {
              failures.push_back(failure + "\n  once more: YAD_PROPERTY='" + tasks[at].property.path + "'");
            }
          }
        });
      }
    }
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    for (const std::string& failure : failures) {
      ADD_FAILURE() << failure << " build/release/bin/cluster_test --gtest_filter='" << test->test_suite_name() << "."
                    << test->name() << "'";
    }
    std::cout << "[ property ] " << tasks.size() << " properties, " << tally.steps << " values: " << tally.applied
              << " acted upon, " << tally.refused << " refused, " << tally.told << " told of in status\n";
    EXPECT_GT(tally.applied, 0);
  }

 private:
  std::vector<Json> pool_objects_;
  std::unique_ptr<WebhookSetup> webhooks_;
  std::unique_ptr<LiveView> daemons_, deployments_, stateful_sets_;
  Json spec_schema_, whole_schema_;
  std::unique_ptr<PropertySpace> space_;
};
INSTANTIATE_TEST_SUITE_P(Webhook, PropertyTest, ::testing::Values(true, false),
                         [](const auto& test) { return test.param ? "Reviewed" : "Unreviewed"; });

TEST_P(PropertyTest, CrdFieldsCanBeSetAndRevertedAndInvalidValuesTouchNothing) {
  std::vector<Task> tasks;
  for (const WorkloadKind kind : {WorkloadKind::kDeployment, WorkloadKind::kStatefulSet}) {
    for (const Property& property : space().Walk(spec_schema(), "spec", 10)) tasks.push_back({kind, property});
  }
  EXPECT_GT(tasks.size(), 100U);
  Run(Sample(tasks, 7));
}

TEST_P(PropertyTest, AppsV1FieldsCanBeSetAndRevertedAsTheApiserverAcceptsThem) {
  std::vector<Task> tasks;
  for (const WorkloadKind kind : {WorkloadKind::kDeployment, WorkloadKind::kStatefulSet}) {
    const std::string path = std::string("spec.workloadTemplate.") + TemplateField(kind) + ".spec";
    for (const Property& property : space().Walk(AppsSchema(kind), path, 5)) tasks.push_back({kind, property, true});
  }
  EXPECT_GT(tasks.size(), 500U);
  Run(Sample(tasks, 60));
}

}  // namespace
}  // namespace yad::testing
