// Converts JSON values to the text that Go writes, and shortens texts for messages.
#ifndef OPERATOR_JSON_JSON_TEXT_H_
#define OPERATOR_JSON_JSON_TEXT_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "operator/api/object.h"

namespace yad {

// Returns the text that Go's encoder writes: "<", ">", "&", U+2028 and U+2029 are escaped. The data of a
// ControllerRevision needs this, because the apiserver re-encodes it on each patch, and rejects the patch if the stored
// bytes differ.
std::string DumpJsonAsGo(const Json& value);

// Returns the beginning of a text for a message, on one line. Replaces characters that can't be printed. If the text is
// longer than about `limit` bytes, it ends with "...".
std::string Excerpt(std::string_view text, std::size_t limit = 200);

}  // namespace yad

#endif  // OPERATOR_JSON_JSON_TEXT_H_
