#include "tests/chart/fixture.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "tests/support/eventually.h"
#include "tests/support/test_run.h"

namespace yad::testing {
namespace {

std::unique_ptr<ControlPlane> shared_plane;  // NOLINT: ended by the environment below

// The documents of each list of values, and the admitted object of each document. Different values render mostly the
// same objects, so each object is sent once.
std::map<std::vector<std::string>, std::vector<std::string>> rendered;  // NOLINT: only for tests
std::map<std::string, Json> admitted;                                   // NOLINT: only for tests

class Environment : public ::testing::Environment {
 public:
  void TearDown() override { shared_plane.reset(); }
};
[[maybe_unused]] auto* const environment = ::testing::AddGlobalTestEnvironment(new Environment);

// Returns another project's CRD, which allows any content. The chart can create objects of its type.
std::string ForeignCrd(const std::string& group, const std::string& version, const std::string& kind,
                       const std::string& plural) {
  const Json schema = {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
  const Json crd = {
      {"apiVersion", kCrdType.ApiVersion()},
      {"kind", kCrdType.kind},
      {"metadata", {{"name", plural + "." + group}}},
      {"spec",
       {{"group", group},
        {"scope", "Namespaced"},
        {"names", {{"kind", kind}, {"plural", plural}}},
        {"versions",
         {{{"name", version}, {"served", true}, {"storage", true}, {"schema", {{"openAPIV3Schema", schema}}}}}}}}};
  return crd.dump() + "\n---\n";
}

void InstallForeignCrds(const ControlPlane& plane) {
  plane.Kubectl({"apply", "-f", "-"},
                ForeignCrd("cert-manager.io", "v1", "Issuer", "issuers") +
                    ForeignCrd("cert-manager.io", "v1", "Certificate", "certificates") +
                    ForeignCrd("monitoring.coreos.com", "v1", "ServiceMonitor", "servicemonitors") +
                    ForeignCrd("monitoring.coreos.com", "v1", "PodMonitor", "podmonitors") +
                    ForeignCrd("monitoring.coreos.com", "v1", "PrometheusRule", "prometheusrules"));
  plane.AwaitCrds();
}

// Parses kubectl's output, which is a List, or several objects one after the other.
std::vector<Json> ParseObjects(const std::string& text) {
  std::vector<Json> objects;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find("\n}\n", begin), text.size() - 3) + 3;
    objects.push_back(Json::parse(text.substr(begin, end - begin)));
    begin = end;
  }
  if (objects.size() == 1 && StringAt(objects[0], {"kind"}) == "List") return Json(objects[0]["items"]);
  return objects;
}

constexpr char kDocumentStart[] = "---\n";

// Returns the YAML documents of a rendered chart, without those that contain only comments.
std::vector<std::string> Documents(const std::string& manifest) {
  std::vector<std::string> documents;
  for (std::size_t begin = 0; begin < manifest.size();) {
    const std::size_t end = std::min(manifest.find(std::string("\n") + kDocumentStart, begin), manifest.size());
    std::string document = manifest.substr(begin, end - begin) + "\n";
    if (document.find("\nkind:") != std::string::npos) documents.push_back(std::move(document));
    begin = end + 1 + std::strlen(kDocumentStart);
  }
  return documents;
}

// Waits until the apiserver serves the CRD's type, and then deletes the CRD. An earlier deletion can take minutes.
void RemoveCrd(const Kube& kube, const std::string& name) {
  const std::optional<Json> crd = kube.Find(kCrdType, name);
  if (!crd) return;
  const std::size_t dot = name.find('.');
  ResourceType type{name.substr(dot + 1), "", name.substr(0, dot), "", false};
  type.version = At(*crd, "/spec/versions/0/name").get<std::string>();
  Eventually(name + " is served", [&] { return kube.client().List(type, {}).has_value(); });
  kube.Delete(kCrdType, name);
  Eventually(
      name + " is gone", [&] { return !kube.Find(kCrdType, name).has_value(); }, std::chrono::minutes(2));
}

}  // namespace

void ChartTest::SetUp() {
  const std::string missing = ControlPlane::Missing(YAD_SOURCE_DIR) + Helm::Missing(YAD_SOURCE_DIR);
  if (!missing.empty()) {
    if (InCi()) FAIL() << missing;
    GTEST_SKIP() << missing;
  }
  if (shared_plane == nullptr) {
    ControlPlaneOptions options;
    options.crds = false;
    shared_plane = std::make_unique<ControlPlane>(YAD_SOURCE_DIR, options);
    InstallForeignCrds(*shared_plane);
  }
  plane_ = shared_plane.get();
  helm_ = std::make_unique<Helm>(YAD_SOURCE_DIR, *plane_);
  RemoveCrdsAndRivals();
}

