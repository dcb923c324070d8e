#include "operator/workload/revision.h"

#include <gtest/gtest.h>

#include "operator/api/well_known.h"
#include "operator/workload/render.h"
#include "tests/unit/workload/json.h"

namespace yad {
namespace {

// A ControllerRevision of OpenYurt 1.6.1.
constexpr char kOpenYurtRevision[] =
    R"({"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"daemon-1-5c69b69bd4"},"revision":3,
  "data":{"spec":{"workloadTemplate":{"$patch":"replace","deploymentTemplate":{
    "metadata":{"creationTimestamp":null,"labels":{"app":"daemon-1"}},
    "spec":{"replicas":1,"selector":{"matchLabels":{"app":"daemon-1"}},"strategy":{},"template":{
      "metadata":{"creationTimestamp":null,"labels":{"app":"daemon-1"}},
      "spec":{"containers":[{"image":"nginx:1.20.0","imagePullPolicy":"Always","name":"nginx","ports":[{"containerPort":80,"protocol":"TCP"}],
        "resources":{"requests":{"cpu":"10m"}},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}],
        "dnsPolicy":"ClusterFirst","restartPolicy":"Always","terminationGracePeriodSeconds":30}}}}}}}})";

// The template of the daemon from which kOpenYurtRevision was created.
constexpr char kTemplate[] = R"({"metadata":{"labels":{"app":"daemon-1"}},
    "spec":{"replicas":1,"selector":{"matchLabels":{"app":"daemon-1"}},"template":{"metadata":{"labels":{"app":"daemon-1"}},
      "spec":{"containers":[{"image":"nginx:1.20.0","imagePullPolicy":"Always","name":"nginx","ports":[{"containerPort":80,"protocol":"TCP"}],
        "resources":{"requests":{"cpu":"10m"}},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}],
        "dnsPolicy":"ClusterFirst","restartPolicy":"Always","terminationGracePeriodSeconds":30}}}})";

YurtAppDaemon Daemon(const std::string& workload_template = kTemplate, const std::string& overrides = "[]") {
  YurtAppDaemon daemon;
  daemon.meta.key = {"default", "daemon-1"};
  daemon.meta.uid = "98ac7b65";
  daemon.workload_template = J(workload_template);
  daemon.overrides = J(overrides);
  return daemon;
}

TEST(RevisionTest, OpenYurtsRevisionEqualsTheDaemonItWasCreatedFrom) {
  const auto stored = ContentOf(J(kOpenYurtRevision));
  ASSERT_TRUE(stored.has_value());
  const RevisionContent content = ContentOf(Daemon());
  EXPECT_EQ(stored->digest, content.digest);
  EXPECT_EQ(stored->kind, WorkloadKind::kDeployment);
  EXPECT_FALSE(stored->workload_template.contains("$patch"));
  EXPECT_TRUE(stored->workload_template["spec"].contains("strategy"));
  EXPECT_FALSE(stored->workload_template["metadata"].contains("creationTimestamp"));
}

TEST(RevisionTest, OwnRevisionIsReadAsItWasWritten) {
  const std::string overrides =
      R"([{"pools":["a"],"replicas":null,"patch":{"spec":{"replicas":null}},"jsonPatches":[{"op":"add","path":"/spec/x","value":{}}]}])";
  const RevisionContent content = ContentOf(Daemon(kTemplate, overrides));
  const Json object = MakeControllerRevision(Daemon(), content, "abc", 4);
  const auto stored = ContentOf(object);
  ASSERT_TRUE(stored.has_value());
  EXPECT_EQ(stored->digest, content.digest);
  EXPECT_EQ(stored->workload_template, content.workload_template);
  EXPECT_EQ(stored->overrides, content.overrides);
  EXPECT_EQ(
      content.overrides,
      J(R"([{"pools":["a"],"patch":{"spec":{"replicas":null}},"jsonPatches":[{"op":"add","path":"/spec/x","value":{}}]}])"));
}

