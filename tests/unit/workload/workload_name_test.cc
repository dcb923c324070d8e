#include <gtest/gtest.h>

#include <set>

#include "operator/workload/render.h"

namespace yad {
namespace {

bool IsLabel(const std::string& name) {
  if (name.empty() || name.size() > 63 || name.front() == '-' || name.back() == '-') return false;
  return name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
}

TEST(WorkloadNameTest, HoldsDaemonPoolAndHash) {
  const std::string name = WorkloadName("web", "uid-1", "hangzhou", WorkloadKind::kDeployment);
  EXPECT_EQ(name.substr(0, 13), "web-hangzhou-");
  EXPECT_EQ(name.size(), 18U);
  EXPECT_TRUE(IsLabel(name)) << name;
}

TEST(WorkloadNameTest, StaysTheSameAcrossReleases) {
  EXPECT_EQ(WorkloadName("web", "98ac7b65-90cd-45dd-a909-3a2144aacecd", "hangzhou", WorkloadKind::kDeployment),
            "web-hangzhou-bp2kw");
  EXPECT_EQ(WorkloadName("web", "98ac7b65-90cd-45dd-a909-3a2144aacecd", "hangzhou", WorkloadKind::kStatefulSet),
            "web-hangzhou-bp2kw");
}

TEST(WorkloadNameTest, DashesDoNotLetTwoPairsMeet) {
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

TEST(WorkloadNameTest, LongNamesLoseTheirMiddle) {
  const std::string daemon = "d" + std::string(251, 'x') + "e";
  const std::string pool = "p" + std::string(251, 'y') + "q";
  const std::string deployment = WorkloadName(daemon, "u", pool, WorkloadKind::kDeployment);
  EXPECT_EQ(deployment.size(), 63U);
  EXPECT_TRUE(IsLabel(deployment)) << deployment;
  EXPECT_EQ(deployment.front(), 'd');
  EXPECT_EQ(deployment[deployment.size() - 7], 'q');
  const std::string stateful_set = WorkloadName(daemon, "u", pool, WorkloadKind::kStatefulSet);
  EXPECT_EQ(stateful_set.size(), 52U);
  EXPECT_TRUE(IsLabel(stateful_set)) << stateful_set;
}

TEST(WorkloadNameTest, AnyLengthGivesADnsLabelAndNoTwoAreAlike) {
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

TEST(RevisionLabelValueTest, IsTheNameWhereItIsALabelValue) {
  EXPECT_EQ(RevisionLabelValue("web-744f4f4999", "744f4f4999"), "web-744f4f4999");
  EXPECT_EQ(RevisionLabelValue("web.v1-744f4f4999", "744f4f4999"), "web.v1-744f4f4999");
  EXPECT_EQ(RevisionLabelValue(std::string(60, 'x') + "-744f4f4999", "744f4f4999"), "744f4f4999");
}

}  // namespace
}  // namespace yad
