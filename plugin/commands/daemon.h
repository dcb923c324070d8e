// Reads, writes and names YurtAppDaemons.
#ifndef PLUGIN_COMMANDS_DAEMON_H_
#define PLUGIN_COMMANDS_DAEMON_H_

#include <functional>
#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "plugin/commands/session.h"

namespace yad {

// Returns "yurtappdaemon.apps.openyurt.io/web", as kubectl prints an object that it has changed.
std::string Subject(const std::string& daemon);
// Returns `yurtappdaemons.apps.openyurt.io "web"`, as kubectl prints an object in an error.
std::string Quoted(const std::string& daemon);

// Returns whether the error says that the server does not know the type. Any other error with reason kNotFound is about
// an object.
bool IsUnknownType(const Error& error);

// Returns the session's YurtAppDaemon. If it does not exist, the error contains advice.
Result<Json> GetDaemon(Session& session);

// Returns all objects of a type in a namespace ("" for all namespaces), read page by page.
Result<std::vector<Json>> ListAll(Client& client, const ResourceType& type, const std::string& ns,
                                  const std::string& label_selector = "");

// Applies `change` to the session's YurtAppDaemon and writes the object with its resourceVersion. The operator often
// writes status. So after a conflict, reads the newest object and tries again, if its spec is still the same. Fails if
// `change` fails. If `change` returns false, writes nothing and returns null.
Result<Json> EditDaemon(Session& session, bool dry_run, const std::function<Result<bool>(Json& daemon)>& change);

// Prints "yurtappdaemon.apps.openyurt.io/web paused", or the object or its name, as --output requests.
void PrintWritten(Session& session, const Json& object, const std::string& what);
// Prints an object or a list of objects as JSON or YAML. Returns false if --output requests neither.
bool PrintObject(const PluginOptions& options, Console& console, const Json& object);
// Returns a List of these objects, as kubectl prints several objects.
Json ListOf(std::vector<Json> items);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_DAEMON_H_
