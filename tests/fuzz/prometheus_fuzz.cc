// Responses of Prometheus. The input is [HTTP status, response, name of a pool]. The fuzzer checks:
// - The result is the number in the response.
// - An error is short.
// - A pool's name stays inside its string literal.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "operator/json/json_document.h"
#include "operator/prometheus/answer.h"
#include "operator/prometheus/pool_query.h"
#include "operator/prometheus/sample_bounds.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/json_mutator.h"

namespace yad {
namespace {

// Returns the only number in the response, as a string, or "".
std::string Naive(const Json& answer) {
  const Json* result = Find(answer, {"data", "result"});
  if (result == nullptr || !result->is_array() || result->empty()) return "";
  if (StringAt(answer, {"data", "resultType"}) == "vector") result = Find(result->front(), {"value"});
  return result != nullptr && result->is_array() && result->size() == 2 && result->back().is_string()
             ? result->back().get<std::string>()
             : "";
}

void Answer(int status, const std::string& text) {
  const auto value = ParsePrometheusAnswer({status, {{"location", text}}, text});
  if (!value) {
    const std::string& message = value.error().message;
    YAD_CHECK(!message.empty() && message.size() <= 1024, message);
    YAD_CHECK(std::none_of(message.begin(), message.end(), [](unsigned char c) { return c < ' '; }), message);
    return;
  }
  const auto answer = ParseJson(text);
  YAD_CHECK(status == 200 && answer && StringAt(*answer, {"status"}) == "success", text);
  const std::string number = Naive(*answer);
  YAD_CHECK(*value ? !std::isnan(**value) && std::strtod(number.c_str(), nullptr) == **value
                   : number.empty() || number == "NaN",
            text);
  for (const auto& control : {*value, std::optional<double>(0), std::optional<double>()}) {
    const SampleVerdict judged = EvaluateSample({std::nullopt, std::nullopt, 2}, *value, control);
    YAD_CHECK((judged.result == SampleResult::kNoData) || value->has_value(), judged.message);
    YAD_CHECK(!judged.message.empty() && judged.message.size() < 200, judged.message);
  }
}

void Name(const std::string& name) {
  const std::string one = WithPool(kPoolVariable, name);
  YAD_CHECK(one.find_first_of("\"'`\n{}") == std::string::npos, one);
  for (std::size_t at = one.find('\\'); at != std::string::npos; at = one.find('\\', at + 1))
    YAD_CHECK(one.size() > at + 3 && one[at + 1] == 'x', one);
  const std::string several = WithPools(kPoolVariable, {name, "a"});
  YAD_CHECK(several.find_first_of("\"'`\\\n{}*+^") == std::string::npos, several);
  YAD_CHECK(several.size() <= kMaxPoolExpression && std::count(several.begin(), several.end(), '|') <= 1, several);
}

}  // namespace
}  // namespace yad

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  yad::Answer(200, text);
  yad::Name(text);
  const auto input = yad::fuzz::Members(data, size, 3);
  if (input.empty()) return 0;
  const int status = input[0].is_number_integer() ? static_cast<int>(input[0].get<std::int64_t>() % 1000) : 200;
  yad::Answer(status, yad::DumpJson(input[1]));
  if (input[2].is_string()) yad::Name(input[2].get<std::string>());
  return 0;
}
YAD_FUZZ_JSON();
