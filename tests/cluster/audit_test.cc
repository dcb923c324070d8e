// Reading the apiserver's audit log.
#include <gtest/gtest.h>

#include "tests/support/control_plane.h"

namespace yad::testing {
namespace {

std::string Line(const std::string& name, const std::string& received) {
  return Json{{"verb", "patch"},
              {"userAgent", "yurtappdaemon-operator/v1"},
              {"objectRef", {{"resource", "nodepools"}, {"name", name}}},
              {"requestReceivedTimestamp", received}}
             .dump() +
         "\n";
}

std::string NamesSince(const std::string& log, const std::string& time) {
  std::string names;
  for (const AuditedRequest& request : ReadAuditLog(log, ParseTime(time), "yurtappdaemon-operator"))
    names += request.name + " ";
  return names;
}

// The lines of the log may be out of order, because the apiserver logs a write after its commit.
TEST(AuditLogTest, SelectsRequestsInAnyOrderByTheTimeOfTheirReceipt) {
  const std::string log = Line("first", "2026-01-01T00:00:01.500000Z") + Line("third", "2026-01-01T00:00:03.000000Z") +
                          Line("second", "2026-01-01T00:00:02.999999Z");
  EXPECT_EQ(NamesSince(log, "2026-01-01T00:00:00Z"), "first third second ");
  EXPECT_EQ(NamesSince(log, "2026-01-01T00:00:02Z"), "third second ");
  EXPECT_EQ(NamesSince(log, "2026-01-01T00:00:03Z"), "third ");
  EXPECT_EQ(NamesSince(log, "2026-01-01T00:00:04Z"), "");
}

TEST(AuditLogTest, SkipsRequestsOfOtherClientsAndAnIncompleteLastLine) {
  const std::string line = Line("whole", "2026-01-01T00:00:01.000000Z");
  std::string other = Line("other", "2026-01-01T00:00:01.000000Z");
  other.replace(other.find("yurtappdaemon"), 4, "kube");
  for (std::size_t length = 0; length + 1 < line.size(); ++length)
    EXPECT_EQ(NamesSince(other + line + line.substr(0, length), "2026-01-01T00:00:00Z"), "whole ") << length;
}

}  // namespace
}  // namespace yad::testing
