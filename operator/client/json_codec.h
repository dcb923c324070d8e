// JSON from outside: hostile until parsed.
#ifndef OPERATOR_CLIENT_JSON_CODEC_H_
#define OPERATOR_CLIENT_JSON_CODEC_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "operator/api/object.h"
#include "operator/base/error.h"

namespace yad {

// What nests deeper is left out: whoever walks or prints an object recurses, and one such object must not keep a list
// or a watch from being read. It is still deeper than kMaxJsonDepth then, which validation refuses. Kubernetes' own
// objects have about 20 levels.
inline constexpr int kMaxParseDepth = 1000;

// kDecode where the text is no JSON or has invalid UTF-8. Never throws.
Result<Json> ParseJson(std::string_view text);

// The same for what an apiserver answers: an object, a list of them, or a watch's event. Without the objects'
// metadata.managedFields, which often are half of the text: nobody here reads them, and the apiserver keeps them where
// a PUT has none.
Result<Json> ParseAnswer(std::string_view text);

// Compact text. Invalid UTF-8 (which only we could have put there) becomes U+FFFD instead of an exception.
std::string DumpJson(const Json& value);

// The beginning of a text for a message: one line, printable, cut at `limit` bytes.
std::string Excerpt(std::string_view text, std::size_t limit = 200);

}  // namespace yad

#endif  // OPERATOR_CLIENT_JSON_CODEC_H_
