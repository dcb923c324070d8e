#include "operator/workload/merge.h"

#include <gtest/gtest.h>

#include "operator/workload/semantics.h"
#include "tests/unit/workload/json.h"

namespace yad {
namespace {

Json Spec(const std::string& spec) { return {{"spec", Json::parse(spec)}}; }

TEST(MergeTest, RenderedFieldsAreSetAndOtherFieldsAreKept) {
  EXPECT_EQ(ThreeWayMerge(Spec(R"({"minReadySeconds":5})"), Spec(R"({"minReadySeconds":6})"),
                          Spec(R"({"minReadySeconds":5,"revisionHistoryLimit":3,"future":{"a":1}})")),
            Spec(R"({"minReadySeconds":6,"revisionHistoryLimit":3,"future":{"a":1}})"));
}

TEST(MergeTest, DroppedFieldsAreRemovedWithTheirDefaults) {
  const Json last = Container(R"({"readinessProbe":{"httpGet":{"port":80}}})");
  const Json now = Container(R"({"readinessProbe":{"exec":{"command":["true"]}}})");
  const Json live =
      Container(R"({"readinessProbe":{"httpGet":{"path":"/","port":80,"scheme":"HTTP"},"timeoutSeconds":1}})");
  EXPECT_EQ(ThreeWayMerge(last, now, live),
            Container(R"({"readinessProbe":{"exec":{"command":["true"]},"timeoutSeconds":1}})"));
}

TEST(MergeTest, NullCountsAsAbsent) {
  EXPECT_EQ(ThreeWayMerge(Spec(R"({"a":1,"b":null})"), Spec(R"({"a":null,"c":{"d":null}})"), Spec(R"({"a":1,"b":2})")),
            Spec(R"({"b":2})"));
}

TEST(MergeTest, OnlyLabelsAnnotationsAndSpecAreMerged) {
  const Json last = J(R"({"metadata":{"labels":{"l":"1"},"finalizers":["x"]},"status":{"replicas":1},"kind":"A"})");
  const Json now = J(R"({"metadata":{"labels":{"m":"1"},"name":"n"},"status":{"replicas":2},"kind":"B","spec":{}})");
  const Json live =
      J(R"({"kind":"C","metadata":{"name":"o","labels":{"l":"1","f":"1"},"annotations":{"a":"b"},"finalizers":["x"]},
                          "spec":{},"status":{"replicas":3}})");
  EXPECT_EQ(
      ThreeWayMerge(last, now, live),
      J(R"({"kind":"C","metadata":{"name":"o","labels":{"m":"1","f":"1"},"annotations":{"a":"b"},"finalizers":["x"]},
                  "spec":{},"status":{"replicas":3}})"));
}

TEST(MergeTest, DroppedReplicasKeepTheLiveValue) {
  EXPECT_EQ(ThreeWayMerge(Spec(R"({"replicas":3})"), Spec(R"({})"), Spec(R"({"replicas":7})")),
            Spec(R"({"replicas":7})"));
  EXPECT_EQ(ThreeWayMerge(Spec(R"({})"), Spec(R"({"replicas":0})"), Spec(R"({"replicas":7})")),
            Spec(R"({"replicas":0})"));
}

TEST(MergeTest, RolloutRestartAnnotationIsKept) {
  const Json last = J(R"({"spec":{"template":{"metadata":{"annotations":{"ours":"1"}}}}})");
  const Json now = J(R"({"spec":{"template":{"metadata":{"labels":{"a":"b"}}}}})");
  const Json live = J(R"({"spec":{"template":{"metadata":{"annotations":
      {"ours":"1","kubectl.kubernetes.io/restartedAt":"2026-01-01T00:00:00Z"},"creationTimestamp":null}}}})");
  EXPECT_EQ(
      ThreeWayMerge(last, now, live),
      J(R"({"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-01-01T00:00:00Z"},
                  "labels":{"a":"b"},"creationTimestamp":null}}}})"));
}