void ChartTest::TearDown() {
  if (plane_ != nullptr) RemoveCrdsAndRivals();
}

std::unique_ptr<OperatorProcess> ChartTest::Run(const ChartInstall& chart) {
  auto process = std::make_unique<OperatorProcess>(chart.operator_options(YAD_OPERATOR_BINARY));
  process->WaitUntilReady();
  return process;
}

void ChartTest::RemoveCrdsAndRivals() const {
  for (const ResourceType* type : {&kMutatingType, &kValidatingType}) {
    for (const Json& configuration : kube().List(*type)) kube().Delete(*type, NameOf(configuration));
  }
  RemoveCrds();
  kube("kube-system").Delete(kDeploymentType, "yurt-manager");
}

void ChartTest::RemoveCrds() const {
  for (const char* crd : {kDaemonCrd, kPoolCrd, kAutoscalerCrd}) RemoveCrd(kube(), crd);
}

void ChartTest::MakeNamespace(const std::string& name, const Json& labels) const {
  if (kube().Find(kNamespaceType, name)) return;
  kube().Create(kNamespaceType, {{"metadata", {{"name", name}, {"labels", labels}}}});
}

std::string ChartTest::Render(const std::vector<std::string>& values, const std::string& release, const std::string& ns,
                              const std::string& flag) const {
  std::vector<std::string> command = {"template",       release,  helm_->chart(), "--namespace", ns,
                                      "--kube-version", "1.34.0", flag,           "--set",       kImageValue};
  for (const std::string& value : values) command.insert(command.end(), {"--set", value});
  return helm_->Run(command);
}

void ChartTest::Admit(const std::vector<std::vector<std::string>>& all) const {
  std::vector<std::string> sent;
  std::set<std::string> known;
  for (const std::vector<std::string>& values : all) {
    if (!rendered.contains(values)) rendered[values] = Documents(Render(values));
    for (const std::string& document : rendered.at(values)) {
      if (!admitted.contains(document) && known.insert(document).second) sent.push_back(document);
    }
  }
  if (sent.empty()) return;
  MakeNamespace(kOperatorNamespace);
  std::string manifest;
  for (const std::string& document : sent) manifest += kDocumentStart + document;
  const std::vector<Json> objects = ParseObjects(
      plane_->Kubectl({"create", "--dry-run=server", "--validate=strict", "--output=json", "-f", "-"}, manifest));
  if (objects.size() != sent.size()) throw TestFailure("kubectl printed another number of objects than it read");
  for (std::size_t i = 0; i < sent.size(); ++i) admitted[sent[i]] = objects[i];
}

void ChartTest::AdmitAll(const std::vector<std::vector<std::string>>& all) const {
  try {
    Admit(all);
  } catch (const TestFailure&) {
    // Admitted throws the same error, for the values of one list.
  }
}

std::vector<Json> ChartTest::Admitted(const std::vector<std::string>& values) const {
  Admit({values});
  std::vector<Json> objects;
  for (const std::string& document : rendered.at(values)) objects.push_back(admitted.at(document));
  return objects;
}

std::vector<Json> ChartTest::AdmittedTest(const std::vector<std::string>& values, const std::string& ns) const {
  // The service account must exist before a pod that uses it.
  MakeNamespace(ns);
  plane_->TryKubectl({"create", "serviceaccount", "yad-yurtappdaemon-operator-test", "--namespace=" + ns});
  return ParseObjects(plane_->Kubectl({"apply", "--dry-run=server", "--validate=strict", "--output=json", "-f", "-"},
                                      Render(values, "yad", ns, "--show-only=templates/tests/test.yaml")));
}

std::vector<Json> OfKind(const std::vector<Json>& objects, const std::string& kind) {
  std::vector<Json> found;
  for (const Json& object : objects) {
    if (StringAt(object, {"kind"}) == kind) found.push_back(object);
  }
  return found;
}

const Json& TheOne(const std::vector<Json>& objects, const std::string& kind, const std::string& name_ends) {
  const Json* found = nullptr;
  for (const Json& object : objects) {
    if (StringAt(object, {"kind"}) != kind || !NameOf(object).ends_with(name_ends)) continue;
    if (found != nullptr) throw TestFailure("two objects are a " + kind + " " + name_ends);
    found = &object;
  }
  if (found == nullptr) throw TestFailure("no object is a " + kind + " " + name_ends);
  return *found;
}

}  // namespace yad::testing
