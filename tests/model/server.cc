#include "tests/model/server.h"

#include <algorithm>
#include <mutex>
#include <sstream>
#include <utility>

#include "operator/api/well_known.h"
#include "operator/yurtappdaemon/observe/daemon_projection.h"
#include "operator/yurtappdaemon/observe/freeze.h"
#include "operator/yurtappdaemon/observe/snapshot.h"
#include "tests/support/fake_apiserver.h"

namespace yad::model {
namespace {

using testing::StatusResponse;

constexpr std::size_t kTextsAtOnce = 20'000;
constexpr char kCreated[] = "2026-01-01T00:00:00Z";
constexpr char kByName[] = "metadata.name=";
constexpr char kStale[] = "the object has been modified; please apply your changes to the latest version and try again";

Projector ProjectorOf(Kind kind) {
  switch (kind) {
    case kDaemon:
      return ProjectDaemon;
    case kPool:
      return ProjectPool;
    case kWorkload:
      return ProjectDeployment;
    case kService:
      return nullptr;
    case kFreeze:
      return ProjectFreeze;
    case kRevision:
      break;
  }
  return ProjectRevision;
}

std::string UidOf(Cell cell) {
  const Content& content = cell.content();
  if (content.kind == kDaemon) return content.uid;
  return "uid-" + content.key.name + "-" + std::to_string(cell.incarnation());
}

HttpResponse TextResponse(std::string text, int status = 200) {
  return {status, {{"content-type", "application/json"}}, std::move(text)};
}

// Returns the NodePool CRD. It was created before all other objects, and is never deleted.
std::string NodePoolCrd() {
  return Json({{"apiVersion", kCrdType.ApiVersion()},
               {"kind", kCrdType.kind},
               {"metadata", {{"name", "nodepools.apps.openyurt.io"}, {"creationTimestamp", "2025-01-01T00:00:00Z"}}}})
      .dump();
}

std::uint64_t Mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;
  return hash ^ (hash >> 29);
}

unsigned LiveVersion(const Table& table, std::uint64_t key_hash, std::size_t events_seen) {
  unsigned version = 1;
  for (std::size_t i = events_seen; i < table.events.size(); ++i) {
    version += table.events[i].content().key_hash == key_hash;
  }
  return version;
}

void Understand(const HttpRequest& http, Request& request) {
  std::vector<std::string> parts;
  std::istringstream path(testing::PathOf(http));
  for (std::string part; std::getline(path, part, '/');) {
    if (!part.empty()) parts.push_back(part);
  }
  // apis/GROUP/VERSION[/namespaces/NS]/RESOURCE[/NAME[/SUBRESOURCE]]. The core group has the prefix api/VERSION.
  std::size_t at = !parts.empty() && parts[0] == "api" ? 2 : 3;
  if (parts.size() > at + 1 && parts[at] == "namespaces") {
    request.key.ns = parts[at + 1];
    at += 2;
  }
  const std::string resource = parts.size() > at ? parts[at] : "";
  if (resource == "pods") {
    request.verb = http.method == "GET" ? Request::kListPods : Request::kUnknown;
    return;
  }
  if (resource == kCrdType.resource && http.method == "GET") {
    request.verb = Request::kGetCrd;
    return;
  }
  bool known = false;
  for (const Kind kind : {kDaemon, kPool, kWorkload, kRevision, kService}) {
    if (TypeOf(kind).resource != resource) continue;
    request.kind = kind;
    known = true;
  }
  if (!known) return;
  if (parts.size() > at + 1) request.key.name = parts[at + 1];
  request.status = parts.size() > at + 2 && parts[at + 2] == "status";
  if (http.method == "POST") {
    request.verb = Request::kPost;
    request.key.name = StringAt(Json::parse(http.body), {"metadata", "name"});
  } else if (request.key.name.empty()) {
    request.verb = Request::kList;
    request.labels = testing::QueryOf(http, "labelSelector");
    const std::string field = testing::QueryOf(http, "fieldSelector");
    if (field.starts_with(kByName)) request.name = field.substr(sizeof kByName - 1);
    if (!field.empty() && request.name.empty()) request.verb = Request::kUnknown;
  } else {
    request.verb = http.method == "GET"     ? Request::kGet
                   : http.method == "PUT"   ? Request::kPut
                   : http.method == "PATCH" ? Request::kPatch
                                            : Request::kDelete;
  }
  request.key_hash = KeyHash(request.kind, request.key);
}

}  // namespace

Seen SeesAll(const State& state) {
  Seen seen{};
  for (std::size_t k = 0; k < kKinds; ++k) seen[k] = static_cast<std::uint8_t>(state.tables[k].events.size());
  return seen;
}

void SetGeneration(const Json& before, Json& object) {
  const bool respecified = !before.is_null() && before["spec"] != object["spec"];
  if (respecified && object.contains("status")) object["metadata"]["generation"] = 2;
}