TEST(MergeTest, ForeignEntriesAreKeptWhenAllOwnEntriesAreRemoved) {
  const Json last =
      Pod(R"({"nodeSelector":{"a":"1"},"volumes":[{"name":"ours","emptyDir":{}}],"hostAliases":[{"ip":"1.1.1.1"}]})");
  const Json live = Pod(R"({"nodeSelector":{"a":"1","b":"2"},
      "volumes":[{"name":"ours","emptyDir":{}},{"name":"injected","emptyDir":{}}],"hostAliases":[{"ip":"1.1.1.1"}]})");
  EXPECT_EQ(ThreeWayMerge(last, Pod("{}"), live),
            Pod(R"({"nodeSelector":{"b":"2"},"volumes":[{"name":"injected","emptyDir":{}}]})"));
}

TEST(MergeTest, ContainersAreMergedByNameAndASidecarIsKept) {
  const Json last = Pod(R"({"containers":[{"name":"a","image":"1"},{"name":"gone","image":"1"}]})");
  const Json now = Pod(R"({"containers":[{"name":"a","image":"2"},{"name":"new","image":"1"}]})");
  const Json live = Pod(R"({"containers":[{"name":"a","image":"1","terminationMessagePolicy":"File"},
                                          {"name":"sidecar","image":"s"},{"name":"gone","image":"1"}]})");
  EXPECT_EQ(ThreeWayMerge(last, now, live),
            Pod(R"({"containers":[{"name":"a","image":"2","terminationMessagePolicy":"File"},{"name":"new","image":"1"},
                                  {"name":"sidecar","image":"s"}]})"));
}

TEST(MergeTest, OwnItemsHaveTheRenderedOrderAndForeignItemsKeepTheirPositions) {
  const Json last = Pod(R"({"initContainers":[{"name":"a"},{"name":"b"},{"name":"c"}]})");
  const Json now =
      Pod(R"({"initContainers":[{"name":"new0"},{"name":"c"},{"name":"a"},{"name":"new1"},{"name":"b"}]})");
  const Json live = Pod(R"({"initContainers":[{"name":"x"},{"name":"a"},{"name":"b"},{"name":"y"},{"name":"c"}]})");
  EXPECT_EQ(
      ThreeWayMerge(last, now, live),
      Pod(R"({"initContainers":[{"name":"x"},{"name":"new0"},{"name":"c"},{"name":"a"},{"name":"new1"},{"name":"y"},
                                      {"name":"b"}]})"));
}

TEST(MergeTest, CompatibleOrderIsNotChanged) {
  const Json now = Pod(R"({"initContainers":[{"name":"a"},{"name":"b"}]})");
  const Json live = Pod(R"({"initContainers":[{"name":"x"},{"name":"a"},{"name":"y"},{"name":"b"},{"name":"z"}]})");
  EXPECT_EQ(ThreeWayMerge(now, now, live), live);
}

TEST(MergeTest, PortsAreKeyedByNumberAndProtocolWithTcpAsTheDefault) {
  const Json now = Container(R"({"ports":[{"containerPort":53},{"containerPort":53,"protocol":"UDP","name":"dns"}]})");
  const Json live =
      Container(R"({"ports":[{"containerPort":53,"protocol":"TCP"},{"containerPort":53,"protocol":"UDP","name":"dns"},
                                           {"containerPort":9,"protocol":"TCP"}]})");
  EXPECT_EQ(ThreeWayMerge(now, now, live), live);
  EXPECT_EQ(ThreeWayMerge(now, Container(R"({"ports":[{"containerPort":53,"protocol":"UDP"}]})"), live),
            Container(R"({"ports":[{"containerPort":53,"protocol":"UDP"},{"containerPort":9,"protocol":"TCP"}]})"));
}

