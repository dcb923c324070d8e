// Sends the manifests of admission_cases/ to a real apiserver with kubectl, and compares the output with the tables
// there.
#include <algorithm>
#include <fstream>
#include <map>

#include "tests/cluster/webhook_fixture.h"
#include "tests/support/yaml.h"

namespace yad::testing {
namespace {

// The tables contain the messages of Kubernetes 1.34. With other versions, the test compares only the fields in a
// message, and skips cases with `only`.
constexpr int kMinor = 34;
constexpr char kAnything[] = "…";
constexpr char kSchemaCutShort[] =
    "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the "
    "existing errors to complete validation";
constexpr char kLastApplied[] = "kubectl.kubernetes.io/last-applied-configuration";

std::string Folder() { return std::string(YAD_SOURCE_DIR) + "/tests/cluster/admission_cases/"; }

std::vector<Json> ReadTable(const std::string& table) {
  const std::string text = ReadFile(Folder() + table + ".yaml");
  if (text.empty()) throw TestFailure("there is no table " + table);
  return ParseYaml(text);
}

std::string ReplaceAll(std::string text, const std::string& what, const std::string& by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

// Returns whether `text` matches `pattern`. In the pattern, … matches any string.
bool Fits(const std::string& pattern, const std::string& text) {
  std::size_t at = 0;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = pattern.find(kAnything, begin);
    const std::string part = pattern.substr(begin, end == std::string::npos ? end : end - begin);
    const bool first = begin == 0;
    const bool last = end == std::string::npos;
    std::size_t found = text.find(part, at);
    if (last && !first) {
      if (text.size() < at + part.size()) return false;
      found = text.size() - part.size();
      return text.compare(found, part.size(), part) == 0;
    }
    if (first && last) return text == part;
    if (found == std::string::npos || (first && found != 0)) return false;
    at = found + part.size();
    begin = end + std::string(kAnything).size();
  }
}

const ResourceType& TypeFor(const std::string& kind) {
  static const std::map<std::string, ResourceType> types = {
      {"YurtAppDaemon", kYurtAppDaemonType},
      {"ResourceQuota", kResourceQuotaType},
      {"Service", kServiceType},
      {"LimitRange", {"", "v1", "limitranges", "LimitRange", true}},
      {"ValidatingWebhookConfiguration", kValidatingWebhookConfigurationType},
      {"ValidatingAdmissionPolicy",
       {"admissionregistration.k8s.io", "v1", "validatingadmissionpolicies", "ValidatingAdmissionPolicy", false}},
      {"ValidatingAdmissionPolicyBinding",
       {"admissionregistration.k8s.io", "v1", "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding",
        false}}};
  const auto found = types.find(kind);
  if (found == types.end()) throw TestFailure("field `also` of the table has an unknown kind: " + kind);
  return found->second;
}

Json WithoutNulls(const Json& value) {
  Json result = value;
  if (!value.is_structured()) return result;
  for (auto it = result.begin(); it != result.end();) {
    if (value.is_object() && it->is_null()) {
      it = result.erase(it);
    } else {
      *it = WithoutNulls(*it);
      ++it;
    }
  }
  return result;
}

struct Outcome {
  int exit_code = 0;
  std::string out;
  std::string err;                    // without the warnings
  std::vector<std::string> warnings;  // without "Warning: "
};

std::string ToString(const Outcome& outcome) {
  std::string text = "exit code " + std::to_string(outcome.exit_code) + "\n" + outcome.out + outcome.err;
  for (const std::string& warning : outcome.warnings) text += "Warning: " + warning + "\n";
  return text;
}

// Returns the fields in the message: "spec.a" for the line "spec.a: Invalid value: …".
std::vector<std::string> FieldsOf(const std::string& rejection) {
  std::vector<std::string> fields;
  for (auto at = rejection.find("spec."); at != std::string::npos; at = rejection.find("\n* spec.", at)) {
    if (rejection[at] == '\n') at += 3;
    const auto end = rejection.find(": ", at);
    if (end == std::string::npos) break;
    fields.push_back(rejection.substr(at, end - at));
  }
  return fields;
}

// One case: a document of a table. base.yaml describes its fields.
class Case {
 public:
  explicit Case(Json fields) : fields_(std::move(fields)) {}

