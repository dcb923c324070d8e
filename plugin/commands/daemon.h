// Reads and writes YurtAppDaemons, and formats their names.
#ifndef PLUGIN_COMMANDS_DAEMON_H_
#define PLUGIN_COMMANDS_DAEMON_H_

#include <functional>
#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "plugin/commands/commands.h"

namespace yad {

// Returns "yurtappdaemon.apps.openyurt.io/web", as kubectl prints an object that it has changed.
std::string Subject(const std::string& daemon);
// Returns `yurtappdaemons.apps.openyurt.io "web"`, as kubectl prints an object in an error.
std::string Quoted(const std::string& daemon);

// Returns the name as kubectl prints it with `-o name`: "deployment.apps/NAME", "statefulset.apps/NAME",
// "service/NAME".
std::string TypedName(const std::string& kind, const std::string& name);

// Returns the error with another message.
Error WithMessage(Error error, std::string message);
// Returns the error of a read with advice for the user: with message `unknown_type` if the server does not know the
// type, for instance because its CRD is not installed, or else with message `missing` if the object does not exist.
Error WithAdvice(const Error& error, const std::string& unknown_type, const std::string& missing);

// The advice for a cluster that does not have YurtAppDaemons.
inline constexpr char kDaemonsUnknown[] =
    "the server doesn't have the resource type yurtappdaemons: install the operator with its CRDs, or choose another "
    "cluster with --context";

// Reads the YurtAppDaemon of the command line. If it does not exist, the error contains advice for the user.
Result<Json> GetDaemon(Session& session);

// Returns all objects of a type in a namespace ("" for all namespaces), read page by page.
Result<std::vector<Json>> ListAll(Client& client, const ResourceType& type, const std::string& ns,
                                  const std::string& label_selector = "");
// Lists the same objects, but reads only their metadata, and calls `each` with the metadata of each object.
Status ForEachMeta(Client& client, const ResourceType& type, const std::string& ns, const std::string& label_selector,
                   const std::function<void(ObjectMeta meta)>& each);

// Applies `change` to the session's YurtAppDaemon, and updates the object on the server.
// - If `change` returns false, writes nothing and returns null.
// - After a conflict, reads the object again and retries, because the operator often writes the status. Fails if
//   another client has changed the spec since the first read, or has recreated the object.
Result<Json> EditDaemon(Session& session, const std::function<Result<bool>(Json& daemon)>& change);
// Like the other EditDaemon, but begins with `read`, an object that the caller has already read. Fails if another
// client has changed the spec since then.
Result<Json> EditDaemon(Session& session, Json read, bool dry_run,
                        const std::function<Result<bool>(Json& daemon)>& change);

// Prints the result of a write in the format of --output: the object, its name (`subject`), or by default a line such
// as "yurtappdaemon.apps.openyurt.io/web paused", where `what` is "paused".
void PrintWritten(Session& session, const std::string& subject, const Json& object, const std::string& what);
// Prints the result of a write of the session's YurtAppDaemon.
void PrintWritten(Session& session, const Json& object, const std::string& what);
// Prints an object or a list of objects as JSON or YAML. Returns false if --output requests neither.
bool PrintObject(const PluginOptions& options, Console& console, const Json& object);
// Returns a List of these objects, as kubectl prints several objects.
Json ListOf(std::vector<Json> items);

}  // namespace yad

#endif  // PLUGIN_COMMANDS_DAEMON_H_