std::uint64_t Shown::print() const { return Mix(cell.content().hash, cell.incarnation() << 8 | version); }

const Request& Request::Intern(const HttpRequest& http) {
  static std::mutex mutex;
  static std::unordered_map<std::string, std::unique_ptr<Request>> known;
  std::string text = http.method + " " + http.path + " " + http.body;
  std::lock_guard lock(mutex);
  std::unique_ptr<Request>& request = known[text];
  if (request == nullptr) {
    request = std::make_unique<Request>();
    request->id = static_cast<std::uint32_t>(known.size());
    Understand(http, *request);
    request->text = std::move(text);
    request->body = request->text.size() - http.body.size();
  }
  return *request;
}

Objects::Entry& Objects::Of(const Shown& shown) {
  if (entries_.size() > kTextsAtOnce) entries_.clear();
  Entry& entry = entries_[static_cast<std::uint64_t>(shown.cell.bits()) << 8 | shown.version];
  if (entry.text.empty()) {
    Json object = shown.cell.content().Parse();
    object["metadata"]["uid"] = UidOf(shown.cell);
    object["metadata"]["resourceVersion"] = std::to_string(shown.version);
    entry.text = object.dump();
  }
  return entry;
}

const ObjectPtr& Objects::Stored(const Shown& shown) {
  Entry& entry = Of(shown);
  if (entry.stored == nullptr) {
    entry.stored = std::make_shared<StoredObject>(Json::parse(entry.text), ProjectorOf(shown.cell.content().kind));
  }
  return entry.stored;
}

void Server::Start(const State& state, const Seen& seen) {
  state_ = state;
  seen_ = seen;
  writes_.clear();
  steps_.clear();
  rejected_.clear();
  interrupt_after_ = 0;
  Load();
}

void Server::Interrupt(std::size_t writes, std::function<void(State&)> change) {
  interrupt_after_ = writes;
  interrupt_ = std::move(change);
}

void Server::Load() {
  for (std::size_t k = 0; k < kKinds; ++k) {
    const Table& table = state_.tables[k];
    live_[k].clear();
    for (const Cell& cell : table.Live())
      live_[k].push_back({cell, LiveVersion(table, cell.content().key_hash, seen_[k])});
  }
}

Shown* Server::Find(Kind kind, std::uint64_t key_hash) {
  for (Shown& live : live_[kind]) {
    if (live.cell.content().key_hash == key_hash) return &live;
  }
  return nullptr;
}

Result<std::unique_ptr<HttpStream>> Server::Open(const HttpRequest&, std::stop_token) {
  return Fail(Reason::kTransport, "watches are not supported, because the caches are part of the state");
}

Result<HttpResponse> Server::Send(const HttpRequest& http, std::stop_token) {
  const Request& request = Request::Intern(http);
  steps_.push_back({&request, Serve(request)});
  return Answer();
}

std::uint64_t Server::Serve(const Request& request) {
  shown_.reset();
  items_.clear();
  effect_ = nullptr;
  status_ = 200;
  if (request.verb == Request::kGetCrd || request.verb == Request::kListPods) return 1;  // There are no pods here.
  if (request.verb == Request::kList) {
    std::uint64_t print = 2;
    for (const Shown& live : live_[request.kind]) {
      const Content& content = live.cell.content();
      if (!request.name.empty() && content.key.name != request.name) continue;
      if (!request.labels.empty() && !testing::MatchesSelectorText(request.labels, content.labels)) continue;
      items_.push_back(live);
      print = Mix(print, live.print());
    }
    return print;
  }
  Shown* live = Find(request.kind, request.key_hash);
  if (request.verb == Request::kUnknown || (live == nullptr && request.verb != Request::kPost)) {
    status_ = request.verb == Request::kUnknown ? 400 : 404;
    if (status_ == 400) rejected_ = request.text;
    return static_cast<std::uint64_t>(status_);
  }
  if (request.verb == Request::kGet) {
    shown_ = *live;
    return shown_->print();
  }

  effect_ = &EffectOf(request, live);
  if (effect_->error != 0) {
    status_ = effect_->error;
    if (status_ == 422) rejected_ = request.text + ": " + effect_->message;
    return Fnv1a64(effect_->message, static_cast<std::uint64_t>(status_));
  }
  if (effect_->after == nullptr) {  // No change, so no new version.
    shown_ = *live;
    return shown_->print();
  }
  const Content& after = *effect_->after;
  Table& table = state_[request.kind];
  writes_.push_back({request.kind, live == nullptr ? nullptr : &live->cell.content(), &after});
  std::uint64_t print = 3;
  if (after.gone) {
    table.events.push_back(Cell(after, 0));
  } else {
    const Cell cell(after, live == nullptr ? table.NextIncarnation(request.key_hash) : live->cell.incarnation());
    table.events.push_back(cell);
    shown_ = Shown{cell, LiveVersion(table, request.key_hash, seen_[request.kind])};
    if (live == nullptr) status_ = 201;
    print = shown_->print();
  }
  if (writes_.size() == interrupt_after_) interrupt_(state_);
  Load();
  return print;
}

