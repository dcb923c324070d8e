#include "tests/support/fake_apiserver.h"

#include <sstream>
#include <utility>

#include "operator/base/clock.h"

namespace yad::testing {
namespace {

constexpr std::int64_t kFirstCreation = 1767000000;  // seconds since the epoch

bool IsWrite(const std::string& method) { return method != "GET"; }

bool HasSelector(const std::string& resource) { return resource == "deployments" || resource == "statefulsets"; }

HttpResponse NotFoundResponse(const ResourceType& type, const std::string& name) {
  return StatusResponse(404, "NotFound", type.resource + " \"" + name + "\" not found");
}

HttpResponse ConflictResponse(const std::string& message) { return StatusResponse(409, "Conflict", message); }

// Returns whether two objects differ in a field whose change increments metadata.generation.
bool DesiredDiffers(const Json& one, const Json& other) {
  const auto all_in = [](const Json& fields, const Json& object) {
    for (const auto& [key, value] : fields.items()) {
      if (key == "metadata" || key == "status" || key == "apiVersion" || key == "kind") continue;
      const auto found = object.find(key);
      if (found == object.end() || *found != value) return false;
    }
    return true;
  };
  return !all_in(one, other) || !all_in(other, one);
}

int Controllers(const Json& object) {
  int count = 0;
  const Json* owners = Find(object, {"metadata", "ownerReferences"});
  if (owners == nullptr || !owners->is_array()) return 0;
  for (const Json& owner : *owners) count += BoolAt(owner, {"controller"});
  return count;
}

// Returns why a real server would reject the change from `old` to `object`, or "". `old` is null for a new object.
std::string FaultOf(const ResourceType& type, const Json& old, const Json& object) {
  if (Controllers(object) > 1) return "metadata.ownerReferences: Only one reference can have Controller set to true";
  if (old.is_object() && HasSelector(type.resource)) {
    const Json* before = Find(old, {"spec", "selector"});
    const Json* after = Find(object, {"spec", "selector"});
    if (before != nullptr && (after == nullptr || *before != *after)) return "spec.selector: field is immutable";
  }
  return "";
}

std::string ProtobufField(char number, const std::string& bytes) {
  std::string field(1, static_cast<char>(number << 3 | 2));
  std::size_t size = bytes.size();
  for (; size >= 0x80; size >>= 7) field += static_cast<char>((size & 0x7f) | 0x80);
  return field + static_cast<char>(size) + bytes;
}

// Encodes only the name, the data and the revision number of a ControllerRevision.
HttpResponse ProtobufResponse(const Json& revision, const std::string& data) {
  std::string object = ProtobufField(1, ProtobufField(1, StringAt(revision, {"metadata", "name"})));
  object +=
      ProtobufField(2, ProtobufField(1, data)) + std::string{0x18, static_cast<char>(IntAt(revision, {"revision"}))};
  const std::string type = ProtobufField(1, "apps/v1") + ProtobufField(2, "ControllerRevision");
  return {200,
          {{"content-type", "application/vnd.kubernetes.protobuf"}},
          std::string("k8s\0", 4) + ProtobufField(1, type) + ProtobufField(2, object)};
}

HttpResponse ImmutableDataResponse() {
  const Json cause = {{"reason", "FieldValueInvalid"}, {"message", "field is immutable"}, {"field", "data"}};
  return JsonResponse({{"kind", "Status"},
                       {"apiVersion", "v1"},
                       {"status", "Failure"},
                       {"reason", "Invalid"},
                       {"message", "data: Invalid value: field is immutable"},
                       {"details", {{"causes", Json::array({cause})}}},
                       {"code", 422}},
                      422);
}

ObjectKey KeyOf(const Json& object) {
  return {StringAt(object, {"metadata", "namespace"}), StringAt(object, {"metadata", "name"})};
}

// Returns the value for `field` if the request selects by this field: "x" for "field=x". Otherwise returns "".
std::string FieldSelected(const HttpRequest& request, const std::string& field) {
  const std::string selector = QueryOf(request, "fieldSelector");
  return selector.starts_with(field + "=") ? selector.substr(field.size() + 1) : "";
}
std::string NameSelected(const HttpRequest& request) { return FieldSelected(request, "metadata.name"); }
std::string NodeSelected(const HttpRequest& request) { return FieldSelected(request, "spec.nodeName"); }

bool AsksForMetadata(const HttpRequest& request) {
  const auto accept = request.headers.find("Accept");
  return accept != request.headers.end() && accept->second.find("as=Partial") != std::string::npos;
}

}  // namespace

std::string WriteRecord::ToString() const {
  return method + " " + resource + (subresource.empty() ? "" : "/" + subresource) + " " + key.ToString() + " " +
         std::to_string(status);
}

bool MatchesSelectorText(const std::string& selector, const StringMap& labels) {
  std::istringstream parts(selector);
  for (std::string part; std::getline(parts, part, ',');) {
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    if (part[0] == '!') {
      if (labels.contains(part.substr(1))) return false;
    } else if (equals == std::string::npos) {
      if (!labels.contains(part)) return false;
    } else {
      const auto found = labels.find(part.substr(0, equals));
      if (found == labels.end() || found->second != part.substr(part.find_last_of('=') + 1)) return false;
    }
  }
  return true;
}

FakeCluster::FakeCluster() : transport_(std::make_shared<FakeTransport>()) {
  transport_->OnSend([this](const HttpRequest& request) { return Serve(request); });
  transport_->OnOpen([this](const HttpRequest& request) { return ServeWatch(request); });
}

const FakeCluster::Table* FakeCluster::FindTable(const ResourceType& type) const {
  const auto found = tables_.find({type.group, type.resource});
  return found == tables_.end() ? nullptr : &found->second;
}

Json& FakeCluster::Insert(const ResourceType& type, Json object) {
  Json& metadata = object["metadata"];
  metadata["uid"] = "uid-" + std::to_string(++uids_);
  metadata["resourceVersion"] = NextVersion();
  metadata["generation"] = 1;
  metadata["creationTimestamp"] = FormatTime(WallTime(std::chrono::seconds(kFirstCreation + uids_)));
  SendEvents(type, Json(), object);
  const ObjectKey key = KeyOf(object);
  return TableOf(type)[key] = std::move(object);
}

bool FakeCluster::Replace(const ResourceType& type, Json& old, Json object) {
  Json& metadata = object["metadata"];
  for (const char* key :
       {"uid", "creationTimestamp", "generation", "resourceVersion", "name", "namespace", "deletionTimestamp"}) {
    if (const Json* kept = Find(old, {"metadata", key})) {
      metadata[key] = *kept;
    } else {
      metadata.erase(key);
    }
  }
  if (object == old) return false;
  if (DesiredDiffers(object, old)) metadata["generation"] = IntAt(old, {"metadata", "generation"}) + 1;
  metadata["resourceVersion"] = NextVersion();
  SendEvents(type, old, object);
  old = std::move(object);
  const Json* finalizers = Find(old, {"metadata", "finalizers"});
  const bool finalized = finalizers == nullptr || finalizers->empty();
  if (finalized && Find(old, {"metadata", "deletionTimestamp"}) != nullptr) {
    Remove(type, KeyOf(old));
  }
  return true;
}

void FakeCluster::Remove(const ResourceType& type, const ObjectKey& key) {
  Table& table = TableOf(type);
  const auto found = table.find(key);
  Json last = std::move(found->second);
  table.erase(found);
  last["metadata"]["resourceVersion"] = NextVersion();  // a deletion has a new version
  SendEvents(type, last, Json());
}

void FakeCluster::SendEvents(const ResourceType& type, const Json& before, const Json& after) {
  changes_.push_back({version_, type, before, after});
  std::erase_if(watches_, [](const OpenWatch& watch) { return watch.stream->closed(); });
  for (const OpenWatch& watch : watches_) SendTo(watch, changes_.back());
}

void FakeCluster::SendTo(const OpenWatch& watch, const Change& change) {
  const auto selected = [&](const Json& object) {
    const ObjectKey key = KeyOf(object);
    return object.is_object() && (watch.target.key.ns.empty() || watch.target.key.ns == key.ns) &&
           (watch.name.empty() || watch.name == key.name) &&
           MatchesSelectorText(watch.label_selector, StringMapAt(object, {"metadata", "labels"}));
  };
  if (watch.target.type.group != change.type.group || watch.target.type.resource != change.type.resource) return;
  if (selected(change.after)) {
    watch.stream->PushEvent(selected(change.before) ? "MODIFIED" : "ADDED", change.after);
  } else if (selected(change.before)) {
    Json last = change.before;
    if (change.after.is_object()) last["metadata"]["resourceVersion"] = change.after["metadata"]["resourceVersion"];
    watch.stream->PushEvent("DELETED", last);
  }
}

std::shared_ptr<FakeStream> FakeCluster::ServeWatch(const HttpRequest& request) {
  std::lock_guard lock(mutex_);
  watches_.push_back(
      {TargetOf(request), NameSelected(request), QueryOf(request, "labelSelector"), std::make_shared<FakeStream>()});
  for (const Change& change : changes_) {
    if (change.version > std::stoll(QueryOf(request, "resourceVersion"))) SendTo(watches_.back(), change);
  }
  return watches_.back().stream;
}

Json FakeCluster::Create(const ResourceType& type, Json object) {
  std::lock_guard lock(mutex_);
  object["apiVersion"] = type.ApiVersion();
  object["kind"] = type.kind;
  return Insert(type, std::move(object));
}

bool FakeCluster::Edit(const ResourceType& type, const ObjectKey& key, const std::function<void(Json&)>& edit) {
  std::lock_guard lock(mutex_);
  const auto found = TableOf(type).find(key);
  if (found == TableOf(type).end()) return false;
  Json object = found->second;
  edit(object);
  Replace(type, found->second, std::move(object));
  return true;
}

bool FakeCluster::Delete(const ResourceType& type, const ObjectKey& key, const std::string& time) {
  std::lock_guard lock(mutex_);
  const auto found = TableOf(type).find(key);
  if (found == TableOf(type).end()) return false;
  const Json* finalizers = Find(found->second, {"metadata", "finalizers"});
  if (finalizers == nullptr || finalizers->empty()) {
    Remove(type, key);
  } else if (Find(found->second, {"metadata", "deletionTimestamp"}) == nullptr) {
    found->second["metadata"]["deletionTimestamp"] =
        time.empty() ? FormatTime(WallTime(std::chrono::seconds(kFirstCreation + version_))) : time;
    found->second["metadata"]["resourceVersion"] = NextVersion();
  }
  return true;
}

std::optional<Json> FakeCluster::Get(const ResourceType& type, const ObjectKey& key) const {
  std::lock_guard lock(mutex_);
  const Table* table = FindTable(type);
  if (table == nullptr || !table->contains(key)) return std::nullopt;
  return table->at(key);
}

std::vector<Json> FakeCluster::List(const ResourceType& type, const std::string& label_selector) const {
  std::lock_guard lock(mutex_);
  std::vector<Json> objects;
  if (const Table* table = FindTable(type)) {
    for (const auto& [key, object] : *table) {
      if (MatchesSelectorText(label_selector, StringMapAt(object, {"metadata", "labels"}))) objects.push_back(object);
    }
  }
  return objects;
}

void FakeCluster::ForEach(const ResourceType& type,
                          const std::function<void(const ObjectKey&, const Json&)>& visit) const {
  std::lock_guard lock(mutex_);
  const Table* table = FindTable(type);
  if (table == nullptr) return;
  for (const auto& [key, object] : *table) visit(key, object);
}

std::string FakeCluster::resource_version() const {
  std::lock_guard lock(mutex_);
  return std::to_string(version_);
}

void FakeCluster::StoreDataAs(const ObjectKey& key, std::string text) {
  std::lock_guard lock(mutex_);
  data_texts_[key] = std::move(text);
}

void FakeCluster::SetCreated(const ResourceType& type, const ObjectKey& key, const std::string& time) {
  std::lock_guard lock(mutex_);
  Json& metadata = TableOf(type).at(key)["metadata"];
  metadata["creationTimestamp"] = time;
  metadata["resourceVersion"] = NextVersion();
}

void FakeCluster::SetFaults(Faults faults) {
  std::lock_guard lock(mutex_);
  faults_ = std::move(faults);
}

void FakeCluster::SetAfterwards(Afterwards afterwards) {
  std::lock_guard lock(mutex_);
  afterwards_ = std::move(afterwards);
}

void FakeCluster::SetMutation(Mutation mutation) {
  std::lock_guard lock(mutex_);
  mutation_ = std::move(mutation);
}

std::vector<WriteRecord> FakeCluster::writes() const {
  std::lock_guard lock(mutex_);
  return writes_;
}

void FakeCluster::ClearWrites() {
  std::lock_guard lock(mutex_);
  writes_.clear();
}

FakeCluster::Target FakeCluster::TargetOf(const HttpRequest& request) {
  Target target;
  std::vector<std::string> parts;
  std::istringstream path(PathOf(request));
  for (std::string part; std::getline(path, part, '/');) {
    if (!part.empty()) parts.push_back(part);
  }
  // The path is apis/GROUP/VERSION[/namespaces/NS]/RESOURCE[/NAME[/SUBRESOURCE]].
  std::size_t at = 1;
  if (!parts.empty() && parts[0] == "apis" && at < parts.size()) target.type.group = parts[at++];
  if (at < parts.size()) target.type.version = parts[at++];
  if (at + 1 < parts.size() && parts[at] == "namespaces") {
    target.key.ns = parts[at + 1];
    at += 2;
  }
  if (at < parts.size()) target.type.resource = parts[at++];
  if (at < parts.size()) target.key.name = parts[at++];
  if (at < parts.size()) target.subresource = parts[at++];
  return target;
}

Result<HttpResponse> FakeCluster::Serve(const HttpRequest& request) {
  const Target target = TargetOf(request);
  if (target.type.resource.empty()) return StatusResponse(404, "NotFound", "no such path: " + request.path);

  const Json body = request.body.empty() ? Json::object() : Json::parse(request.body, nullptr, false);
  if (body.is_discarded()) return StatusResponse(400, "BadRequest", "the body is no JSON");

  std::unique_lock lock(mutex_);
  WriteRecord record{request.method, target.type.resource, target.subresource, target.key, 0, false};
  if (request.method == "POST") record.key.name = StringAt(body, {"metadata", "name"});
  std::optional<Fault> fault = faults_ ? faults_(record, body) : std::nullopt;
  Result<HttpResponse> answer = HttpResponse{};
  if (!fault || fault->after) {
    answer = Answer(request, target, body, record);
    record.status = answer->status;
  }
  if (fault) {
    answer = fault->answer;
    record.status = answer ? answer->status : 0;
  }
  if (IsWrite(request.method)) writes_.push_back(record);
  const Afterwards afterwards = afterwards_;
  lock.unlock();
  if (afterwards) afterwards(record);
  return answer;
}

HttpResponse FakeCluster::Answer(const HttpRequest& request, const Target& target, const Json& body,
                                 WriteRecord& record) {
  if (request.method == "POST") {
    const bool dry_run = request.path.find("dryRun=All") != std::string::npos;
    if (dry_run) record.subresource = "dry-run";
    return ServePost(target, body, dry_run, record);
  }
  if (target.key.name.empty()) return ServeList(request, target);
  const Table& table = TableOf(target.type);
  const auto found = table.find(target.key);
  if (found == table.end()) return NotFoundResponse(target.type, target.key.name);
  const auto text = target.type.resource == "controllerrevisions" ? data_texts_.find(target.key) : data_texts_.end();
  if (text != data_texts_.end()) {
    const bool exact = request.method == "PUT" && request.body.find("\"data\":" + text->second) != std::string::npos;
    if (request.method == "PATCH" || (request.method == "PUT" && !exact)) return ImmutableDataResponse();
  }
  if (request.method == "GET") {
    const auto accept = request.headers.find("Accept");
    if (accept != request.headers.end() && accept->second.ends_with("protobuf")) {
      return ProtobufResponse(found->second,
                              text == data_texts_.end() ? found->second.at("data").dump() : text->second);
    }
    if (!AsksForMetadata(request)) return JsonResponse(found->second);
    return JsonResponse({{"apiVersion", "meta.k8s.io/v1"},
                         {"kind", "PartialObjectMetadata"},
                         {"metadata", found->second.at("metadata")}});
  }
  if (request.method == "PUT") return ServePut(target, body, record);
  if (request.method == "PATCH") return ServePatch(target, body, record);
  if (request.method == "DELETE") return ServeDelete(target, body, record);
  return StatusResponse(405, "MethodNotAllowed", request.method);
}

HttpResponse FakeCluster::ServeList(const HttpRequest& request, const Target& target) const {
  const std::string selector = QueryOf(request, "labelSelector");
  const std::string name = NameSelected(request);
  const std::string node = NodeSelected(request);
  const std::string limit_text = QueryOf(request, "limit");
  const std::string from = QueryOf(request, "continue");
  const bool partial = AsksForMetadata(request);
  const std::size_t limit = limit_text.empty() ? 0 : std::stoul(limit_text);
  Json items = Json::array();
  Json metadata = {{"resourceVersion", std::to_string(version_)}};
  if (const Table* table = FindTable(target.type)) {
    for (const auto& [key, object] : *table) {
      if (!target.key.ns.empty() && key.ns != target.key.ns) continue;
      if (!name.empty() && key.name != name) continue;
      if (!node.empty() && StringAt(object, {"spec", "nodeName"}) != node) continue;
      if (!from.empty() && key.ToString() <= from) continue;
      if (!MatchesSelectorText(selector, StringMapAt(object, {"metadata", "labels"}))) continue;
      if (limit > 0 && items.size() == limit) {
        const Json& last = items.back();
        metadata["continue"] =
            ObjectKey{StringAt(last, {"metadata", "namespace"}), StringAt(last, {"metadata", "name"})}.ToString();
        break;
      }
      items.push_back(partial ? Json{{"metadata", object.at("metadata")}} : object);
    }
  }
  return JsonResponse({{"apiVersion", "v1"}, {"kind", "List"}, {"metadata", metadata}, {"items", items}});
}

HttpResponse FakeCluster::ServePost(const Target& target, Json object, bool dry_run, WriteRecord& record) {
  if (TableOf(target.type).contains(record.key)) {
    return StatusResponse(409, "AlreadyExists", target.type.resource + " \"" + record.key.name + "\" already exists");
  }
  object.erase("status");
  if (mutation_) mutation_(target.type, Json(), object);
  if (const std::string fault = FaultOf(target.type, Json(), object); !fault.empty()) {
    return StatusResponse(422, "Invalid", fault);
  }
  if (dry_run) return JsonResponse(object, 201);
  record.changed = true;
  return JsonResponse(Insert(target.type, std::move(object)), 201);
}

HttpResponse FakeCluster::ServePut(const Target& target, Json object, WriteRecord& record) {
  Json& old = TableOf(target.type).at(target.key);
  const std::string version = StringAt(object, {"metadata", "resourceVersion"});
  const std::string uid = StringAt(object, {"metadata", "uid"});
  if (!uid.empty() && uid != StringAt(old, {"metadata", "uid"}))
    return ConflictResponse("Precondition failed: UID in precondition");
  if (!version.empty() && version != StringAt(old, {"metadata", "resourceVersion"})) {
    return ConflictResponse(
        "the object has been modified; please apply your changes to the latest version and try again");
  }
  if (target.subresource == "status") {
    Json changed = old;
    changed["status"] = object.value("status", Json::object());
    object = std::move(changed);
  } else {
    object.erase("status");
    if (old.contains("status")) object["status"] = old["status"];
    const Json* managed = Find(old, {"metadata", "managedFields"});
    if (managed != nullptr && Find(object, {"metadata", "managedFields"}) == nullptr)
      object["metadata"]["managedFields"] = *managed;
    if (mutation_) mutation_(target.type, old, object);
  }
  if (const std::string fault = FaultOf(target.type, old, object); !fault.empty())
    return StatusResponse(422, "Invalid", fault);
  record.changed = Replace(target.type, old, object);
  // A PUT that removes the last finalizer deletes the object.
  const Table& table = TableOf(target.type);
  const auto found = table.find(target.key);
  return JsonResponse(found == table.end() ? object : found->second);
}

HttpResponse FakeCluster::ServePatch(const Target& target, const Json& patch, WriteRecord& record) {
  const Json& old = TableOf(target.type).at(target.key);
  // If the patch contains uid or resourceVersion, ServePut checks them in the merged object.
  Json object = old;
  if (target.subresource == "status") {
    if (patch.contains("status")) object["status"].merge_patch(patch["status"]);
    if (const Json* metadata = Find(patch, {"metadata"})) object["metadata"].merge_patch(*metadata);
  } else {
    object.merge_patch(patch);
  }
  return ServePut(target, std::move(object), record);
}

HttpResponse FakeCluster::ServeDelete(const Target& target, const Json& options, WriteRecord& record) {
  Json& old = TableOf(target.type).at(target.key);
  const std::string uid = StringAt(options, {"preconditions", "uid"});
  if (!uid.empty() && uid != StringAt(old, {"metadata", "uid"}))
    return ConflictResponse("Precondition failed: UID in precondition");
  const std::string version = StringAt(options, {"preconditions", "resourceVersion"});
  if (!version.empty() && version != StringAt(old, {"metadata", "resourceVersion"}))
    return ConflictResponse("Precondition failed: ResourceVersion in precondition");
  record.changed = true;
  const Json* finalizers = Find(old, {"metadata", "finalizers"});
  if (finalizers == nullptr || finalizers->empty()) {
    Remove(target.type, target.key);
  } else if (Find(old, {"metadata", "deletionTimestamp"}) == nullptr) {
    old["metadata"]["deletionTimestamp"] = FormatTime(WallTime(std::chrono::seconds(kFirstCreation + version_)));
    old["metadata"]["resourceVersion"] = NextVersion();
  }
  return JsonResponse({{"apiVersion", "v1"}, {"kind", "Status"}, {"status", "Success"}});
}

}  // namespace yad::testing
