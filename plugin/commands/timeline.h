// The output of `kubectl yad simulate`. Pure.
#ifndef PLUGIN_COMMANDS_TIMELINE_H_
#define PLUGIN_COMMANDS_TIMELINE_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "operator/api/object.h"
#include "plugin/commands/simulation.h"

namespace yad {

struct Timeline {
  std::string daemon;    // its name
  std::string revision;  // of the spec
  SimulationOptions options;
  Simulation simulation;
};

std::vector<std::string> DescribeTimeline(const Timeline& timeline);
Json ToJson(const Timeline& timeline);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_TIMELINE_H_
