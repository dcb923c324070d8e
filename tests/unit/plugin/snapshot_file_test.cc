// Snapshots of clusters in files, and simulations of these snapshots.
#include "plugin/commands/snapshot_file.h"

#include <gmock/gmock.h>

#include <fstream>

#include "operator/api/well_known.h"
#include "plugin/commands/commands.h"
#include "plugin/manifest/yaml.h"
#include "tests/unit/plugin/console_fixture.h"

namespace yad {
namespace {

using namespace testing;  // NOLINT: the fixture

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr char kPool[] = R"(apiVersion: apps.openyurt.io/v1beta1
kind: NodePool
metadata:
  name: a
  uid: p-a
)";

constexpr char kDaemon[] = R"(
apiVersion: apps.openyurt.io/v1alpha1
kind: YurtAppDaemon
metadata: {name: web, namespace: ns, uid: u}
spec:
  selector: {matchLabels: {app: web}}
  updateStrategy: {type: RollingUpdate}
  nodepoolSelector: {}
  workloadTemplate:
    deploymentTemplate:
      metadata: {labels: {app: web}}
      spec:
        template:
          metadata: {labels: {app: web}}
          spec:
            containers:
            - {name: main, image: "app:1"}
)";

class SnapshotFileTest : public ConsoleTest {
 protected:
  Result<SnapshotFile> Read(const std::string& text) {
    in_.clear();
    in_.str(text);
    return SnapshotFile::Read("-", console_);
  }
  std::string FaultOf(const std::string& text) {
    const auto file = Read(text);
    return file ? "none" : file.error().message;
  }
  Result<int> Simulate(const std::string& text, PluginOptions options = {}) {
    in_.clear();
    in_.str(text);
    out_.str("");
    err_.str("");
    options.command = "simulate";
    options.from = "-";
    if (options.daemon.empty()) options.daemon = "web";
    options.now = ParseTime("2026-01-02T03:04:05Z");
    return RunSimulateFrom(options, console_);
  }
};

TEST_F(SnapshotFileTest, ListsAndDocumentsAreRead) {
  auto file = Read(std::string("apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod}\n"
                               "- {apiVersion: v1, kind: Service, metadata: {name: s, namespace: x, uid: 1a}}\n"
                               "- {apiVersion: v1, kind: Service, metadata: {name: t, namespace: z, uid: 1b, "
                               "labels: {app: web}}}\n---\n") +
                   kPool);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_THAT(*file->List(kServiceType, "", ""), SizeIs(2));
  EXPECT_THAT(*file->List(kServiceType, "x", ""), SizeIs(1));
  EXPECT_THAT(*file->List(kServiceType, "", "app"), SizeIs(1));
  EXPECT_THAT(*file->List(kServiceType, "", "app=web"), SizeIs(1));
  EXPECT_THAT(*file->List(kServiceType, "", "app=api"), SizeIs(0));
  EXPECT_THAT(*file->List(kNodePoolType, ""), SizeIs(1));
  EXPECT_TRUE(file->Get(kServiceType, {"z", "t"}));
  EXPECT_EQ(file->Get(kServiceType, {"x", "t"}).error().reason, Reason::kNotFound);
  EXPECT_FALSE(file->Has(kDeploymentType));
  EXPECT_TRUE(Read(R"({"kind": "List", "apiVersion": "v1", "items": []})"));
}

TEST_F(SnapshotFileTest, ErrorNamesTheLineAndTheField) {
  EXPECT_THAT(FaultOf("a: [1\nb: 2\n"), StartsWith("standard input: line "));
  EXPECT_EQ(FaultOf("- 1\n"), "standard input: line 1: a document is not an object with apiVersion and kind");
  EXPECT_EQ(FaultOf(std::string(kPool) + "---\ntext\n"),
            "standard input: line 7: a document is not an object with apiVersion and kind");
  EXPECT_EQ(FaultOf("\n\napiVersion: v1\nmetadata: {}\n"), "standard input: line 3: object 1: kind: is missing");
  EXPECT_EQ(FaultOf("apiVersion: 1\nkind: Pod\n"),
            "standard input: line 1: Pod: apiVersion: must be a string: put it in quotes");
  EXPECT_EQ(FaultOf("apiVersion: v1\nkind: List\nitems:\n- {kind: Pod, apiVersion: v1}\n- 7\n"),
            "standard input: line 5: object 2: is not an object with apiVersion and kind");
  const std::string pool = kPool;
  EXPECT_EQ(FaultOf(pool + "---\n---\n" + pool),
            "standard input: line 11: NodePool \"a\": metadata.name: is a duplicate of object 1: remove one of them");
  EXPECT_EQ(FaultOf(pool + "  labels:\n    x: \"1\"\n    a.b/c: 2\n"),
            "standard input: line 8: NodePool \"a\": metadata.labels[a.b/c]: must be a string: put it in quotes");
  EXPECT_EQ(FaultOf(pool + "  annotations: [x]\n"),
            "standard input: line 6: NodePool \"a\": metadata.annotations: must be an object");
  EXPECT_EQ(FaultOf(pool + "spec: x\n"), "standard input: line 6: NodePool \"a\": spec: must be an object");
  EXPECT_EQ(FaultOf("kind: NodePool\napiVersion: apps.openyurt.io/v1alpha1\n"),
            "standard input: line 1: NodePool: metadata: is missing");
  EXPECT_EQ(FaultOf("kind: Service\napiVersion: v1\nmetadata:\n  name: a\n  uid: b\n"),
            "standard input: line 3: Service \"a\": metadata.namespace: is missing");
  EXPECT_EQ(FaultOf(R"({"kind": "List", "apiVersion": "v1", "items": [
    {"kind": "NodePool", "apiVersion": "apps.openyurt.io/v1beta1",
     "metadata": {"name": ""}}]})"),
            "standard input: line 3: NodePool: metadata.name: must not be empty");
}