TEST(RevisionTest, ObjectHasTheFormatOfOpenYurt) {
  const RevisionContent content = ContentOf(Daemon());
  EXPECT_EQ(
      MakeControllerRevision(Daemon(), content, "abc", 4),
      Json(
          {{"apiVersion", "apps/v1"},
           {"kind", "ControllerRevision"},
           {"metadata",
            {{"name", "daemon-1-abc"},
             {"namespace", "default"},
             {"labels", {{kOurRevisionLabel, "true"}, {kHashLabel, "abc"}}},
             {"ownerReferences",
              J(R"([{"apiVersion":"apps.openyurt.io/v1alpha1","kind":"YurtAppDaemon","name":"daemon-1","uid":"98ac7b65",
                            "controller":true,"blockOwnerDeletion":true}])")}}},
           {"data", {{"spec", {{"workloadTemplate", {{"$patch", "replace"}, {"deploymentTemplate", J(kTemplate)}}}}}}},
           {"revision", 4}}));
}

TEST(RevisionTest, StatefulSetTemplatesAreStoredInTheirOwnField) {
  YurtAppDaemon daemon = Daemon();
  const std::string digest = ContentOf(daemon).digest;
  daemon.kind = WorkloadKind::kStatefulSet;
  const RevisionContent content = ContentOf(daemon);
  EXPECT_NE(content.digest, digest);
  const auto stored = ContentOf(MakeControllerRevision(daemon, content, "abc", 1));
  ASSERT_TRUE(stored.has_value());
  EXPECT_EQ(stored->kind, WorkloadKind::kStatefulSet);
  EXPECT_EQ(stored->digest, content.digest);
}

TEST(RevisionTest, InsignificantValuesCreateNoRevision) {
  const std::string digest =
      ContentOf(Daemon(R"({"spec":{"template":{"spec":{"containers":[{"name":"c"}]}}}})")).digest;
  EXPECT_EQ(
      ContentOf(
          Daemon(
              R"({"metadata":{"creationTimestamp":null},"spec":{"strategy":{},"paused":false,"template":{"metadata":{},"spec":
      {"hostNetwork":false,"tolerations":[],"securityContext":{},"containers":[{"name":"c","resources":{"limits":{}},"args":[]}]}}}})"))
          .digest,
      digest);
  for (
      const char* other :
      {R"({"spec":{"template":{"spec":{"containers":[{"name":"d"}]}}}})",
       R"({"spec":{"replicas":0,"template":{"spec":{"containers":[{"name":"c"}]}}}})",
       R"({"spec":{"template":{"spec":{"volumes":[{"name":"v","emptyDir":{}}],"containers":[{"name":"c"}]}}}})",
       R"({"spec":{"template":{"spec":{"automountServiceAccountToken":false,"containers":[{"name":"c"}]}}}})",
       R"({"spec":{"template":{"spec":{"volumes":[{"name":"v","fc":{"readOnly":false}}],"containers":[{"name":"c"}]}}}})",
       R"({"spec":{"template":{"spec":{"containers":[{"name":"c","securityContext":{"seLinuxOptions":{}}}]}}}})",
       R"({"spec":{"ordinals":{},"template":{"spec":{"containers":[{"name":"c"}]}}}})",
       R"({"metadata":{"labels":{"a":""}},"spec":{"template":{"spec":{"containers":[{"name":"c"}]}}}})"}) {
    EXPECT_NE(ContentOf(Daemon(other)).digest, digest) << other;
  }
  // The apiserver rejects the first template, so removing the field must be a change.
  EXPECT_NE(
      ContentOf(Daemon(R"({"spec":{"template":{"spec":{"volumes":[{"name":"v","fc":{"readOnly":false}}]}}}})")).digest,
      ContentOf(Daemon(R"({"spec":{"template":{"spec":{"volumes":[{"name":"v"}]}}}})")).digest);
  EXPECT_NE(ContentOf(Daemon(R"({"spec":{"strategy":{"type":"Recreate","rollingUpdate":{}}}})")).digest,
            ContentOf(Daemon(R"({"spec":{"strategy":{"type":"Recreate"}}})")).digest);
}

