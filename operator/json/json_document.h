// A parsed JSON document. It is converted to a tree (Json) only on request, because the conversion takes ten times as
// long as parsing. Callers often need only a part of the tree.
#ifndef OPERATOR_JSON_JSON_DOCUMENT_H_
#define OPERATOR_JSON_JSON_DOCUMENT_H_

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/error.h"

namespace simdjson::dom {
class element;
}

namespace yad {

// Values that are nested deeper than this are dropped, because recursive code could overflow the stack. Kubernetes' own
// objects have about 20 levels. The rest of the document is parsed, so that one deep object does not make a whole list
// unreadable. Even without the dropped values, the deep object is deeper than kMaxJsonDepth, so the validation rejects
// it later.
inline constexpr int kMaxParseDepth = 1000;

// A field of metadata that records the writers of each field. It is long, so only JsonDocument::Tree keeps it.
inline constexpr std::string_view kManagedFields = "managedFields";

// Selects a member of an object. Example: {"spec", {{"replicas"}}} selects spec.replicas. If the member is a list of
// objects, `below` selects members of each object in the list.
struct JsonPart {
  std::string_view key;
  std::vector<JsonPart> below = {};  // members to read below this member; empty: all
};
using JsonParts = std::vector<JsonPart>;

// A parsed value. It does not refer to the text from which it was parsed. Any thread may read it.
class JsonDocument {
 public:
  // Fails with kDecode if `text` is not valid JSON or has invalid UTF-8. Never throws.
  static Result<JsonDocument> Parse(std::string_view text);
  ~JsonDocument();
  JsonDocument(JsonDocument&& other) noexcept;
  JsonDocument& operator=(JsonDocument&& other) noexcept;

  // Returns the value as an element of simdjson. Do not search it with simdjson's functions: if a key occurs twice,
  // they find the first member, but only the last member is valid.
  const simdjson::dom::element& value() const;
  bool is_object() const;
  // Returns the string value of a member, or "" if the member is missing or not a string. The result is valid as long
  // as the document.
  std::string_view TextAt(std::string_view key) const;
  // Replaces the value with its member `key`. Returns false and changes nothing if the member does not exist.
  bool Enter(std::string_view key);

  Json Tree() const;
  // Converts an object of the apiserver to a tree, without metadata.managedFields, which are often half of the object.
  // (A later PUT without managedFields does not remove them.) `parts` selects the members to convert. If `parts` is
  // empty, converts all members.
  Json TreeOfObject(const JsonParts& parts = {}) const;

 private:
  struct State;
  explicit JsonDocument(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Like ParseMeta(const Json&), but without a tree.
ObjectMeta ParseMeta(const JsonDocument& object);

// Parses a JSON document to a tree, with managedFields.
Result<Json> ParseJson(std::string_view text);

// Returns the JSON that Go's encoder writes: "<", ">", "&", U+2028 and U+2029 are escaped. The data of a
// ControllerRevision must have this encoding. The apiserver re-encodes the data on each patch, and rejects the patch if
// the stored bytes differ.
std::string DumpJsonAsGo(const Json& value);

// Returns the beginning of `text` for a message, on one line. Replaces characters that can't be printed. If `text` is
// longer than about `limit` bytes, the result ends with "...".
std::string Excerpt(std::string_view text, std::size_t limit = 200);

}  // namespace yad

#endif  // OPERATOR_JSON_JSON_DOCUMENT_H_
