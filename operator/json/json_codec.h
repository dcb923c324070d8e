// Parses JSON from other processes, which may be malformed.
#ifndef OPERATOR_JSON_JSON_CODEC_H_
#define OPERATOR_JSON_JSON_CODEC_H_

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "operator/api/object.h"
#include "operator/base/error.h"
#include "operator/json/json_text.h"

namespace yad {

// Parses any JSON document.
Result<Json> ParseJson(std::string_view text);
// Parses a response of the apiserver, and drops metadata.managedFields (see JsonDocument::TreeOfAnswer).
Result<Json> ParseAnswer(std::string_view text);

}  // namespace yad

#endif  // OPERATOR_JSON_JSON_CODEC_H_