// The same Deployment with hostNetwork, as a user writes it (kShort) and with the server's defaults (kDefaulted).
constexpr char kShort[] = R"({"spec":{"template":{"spec":{"hostNetwork":true,
    "containers":[{"name":"c","image":"a","ports":[{"containerPort":80}],"livenessProbe":{"httpGet":{"port":80}},
                   "env":[{"name":"n","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}},
                          {"name":"f","valueFrom":{"fileKeyRef":{"volumeName":"e","path":"p","key":"k"}}}]}],
    "volumes":[{"name":"h","hostPath":{"path":"/x"}},{"name":"s","secret":{"secretName":"s"}},{"name":"e"}]}}}})";
constexpr char kDefaulted[] = R"({"spec":{"progressDeadlineSeconds":600,"revisionHistoryLimit":10,
    "strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":"25%","maxUnavailable":"25%"}},
    "template":{"spec":{"hostNetwork":true,"dnsPolicy":"ClusterFirst","restartPolicy":"Always","securityContext":{},
    "schedulerName":"default-scheduler","terminationGracePeriodSeconds":30,"enableServiceLinks":true,
    "containers":[{"name":"c","image":"a","ports":[{"containerPort":80,"hostPort":80,"protocol":"TCP"}],
      "livenessProbe":{"httpGet":{"port":80,"path":"/","scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":10,
                       "successThreshold":1,"failureThreshold":3},
      "env":[{"name":"n","valueFrom":{"fieldRef":{"fieldPath":"metadata.name","apiVersion":"v1"}}},
             {"name":"f","valueFrom":{"fileKeyRef":{"volumeName":"e","path":"p","key":"k","optional":false}}}],
      "terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","resources":{}}],
    "volumes":[{"name":"h","hostPath":{"path":"/x","type":""}},
               {"name":"s","secret":{"secretName":"s","defaultMode":420}},{"name":"e","emptyDir":{}}]}}}})";

TEST(RevisionTest, IgnoresValuesThatEqualServerDefaults) {
  const RevisionContent plain = ContentOf(Daemon(kShort));
  const RevisionContent defaulted = ContentOf(Daemon(kDefaulted));
  EXPECT_EQ(plain.digest, defaulted.digest);
  EXPECT_EQ(Compare({{"spec", plain.workload_template["spec"]}}, {{"spec", defaulted.workload_template["spec"]}}),
            Difference::kNone)
      << "contents that are equal as revisions must render the same workload";
  EXPECT_EQ(defaulted.workload_template, J(kDefaulted)) << "the revision contains the defaults";
  EXPECT_NE(RevisionHash(plain, 0), RevisionHash(defaulted, 0)) << "an upgrade must not change the names of revisions";
  EXPECT_EQ(
      ContentOf(
          Daemon(
              R"({"spec":{"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":0,"maxUnavailable":1}}}})"))
          .digest,
      ContentOf(Daemon(R"({"spec":{}})")).digest);

  YurtAppDaemon daemon = Daemon();
  daemon.service_template = J(R"({"spec":{"ports":[{"port":80}]}})");
  const std::string digest = ContentOf(daemon).digest;
  daemon.service_template = J(R"({"spec":{"type":"ClusterIP","sessionAffinity":"None","internalTrafficPolicy":"Cluster",
      "ports":[{"port":80,"protocol":"TCP","targetPort":80}]}})");
  EXPECT_EQ(ContentOf(daemon).digest, digest);
  daemon.service_template = J(R"({"spec":{"ports":[{"port":80,"targetPort":81}]}})");
  EXPECT_NE(ContentOf(daemon).digest, digest);
}

