// JSON from outside: hostile until parsed.
#ifndef OPERATOR_CLIENT_JSON_CODEC_H_
#define OPERATOR_CLIENT_JSON_CODEC_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "operator/api/object.h"
#include "operator/base/error.h"

namespace yad {

// What an apiserver keeps of who wrote what, in each object's metadata: left out wherever objects are read or kept.
inline constexpr std::string_view kManagedFields = "managedFields";

// See JsonDocument, whose trees these are.
Result<Json> ParseJson(std::string_view text);
Result<Json> ParseAnswer(std::string_view text);

// Compact text. Invalid UTF-8 (which only we could have put there) becomes U+FFFD instead of an exception.
std::string DumpJson(const Json& value);

// The same as Go's encoder writes it, with "<", ">", "&" and the separators U+2028 and U+2029 escaped. An apiserver
// stores JSON inside an object (data of a ControllerRevision) byte for byte, encodes it anew with each patch, and
// refuses the patch where the bytes differ.
std::string DumpJsonAsGo(const Json& value);

// The beginning of a text for a message: one line, printable, cut at `limit` bytes.
std::string Excerpt(std::string_view text, std::size_t limit = 200);

}  // namespace yad

#endif  // OPERATOR_CLIENT_JSON_CODEC_H_
