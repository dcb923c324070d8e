// A parsed JSON text. A tree (Json) is built only on request, because building it takes ten times as long as parsing
// the text, and callers often need only a part of the tree.
#ifndef OPERATOR_JSON_JSON_DOCUMENT_H_
#define OPERATOR_JSON_JSON_DOCUMENT_H_

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/error.h"

namespace simdjson::dom {
class element;
}

namespace yad {

// Values that are nested deeper than this are dropped. Code that walks or prints an object recurses, and one deep
// object must not make a whole list or watch unreadable. The remaining object is still nested deeper than
// kMaxJsonDepth, so validation rejects it. Kubernetes' own objects have about 20 levels.
inline constexpr int kMaxParseDepth = 1000;

// The apiserver's record of the writers of each field, in the metadata of each object. Objects that are read or cached
// do not contain it.
inline constexpr std::string_view kManagedFields = "managedFields";

// A member of an object, and the parts of that member to read. For a list, these are the parts of each item.
struct JsonPart {
  std::string_view key;
  std::vector<JsonPart> below = {};  // empty: the whole member
};
using JsonParts = std::vector<JsonPart>;

// One value of a JSON text. The value remains valid without the text. Any thread may read it.
class JsonDocument {
 public:
  // Fails with kDecode if the text is not valid JSON or has invalid UTF-8. Never throws.
  static Result<JsonDocument> Parse(std::string_view text);
  ~JsonDocument();
  JsonDocument(JsonDocument&& other) noexcept;
  JsonDocument& operator=(JsonDocument&& other) noexcept;

  // Returns simdjson's view of the value. If an object has a key twice, the last member counts, but simdjson's own
  // search finds the first one.
  const simdjson::dom::element& value() const;
  bool is_object() const;
  // Returns "" if this member is missing or not a string. The result is valid as long as the document.
  std::string_view TextAt(std::string_view key) const;
  // Replaces the value with its member `key`. If there is no such member, returns false and changes nothing.
  bool Enter(std::string_view key);

  Json Tree() const;
  // Returns the tree of an apiserver's response: an object, a list or a watch event. Omits the objects'
  // metadata.managedFields, which are often half of the text. The operator does not read them, and the apiserver keeps
  // them if a PUT has none.
  Json TreeOfAnswer() const;
  // Returns the tree of one object without managedFields. `parts` selects the members to read; {} selects all.
  Json TreeOfObject(const JsonParts& parts = {}) const;

 private:
  struct State;
  explicit JsonDocument(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Returns the result of ParseMeta for the object's tree, without building the tree.
ObjectMeta ParseMeta(const JsonDocument& object);

}  // namespace yad

#endif  // OPERATOR_JSON_JSON_DOCUMENT_H_
