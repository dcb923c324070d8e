// Shows a simulated rollout as an HTML page. Pure.
#ifndef PLUGIN_COMMANDS_TIMELINE_PAGE_H_
#define PLUGIN_COMMANDS_TIMELINE_PAGE_H_

#include <string>

#include "plugin/commands/timeline.h"

namespace yad {

// Returns one HTML document without scripts and references to other files. Text from the cluster is escaped.
std::string TimelinePage(const Timeline& timeline);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_TIMELINE_PAGE_H_