// An apiserver stores a volume without a source as an emptyDir.
TEST(RevisionTest, IgnoresAnEmptyDirWithoutSettingsInAVolumeWithoutAnotherSource) {
  const auto with_volume = [](const std::string& volume) {
    return ContentOf(Daemon(R"({"spec":{"template":{"spec":{"volumes":[)" + volume + "]}}}}"));
  };
  const RevisionContent bare = with_volume(R"({"name":"v"})");
  for (const char* volume : {R"({"name":"v","emptyDir":null})", R"({"name":"v","emptyDir":{}})",
                             R"({"name":"v","emptyDir":{"medium":"","sizeLimit":null},"hostPath":null})"}) {
    EXPECT_EQ(with_volume(volume).digest, bare.digest) << volume;
  }
  for (const char* volume :
       {R"({"name":"v","emptyDir":{"medium":"Memory"}})", R"({"name":"v","emptyDir":{"sizeLimit":"0"}})",
        R"({"name":"v","hostPath":{"path":"/x"}})", R"({"name":"v","emptyDir":{},"hostPath":{"path":"/x"}})"}) {
    EXPECT_NE(with_volume(volume).digest, bare.digest) << volume;
  }
  EXPECT_NE(with_volume(R"({"name":"v","emptyDir":{},"hostPath":{"path":"/x"}})").digest,
            with_volume(R"({"name":"v","hostPath":{"path":"/x"}})").digest)
      << "the server rejects the first content";
  EXPECT_NE(RevisionHash(with_volume(R"({"name":"v","emptyDir":{}})"), 0), RevisionHash(bare, 0))
      << "an upgrade must not change the names of revisions";
}

TEST(RevisionTest, DistinguishesValuesThatAreNotServerDefaults) {
  const std::string digest = ContentOf(Daemon(kShort)).digest;
  for (const char* path :
       {"/spec/progressDeadlineSeconds", "/spec/strategy/rollingUpdate/maxSurge",
        "/spec/template/spec/terminationGracePeriodSeconds", "/spec/template/spec/containers/0/ports/0/hostPort",
        "/spec/template/spec/containers/0/livenessProbe/periodSeconds",
        "/spec/template/spec/volumes/1/secret/defaultMode", "/spec/template/spec/volumes/2/emptyDir/sizeLimit"}) {
    Json changed = J(kDefaulted);
    changed[Json::json_pointer(path)] = 7;
    EXPECT_NE(ContentOf(Daemon(changed.dump())).digest, digest) << path;
  }
  Json other = J(kShort);
  other["spec"]["replicas"] = 1;
  EXPECT_NE(ContentOf(Daemon(other.dump())).digest, digest) << "replicas are never ignored";
  other = J(kShort);
  other["spec"]["template"]["spec"]["containers"][0]["imagePullPolicy"] = "Always";
  EXPECT_NE(ContentOf(Daemon(other.dump())).digest, digest);
  // If hostNetwork is not set, hostPort is not a default but the user's choice.
  other = J(kShort);
  other["spec"]["template"]["spec"].erase("hostNetwork");
  const std::string without = ContentOf(Daemon(other.dump())).digest;
  other["spec"]["template"]["spec"]["containers"][0]["ports"][0]["hostPort"] = 80;
  EXPECT_NE(ContentOf(Daemon(other.dump())).digest, without);
  EXPECT_NE(ContentOf(Daemon(R"({"spec":{"strategy":{"type":"Recreate","rollingUpdate":{"maxSurge":"25%"}}}})")).digest,
            ContentOf(Daemon(R"({"spec":{"strategy":{"type":"Recreate"}}})")).digest)
      << "the server rejects the first content";
  const auto with_profile = [](const char* profile) {
    return ContentOf(Daemon(R"({"spec":{"template":{"spec":{"securityContext":{"seccompProfile":)" +
                            std::string(profile) + "}}}}}"))
        .digest;
  };
  EXPECT_NE(with_profile(R"({"type":"RuntimeDefault","localhostProfile":""})"),
            with_profile(R"({"type":"RuntimeDefault"})"))
      << "the server rejects the first content";
}