  std::string name() const { return StringAt(fields_, {"name"}); }
  bool Has(const std::string& key) const { return fields_.contains(key); }
  bool Is(const std::string& key) const { return BoolAt(fields_, {key}); }
  const Json& operator[](const std::string& key) const { return fields_.at(key); }
  WorkloadKind kind() const {
    return StringAt(fields_, {"base"}) == "StatefulSet" ? WorkloadKind::kStatefulSet : WorkloadKind::kDeployment;
  }
  bool applies() const { return !Has("run"); }
  std::vector<std::string> Run() const {
    if (applies()) return {"apply", "-f", "-"};
    return fields_.at("run").get<std::vector<std::string>>();
  }
  std::vector<Case> Before() const {
    std::vector<Case> steps;
    for (Json step : fields_.value("before", Json::array())) {
      if (!step.contains("base") && Has("base")) step["base"] = fields_.at("base");
      steps.emplace_back(std::move(step));
    }
    return steps;
  }

  // Returns the input of kubectl on stdin.
  std::string Text() const { return Has("manifest") ? StringAt(fields_, {"manifest"}) : Manifest().dump(); }
  Json Manifest() const {
    if (Has("manifest")) return ParseYaml(StringAt(fields_, {"manifest"})).at(0);
    static const std::vector<Json> bases = ReadTable("base");
    Json object = bases.at(kind() == WorkloadKind::kDeployment ? 0 : 1);
    const auto patch = [&](const std::string& key, const std::string& pointer) {
      if (Has(key)) object[Json::json_pointer(pointer)].merge_patch(fields_.at(key));
    };
    patch("object", "");
    patch("spec", "/spec");
    patch("template", Expand("/<template>"));
    patch("pod", Expand("/<pod>"));
    patch("container", Expand("/<pod>/containers/0"));
    return object;
  }

  // Replaces <template> and <pod> with their paths. The separator is a slash if `text` is a JSON pointer; otherwise, it
  // is a dot.
  std::string Expand(const std::string& text) const {
    const char* separator = text.starts_with('/') ? "/" : ".";
    const std::string in_template =
        std::string("spec") + separator + "workloadTemplate" + separator + TemplateField(kind());
    const std::string pod = in_template + separator + "spec" + separator + "template" + separator + "spec";
    return ReplaceAll(ReplaceAll(text, "<pod>", pod), "<template>", in_template);
  }

  // Returns the difference from the expected outcome, or "". If `to_the_letter` is false, a rejection needs only the
  // expected fields, not the expected messages.
  std::string Judge(const Outcome& outcome, bool to_the_letter) const {
    const bool rejected = Has("rejected") || Has("rejected_by_schema");
    if (rejected == (outcome.exit_code == 0)) return rejected ? "it was accepted" : "it was rejected";
    const std::string& said = rejected ? outcome.err : outcome.out;
    const std::string expected = rejected ? Rejection() : Says();
    if (rejected && !to_the_letter) {
      for (const std::string& field : FieldsOf(expected)) {
        if (said.find(field) == std::string::npos) return "the output of kubectl lacks the field " + field;
      }
      return "";
    }
    if (!Fits(expected, said)) return "the expected output of kubectl is\n" + expected;
    if (StringAt(fields_, {"warns"}) == "any") return "";
    std::vector<std::string> left = outcome.warnings;
    for (const Json& warning : fields_.value("warns", Json::array())) {
      const std::string pattern = Expand(warning.get<std::string>());
      const auto found =
          std::find_if(left.begin(), left.end(), [&](const std::string& text) { return Fits(pattern, text); });
      if (found == left.end()) return "this warning is missing: " + pattern;
      left.erase(found);
    }
    // Each RollingUpdate with a short minReadySeconds causes this warning, which most cases do not list.
    std::erase_if(
        left, [](const std::string& text) { return text.find("minReadySeconds: is below 60") != std::string::npos; });
    return left.empty() ? "" : "a warning too many: " + left.front();
  }