TEST(MergeTest, EveryKeyedListIsMergedByItsKey) {
  struct Case {
    const char* list;
    const char* ours;
    const char* foreign;
  };
  const Case pod_lists[] = {
      {"volumes", R"({"name":"a"})", R"({"name":"b"})"},
      {"imagePullSecrets", R"({"name":"a"})", R"({"name":"b"})"},
      {"hostAliases", R"({"ip":"1.1.1.1"})", R"({"ip":"2.2.2.2"})"},
      {"resourceClaims", R"({"name":"a"})", R"({"name":"b"})"},
      {"schedulingGates", R"({"name":"a"})", R"({"name":"b"})"},
      {"ephemeralContainers", R"({"name":"a"})", R"({"name":"b"})"},
      {"topologySpreadConstraints", R"({"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule"})",
       R"({"topologyKey":"z","whenUnsatisfiable":"ScheduleAnyway"})"},
  };
  for (const Case& each : pod_lists) {
    Json now = Pod("{}");
    Json live = Pod("{}");
    now["spec"]["template"]["spec"][each.list] = Json::array({J(each.ours)});
    live["spec"]["template"]["spec"][each.list] = Json::array({J(each.foreign), J(each.ours)});
    EXPECT_EQ(ThreeWayMerge(now, now, live), live) << each.list;
  }
  const Case container_lists[] = {
      {"env", R"({"name":"a"})", R"({"name":"b"})"},
      {"volumeMounts", R"({"mountPath":"/a","name":"v"})", R"({"mountPath":"/b","name":"v"})"},
      {"volumeDevices", R"({"devicePath":"/a","name":"v"})", R"({"devicePath":"/b","name":"v"})"},
  };
  for (const Case& each : container_lists) {
    Json now = Container("{}");
    Json live = Container("{}");
    now["spec"]["template"]["spec"]["containers"][0][each.list] = Json::array({J(each.ours)});
    live["spec"]["template"]["spec"]["containers"][0][each.list] = Json::array({J(each.foreign), J(each.ours)});
    EXPECT_EQ(ThreeWayMerge(now, now, live), live) << each.list;
  }
}

TEST(MergeTest, OtherListsAreReplacedAsAWhole) {
  const Json now = Pod(R"({"tolerations":[{"key":"a","operator":"Exists"}],"future":[{"name":"a"}]})");
  const Json live = Pod(R"({"tolerations":[{"key":"a","operator":"Exists"},{"key":"evil"}],"future":[{"name":"b"}]})");
  EXPECT_EQ(ThreeWayMerge(now, now, live), now);
  const Json args = Container(R"({"args":["a","b"],"envFrom":[{"configMapRef":{"name":"x"}}]})");
  EXPECT_EQ(ThreeWayMerge(args, args, Container(R"({"args":["a"],"envFrom":[]})")), args);
}

TEST(MergeTest, AnEnvNameThatOccursTwiceMakesTheListAtomic) {
  const Json now = Container(R"({"env":[{"name":"A","value":"1"},{"name":"A","value":"2"}]})");
  EXPECT_EQ(ThreeWayMerge(now, now, Container(R"({"env":[{"name":"A","value":"1"},{"name":"B"}]})")), now);
  EXPECT_EQ(ThreeWayMerge(now, now, now), now);
  const Json once = Container(R"({"env":[{"name":"A","value":"1"}]})");
  EXPECT_EQ(ThreeWayMerge(now, once, now), once);
  const Json field =
      Container(R"({"env":[{"name":"A","value":""},{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"x"}}}]})");
  const Json stored =
      Container(R"({"env":[{"name":"A"},{"name":"A","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"x"}}}]})");
  EXPECT_EQ(ThreeWayMerge(field, field, stored), stored);
}

TEST(MergeTest, APortThatOccursTwiceMakesTheListAtomicWithItsDefaults) {
  const Json now = Container(R"({"ports":[{"containerPort":80,"name":"a"},{"containerPort":80,"name":"b"}]})");
  const Json live = Container(
      R"({"ports":[{"containerPort":80,"name":"a","protocol":"TCP"},{"containerPort":80,"name":"b","protocol":"TCP"}]})");
  EXPECT_EQ(ThreeWayMerge(now, now, live), live);
}

TEST(MergeTest, StrategyRecreateRemovesRollingUpdate) {
  const Json last = Spec(R"({"strategy":{"rollingUpdate":{"maxSurge":1}}})");
  const Json live =
      Spec(R"({"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1,"maxUnavailable":"25%"}}})");
  EXPECT_EQ(ThreeWayMerge(last, Spec(R"({"strategy":{"type":"Recreate"}})"), live),
            Spec(R"({"strategy":{"type":"Recreate"}})"));
  const Json same = Spec(R"({"strategy":{"type":"RollingUpdate"}})");
  EXPECT_EQ(ThreeWayMerge(same, same, live), live);
}