TEST(RevisionTest, IgnoresThePullPolicyOnlyInComparisonsWithARevisionOfOpenYurt) {
  const auto of_openyurt = ContentOf(J(kOpenYurtRevision));
  ASSERT_TRUE(of_openyurt.has_value());
  const auto wants = [](const char* policy) {
    Json workload_template = J(kTemplate);
    Json& container = workload_template["spec"]["template"]["spec"]["containers"][0];
    container.erase("imagePullPolicy");
    if (policy != nullptr) container["imagePullPolicy"] = policy;
    return ContentOf(Daemon(workload_template.dump()));
  };
  for (const char* policy : {static_cast<const char*>(nullptr), "IfNotPresent", "Always"}) {
    const RevisionContent wanted = wants(policy);
    EXPECT_TRUE(SameContent(wanted, *of_openyurt));
    EXPECT_EQ(DigestWithoutPullPolicies(wanted), DigestWithoutPullPolicies(*of_openyurt));
    const RevisionContent kept = WithPullPoliciesOf(*of_openyurt, wanted);
    EXPECT_EQ(kept.workload_template["spec"]["template"]["spec"]["containers"][0]["imagePullPolicy"], "Always");
    EXPECT_TRUE(SameContent(wanted, kept)) << "the next comparison must have the same result";
  }
  const RevisionContent ours = *ContentOf(MakeControllerRevision(Daemon(), wants("Always"), "abc", 1));
  EXPECT_TRUE(SameContent(wants("Always"), ours));
  EXPECT_FALSE(SameContent(wants("IfNotPresent"), ours));
  EXPECT_FALSE(SameContent(wants(nullptr), ours));
  YurtAppDaemon other_image = Daemon();
  other_image.workload_template["spec"]["template"]["spec"]["containers"][0]["image"] = "nginx:2";
  EXPECT_FALSE(SameContent(ContentOf(other_image), *of_openyurt));

  // The webhook of OpenYurt set the pull policy of an init container by the tag of its image.
  Json object = J(kOpenYurtRevision);
  Json& pod = object["data"]["spec"]["workloadTemplate"]["deploymentTemplate"]["spec"]["template"]["spec"];
  pod["initContainers"] = J(R"([{"name":"i","image":"b:1","imagePullPolicy":"IfNotPresent"}])");
  const auto with_init = [](const char* init) {
    Json workload_template = J(kTemplate);
    workload_template["spec"]["template"]["spec"]["initContainers"] = Json::array({J(init)});
    return ContentOf(Daemon(workload_template.dump()));
  };
  EXPECT_TRUE(SameContent(with_init(R"({"name":"i","image":"b:1"})"), *ContentOf(object)));
  EXPECT_FALSE(SameContent(with_init(R"({"name":"i","image":"b:1","imagePullPolicy":"Never"})"), *ContentOf(object)));
}

TEST(RevisionTest, NotationsOfOneQuantityGiveOneRevision) {
  const auto digest = [](const std::string& cpu) {
    return ContentOf(Daemon(R"({"spec":{"template":{"spec":{"containers":[{"resources":{"limits":{"cpu":")" + cpu +
                            R"("}}}]}}}})"))
        .digest;
  };
  EXPECT_EQ(digest("1000m"), digest("1"));
  EXPECT_NE(digest("1000m"), digest("2"));
  EXPECT_NE(digest("x"), digest("y"));
}