 private:
  std::string Says() const {
    if (Has("says")) return StringAt(fields_, {"says"}) + "\n";
    const std::string verb = fields_.value("before", Json::array()).empty() ? "created" : "configured";
    return "yurtappdaemon.apps.openyurt.io/" + StringAt(Manifest(), {"metadata", "name"}) + " " + verb + "\n";
  }
  std::string Rejection() const {
    if (Has("rejected") && fields_.at("rejected").is_string()) {
      std::string text = Expand(StringAt(fields_, {"rejected"}));
      return text.ends_with('\n') ? text : text + "\n";
    }
    std::vector<std::string> faults;
    for (const Json& fault : fields_.at(Has("rejected") ? "rejected" : "rejected_by_schema")) {
      faults.push_back(Expand(fault.get<std::string>()));
    }
    if (Has("rejected_by_schema")) faults.emplace_back(kSchemaCutShort);
    std::string text = "The YurtAppDaemon \"" + StringAt(Manifest(), {"metadata", "name"}) + "\" is invalid: ";
    if (faults.size() == 1) return text + faults.front() + "\n";
    for (const std::string& fault : faults) text += "\n* " + fault;
    return text + "\n";
  }

  Json fields_;
};

class AdmissionTest : public WebhookTest, public ::testing::WithParamInterface<const char*> {
 protected:
  Outcome Run(const std::vector<std::string>& arguments, const std::string& input) {
    const ProcessResult result = TryKubectl(arguments, input);
    Outcome outcome{result.exit_code, result.out, "", {}};
    std::istringstream lines(result.err);
    const std::string warning = "Warning: ";
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(warning)) {
        outcome.warnings.push_back(line.substr(warning.size()));
      } else {
        outcome.err += line + "\n";
      }
    }
    return outcome;
  }

  // Does what `kubectl apply` does, but in a hundredth of the time.
  void Store(const Case& step) {
    Json object = step.Manifest();
    if (step.Is("unchecked")) object["metadata"]["labels"][kUncheckedLabel] = "true";
    object["metadata"]["annotations"][kLastApplied] = object.dump();
    kube().Create(kYurtAppDaemonType, object);
  }

  void WaitForWorkloads(const Case& step) {
    const std::string uid = UidOf(GetDaemon("web"));
    Eventually("web has a workload in each shop", [&] {
      const std::vector<Json> workloads = kube().List(TypeOf(step.kind()));
      return std::count_if(workloads.begin(), workloads.end(), [&](const Json& workload) {
               const ObjectMeta meta = ParseMeta(workload);
               return meta.controller() != nullptr && meta.controller()->uid == uid;
             }) == 2;
    });
  }

  void Prepare(const Case& one) {
    if (one.Has("namespace")) {
      kube().MergePatch(kNamespaceType, ns(), {{"metadata", {{"labels", one["namespace"]}}}});
    }
    if (one.Has("also")) {
      const Json also = Json::parse(ReplaceAll(one["also"].dump(), "<namespace>", ns()));
      for (const Json& object : also) {
        const ResourceType& also_type = TypeFor(StringAt(object, {"kind"}));
        kube().Create(also_type, object);
        if (object.contains("status")) {
          kube().MergePatch(also_type, NameOf(object), {{"status", object.at("status")}}, "status");
        }
      }
    }
    for (const Case& step : one.Before()) {
      if (step.Is("delete")) {
        kube().Delete(kYurtAppDaemonType, "web");
      } else if (step.applies()) {
        Store(step);
      } else {
        Kubectl(step.Run(), step.Text());
      }
      if (step.Is("rolled_out")) WaitForWorkloads(step);
      if (step.Is("settled")) WaitUntilReady("web");
    }
  }

  void CleanUp(const Case& one) {
    for (const Json& daemon : kube().List(kYurtAppDaemonType)) {
      if (!At(daemon, "/metadata/finalizers").is_null()) {
        kube().MergePatch(kYurtAppDaemonType, NameOf(daemon), {{"metadata", {{"finalizers", nullptr}}}});
      }
      kube().Delete(kYurtAppDaemonType, NameOf(daemon));
    }
    if (one.Has("also")) {
      for (const Json& object : one["also"]) kube().Delete(TypeFor(StringAt(object, {"kind"})), NameOf(object));
    }
    if (one.Has("namespace")) {
      Json labels = one["namespace"];
      for (Json& label : labels) label = nullptr;
      kube().MergePatch(kNamespaceType, ns(), {{"metadata", {{"labels", labels}}}});
    }
  }