// The apiserver rejects rollingUpdate with any other type.
TEST(MergeTest, RollingUpdateWithoutTypeRemovesAnotherTypeThatAClientHasSet) {
  const Json now = Spec(R"({"strategy":{"rollingUpdate":{"maxSurge":1}}})");
  EXPECT_EQ(ThreeWayMerge(now, now, Spec(R"({"strategy":{"type":"Recreate"}})")), now);
  EXPECT_FALSE(IsMerged(now, Spec(R"({"strategy":{"type":"Recreate"}})")));
  const Json live = Spec(R"({"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}}})");
  EXPECT_EQ(ThreeWayMerge(now, now, live), live);
  const Json partition = Spec(R"({"updateStrategy":{"rollingUpdate":{"partition":1}}})");
  EXPECT_EQ(ThreeWayMerge(partition, partition, Spec(R"({"updateStrategy":{"type":"OnDelete"}})")), partition);
  const Json recreate = Spec(R"({"strategy":{"type":"Recreate"}})");
  EXPECT_EQ(ThreeWayMerge(Spec("{}"), Spec(R"({"strategy":{}})"), recreate), recreate);
}

TEST(MergeTest, StrategyOnDeleteRemovesRollingUpdate) {
  const Json live = Spec(R"({"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":0}}})");
  EXPECT_EQ(ThreeWayMerge(Spec("{}"), Spec(R"({"updateStrategy":{"type":"OnDelete"}})"), live),
            Spec(R"({"updateStrategy":{"type":"OnDelete"}})"));
}

TEST(MergeTest, ANewVolumeSourceReplacesTheOldOne) {
  const Json now = Pod(R"({"volumes":[{"name":"v","secret":{"secretName":"s"}}]})");
  const Json live = Pod(R"({"volumes":[{"name":"v","configMap":{"name":"c","defaultMode":420}}]})");
  EXPECT_EQ(ThreeWayMerge(Pod("{}"), now, live), now);
  const Json empty = Pod(R"({"volumes":[{"name":"v","emptyDir":{}}]})");
  EXPECT_EQ(ThreeWayMerge(now, empty, live), empty);
}

// An apiserver stores a volume without a source as an emptyDir.
TEST(MergeTest, AVolumeWithoutASourceKeepsTheServersEmptyDir) {
  const Json bare = Pod(R"({"volumes":[{"name":"v"}]})");
  const Json empty = Pod(R"({"volumes":[{"name":"v","emptyDir":{}}]})");
  EXPECT_EQ(ThreeWayMerge(bare, bare, empty), empty);
  EXPECT_EQ(ThreeWayMerge(empty, bare, empty), empty);
  EXPECT_EQ(ThreeWayMerge(bare, empty, empty), empty);
  const Json host_path = Pod(R"({"volumes":[{"name":"v","hostPath":{"path":"/x","type":""}}]})");
  EXPECT_EQ(ThreeWayMerge(host_path, bare, host_path), bare);
  EXPECT_EQ(ThreeWayMerge(empty, host_path, empty), host_path);
  EXPECT_EQ(ThreeWayMerge(bare, host_path, empty), host_path);
  const Json memory = Pod(R"({"volumes":[{"name":"v","emptyDir":{"medium":"Memory"}}]})");
  EXPECT_EQ(ThreeWayMerge(memory, bare, memory), bare);
}

// As in Kubernetes, a patch without a source keeps the source of the template.
TEST(MergeTest, APatchMayAddAVolumeWithoutASource) {
  Json workload = Pod(R"({"volumes":[{"name":"v","hostPath":{"path":"/x"}}]})");
  ApplyPatch(Pod(R"({"volumes":[{"name":"new"},{"name":"v"}]})"), true, workload);
  EXPECT_EQ(workload, Pod(R"({"volumes":[{"name":"new"},{"name":"v","hostPath":{"path":"/x"}}]})"));
  ApplyPatch(Pod(R"({"volumes":[{"name":"v","hostPath":null}]})"), true, workload);
  EXPECT_EQ(workload, Pod(R"({"volumes":[{"name":"new"},{"name":"v"}]})"));
}

TEST(MergeTest, AnEnvValueAndAnEnvSourceReplaceEachOther) {
  const Json from = Container(R"({"env":[{"name":"A","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}]})");
  EXPECT_EQ(ThreeWayMerge(Container("{}"), from, Container(R"({"env":[{"name":"A","value":"x"}]})")), from);
  EXPECT_EQ(ThreeWayMerge(Container("{}"), Container(R"({"env":[{"name":"A","value":""}]})"), from),
            Container(R"({"env":[{"name":"A"}]})"));
  const Json other = Container(R"({"env":[{"name":"A","valueFrom":{"configMapKeyRef":{"name":"s","key":"k"}}}]})");
  EXPECT_EQ(ThreeWayMerge(Container("{}"), other, from), other);
}

