#include "plugin/commands/daemon.h"

#include <nlohmann/json.hpp>

#include "operator/api/well_known.h"
#include "operator/runtime/paged_list.h"
#include "plugin/manifest/yaml.h"

namespace yad {
namespace {

constexpr int kAttempts = 10;

}  // namespace

Error WithMessage(Error error, std::string message) {
  error.message = std::move(message);
  return error;
}

Error WithAdvice(const Error& error, const std::string& unknown_type, const std::string& missing) {
  if (error.reason != Reason::kNotFound) return error;
  // A missing object and an unknown type both have reason kNotFound. These are the two messages that the apiserver
  // sends for an unknown type. For a missing object, it sends "not found".
  const bool unknown = error.message.find("the server could not find the requested resource") != std::string::npos ||
                       error.message.find("404 page not found") != std::string::npos;
  return WithMessage(error, unknown ? unknown_type : missing);
}

std::string Subject(const std::string& daemon) { return "yurtappdaemon." + kYurtAppDaemonType.group + "/" + daemon; }

std::string Quoted(const std::string& daemon) {
  return kYurtAppDaemonType.resource + "." + kYurtAppDaemonType.group + " \"" + daemon + "\"";
}

std::string TypedName(const std::string& kind, const std::string& name) {
  if (kind == kServiceType.kind) return "service/" + name;
  return (kind == kDeploymentType.kind ? "deployment.apps/" : "statefulset.apps/") + name;
}

Result<Json> GetDaemon(Session& session) {
  const std::string& name = session.options.daemon;
  return session.client.Get(kYurtAppDaemonType, {session.ns, name}).map_error([&](const Error& error) {
    return WithAdvice(error, kDaemonsUnknown,
                      Quoted(name) + " not found in namespace \"" + session.ns + "\" (kubectl yad pools -A lists all)");
  });
}

Result<std::vector<Json>> ListAll(Client& client, const ResourceType& type, const std::string& ns,
                                  const std::string& label_selector) {
  std::vector<Json> all;
  const ListOptions options{.ns = ns, .label_selector = label_selector, .limit = kPageLimit};
  const auto read = ForEachListed(client, type, options, {}, [&](const JsonDocument& object) {
    all.push_back(object.TreeOfObject());
    return true;
  });
  if (!read) return Fail(read.error());
  return all;
}

Status ForEachMeta(Client& client, const ResourceType& type, const std::string& ns, const std::string& label_selector,
                   const std::function<void(ObjectMeta meta)>& each) {
  const ListOptions options{.ns = ns, .label_selector = label_selector, .limit = kPageLimit, .metadata_only = true};
  const auto read = ForEachListed(client, type, options, {}, [&](const JsonDocument& object) {
    each(ParseMeta(object));
    return true;
  });
  if (!read) return Fail(read.error());
  return {};
}

Result<Json> EditDaemon(Session& session, const std::function<Result<bool>(Json& daemon)>& change) {
  YAD_TRY(auto daemon, GetDaemon(session));
  return EditDaemon(session, std::move(daemon), false, change);
}

Result<Json> EditDaemon(Session& session, Json daemon, bool dry_run,
                        const std::function<Result<bool>(Json& daemon)>& change) {
  const std::int64_t generation = IntAt(daemon, {"metadata", "generation"});
  const std::string uid = StringAt(daemon, {"metadata", "uid"});
  const WriteOptions options{.dry_run = dry_run};
  for (int attempt = 1;; ++attempt) {
    YAD_TRY(const auto changed, change(daemon));
    if (!changed) return Json();
    auto written = session.client.Update(kYurtAppDaemonType, daemon, options);
    if (written || written.error().reason != Reason::kConflict || attempt == kAttempts) return written;
    YAD_TRY(daemon, GetDaemon(session));
    const bool recreated = StringAt(daemon, {"metadata", "uid"}) != uid;
    if (recreated || IntAt(daemon, {"metadata", "generation"}) != generation) {
      return Fail(Reason::kConflict, "another client has just " +
                                         std::string(recreated ? "recreated " : "changed the spec of ") +
                                         Quoted(session.options.daemon) +
                                         ": check it (kubectl yad diff, kubectl yad history), and try again");
    }
  }
}

void PrintWritten(Session& session, const Json& object, const std::string& what) {
  PrintWritten(session, Subject(session.options.daemon), object, what);
}

void PrintWritten(Session& session, const std::string& subject, const Json& object, const std::string& what) {
  if (PrintObject(session.options, session.console, object)) return;
  session.console.out << subject << (session.options.output == OutputFormat::kName ? "" : " " + what) << "\n";
}

bool PrintObject(const PluginOptions& options, Console& console, const Json& object) {
  if (options.output == OutputFormat::kJson) {
    console.out << object.dump(4, ' ', false, Json::error_handler_t::replace) << "\n";
  } else if (options.output == OutputFormat::kYaml) {
    console.out << ToYaml(object);
  } else {
    return false;
  }
  return true;
}

Json ListOf(std::vector<Json> items) {
  Json list = {{"apiVersion", "v1"}, {"kind", "List"}, {"metadata", Json::object()}, {"items", Json::array()}};
  for (Json& item : items) list["items"].push_back(std::move(item));
  return list;
}

}  // namespace yad
