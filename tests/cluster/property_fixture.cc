#include "tests/cluster/property_fixture.h"

#include <algorithm>

#include "tests/cluster/naive_model.h"
#include "tests/support/yaml.h"

namespace yad::testing {
namespace {

constexpr char kPropertyLabel[] = "cluster-test-property";

// Removes a partition of 0, which is the default. The apiserver adds it if updateStrategy has no type, and later merges
// keep it.
Json WithoutFirstPartition(Json spec) {
  const Json::json_pointer at("/updateStrategy/rollingUpdate/partition");
  if (At(spec, at.to_string()) == 0) spec[at.parent_pointer()].erase("partition");
  return spec;
}

}  // namespace

void PropertyTest::SetUp() {
  ClusterTest::SetUp();
  if (!HasControlPlane()) return;
  AddPools();
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
  ReadSchemas();
}

void PropertyTest::AddPools() {
  const char* tiers[] = {"one", "two", "three"};
  for (int i = 0; i < 3; ++i) {
    const std::string suffix(1, static_cast<char>('a' + i));
    AddPool(suffix, {{"type", i == 1 ? "Cloud" : "Edge"}}, {{"tier", tiers[i]}, {kPropertyLabel, ns()}});
    AddNode(Pool(suffix));
    pool_objects_.push_back(kube().Get(kNodePoolType, Pool(suffix)));
  }
}

void PropertyTest::ReadSchemas() {
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
    // Uses the schema of apps/v1 for the template's spec, because the CRD's schema does not describe it.
    whole_schema_ = whole_schema_.is_null() ? spec_schema_ : whole_schema_;
    whole_schema_[Json::json_pointer(at + "/properties/spec")] = AppsSchema(kind);
  }
}

void PropertyTest::TearDown() {
  webhooks_.reset();
  daemons_.reset();
  deployments_.reset();
  stateful_sets_.reset();
  ClusterTest::TearDown();
}

Json PropertyTest::AppsSchema(WorkloadKind kind) {
  return {{"$ref", std::string("#/components/schemas/io.k8s.api.apps.v1.") + TypeOf(kind).kind + "Spec"}};
}

Json PropertyTest::BaseSpec(const Cell& cell) const {
  Json pod = Json::parse(R"({"containers": [{"name": "main", "image": "example.org/app:1", "command": ["start"]}],
                             "volumes": [{"name": "cache", "emptyDir": {}}], "priorityClassName": ""})");
  Json workload = {{"replicas", 0}, {"template", {{"metadata", {{"labels", {{"app", cell.name}}}}}, {"spec", pod}}}};
  if (cell.task.kind == WorkloadKind::kStatefulSet) workload["serviceName"] = "app";
  return {{"selector", {{"matchLabels", {{"app", cell.name}}}}},
          {"nodepoolSelector", {{"matchLabels", {{"tier", "one"}}}}},
          {"workloadTemplate",
           {{TemplateField(cell.task.kind), {{"metadata", {{"labels", {{"app", cell.name}}}}}, {"spec", workload}}}}}};
}

Result<Json> PropertyTest::AsTheServerHasIt(const Cell& cell, const Json& naive, const std::string& pool) const {
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

std::optional<std::map<std::string, Json>> PropertyTest::Expected(const Cell& cell, const Json& spec) const {
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

std::string PropertyTest::WhyNotApplied(const Cell& cell, const Json& daemon,
                                        const std::map<std::string, Json>& expected) const {
  if (const std::string why = WhyNotReported(daemon, expected); !why.empty()) return why;
  std::vector<Json> have = workloads(cell.task.kind).ControlledBy(cell.uid);
  std::erase_if(have, [](const Json& workload) { return ParseMeta(workload).deleting(); });
  if (have.size() != expected.size())
    return std::to_string(have.size()) + " workloads instead of " + std::to_string(expected.size());
  for (const Json& workload : have) {
    const std::string pool = Annotation(workload, kRefNodePoolAnnotation);
    const auto wanted = expected.find(pool);
    if (wanted == expected.end()) return "a workload in the unexpected pool " + pool;
    if (const std::string why = DifferenceFrom(workload, wanted->second); !why.empty()) return pool + ": " + why;
    const auto known = cell.workloads.find(pool);
    if (known != cell.workloads.end() && known->second.uid != UidOf(workload))
      return pool + ": the workload was recreated";
    const auto name = cell.names.find(pool);
    if (name != cell.names.end() && name->second != NameOf(workload))
      return pool + ": the name of the workload has changed";
  }
  return "";
}

std::string PropertyTest::WhyNotReported(const Json& daemon, const std::map<std::string, Json>& expected) {
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
  return "";
}

std::string PropertyTest::DifferenceFrom(const Json& live, const Json& wanted) {
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

bool PropertyTest::ReportsFailure(const Json& daemon) {
  return ConditionStatus(daemon, "WorkLoadFailure") == "True" && ConditionStatus(daemon, "Ready") == "False" &&
         At(ConditionOf(daemon, "Ready"), "/observedGeneration") == At(daemon, "/metadata/generation");
}

void PropertyTest::ExpectUntouched(const Cell& cell) const {
  for (const auto& [pool, known] : cell.workloads) {
    const auto live = kube().Find(TypeOf(cell.task.kind), known.name);
    if (!live || UidOf(*live) != known.uid) throw TestFailure("the workload of " + pool + " is gone");
    if (At(*live, "/metadata/generation") != known.generation) {
      throw TestFailure("the workload of " + pool + " was written: " + Short(At(*live, "/spec")));
    }
  }
}

std::string PropertyTest::ReplaceAll(std::string text, const std::string& what, const std::string& by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

std::string PropertyTest::Short(const Json& value) {
  const std::string text = value.dump();
  return text.size() < 400 ? text : text.substr(0, 400) + "…";
}

Json PropertyTest::WithoutEmpty(const Json& value) {
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

}  // namespace yad::testing