TEST(MergeTest, NewKindOfHandlerReplacesTheOldOne) {
  const Json now =
      Container(R"({"lifecycle":{"preStop":{"sleep":{"seconds":3}}},"livenessProbe":{"tcpSocket":{"port":1}}})");
  const Json live = Container(
      R"({"lifecycle":{"preStop":{"exec":{"command":["x"]}}},"livenessProbe":{"grpc":{"port":1,"service":""}}})");
  EXPECT_EQ(ThreeWayMerge(Container("{}"), now, live), now);
}

TEST(MergeTest, LocalhostProfileIsRemovedWithItsType) {
  const Json now = Pod(R"({"securityContext":{"seccompProfile":{"type":"RuntimeDefault"}}})");
  const Json live = Pod(R"({"securityContext":{"seccompProfile":{"type":"Localhost","localhostProfile":"p"}}})");
  EXPECT_EQ(ThreeWayMerge(Pod("{}"), now, live), now);
}

TEST(MergeTest, DeprecatedServiceAccountIsSetLikeServiceAccountName) {
  const Json a = Pod(R"({"serviceAccountName":"a"})");
  const Json both = Pod(R"({"serviceAccountName":"a","serviceAccount":"a"})");
  EXPECT_EQ(ThreeWayMerge(a, a, both), both);
  EXPECT_EQ(ThreeWayMerge(a, Pod("{}"), both), Pod("{}"));
  EXPECT_EQ(ThreeWayMerge(a, Pod(R"({"serviceAccountName":"b"})"), both),
            Pod(R"({"serviceAccountName":"b","serviceAccount":"b"})"));
  EXPECT_EQ(ThreeWayMerge(a, Pod(R"({"serviceAccount":"b"})"), both),
            Pod(R"({"serviceAccountName":"b","serviceAccount":"b"})"));
  EXPECT_EQ(ThreeWayMerge(Pod("{}"), Pod("{}"), both), both);
}

TEST(MergeTest, QuantitiesKeepTheServersNotation) {
  const Json now = Container(R"({"resources":{"limits":{"cpu":"1000m","memory":"1024Mi"},"requests":{"cpu":1}}})");
  const Json live = Container(R"({"resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"1"}}})");
  EXPECT_EQ(ThreeWayMerge(now, now, live), live);
  const Json size = Pod(R"({"volumes":[{"name":"v","emptyDir":{"sizeLimit":"1024Mi"}}]})");
  const Json stored = Pod(R"({"volumes":[{"name":"v","emptyDir":{"sizeLimit":"1Gi"}}]})");
  EXPECT_EQ(ThreeWayMerge(size, size, stored), stored);
  const Json more = Container(R"({"resources":{"limits":{"cpu":"1001m"}}})");
  EXPECT_EQ(ThreeWayMerge(more, more, live).dump(),
            Container(R"({"resources":{"limits":{"cpu":"1001m","memory":"1Gi"},"requests":{"cpu":"1"}}})").dump());
}

TEST(MergeTest, TextsThatLookLikeQuantitiesAreNotComparedAsQuantities) {
  const Json now = J(R"({"metadata":{"labels":{"version":"1.0"}},"spec":{}})");
  EXPECT_EQ(ThreeWayMerge(now, now, J(R"({"metadata":{"labels":{"version":"1"}},"spec":{}})")), now);
}

TEST(MergeTest, ValuesThatTheServerDropsAreNotADifference) {
  const Json now =
      Pod(R"({"hostNetwork":false,"securityContext":{},"affinity":{"nodeAffinity":null},"nodeSelector":{},"volumes":[],
      "tolerations":[{"key":"k","operator":"Exists","value":""}],"restartPolicy":"",
      "containers":[{"name":"c","stdin":false,"args":[],"env":[{"name":"E","value":""}],"ports":[{"containerPort":1,"hostPort":0}],
        "volumeMounts":[{"name":"v","mountPath":"/v","readOnly":false}],"readinessProbe":{"initialDelaySeconds":0,"timeoutSeconds":0}}]})");
  const Json live =
      Pod(R"({"securityContext":{},"tolerations":[{"key":"k","operator":"Exists"}],"restartPolicy":"Always",
      "containers":[{"name":"c","env":[{"name":"E"}],"ports":[{"containerPort":1,"protocol":"TCP"}],"resources":{},
        "volumeMounts":[{"name":"v","mountPath":"/v"}],"readinessProbe":{"timeoutSeconds":1,"periodSeconds":10}}]})");
  EXPECT_EQ(ThreeWayMerge(now, now, live), live);
}

