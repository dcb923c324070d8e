// kubectl yad dashboard
#ifndef PLUGIN_DASHBOARD_DASHBOARD_COMMAND_H_
#define PLUGIN_DASHBOARD_DASHBOARD_COMMAND_H_

#include "operator/base/error.h"
#include "plugin/commands/session.h"

namespace yad {

// Serves the page until SIGINT or SIGTERM. Blocks these signals in the calling thread, so that new threads inherit the
// signal mask. Must be called before the process has other threads.
Result<int> RunDashboard(Session& session);

}  // namespace yad

#endif  // PLUGIN_DASHBOARD_DASHBOARD_COMMAND_H_
