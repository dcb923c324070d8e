// Parses JSON from other processes, which may be malformed. Encodes JSON as Go does, and shortens strings for messages.
#ifndef OPERATOR_JSON_JSON_CODEC_H_
#define OPERATOR_JSON_JSON_CODEC_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "operator/api/object.h"
#include "operator/base/error.h"

namespace yad {

// Parses any JSON document.
Result<Json> ParseJson(std::string_view text);
// Parses a response of the apiserver, and drops metadata.managedFields (see JsonDocument::TreeOfAnswer).
Result<Json> ParseAnswer(std::string_view text);

// Returns the JSON that Go's encoder writes: "<", ">", "&", U+2028 and U+2029 are escaped. The data of a
// ControllerRevision must have this encoding. The apiserver re-encodes the data on each patch, and rejects the patch if
// the stored bytes differ.
std::string DumpJsonAsGo(const Json& value);

// Returns the beginning of `text` for a message, on one line. Replaces characters that can't be printed. If `text` is
// longer than about `limit` bytes, the result ends with "...".
std::string Excerpt(std::string_view text, std::size_t limit = 200);

}  // namespace yad

#endif  // OPERATOR_JSON_JSON_CODEC_H_