TEST(MergeTest, AZeroThatTheServerKeepsIsSet) {
  const Json now = Container(R"({"securityContext":{"runAsUser":0,"allowPrivilegeEscalation":false}})");
  EXPECT_EQ(ThreeWayMerge(now, now, Container("{}")), now);
  const Json pod = Pod(R"({"automountServiceAccountToken":false,"terminationGracePeriodSeconds":0})");
  EXPECT_EQ(ThreeWayMerge(pod, pod, Pod(R"({"terminationGracePeriodSeconds":30})")), pod);
}

TEST(MergeTest, ZeroRevertsAForeignValue) {
  const Json now = Pod(R"({"hostNetwork":false})");
  EXPECT_EQ(ThreeWayMerge(now, now, Pod(R"({"hostNetwork":true})")), now);
  const Json env = Container(R"({"env":[{"name":"E","value":""}]})");
  EXPECT_EQ(ThreeWayMerge(env, env, Container(R"({"env":[{"name":"E","value":"x"}]})")), env);
}

TEST(MergeTest, AnEmptyObjectThatHasAMeaningIsSet) {
  const Json now = Pod(R"({"volumes":[{"name":"v","emptyDir":{}}]})");
  EXPECT_EQ(ThreeWayMerge(now, now, Pod(R"({"volumes":[{"name":"v"}]})")), now);
  const Json spread = Pod(
      R"({"topologySpreadConstraints":[{"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule","labelSelector":{}}]})");
  const Json narrow = Pod(R"({"topologySpreadConstraints":
      [{"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"a":"b"}}}]})");
  EXPECT_EQ(ThreeWayMerge(spread, spread, narrow), spread);
}

TEST(MergeTest, AnEmptyLabelIsSet) {
  const Json now = Pod(R"({"nodeSelector":{"node-role.kubernetes.io/edge":""}})");
  EXPECT_EQ(ThreeWayMerge(now, now, Pod("{}")), now);
}

TEST(MergeTest, DefaultsInsideAtomicListsAreNotADifference) {
  const Json now = Pod(R"({"volumes":[{"name":"v","projected":{"sources":[{"serviceAccountToken":{"path":"t"}},
      {"downwardAPI":{"items":[{"path":"l","fieldRef":{"fieldPath":"metadata.labels"}},
                               {"path":"m","resourceFieldRef":{"resource":"limits.cpu","containerName":"c","divisor":"1000m"}}]}}]}}]})");
  const Json live = Pod(
      R"({"volumes":[{"name":"v","projected":{"defaultMode":420,"sources":[{"serviceAccountToken":{"path":"t","expirationSeconds":3600}},
      {"downwardAPI":{"items":[{"path":"l","fieldRef":{"apiVersion":"v1","fieldPath":"metadata.labels"}},
                               {"path":"m","resourceFieldRef":{"resource":"limits.cpu","containerName":"c","divisor":"1"}}]}}]}}]})");
  EXPECT_EQ(ThreeWayMerge(now, now, live), live);
  Json changed = live;
  changed["spec"]["template"]["spec"]["volumes"][0]["projected"]["sources"][0]["serviceAccountToken"]
         ["expirationSeconds"] = 7200;
  EXPECT_NE(ThreeWayMerge(now, now, changed), changed);
}

TEST(MergeTest, RemovalOfADefaultCausesNoWrite) {
  const Json last = Container(R"({"ports":[{"containerPort":80,"protocol":"TCP"}],"terminationMessagePolicy":"File"})");
  const Json now = Container(R"({"ports":[{"containerPort":80}]})");
  EXPECT_EQ(ThreeWayMerge(last, now, last), last);
}

