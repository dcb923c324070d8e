// A JSON text that has been read, and not made into a tree: that takes ten times as long, and often a part of it will
// do.
#ifndef OPERATOR_CLIENT_JSON_DOCUMENT_H_
#define OPERATOR_CLIENT_JSON_DOCUMENT_H_

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

// What nests deeper is left out: whoever walks or prints an object recurses, and one such object must not keep a list
// or a watch from being read. It is still deeper than kMaxJsonDepth then, which validation refuses. Kubernetes' own
// objects have about 20 levels.
inline constexpr int kMaxParseDepth = 1000;

// A member of an object, and what of it is meant. Of a list: what of each item.
struct JsonPart {
  std::string_view key;
  std::vector<JsonPart> below = {};  // none: all of it
};
using JsonParts = std::vector<JsonPart>;

// One value of a text; it does not need the text. Any thread may read it.
class JsonDocument {
 public:
  // kDecode where the text is no JSON or has invalid UTF-8. Never throws.
  static Result<JsonDocument> Parse(std::string_view text);
  ~JsonDocument();
  JsonDocument(JsonDocument&& other) noexcept;
  JsonDocument& operator=(JsonDocument&& other) noexcept;

  // simdjson's view of it. Where an object has one key twice, the last counts.
  const simdjson::dom::element& value() const;
  bool is_object() const;
  // "" where this member is missing, or no string. Good until the document goes.
  std::string_view TextAt(std::string_view key) const;
  // Goes on as this member of what it is now. False: there is none.
  bool Enter(std::string_view key);

  Json Tree() const;
  // Of what an apiserver answers: an object, a list of them, or a watch's event. Without the objects'
  // metadata.managedFields, which often are half of the text: nobody here reads them, and the apiserver keeps them
  // where a PUT has none.
  Json TreeOfAnswer() const;
  // Of one object, likewise, with these parts of it only; {}: all of it.
  Json TreeOfObject(const JsonParts& parts = {}) const;

 private:
  struct State;
  explicit JsonDocument(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// As of its tree, which need not be made for that.
ObjectMeta ParseMeta(const JsonDocument& object);

}  // namespace yad

#endif  // OPERATOR_CLIENT_JSON_DOCUMENT_H_
