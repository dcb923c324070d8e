// Encodes JSON values as Go does, and shortens strings for messages.
#ifndef OPERATOR_JSON_JSON_TEXT_H_
#define OPERATOR_JSON_JSON_TEXT_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "operator/api/object.h"

namespace yad {

// Returns the JSON that Go's encoder writes: "<", ">", "&", U+2028 and U+2029 are escaped. The data of a
// ControllerRevision must have this encoding. The apiserver re-encodes the data on each patch, and rejects the patch if
// the stored bytes differ.
std::string DumpJsonAsGo(const Json& value);

// Returns the beginning of `text` for a message, on one line. Replaces characters that can't be printed. If `text` is
// longer than about `limit` bytes, the result ends with "...".
std::string Excerpt(std::string_view text, std::size_t limit = 200);

}  // namespace yad

#endif  // OPERATOR_JSON_JSON_TEXT_H_