TEST(MergeTest, ResetsAFieldToTheServersDefaultWhenItsValueBecomesEmptyOrZero) {
  const auto merged = [](const Json& last, const Json& now, const Json& live) {
    const Json result = ThreeWayMerge(last, now, live);
    EXPECT_EQ(ThreeWayMerge(now, now, result), result);
    return result;
  };
  EXPECT_EQ(merged(Container(R"({"imagePullPolicy":"Always"})"), Container(R"({"imagePullPolicy":""})"),
                   Container(R"({"imagePullPolicy":"Always","image":"a"})")),
            Container(R"({"image":"a"})"));
  EXPECT_EQ(merged(Container(R"({"livenessProbe":{"timeoutSeconds":5,"httpGet":{"port":80,"path":"/up"}}})"),
                   Container(R"({"livenessProbe":{"timeoutSeconds":0,"httpGet":{"port":80,"path":""}}})"),
                   Container(R"({"livenessProbe":{"timeoutSeconds":5,"httpGet":{"port":80,"path":"/up"}}})")),
            Container(R"({"livenessProbe":{"httpGet":{"port":80}}})"));
  EXPECT_EQ(merged(Spec(R"({"strategy":{"type":"Recreate"}})"), Spec(R"({"strategy":{"type":""}})"),
                   Spec(R"({"strategy":{"type":"Recreate"}})")),
            Spec(R"({"strategy":{}})"));
  EXPECT_EQ(merged(Pod(R"({"dnsPolicy":"None","schedulerName":"mine"})"), Pod(R"({"dnsPolicy":"","schedulerName":""})"),
                   Pod(R"({"dnsPolicy":"None","schedulerName":"mine"})")),
            Pod("{}"));
}

TEST(MergeTest, ResetsAFieldToTheServersDefaultWhenAnOverridesPatchEmptiesIt) {
  Json workload = Container(R"({"imagePullPolicy":"Always","image":"a"})");
  ApplyPatch(Container(R"({"imagePullPolicy":""})"), true, workload);
  EXPECT_EQ(workload, Container(R"({"image":"a"})"));
}

// The apiserver treats an empty value like an absent value, so both results have the same effect.
TEST(MergeTest, APatchKeepsAnEmptyValueInANewListAndRemovesAnExistingOne) {
  const Json patch = Container(R"({"imagePullPolicy":""})");
  Json added = Json::object();
  ApplyPatch(patch, true, added);
  EXPECT_EQ(added, patch);
  Json again = added;
  ApplyPatch(patch, true, again);
  EXPECT_EQ(again, Container("{}"));
  EXPECT_TRUE(SameObject(WorkloadSchema(), added, again));
}

TEST(MergeTest, AnEmptyValueKeepsALiveValueThatIsTheDefaultOrThatAnotherClientSet) {
  // The live value is the server's default. A write that removes it would change nothing.
  EXPECT_EQ(ThreeWayMerge(Pod(R"({"dnsPolicy":"ClusterFirst"})"), Pod(R"({"dnsPolicy":""})"),
                          Pod(R"({"dnsPolicy":"ClusterFirst"})")),
            Pod(R"({"dnsPolicy":"ClusterFirst"})"));
  // Another client has set the live value.
  const Json live = Container(R"({"imagePullPolicy":"Never"})");
  EXPECT_EQ(ThreeWayMerge(Container("{}"), Container(R"({"imagePullPolicy":""})"), live), live);
  EXPECT_EQ(ThreeWayMerge(Container(R"({"imagePullPolicy":""})"), Container(R"({"imagePullPolicy":""})"), live), live);
  EXPECT_TRUE(IsMerged(Container(R"({"imagePullPolicy":""})"), live));
}

TEST(MergeTest, KeepsTheServiceOfAStatefulSetWhoseTemplateLeavesTheServiceNameEmpty) {
  const Json live = Spec(R"({"serviceName":"web-hz-qv578","replicas":1})");
  const Json empty = Spec(R"({"serviceName":""})");
  EXPECT_TRUE(IsMerged(empty, live));
  EXPECT_EQ(ThreeWayMerge(empty, empty, live), live);
  EXPECT_EQ(ThreeWayMerge(Spec("{}"), empty, live), live);
  EXPECT_EQ(ThreeWayMerge(empty, Spec("{}"), live), live);
  // The apiserver rejects both results, because the field is immutable.
  EXPECT_EQ(ThreeWayMerge(Spec(R"({"serviceName":"web-hz-qv578"})"), empty, live),
            ThreeWayMerge(Spec(R"({"serviceName":"web-hz-qv578"})"), Spec("{}"), live));
}

