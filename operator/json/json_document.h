// A parsed JSON text without a tree. Building the tree takes ten times as long as parsing, and often a part of it is
// enough.
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

// Values that nest deeper are dropped: code that walks or prints an object recurses, and one such object must not
// prevent a list or a watch from being read. The rest still nests deeper than kMaxJsonDepth, so validation rejects it.
// Kubernetes' own objects have about 20 levels.
inline constexpr int kMaxParseDepth = 1000;

// The apiserver's record of the writers of each field, in each object's metadata. It is dropped from all objects that
// are read or cached.
inline constexpr std::string_view kManagedFields = "managedFields";

// A member of an object and the parts of it to read. The members below a list are those of each item.
struct JsonPart {
  std::string_view key;
  std::vector<JsonPart> below = {};  // empty: all of it
};
using JsonParts = std::vector<JsonPart>;

// One value of a JSON text. It does not refer to the text. Any thread may read it.
class JsonDocument {
 public:
  // Fails with kDecode if the text is not valid JSON or has invalid UTF-8. Never throws.
  static Result<JsonDocument> Parse(std::string_view text);
  ~JsonDocument();
  JsonDocument(JsonDocument&& other) noexcept;
  JsonDocument& operator=(JsonDocument&& other) noexcept;

  // Returns simdjson's view of the value. If an object has a key twice, the last member counts.
  const simdjson::dom::element& value() const;
  bool is_object() const;
  // Returns "" if this member is missing or not a string. The view is valid as long as the document.
  std::string_view TextAt(std::string_view key) const;
  // Replaces the value by its member `key`. Returns false, and changes nothing, if there is no such member.
  bool Enter(std::string_view key);

  Json Tree() const;
  // Returns the tree of an apiserver's answer: an object, a list or a watch event. The objects' metadata.managedFields,
  // often half of the text, are dropped: the operator does not read them, and the apiserver keeps its own if a PUT has
  // none.
  Json TreeOfAnswer() const;
  // Returns the tree of one object without managedFields. `parts` selects the members to read; {} selects all.
  Json TreeOfObject(const JsonParts& parts = {}) const;

 private:
  struct State;
  explicit JsonDocument(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Returns the same as ParseMeta of the object's tree, without building the tree.
ObjectMeta ParseMeta(const JsonDocument& object);

}  // namespace yad

#endif  // OPERATOR_JSON_JSON_DOCUMENT_H_
