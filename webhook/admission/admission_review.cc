#include "webhook/admission/admission_review.h"

#include <algorithm>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/api/field_error.h"
#include "operator/client/transport/base64.h"
#include "operator/json/json_document.h"

namespace yad {
namespace {

constexpr char kApiVersion[] = "admission.k8s.io/v1";
constexpr std::size_t kMaxCauses = 100;
// The longest name of an object, kind, group or resource in Kubernetes, in bytes.
constexpr std::size_t kMaxName = 253;
constexpr std::size_t kMaxField = 512;              // bytes of a cause's field
constexpr std::size_t kMaxCauseMessage = 3 * 1024;  // bytes of a cause's message
// The maximum size of all causes as JSON, in bytes. One cause always fits, even if JSON escapes each of its bytes as
// six bytes.
constexpr std::size_t kMaxCauseBytes = 64 * 1024;
// The maximum number of JSON values in a body. It limits the memory: a value of one byte takes about a hundred bytes in
// each of several Json trees.
// The limit is high enough for each update of an accepted object, because its finalizers must stay removable. The
// review of an update contains the object twice. Each copy includes the status (at most 10,000 values) and the
// managedFields of the status (about 15,500).
constexpr std::size_t kMaxValues = 330'000;
constexpr std::size_t kMaxValuesOfObject = 130'000;  // without its status and the managedFields of its status
constexpr std::size_t kMaxWarning = 256;
constexpr std::size_t kMaxWarnings = 4096;

// Returns `text` as one line, because an apiserver drops warnings with control characters.
std::string OneLine(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return text;
}

// Formats the warnings as the apiserver does. If all warnings together are too long, truncates each warning, and then
// omits the last warnings if necessary.
Json Presentable(const std::vector<std::string>& warnings) {
  std::size_t total = 0;
  for (const std::string& warning : warnings) total += warning.size();
  const std::size_t each = total <= kMaxWarnings ? kMaxWarnings : kMaxWarning;
  Json result = Json::array();
  total = 0;
  for (const std::string& text : warnings) {
    std::string warning = Cut(OneLine(text), each);
    total += warning.size();
    if (total > kMaxWarnings) break;
    result.push_back(std::move(warning));
  }
  return result;
}

// Returns an upper bound of the number of values in a JSON document. Commas and brackets within strings do not count.
std::size_t MostValuesIn(std::string_view text) {
  std::size_t values = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') in_string = !in_string;
    if (in_string && c == '\\') ++i;
    if (!in_string) values += c == ',' || c == '[' || c == '{';
  }
  return values;
}

// Counts the values in the same way as MostValuesIn.
std::size_t CountValues(const Json& value) {
  if (!value.is_structured()) return 0;
  std::size_t values = std::max<std::size_t>(value.size(), 1);
  for (const Json& child : value) values += CountValues(child);
  return values;
}

// Counts the values that writes of the status add to an object. Users do not write them.
std::size_t CountValuesOfStatus(const Json& object) {
  const Json* status = Find(object, {"status"});
  std::size_t values = status == nullptr ? 0 : CountValues(*status);
  for (const Json& manager : ListAt(object, {"metadata", "managedFields"})) {
    if (StringAt(manager, {"subresource"}) == "status") values += CountValues(manager);
  }
  return values;
}

bool HasTooManyValues(const Json& object) {
  if (Find(object, {"metadata", "deletionTimestamp"}) != nullptr) return false;  // Its finalizers must stay removable.
  return CountValues(object) - CountValuesOfStatus(object) > kMaxValuesOfObject;
}

tl::unexpected<Error> TooManyValues(const char* what, std::size_t most) {
  return Fail(Reason::kTooLarge, std::string(what) + " has more than " + std::to_string(most) + " values");
}

}  // namespace

AdmissionResponse AdmissionResponse::Invalid(const AdmissionRequest& request, const std::vector<Cause>& causes) {
  Json shown = Json::array();
  std::string text;
  const auto show = [&](const std::string& field, const std::string& reason, const std::string& message) {
    shown.push_back({{"field", field}, {"reason", reason}, {"message", message}});
    text += (text.empty() ? "" : ", ") + field + ": " + message;
  };
  std::size_t left = kMaxCauseBytes;
  for (const Cause& cause : causes) {
    const std::string field = Cut(cause.field, kMaxField);
    const std::string message = Cut(cause.message, kMaxCauseMessage);
    constexpr std::size_t kKeys = 64;  // the bytes of the JSON keys and punctuation of one cause
    const std::size_t size = 2 * (MeasureJson(field).text + MeasureJson(message).text) + cause.reason.size() + kKeys;
    if (size > left || shown.size() == kMaxCauses) break;
    left -= size;
    show(field, cause.reason, message);
  }
  if (const std::size_t rest = causes.size() - shown.size(); rest > 0) {  // The limits do not apply to this cause.
    const char* const least = causes.size() < FieldErrors::kMost ? "" : "at least ";
    show("spec", "FieldValueInvalid",
         "Invalid value: and " + (least + std::to_string(rest)) + (rest == 1 ? " more error" : " more errors") +
             "; fix the errors above first");
  }
  if (shown.size() != 1) text = "[" + text + "]";
  const std::string name = Cut(request.key.name, kMaxName);
  const std::string subject = request.kind + "." + request.group + " \"" + name + "\"";
  AdmissionResponse response;
  response.allowed = false;
  response.status = {
      {"status", "Failure"},
      {"code", 422},
      {"reason", "Invalid"},
      {"message", subject + " is invalid: " + text},
      {"details", {{"name", name}, {"group", request.group}, {"kind", request.kind}, {"causes", shown}}}};
  return response;
}