TEST(RevisionTest, OverridesArePartOfTheContent) {
  const std::string none = ContentOf(Daemon()).digest;
  const std::string some =
      ContentOf(Daemon(kTemplate, R"([{"pools":["a"],"patch":{"spec":{"replicas":null}}}])")).digest;
  EXPECT_NE(some, none);
  EXPECT_NE(ContentOf(Daemon(kTemplate, R"([{"pools":["a"],"patch":{"spec":{}}}])")).digest, some);
  EXPECT_EQ(ContentOf(Daemon(kTemplate, "null")).digest, none);
}

TEST(RevisionTest, ChangeCauseIsInTheRevisionAndNotInItsContent) {
  YurtAppDaemon daemon = Daemon();
  const RevisionContent content = ContentOf(daemon);
  EXPECT_FALSE(MakeControllerRevision(daemon, content, "abc", 1)["metadata"].contains("annotations"));
  daemon.meta.annotations = {{"kubernetes.io/change-cause", "new logo"}, {"other", "x"}};
  EXPECT_EQ(MakeControllerRevision(daemon, content, "abc", 1)["metadata"]["annotations"],
            J(R"({"kubernetes.io/change-cause": "new logo"})"));
  EXPECT_EQ(ContentOf(daemon).digest, content.digest);
}

TEST(RevisionTest, AHashIsStableAndChangesWithTheCollisionCount) {
  const RevisionContent content = ContentOf(Daemon());
  EXPECT_EQ(RevisionHash(content, 0), "845b467964");
  EXPECT_EQ(RevisionHash(content, 1), "7c48cdc776");
  EXPECT_NE(RevisionHash(content, 2), RevisionHash(content, 1));
  EXPECT_EQ(RevisionHash(content, 0).find_first_not_of("bcdfghjklmnpqrstvwxz2456789"), std::string::npos);
}

TEST(RevisionTest, ANameHasAtMost253Characters) {
  EXPECT_EQ(RevisionName("web", "abc"), "web-abc");
  const std::string name = RevisionName(std::string(241, 'x') + "." + std::string(11, 'y'), "abcdefghij");
  EXPECT_EQ(name, std::string(241, 'x') + "-abcdefghij");
  EXPECT_EQ(RevisionName(std::string(253, 'x'), "abcdefghij").size(), 253U);
}

TEST(RevisionTest, InvalidRevisionIsRejected) {
  for (const char* object :
       {"null", "{}", R"({"data":1})", R"({"data":{"spec":{}}})", R"({"data":{"spec":{"template":{}}}})",
        R"({"data":{"spec":{"workloadTemplate":{"$patch":"replace","deploymentTemplate":null}}}})"}) {
    const auto content = ContentOf(J(object));
    ASSERT_FALSE(content.has_value()) << object;
    EXPECT_EQ(content.error().reason, Reason::kDecode);
  }
}

TEST(RevisionTest, ServiceTemplateIsPartOfARevisionAndOmittedIfAbsent) {
  const RevisionContent without = ContentOf(Daemon());
  EXPECT_EQ(without.digest.find("serviceTemplate"), std::string::npos);
  EXPECT_FALSE(MakeControllerRevision(Daemon(), without, "abc", 4)["data"]["spec"].contains("serviceTemplate"));

  YurtAppDaemon daemon = Daemon();
  daemon.service_template = J(R"({"metadata":null,"spec":{"ports":[{"port":80,"nodePort":0}]}})");
  const RevisionContent with = ContentOf(daemon);
  EXPECT_NE(with.digest, without.digest);
  const auto stored = ContentOf(MakeControllerRevision(daemon, with, "abc", 4));
  ASSERT_TRUE(stored.has_value());
  EXPECT_EQ(stored->digest, with.digest);
  EXPECT_EQ(stored->service_template, with.service_template);

  daemon.service_template = J(R"({"metadata":{},"spec":{"type":"","ports":[{"port":80}]}})");
  EXPECT_EQ(ContentOf(daemon).digest, with.digest) << "an empty serviceTemplate must not create a revision";
}

}  // namespace
}  // namespace yad
