#include "operator/yurtappdaemon/observe/stable_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "operator/api/conditions.h"

namespace yad {
namespace {

TEST(StableMessageTest, OmitsPartsThatChangeWithEachAttempt) {
  EXPECT_EQ(Steady("read udp 10.1.2.3:53412->10.96.0.10:53: i/o timeout"),
            Steady("read udp 10.1.2.3:40007->10.96.0.10:53: i/o timeout"));
  EXPECT_EQ(Steady("sandbox \"0f3a0f3a0f3a0f3a0f3a0f3a0f3a0f3a\" failed"), "sandbox \"...\" failed");
  EXPECT_EQ(Steady("/pods/4c1d5b1e-6d1f-4a57-9f0c-0a3a7bcd0e11/volumes"), "/pods/.../volumes");
  EXPECT_EQ(Steady("will run as root (pod: \"web-x_ns(4c1d)\", container: main)"), "will run as root");
  EXPECT_EQ(Steady(" two\n\tlines \n"), "two lines");
  EXPECT_EQ(Steady("registry.example.org:5000/app: a-b-c dead beef"), "registry.example.org:5000/app: a-b-c dead beef");
}

TEST(StableMessageTest, ALongTextIsTruncatedAtACharacterBoundary) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "ü";
  const std::string steady = Steady(text);
  EXPECT_LE(steady.size(), kMaxMessage);
  EXPECT_THAT(steady, ::testing::EndsWith("ü..."));
}

TEST(StableMessageTest, SchedulersMessageIsTheSameForAnyNumberOfNodes) {
  const std::string words = "0 nodes are available: Insufficient cpu, Insufficient memory";
  EXPECT_EQ(
      SchedulerMessage("0/3 nodes are available: 1 Insufficient cpu, 2 Insufficient memory. preemption: 0/3 nodes "
                       "are available: 3 No preemption victims found for incoming pod."),
      words);
  EXPECT_EQ(SchedulerMessage("0/120 nodes are available: 10 Insufficient memory, 2 Insufficient cpu."), words);
}

TEST(StableMessageTest, OmitsNodesOfOtherPoolsIfThePoolHasNodes) {
  EXPECT_EQ(
      SchedulerMessage("0/9 nodes are available: 1 Insufficient memory, 2 node(s) had untolerated taint {shop: 7}, "
                       "1 node(s) were unschedulable, 5 node(s) didn't match Pod's node affinity/selector."),
      "0 nodes are available: Insufficient memory");
  EXPECT_EQ(SchedulerMessage("0/2 nodes are available: 1 node(s) were unschedulable, 1 node(s) didn't match Pod's node "
                             "affinity/selector. no new claims to deallocate, preemption: 0/2 nodes are available."),
            "0 nodes are available: node(s) didn't match Pod's node affinity/selector, node(s) were unschedulable");
}

TEST(StableMessageTest, ManyTaintsAreNotListed) {
  EXPECT_EQ(SchedulerMessage("0/2 nodes are available: 2 node(s) had untolerated taint {a: }."),
            "0 nodes are available: node(s) had untolerated taint {a: }");
  EXPECT_EQ(
      SchedulerMessage("0/3 nodes are available: 1 node(s) had untolerated taint {a: }, 1 node(s) had untolerated "
                       "taint {b: }, 1 node(s) had untolerated taint {c: }."),
      "0 nodes are available: node(s) had untolerated taints");
}

TEST(StableMessageTest, KeepsOtherMessagesOfTheScheduler) {
  EXPECT_EQ(SchedulerMessage("0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found"),
            "0 nodes are available: pod has unbound immediate PersistentVolumeClaims");
  EXPECT_EQ(SchedulerMessage("Scheduling is blocked due to non-empty scheduling gates"),
            "Scheduling is blocked due to non-empty scheduling gates");
  EXPECT_EQ(SchedulerMessage(""), "");
}

TEST(StableMessageTest, ImagePullErrorAndBackOffHaveTheSameText) {
  EXPECT_EQ(PullError("rpc error: code = NotFound desc = docker.io/library/x:1: not found"),
            "docker.io/library/x:1: not found");
  EXPECT_EQ(PullError("Back-off pulling image \"x:1\": ErrImagePull: rpc error: code = NotFound desc = "
                      "docker.io/library/x:1: not found"),
            "docker.io/library/x:1: not found");
  EXPECT_EQ(PullError("Back-off pulling image \"x:1\""), "");
}

TEST(StableMessageTest, MessageOfARejectedPodOmitsItsNameAndTheUsedQuota) {
  EXPECT_EQ(RejectionOfPod("pods \"web-5d4f-x7k2p\" is forbidden: exceeded quota: small, requested: pods=1, used: "
                           "pods=3, limited: pods=3"),
            "exceeded quota: small, requested: pods=1, limited: pods=3");
  EXPECT_EQ(RejectionOfPod("create Pod web-0 in StatefulSet web failed error: pods \"web-0\" is forbidden: violates "
                           "PodSecurity \"restricted:latest\": privileged"),
            "violates PodSecurity \"restricted:latest\": privileged");
  EXPECT_EQ(RejectionOfPod("no answer"), "no answer");
}

TEST(StableMessageTest, MissingDependencyIsRecognizedByTheMessage) {
  for (const char* text :
       {"configmap \"settings\" not found", "secret \"key\" not found", "couldn't find key user in Secret ns/key",
        "references non-existent config key: a.yaml", "persistentvolumeclaim \"data\" not found",
        "error looking up service account ns/web: serviceaccount \"web\" not found"}) {
    EXPECT_TRUE(ReportsMissingObject(text)) << text;
  }
  for (const char* text : {"docker.io/library/x:1: not found", "configmap \"settings\" is forbidden", ""}) {
    EXPECT_FALSE(ReportsMissingObject(text)) << text;
  }
}

}  // namespace
}  // namespace yad