AdmissionResponse AdmissionResponse::BadRequest(const std::string& message) {
  return {.allowed = false,
          .status = {{"status", "Failure"}, {"code", 400}, {"reason", "BadRequest"}, {"message", message}}};
}

Result<AdmissionRequest> ParseAdmissionReview(const std::string& body) {
  // Each value takes at least one byte, so a body of at most kMaxValuesOfObject bytes need not be counted.
  const std::size_t values = body.size() > kMaxValuesOfObject ? MostValuesIn(body) : 0;
  if (values > kMaxValues) return TooManyValues("the body", kMaxValues);
  YAD_TRY(auto review, ParseJson(body));
  const Json* request = Find(review, {"request"});
  if (StringAt(review, {"kind"}) != "AdmissionReview" || StringAt(review, {"apiVersion"}) != kApiVersion ||
      request == nullptr || !request->is_object()) {
    return Fail(Reason::kBadRequest,
                std::string("the body must be an AdmissionReview of ") + kApiVersion + " with a request");
  }
  AdmissionRequest parsed;
  // Reads a part of the request that the webhook quotes in its responses.
  const auto read = [&](std::initializer_list<std::string_view> path, std::string& part) -> Status {
    part = StringAt(*request, path);
    if (part.size() <= kMaxName) return {};
    std::string name = "request";
    for (const std::string_view step : path) name.append(".").append(step);
    return Fail(Reason::kBadRequest, name + " is longer than " + std::to_string(kMaxName) + " bytes");
  };
  YAD_TRY_VOID(read({"uid"}, parsed.uid));
  if (parsed.uid.empty()) return Fail(Reason::kBadRequest, "request.uid is missing");
  parsed.operation = StringAt(*request, {"operation"});
  YAD_TRY_VOID(read({"kind", "group"}, parsed.group));
  YAD_TRY_VOID(read({"kind", "version"}, parsed.version));
  YAD_TRY_VOID(read({"kind", "kind"}, parsed.kind));
  YAD_TRY_VOID(read({"resource", "resource"}, parsed.resource));
  YAD_TRY_VOID(read({"subResource"}, parsed.subresource));
  parsed.key = {StringAt(*request, {"namespace"}), StringAt(*request, {"name"})};
  parsed.dry_run = BoolAt(*request, {"dryRun"});
  Json& mutable_request = review["request"];
  if (mutable_request.contains("object")) parsed.object = std::move(mutable_request["object"]);
  if (values > kMaxValuesOfObject && HasTooManyValues(parsed.object))
    return TooManyValues("the object", kMaxValuesOfObject);
  if (mutable_request.contains("oldObject")) parsed.old_object = std::move(mutable_request["oldObject"]);
  return parsed;
}

std::string UidOfLargeReview(std::string_view body) {
  constexpr std::string_view kBegin = R"("request":{"uid":")";
  constexpr std::size_t kBeforeUid = 256;  // the kind and the version of the review
  const std::size_t at = body.substr(0, kBeforeUid).find(kBegin);
  if (at == std::string_view::npos) return "";
  const std::string_view rest = body.substr(at + kBegin.size(), kMaxName + 1);
  const std::size_t end = rest.find_first_not_of("0123456789abcdefABCDEF-");
  return end == std::string_view::npos || rest[end] != '"' ? "" : std::string(rest.substr(0, end));
}

// The review is built member by member, because a braced list copies each member twice.
std::string MakeAdmissionReview(const std::string& uid, const AdmissionResponse& response) {
  Json review = Json::object();
  review["apiVersion"] = kApiVersion;
  review["kind"] = "AdmissionReview";
  Json& json = review["response"];
  json["uid"] = uid;
  json["allowed"] = response.allowed;
  if (!response.allowed) json["status"] = response.status;
  if (response.allowed && response.patch.is_array() && !response.patch.empty()) {
    json["patchType"] = "JSONPatch";
    json["patch"] = Base64Encode(DumpJson(response.patch));
  }
  if (!response.warnings.empty()) json["warnings"] = Presentable(response.warnings);
  return DumpJson(review);
}

}  // namespace yad
