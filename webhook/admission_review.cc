#include "webhook/admission_review.h"

#include <algorithm>
#include <span>

#include "operator/api/field_error.h"
#include "operator/client/base64.h"
#include "operator/client/json_codec.h"

namespace yad {
namespace {

constexpr char kApiVersion[] = "admission.k8s.io/v1";
constexpr std::size_t kMaxCauses = 100;
// The shortest take one byte of text and a hundred of memory, several times over. The review of an object's next change
// holds it twice, its status included, which no review judges and which has 10,000 at most: one that did not fit there
// could not even lose its finalizers.
constexpr std::size_t kMaxValues = 300'000;
constexpr std::size_t kMaxValuesOfObject = 130'000;  // but for its status
constexpr std::size_t kMaxWarning = 256;
constexpr std::size_t kMaxWarnings = 4096;

// One line: an apiserver drops a warning with control characters.
std::string OneLine(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return text;
}

// Cuts on a character's edge.
std::string Cut(std::string text, std::size_t limit) {
  if (text.size() <= limit) return text;
  std::size_t end = limit - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

// As the apiserver does it: long ones are cut only where all together are too long; then the last ones are left out.
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

// At most so many values does a text have; what stands in strings does not count.
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

// By the same measure.
std::size_t CountValues(const Json& value) {
  if (!value.is_structured()) return 0;
  std::size_t values = std::max<std::size_t>(value.size(), 1);
  for (const Json& child : value) values += CountValues(child);
  return values;
}

bool HasTooManyValues(const Json& object) {
  if (Find(object, {"metadata", "deletionTimestamp"}) != nullptr) return false;  // It can only go.
  const Json* status = Find(object, {"status"});
  return CountValues(object) - (status == nullptr ? 0 : CountValues(*status)) > kMaxValuesOfObject;
}

tl::unexpected<Error> TooManyValues(const char* what, std::size_t most) {
  return Fail(Reason::kBadRequest, std::string(what) + " has more than " + std::to_string(most) + " values");
}

}  // namespace

AdmissionAnswer AdmissionAnswer::Invalid(const AdmissionRequest& request, const std::vector<Cause>& causes) {
  Json list = Json::array();
  std::string text;
  const auto add = [&](const Cause& cause) {
    list.push_back({{"field", cause.field}, {"reason", cause.reason}, {"message", cause.message}});
    text += (text.empty() ? "" : ", ") + cause.field + ": " + cause.message;
  };
  for (const Cause& cause : std::span(causes).first(std::min(causes.size(), kMaxCauses))) add(cause);
  if (causes.size() > kMaxCauses) {
    const char* const least = causes.size() < FieldErrors::kMost ? "" : "at least ";
    add({"spec", "FieldValueInvalid",
         "Invalid value: and " + (least + std::to_string(causes.size() - kMaxCauses)) +
             " more faults; mend these first"});
  }
  if (causes.size() != 1) text = "[" + text + "]";
  AdmissionAnswer answer;
  answer.allowed = false;
  answer.status = {
      {"status", "Failure"},
      {"code", 422},
      {"reason", "Invalid"},
      {"message", request.kind + "." + request.group + " \"" + request.key.name + "\" is invalid: " + text},
      {"details",
       {{"name", request.key.name}, {"group", request.group}, {"kind", request.kind}, {"causes", std::move(list)}}}};
  return answer;
}

AdmissionAnswer AdmissionAnswer::BadRequest(const std::string& message) {
  AdmissionAnswer answer;
  answer.allowed = false;
  answer.status = {{"status", "Failure"}, {"code", 400}, {"reason", "BadRequest"}, {"message", message}};
  return answer;
}

Result<AdmissionRequest> ParseAdmissionReview(const std::string& body) {
  // Most have fewer bytes than that.
  const std::size_t values = body.size() > kMaxValuesOfObject ? MostValuesIn(body) : 0;
  if (values > kMaxValues) return TooManyValues("the body", kMaxValues);
  auto review = ParseJson(body);
  if (!review) return Fail(review.error());
  const Json* request = Find(*review, {"request"});
  if (StringAt(*review, {"kind"}) != "AdmissionReview" || StringAt(*review, {"apiVersion"}) != kApiVersion ||
      request == nullptr || !request->is_object()) {
    return Fail(Reason::kBadRequest,
                std::string("the body must be an AdmissionReview of ") + kApiVersion + " with a request");
  }
  AdmissionRequest parsed;
  parsed.uid = StringAt(*request, {"uid"});
  if (parsed.uid.empty()) return Fail(Reason::kBadRequest, "request.uid is missing");
  parsed.operation = StringAt(*request, {"operation"});
  parsed.group = StringAt(*request, {"kind", "group"});
  parsed.version = StringAt(*request, {"kind", "version"});
  parsed.kind = StringAt(*request, {"kind", "kind"});
  parsed.resource = StringAt(*request, {"resource", "resource"});
  parsed.subresource = StringAt(*request, {"subResource"});
  parsed.key = {StringAt(*request, {"namespace"}), StringAt(*request, {"name"})};
  parsed.dry_run = BoolAt(*request, {"dryRun"});
  Json& mutable_request = (*review)["request"];
  if (mutable_request.contains("object")) parsed.object = std::move(mutable_request["object"]);
  if (values > kMaxValuesOfObject && HasTooManyValues(parsed.object))
    return TooManyValues("the object", kMaxValuesOfObject);
  if (mutable_request.contains("oldObject")) parsed.old_object = std::move(mutable_request["oldObject"]);
  return parsed;
}

// Member by member: a braced list copies each twice.
std::string MakeAdmissionReview(const std::string& uid, const AdmissionAnswer& answer) {
  Json review = Json::object();
  review["apiVersion"] = kApiVersion;
  review["kind"] = "AdmissionReview";
  Json& response = review["response"];
  response["uid"] = uid;
  response["allowed"] = answer.allowed;
  if (!answer.allowed) response["status"] = answer.status;
  if (answer.allowed && answer.patch.is_array() && !answer.patch.empty()) {
    response["patchType"] = "JSONPatch";
    response["patch"] = Base64Encode(DumpJson(answer.patch));
  }
  if (!answer.warnings.empty()) response["warnings"] = Presentable(answer.warnings);
  return DumpJson(review);
}

}  // namespace yad