TEST_F(SnapshotFileTest, SizeIsLimited) {
  ManifestFile file;
  file.source = "fleet.yaml";
  file.objects.resize(SnapshotFile::kMaxObjects + 1);
  file.places.resize(file.objects.size());
  EXPECT_EQ(SnapshotFile::Make(std::move(file)).error().message,
            "fleet.yaml: the snapshot has 200001 objects, and may have at most 200000");
  in_.str(std::string(100, ' '));
  EXPECT_EQ(ReadManifestFile("-", 99, console_).error().message, "standard input: the text is larger than 0 MiB");
}

TEST_F(SnapshotFileTest, SimulationNeedsNoCluster) {
  const auto ended = Simulate(std::string(kPool) + "---\n" + kDaemon);
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_THAT(out_.str(), HasSubstr("simulated from 2026-01-02T03:04:05Z"));
  EXPECT_THAT(out_.str(), HasSubstr("\nComplete after 2m: 1 of 1 pools get web-"));
  EXPECT_THAT(err_.str(), StartsWith("Warning: the freeze can't be read"));
}

TEST_F(SnapshotFileTest, FileIsAppliedToTheSnapshot) {
  const std::string path = ::testing::TempDir() + "simulate-file.yaml";
  Json manifest = ReadYaml(kDaemon, "test")->front();
  manifest["metadata"] = {{"name", "web"}};
  manifest["spec"]["updateStrategy"]["rollingUpdate"] = {{"groups", {{{"name", "first"}, {"pools", {"a"}}}}}};
  std::ofstream(path) << ToYaml(manifest);
  PluginOptions options;
  options.file = path;
  const auto ended = Simulate(std::string(kPool) + "---\n" + kDaemon, options);
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_THAT(out_.str(), HasSubstr("group first begins"));
  ASSERT_TRUE(Simulate(kPool, options));
  EXPECT_THAT(out_.str(), HasSubstr("group first begins"));
}

TEST_F(SnapshotFileTest, DaemonThatTheSnapshotLacksIsAnError) {
  const std::string pool = std::string(kPool) + "---\n";
  EXPECT_EQ(Simulate(pool).error().message, "standard input has no YurtAppDaemons");
  PluginOptions options;
  options.daemon = "api";
  EXPECT_EQ(Simulate(pool + kDaemon, options).error().message,
            "standard input has no YurtAppDaemon \"api\"; it has ns/web");
  options.daemon = "web";
  options.ns = "other";
  EXPECT_EQ(Simulate(pool + kDaemon, options).error().message,
            "standard input has no YurtAppDaemon \"web\" in namespace \"other\"; it has ns/web");
  std::string second = kDaemon;
  second.replace(second.find("namespace: ns"), 13, "namespace: other");
  EXPECT_TRUE(Simulate(pool + kDaemon + "---\n" + second, options));
  options.ns.clear();
  EXPECT_EQ(Simulate(pool + kDaemon + "---\n" + second, options).error().message,
            "standard input has a YurtAppDaemon \"web\" in each of the namespaces ns, other: give -n NAMESPACE");
}

TEST_F(SnapshotFileTest, FreezeOfTheSnapshotIsApplied) {
  PluginOptions options;
  options.operator_ns = "sys";
  const std::string objects = std::string(kPool) + "---\n" + kDaemon;
  EXPECT_TRUE(Simulate(objects, options));
  EXPECT_EQ(err_.str(),
            "Warning: the freeze can't be read, so the simulation assumes that updates are not frozen: standard input "
            "has no ConfigMaps\n");
  const auto output_with_freeze = [&](const std::string& metadata) {
    EXPECT_TRUE(Simulate(objects +
                             "---\n{kind: ConfigMap, apiVersion: v1, metadata: {name: yurtappdaemon-freeze, "
                             "namespace: sys, uid: c" +
                             metadata + "}, data: {reason: x, until: '2026-01-02T04:04:05Z'}}\n",
                         options));
    EXPECT_EQ(err_.str(), "");
    return out_.str();
  };
  EXPECT_THAT(output_with_freeze(""), HasSubstr("the freeze ends"));
  EXPECT_THAT(output_with_freeze(", deletionTimestamp: '2026-01-02T03:00:00Z'"), Not(HasSubstr("the freeze ends")))
      << "the operator ignores a ConfigMap that is being deleted";
}

TEST_F(SnapshotFileTest, MissingPartsAreReported) {
  EXPECT_THAT(Simulate(kDaemon).error().message,
              StartsWith("standard input has no NodePools: make the snapshot with kubectl get yurtappdaemons,"));
  const std::string pool = std::string(kPool) + "---\n";
  EXPECT_THAT(Simulate(pool + kDaemon + "status: {currentRevision: web-1}\n").error().message,
              StartsWith("standard input has no ControllerRevision ns/web-1, which status.currentRevision names: "));
  EXPECT_THAT(Simulate(pool + kDaemon + "status: {pools: [{name: a, workload: web-a}]}\n").error().message,
              StartsWith("standard input has no Deployments, but status.pools names the workload \"web-a\": "));
}

TEST_F(SnapshotFileTest, InvalidSpecIsRejectedWithItsLine) {
  std::string daemon = kDaemon;
  daemon.replace(daemon.find("type: RollingUpdate"), 19, "type: Rolling");
  EXPECT_THAT(
      Simulate(std::string(kPool) + "---" + daemon).error().message,
      StartsWith("standard input: line 12: YurtAppDaemon \"web\": spec.updateStrategy.type: Unsupported value"));
}

}  // namespace
}  // namespace yad
