// The inputs of every command.
#ifndef PLUGIN_COMMANDS_SESSION_H_
#define PLUGIN_COMMANDS_SESSION_H_

#include <string>

#include "operator/base/clock.h"
#include "operator/client/client.h"
#include "plugin/commands/options.h"
#include "plugin/view/console.h"

namespace yad {

// The state of one command. Used by one thread.
struct Session {
  const PluginOptions& options;
  Console& console;
  Client& client;
  std::string ns;  // --namespace, or the namespace of the context
  Clock& clock = Clock::Real();
  std::string cluster = {};  // for messages: the name of the context, or the source of the credentials
};

}  // namespace yad

#endif  // PLUGIN_COMMANDS_SESSION_H_
