#include "plugin/dashboard/dashboard.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "operator/api/object.h"
#include "operator/json/json_document.h"
#include "plugin/dashboard/actions.h"
#include "plugin/dashboard/fleet_model.h"
#include "plugin/dashboard/page_files.h"
#include "plugin/dashboard/queries.h"

namespace yad {
namespace {

constexpr std::chrono::seconds kPatience{5};  // for the first state of a daemon

HttpReply JsonReply(int status, const Json& body) { return {status, "application/json", DumpJson(body), nullptr}; }

int StatusOf(const Error& error) {
  if (error.http_status >= 400) return error.http_status;
  switch (error.reason) {
    case Reason::kBadRequest:
    case Reason::kInvalid:
      return 400;
    case Reason::kNotFound:
      return 404;
    case Reason::kConflict:
      return 409;
    case Reason::kTransport:
      return 502;
    default:
      return 500;
  }
}

HttpReply ErrorReply(const Error& error) { return JsonReply(StatusOf(error), {{"error", error.message}}); }

std::string ContentType(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  return "image/svg+xml";
}

std::optional<HttpReply> PageReply(const std::string& path) {
  const std::string_view name = path.empty() ? std::string_view("index.html") : path;
  for (const PageFile& file : PageFiles()) {
    if (file.name == name) return HttpReply{200, ContentType(name), std::string(file.text), nullptr};
  }
  return std::nullopt;
}

std::string Decode(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = 0;
    const char* digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() && std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      decoded += static_cast<char>(byte);
      i += 2;
    } else {
      decoded += text[i] == '+' ? ' ' : text[i];
    }
  }
  return decoded;
}

std::string ValueOf(const std::map<std::string, std::string>& query, const std::string& name) {
  const auto found = query.find(name);
  return found == query.end() ? "" : found->second;
}

Result<Json> ParseBody(const std::string& body) {
  Json json = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object()) return Fail(Reason::kBadRequest, "the body is not a JSON object");
  return json;
}

std::string Trimmed(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace

std::map<std::string, std::string> ParseQuery(const std::string& query) {
  std::map<std::string, std::string> values;
  for (std::size_t begin = 0; begin < query.size();) {
    const std::size_t end = std::min(query.find('&', begin), query.size());
    const std::string_view pair = std::string_view(query).substr(begin, end - begin);
    const std::size_t equals = std::min(pair.find('='), pair.size());
    values[Decode(pair.substr(0, equals))] = equals < pair.size() ? Decode(pair.substr(equals + 1)) : "";
    begin = end + 1;
  }
  return values;
}

HttpReply Dashboard::Handle(const HttpCall& call) {
  const auto request = CheckRequest(call, address_);
  if (!request) return ErrorReply(request.error());
  const bool post = request->path == "api/action" || request->path == "api/command";
  if (post != (call.method == "POST")) return JsonReply(405, {{"error", "method not allowed"}});
  if (!post) {
    if (auto page = PageReply(request->path)) return *std::move(page);
  }
  const Query query = ParseQuery(request->query);
  if (request->path == "api/events") return Events(query);
  const auto result = post ? Act(request->path, call.body) : Read(request->path, query);
  return result ? JsonReply(200, *result) : ErrorReply(result.error());
}

HttpReply Dashboard::Events(const Query& query) {
  std::optional<ObjectKey> daemon;
  if (query.contains("daemon")) {
    auto key = ParseKey(ValueOf(query, "daemon"));
    if (!key) return ErrorReply(key.error());
    daemon = *std::move(key);
  }
  return {200, "text/event-stream", "", live_.Open(daemon)};
}

Result<Json> Dashboard::Read(const std::string& path, const Query& query) {
  if (path == "api/permissions" && !query.contains("daemon")) return ReadPermissions(client_, {}, operator_ns_);
  const bool known = path == "api/permissions" || path == "api/pool" || path == "api/history" || path == "api/diff" ||
                     path == "api/simulation";
  if (!known) return Fail(Reason::kNotFound, "not found");
  YAD_TRY(const auto daemon, ParseKey(ValueOf(query, "daemon")));
  if (path == "api/permissions") return ReadPermissions(client_, daemon, operator_ns_);
  if (path == "api/pool") return Pool(daemon, ValueOf(query, "pool"));
  if (path == "api/history") return ListRevisions(client_, daemon);
  if (path == "api/diff") return RevisionDiff(client_, daemon, ValueOf(query, "from"), ValueOf(query, "to"));
  return Simulation(daemon, query);
}

Result<Json> Dashboard::Pool(const ObjectKey& daemon, const std::string& pool) {
  const ShownDaemonPtr state = live_.StateOf(daemon, kPatience);
  if (state == nullptr)
    return Fail(Reason::kServerTimeout, "the state of the YurtAppDaemon is not known yet: try again");
  for (const auto& entry : state->pools) {
    if (entry->facts.name == pool) return PoolDetails(client_, daemon, Json::parse(entry->json));
  }
  return Fail(Reason::kNotFound, "the YurtAppDaemon has no pool \"" + pool + "\"");
}

Result<Json> Dashboard::Simulation(const ObjectKey& daemon, const Query& query) {
  std::vector<std::string> arguments{"simulate", daemon.name, "-n", daemon.ns, "-o", "json"};
  if (query.contains("duration")) {
    const std::string duration = ValueOf(query, "duration");
    const bool digits =
        !duration.empty() && duration.size() <= 6 && duration.find_first_not_of("0123456789") == std::string::npos;
    if (!digits) return Fail(Reason::kBadRequest, "duration must be a number of seconds");
    arguments.push_back("--duration=" + duration);
  }
  if (ValueOf(query, "failing") == "true") arguments.emplace_back("--failing");
  if (!operator_ns_.empty()) arguments.push_back("--operator-namespace=" + operator_ns_);
  YAD_TRY(const auto output, RunCommand(arguments, client_));
  return ParseJson(output.out);
}

Result<Json> Dashboard::Act(const std::string& path, const std::string& body) {
  YAD_TRY(const auto request, ParseBody(body));
  YAD_TRY(const auto arguments, ActionArguments(request, options_));
  if (path == "api/command") return Json{{"command", CommandLine(arguments)}};
  YAD_TRY(const auto output, RunCommand(arguments, client_));
  return Json{{"message", Trimmed(output.out + output.warnings + output.server_warnings)}};
}

}  // namespace yad
