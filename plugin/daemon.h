// YurtAppDaemons as this program reads, writes and names them.
#ifndef PLUGIN_DAEMON_H_
#define PLUGIN_DAEMON_H_

#include <functional>
#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "plugin/session.h"

namespace yad {

// "yurtappdaemon.apps.openyurt.io/web", as kubectl names what it has done something to.
std::string Subject(const std::string& daemon);
// `yurtappdaemons.apps.openyurt.io "web"`, as it names what an error is about.
std::string Quoted(const std::string& daemon);

// Of kNotFound: whether the type is not there, and not the object.
bool IsUnknownType(const Error& error);

// The session's YurtAppDaemon. Where there is none, the error names the mend.
Result<Json> GetDaemon(Session& session);

// All objects of a type in a namespace ("": in all), page by page.
Result<std::vector<Json>> ListAll(Client& client, const ResourceType& type, const std::string& ns,
                                  const std::string& label_selector = "");

// Writes what `change` makes of the session's YurtAppDaemon, guarded by its resourceVersion. The operator writes status
// all the time: while spec stays the same, a conflict is tried again with the newest object. An Error of `change` is
// the result. Null: `change` returned false, and nothing was written.
Result<Json> EditDaemon(Session& session, bool dry_run, const std::function<Result<bool>(Json& daemon)>& change);

// "yurtappdaemon.apps.openyurt.io/web paused", or the object or its name, as --output says.
void PrintWritten(Session& session, const Json& object, const std::string& what);
// Prints an object or a list of them as JSON or YAML; false where --output asks for neither.
bool PrintObject(const PluginOptions& options, Console& console, const Json& object);
// The object of kind List that kubectl makes of several.
Json ListOf(std::vector<Json> items);

}  // namespace yad

#endif  // PLUGIN_DAEMON_H_
