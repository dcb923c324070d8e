#include <gtest/gtest.h>

#include <set>

#include "operator/workload/render.h"

namespace yad {
namespace {

bool IsLabel(const std::string& name) {
  if (name.empty() || name.size() > 63 || name.front() == '-' || name.back() == '-') return false;
  return name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
}

TEST(WorkloadNameTest, ContainsDaemonPoolAndHash) {
  const std::string name = WorkloadName("web", "uid-1", "hangzhou", WorkloadKind::kDeployment);
  EXPECT_EQ(name.substr(0, 13), "web-hangzhou-");
  EXPECT_EQ(name.size(), 18U);
  EXPECT_TRUE(IsLabel(name)) << name;
}

TEST(WorkloadNameTest, IsTheSameInAllReleases) {
  EXPECT_EQ(WorkloadName("web", "98ac7b65-90cd-45dd-a909-3a2144aacecd", "hangzhou", WorkloadKind::kDeployment),
            "web-hangzhou-bp2kw");
  EXPECT_EQ(WorkloadName("web", "98ac7b65-90cd-45dd-a909-3a2144aacecd", "hangzhou", WorkloadKind::kStatefulSet),
            "web-hangzhou-bp2kw");
}

TEST(WorkloadNameTest, DashesInNamesCauseNoCollision) {
  EXPECT_NE(WorkloadName("a-b", "u", "c", WorkloadKind::kDeployment),
            WorkloadName("a", "u", "b-c", WorkloadKind::kDeployment));
  EXPECT_NE(WorkloadName("a", "u", "b.c", WorkloadKind::kDeployment),
            WorkloadName("a", "u", "b-c", WorkloadKind::kDeployment));
  EXPECT_NE(WorkloadName("a", "u", "p", WorkloadKind::kDeployment),
            WorkloadName("a", "v", "p", WorkloadKind::kDeployment));
}

TEST(WorkloadNameTest, DotsBecomeDashes) {
  const std::string name = WorkloadName("web.v1", "u", "east.china", WorkloadKind::kDeployment);
  EXPECT_EQ(name.substr(0, name.size() - 5), "web-v1-east-china-");
}

TEST(WorkloadNameTest, LongNamesAreTruncatedInTheMiddle) {
  const std::string daemon = "d" + std::string(251, 'x') + "e";
  const std::string pool = "p" + std::string(251, 'y') + "q";
  const std::string deployment = WorkloadName(daemon, "u", pool, WorkloadKind::kDeployment);
  EXPECT_EQ(deployment.size(), 63U);
  EXPECT_TRUE(IsLabel(deployment)) << deployment;
  EXPECT_EQ(deployment.front(), 'd');
  EXPECT_EQ(deployment[deployment.size() - 12], 'q') << "the hash of a truncated name has 10 characters";
  const std::string stateful_set = WorkloadName(daemon, "u", pool, WorkloadKind::kStatefulSet);
  EXPECT_EQ(stateful_set.size(), 52U);
  EXPECT_TRUE(IsLabel(stateful_set)) << stateful_set;
}

TEST(WorkloadNameTest, NamesOfAnyLengthBecomeDistinctDnsLabels) {
  std::set<std::string> names;
  int made = 0;
  for (std::size_t daemon = 1; daemon <= 253; daemon += 7) {
    for (std::size_t pool = 1; pool <= 253; pool += 6) {
      std::string daemon_name(daemon, 'a');
      std::string pool_name(pool, 'b');
      for (std::size_t i = 3; i + 1 < daemon; i += 4) daemon_name[i] = '.';
      for (std::size_t i = 2; i + 1 < pool; i += 3) pool_name[i] = '-';
      for (const WorkloadKind kind : {WorkloadKind::kDeployment, WorkloadKind::kStatefulSet}) {
        const std::string name = WorkloadName(daemon_name, "u" + daemon_name, pool_name, kind);
        ASSERT_TRUE(IsLabel(name)) << name;
        ASSERT_LE(name.size(), kind == WorkloadKind::kDeployment ? 63U : 52U);
      }
      names.insert(WorkloadName(daemon_name, "u" + daemon_name, pool_name, WorkloadKind::kDeployment));
      ++made;
    }
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(made));
}

// The names of these pools differ only in the middle, which is the part that is truncated.
TEST(WorkloadNameTest, NeverCollidesForThousandsOfSimilarLongPools) {
  constexpr int kDaemons = 8;
  constexpr int kPools = 5000;
  for (const WorkloadKind kind : {WorkloadKind::kDeployment, WorkloadKind::kStatefulSet}) {
    for (int daemon = 0; daemon < kDaemons; ++daemon) {
      const std::string uid = "98ac7b65-90cd-45dd-a909-3a2144aac" + std::to_string(100 + daemon);
      std::set<std::string> names;
      for (int pool = 0; pool < kPools; ++pool) {
        const std::string name =
            "country-cn-region-hangzhou-" + std::to_string(10000 + pool) + "-site-edge-production-cluster";
        names.insert(WorkloadName("payment-gateway-frontend", uid, name, kind));
      }
      ASSERT_EQ(names.size(), static_cast<std::size_t>(kPools)) << uid;
    }
  }
}

TEST(WorkloadNameTest, ContainsTheWholeNamesIfTheyFit) {
  const std::string pool(53, 'p');
  EXPECT_EQ(WorkloadName("web", "u", pool, WorkloadKind::kDeployment).substr(0, 58), "web-" + pool + "-");
  EXPECT_EQ(WorkloadName("web", "u", pool, WorkloadKind::kDeployment).size(), 63U);
  EXPECT_EQ(WorkloadName("web", "u", pool + "p", WorkloadKind::kDeployment).substr(0, 53),
            "web-" + std::string(48, 'p') + "-");
}

TEST(WorkloadNamedForTest, RecognizesTheNamesOfEveryVersionAndOfOpenYurt) {
  const std::string pool = "hangzhou." + std::string(60, 'p');
  const auto named_for = [&](const std::string& name, WorkloadKind kind = WorkloadKind::kDeployment) {
    return IsNamedFor(name, "web", pool, kind);
  };
  EXPECT_TRUE(named_for(WorkloadName("web", "another", pool, WorkloadKind::kDeployment)));
  EXPECT_TRUE(named_for(NameOfOlderVersion("web", "another", pool, WorkloadKind::kDeployment)));
  EXPECT_TRUE(named_for("web-" + pool + "-x7k2p")) << "a name that OpenYurt generates";
  EXPECT_TRUE(named_for(("web-" + pool).substr(0, 58) + "x7k2p")) << "a name that the apiserver truncates";
  EXPECT_TRUE(named_for(NameOfOlderVersion("web", "u", pool, WorkloadKind::kStatefulSet), WorkloadKind::kStatefulSet));
  EXPECT_FALSE(named_for("other-" + pool + "-x7k2p"));
  EXPECT_FALSE(named_for("web-hangzhou"));
  EXPECT_FALSE(IsNamedFor("web-hangzhoux7k2p", "web", "hangzhou", WorkloadKind::kDeployment));
}

TEST(WorkloadNamedForTest, TheNameOfAnOlderVersionDiffersOnlyIfItIsTruncated) {
  EXPECT_EQ(NameOfOlderVersion("web", "u", "hangzhou", WorkloadKind::kDeployment),
            WorkloadName("web", "u", "hangzhou", WorkloadKind::kDeployment));
  const std::string uid = "98ac7b65-90cd-45dd-a909-3a2144aacecd";
  const std::string pool = "country-cn-region-hangzhou-00042-site-edge-production-cluster";
  EXPECT_EQ(NameOfOlderVersion("payment-gateway-frontend", uid, pool, WorkloadKind::kDeployment),
            "payment-gateway-frontend-cou-site-edge-production-cluster-l7g75");
}

TEST(RevisionLabelValueTest, EqualsTheNameIfThatIsALabelValue) {
  EXPECT_EQ(RevisionLabelValue("web-744f4f4999", "744f4f4999"), "web-744f4f4999");
  EXPECT_EQ(RevisionLabelValue("web.v1-744f4f4999", "744f4f4999"), "web.v1-744f4f4999");
  EXPECT_EQ(RevisionLabelValue(std::string(60, 'x') + "-744f4f4999", "744f4f4999"), "744f4f4999");
}

}  // namespace
}  // namespace yad
