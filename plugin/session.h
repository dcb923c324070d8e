// The inputs of every command.
#ifndef PLUGIN_SESSION_H_
#define PLUGIN_SESSION_H_

#include <string>

#include "operator/base/clock.h"
#include "operator/client/client.h"
#include "plugin/console.h"
#include "plugin/options.h"

namespace yad {

// The state of one command. Used by one thread.
struct Session {
  const PluginOptions& options;
  Console& console;
  Client& client;
  std::string ns;  // --namespace, or the context's
  Clock& clock = Clock::Real();
};

}  // namespace yad

#endif  // PLUGIN_SESSION_H_