  void ExpectStored(const Case& one) {
    const std::string name = StringAt(one.Manifest(), {"metadata", "name"});
    if (name.empty()) return;
    const std::optional<Json> stored = kube().Find(kYurtAppDaemonType, name);
    EXPECT_EQ(stored.has_value(), !one.Is("gone"));
    if (!stored.has_value()) return;
    if (one.Has("stored")) {
      for (const auto& [pointer, value] : one["stored"].items()) {
        EXPECT_EQ(At(*stored, one.Expand(pointer)), value) << pointer;
      }
    }
    if (!one.applies() || one.Is("eventually")) return;
    ExpectNothingElseWasChanged(one, *stored);
    // The admitted object is complete, so a second write does not change it.
    const Json again = kube().Edit(kYurtAppDaemonType, name, [](Json&) {});
    EXPECT_EQ(At(again, "/metadata/generation"), At(*stored, "/metadata/generation"));
  }

  // Expects that the webhook has added only the template's selector, and that the apiserver stores the rest as it does
  // without webhooks.
  void ExpectNothingElseWasChanged(const Case& one, const Json& stored) {
    Json object = one.Manifest();
    object["metadata"] = {{"name", "without-webhooks"}, {"namespace", ns()}, {"labels", {{kUncheckedLabel, "true"}}}};
    WriteOptions dry_run;
    dry_run.dry_run = true;
    const Result<Json> result = kube().client().Create(kYurtAppDaemonType, object, dry_run);
    ASSERT_TRUE(result.has_value()) << result.error().ToString();
    Json expected = {{"spec", WithoutNulls(At(*result, "/spec"))}};  // kubectl apply may leave out nulls
    const std::string selector = one.Expand("/<template>/spec/selector");
    expected[Json::json_pointer(selector)] = At(stored, selector);
    const Json difference = Json::diff(expected, {{"spec", WithoutNulls(At(stored, "/spec"))}});
    EXPECT_TRUE(difference.empty()) << difference;
    if (one.Before().empty()) {
      EXPECT_EQ(At(stored, selector), At(stored, "/spec/selector"));
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Tables, AdmissionTest,
                         ::testing::Values("selector", "pools", "spec", "strategy", "overrides", "service", "apps_v1",
                                           "unknown_fields", "openyurt", "update", "warnings", "kubectl"),
                         [](const auto& table) { return std::string(table.param); });

TEST_P(AdmissionTest, EveryManifestOfTheTableGetsTheExpectedResponse) {
  if (!HasControlPlane()) return;
  for (const Json& fields : ReadTable(GetParam())) {
    const Case one(fields);
    if (one.Has("only") && plane().minor() != kMinor) continue;
    SCOPED_TRACE(std::string(GetParam()) + ".yaml: " + one.name());
    try {
      Prepare(one);
      Outcome outcome;
      std::string wrong;
      const auto answered = [&] {
        static int attempt = 0;
        outcome = Run(one.Run(), ReplaceAll(one.Text(), "<attempt>", std::to_string(++attempt)));
        wrong = one.Judge(outcome, plane().minor() == kMinor);
        if (!wrong.empty()) wrong += "\n" + ToString(outcome);
        return wrong;
      };
      if (one.Is("eventually")) {
        // Repeats the request, because the caches of the apiserver and the operator receive the objects in `also` with
        // a delay.
        Eventually(one.name(), [&] {
          kube().Delete(kYurtAppDaemonType, "web");
          return answered();
        });
      } else if (!answered().empty()) {
        ADD_FAILURE() << wrong;
      }
      if (outcome.exit_code == 0) ExpectStored(one);
    } catch (const TestFailure& failure) {
      ADD_FAILURE() << failure.what();
    }
    CleanUp(one);
  }
}

}  // namespace
}  // namespace yad::testing
