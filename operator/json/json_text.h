// JSON values as text, and excerpts of a text for messages.
#ifndef OPERATOR_JSON_JSON_TEXT_H_
#define OPERATOR_JSON_JSON_TEXT_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "operator/api/object.h"

namespace yad {

// Returns compact text. Invalid UTF-8, which only this process can have produced, becomes U+FFFD, and causes no
// exception.
std::string DumpJson(const Json& value);

// Returns the text that Go's encoder writes, in which "<", ">", "&" and the separators U+2028 and U+2029 are escaped.
// An apiserver stores JSON inside an object (data of a ControllerRevision) byte for byte. On each patch, it encodes
// this JSON again, and rejects the patch if the bytes differ.
std::string DumpJsonAsGo(const Json& value);

// Returns the beginning of a text for a message: one line of printable characters. After about `limit` bytes, "..."
// replaces the rest.
std::string Excerpt(std::string_view text, std::size_t limit = 200);

}  // namespace yad

#endif  // OPERATOR_JSON_JSON_TEXT_H_
