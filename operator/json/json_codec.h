// JSON from outside, which is untrusted until it is parsed.
#ifndef OPERATOR_JSON_JSON_CODEC_H_
#define OPERATOR_JSON_JSON_CODEC_H_

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/json/json_text.h"

namespace yad {

// Return JsonDocument's trees, see there.
Result<Json> ParseJson(std::string_view text);
Result<Json> ParseAnswer(std::string_view text);

}  // namespace yad

#endif  // OPERATOR_JSON_JSON_CODEC_H_