HttpResponse Server::Answer() const {
  if (shown_) return TextResponse(objects_.Text(*shown_), status_);
  if (effect_ != nullptr && effect_->error != 0) {
    const bool invalid = status_ == 422;
    const bool taken = effect_->message.ends_with("already exists");
    return StatusResponse(status_, invalid ? "Invalid" : taken ? "AlreadyExists" : "Conflict", effect_->message);
  }
  if (effect_ != nullptr) return TextResponse(R"({"apiVersion":"v1","kind":"Status","status":"Success"})");
  if (status_ == 404) return StatusResponse(404, "NotFound", "not found");
  if (status_ == 400) return StatusResponse(400, "BadRequest", "not understood");
  if (steps_.back().request->verb == Request::kGetCrd) return TextResponse(NodePoolCrd());
  // One page has all items. A real server may also ignore the limit.
  std::string text = R"({"apiVersion":"v1","kind":"List","metadata":{"resourceVersion":"1"},"items":[)";
  for (const Shown& item : items_) text += (&item == items_.data() ? "" : ",") + objects_.Text(item);
  return TextResponse(text + "]}");
}

const Server::Effect& Server::EffectOf(const Request& request, const Shown* live) {
  std::uint64_t key = static_cast<std::uint64_t>(request.id) << 40;
  if (live != nullptr) key |= static_cast<std::uint64_t>(live->cell.bits()) << 8 | live->version;
  const auto found = effects_.find(key);
  if (found != effects_.end()) return found->second;
  return effects_.emplace(key, Compute(request, live)).first->second;
}

Server::Effect Server::Compute(const Request& request, const Shown* live) const {
  if (request.verb == Request::kPost) {
    if (live != nullptr) return {nullptr, 409, "\"" + request.key.name + "\" already exists"};
    Json object = request.Body();
    object.erase("status");
    object["metadata"]["generation"] = 1;
    object["metadata"]["creationTimestamp"] = kCreated;
    return {&Contents::Get().Intern(request.kind, request.key, std::move(object)), 0, ""};
  }
  if (request.verb == Request::kPut) return ComputePut(request, *live, request.Body());
  if (request.verb == Request::kDelete) {
    const Json preconditions = request.Body().value("preconditions", Json::object());
    if (std::string rejection = Rejection(preconditions, *live); !rejection.empty()) return {nullptr, 409, rejection};
    return {&Contents::Get().Intern(request.kind, request.key, nullptr), 0, ""};
  }
  Json object = Json::parse(objects_.Text(*live));
  const Json patch = request.Body();
  if (request.status) {
    if (patch.contains("status")) object["status"].merge_patch(patch["status"]);
    if (const Json* metadata = yad::Find(patch, {"metadata"})) object["metadata"].merge_patch(*metadata);
  } else {
    object.merge_patch(patch);
  }
  return ComputePut(request, *live, std::move(object));
}

std::string Server::Rejection(const Json& metadata, const Shown& live) {
  const std::string uid = StringAt(metadata, {"uid"});
  const std::string version = StringAt(metadata, {"resourceVersion"});
  if (!uid.empty() && uid != UidOf(live.cell)) return "Precondition failed: UID in precondition";
  if (!version.empty() && version != std::to_string(live.version)) return kStale;
  return "";
}

Server::Effect Server::ComputePut(const Request& request, const Shown& live, Json object) const {
  const Content& old = live.cell.content();
  if (std::string rejection = Rejection(object["metadata"], live); !rejection.empty()) return {nullptr, 409, rejection};
  const Json before = old.Parse();
  if (request.status) {
    Json changed = before;
    changed["status"] = object.value("status", Json::object());
    object = std::move(changed);
  } else {
    object.erase("status");
    if (before.contains("status")) object["status"] = before["status"];
    for (const char* key : {"generation", "creationTimestamp", "deletionTimestamp"}) {
      object["metadata"].erase(key);
      if (const Json* kept = yad::Find(before, {"metadata", key})) object["metadata"][key] = *kept;
    }
    if (request.kind == kWorkload) SetGeneration(before, object);
  }
  if (request.kind == kWorkload && before["spec"]["selector"] != object["spec"]["selector"])
    return {nullptr, 422, "spec.selector: field is immutable"};
  const Content& content = Contents::Get().Intern(request.kind, request.key, std::move(object));
  return {content.id == old.id ? nullptr : &content, 0, ""};
}

}  // namespace yad::model