// Kubernetes 1.28 and later fill in the hostPort in the pods, but not in their template. So its removal from the
// template restarts the pods.
TEST(MergeTest, KeepsAPortThatEqualsTheServersDefaultWithHostNetwork) {
  const Json last =
      Pod(R"({"hostNetwork":true,"containers":[{"name":"c","ports":[{"containerPort":80,"hostPort":80}]}]})");
  Json now = Pod(R"({"hostNetwork":true,"containers":[{"name":"c","ports":[{"containerPort":80}]}]})");
  EXPECT_EQ(ThreeWayMerge(last, now, last), last);
  now["spec"]["template"]["spec"].erase("hostNetwork");
  EXPECT_EQ(ThreeWayMerge(last, now, last), now) << "without hostNetwork, the port is not a default";
}

TEST(MergeTest, ServersFieldsInVolumeClaimTemplatesAreNotADifference) {
  const Json now = Spec(R"({"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],
      "resources":{"requests":{"storage":"1024Mi"}},"storageClassName":""}}]})");
  const Json live = Spec(R"({"volumeClaimTemplates":[{"apiVersion":"v1","kind":"PersistentVolumeClaim",
      "metadata":{"name":"data","creationTimestamp":null},"spec":{"accessModes":["ReadWriteOnce"],
      "resources":{"requests":{"storage":"1Gi"}},"storageClassName":"","volumeMode":"Filesystem"},"status":{"phase":"Pending"}}]})");
  EXPECT_EQ(ThreeWayMerge(now, now, live), live);
}

TEST(MergeTest, DeepObjectsDoNotOverflowTheStack) {
  Json deep = "end";
  for (int i = 0; i < 1000; ++i) deep = Json{{"a", std::move(deep)}};
  const Json now = {{"spec", {{"future", deep}}}};
  EXPECT_EQ(ThreeWayMerge(now, now, now), now);
  EXPECT_EQ(ThreeWayMerge(Spec("{}"), now, Spec("{}")), now);
}

TEST(MergeTest, ValuesOfWrongTypesAreReplacedWithoutACrash) {
  const Json now = Pod(R"({"containers":[{"name":"c"}],"volumes":[1,"x",null],"securityContext":{"a":1}})");
  for (const char* live : {R"({"containers":"x","volumes":{},"securityContext":[]})",
                           R"({"containers":[[]],"volumes":[{}],"securityContext":1})"}) {
    EXPECT_EQ(ThreeWayMerge(now, now, Pod(live)), now) << live;
  }
  for (const char* odd : {"null", "[]", "1", "\"x\"", R"({"spec":1,"metadata":[]})"}) {
    ThreeWayMerge(J(odd), now, now);
    ThreeWayMerge(now, J(odd), now);
    EXPECT_TRUE(ThreeWayMerge(now, now, J(odd)).is_object());
  }
}

TEST(MergeTest, ListWithoutKeysIsRemovedAsAWhole) {
  const Json last = J(R"({"spec":{"template":{"spec":{"topologySpreadConstraints":[{}]}}}})");
  const Json live = J(
      R"({"spec":{"template":{"spec":{"topologySpreadConstraints":[{"maxSkew":0,"topologyKey":"","whenUnsatisfiable":""}]}}}})");
  const Json now = J(R"({"spec":{"template":{"spec":{}}}})");
  EXPECT_EQ(ThreeWayMerge(last, now, live), now);
}

TEST(MergeTest, InvalidServiceAccountIsKeptForTheApiserverToReject) {
  const Json last = J(R"({"spec":{"template":{"spec":{"serviceAccountName":"a"}}}})");
  const Json now = J(R"({"spec":{"template":{"spec":{"serviceAccountName":{"name":"b"}}}}})");
  EXPECT_EQ(ThreeWayMerge(last, now, last), now);
}

TEST(MergeTest, AServiceAccountOfAWrongTypeIsKeptForTheApiserverToReject) {
  const Json last = R"({"spec":{"template":{"spec":{"serviceAccountName":"a"}}}})"_json;
  const Json now = R"({"spec":{"template":{"spec":{"serviceAccountName":0}}}})"_json;
  const Json merged = ThreeWayMerge(last, now, last);
  EXPECT_EQ(merged["spec"]["template"]["spec"]["serviceAccountName"], 0);
  EXPECT_EQ(ThreeWayMerge(now, now, merged), merged);
}

}  // namespace
}  // namespace yad
