// kubectl yad approve
#include <algorithm>
#include <nlohmann/json.hpp>

#include "operator/base/join.h"
#include "plugin/commands/changes.h"
#include "plugin/commands/commands.h"
#include "plugin/commands/daemon.h"

namespace yad {

Result<int> RunApprove(Session& session) {
  std::vector<std::string> groups;  // without duplicates
  for (const std::string& group : session.options.groups) {
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
  }
  std::vector<std::string> before;
  Json as_read;
  const auto written = EditDaemon(session, [&](Json& daemon) {
    before.clear();
    auto changed = Approve(groups, session.options.approved_revision, daemon, before);
    as_read = daemon;
    return changed;
  });
  if (!written) return Fail(written.error());
  const std::string revision = StringAt(as_read, {"status", "updateRevision"});
  for (const std::string& group : before) {
    session.console.err << "group " << group << " is approved already for revision " << revision << "\n";
  }
  std::vector<std::string> added;
  for (const std::string& group : groups) {
    if (std::find(before.begin(), before.end(), group) == before.end()) added.push_back(group);
  }
  if (written->is_null()) {
    PrintWritten(session, as_read, "not changed");
  } else {
    PrintWritten(session, *written,
                 "approved: revision " + revision + " may be rolled out to " +
                     (added.size() == 1 ? "group " : "groups ") + Join(added));
  }
  return kDone;
}

}  // namespace yad
