#include "tests/support/test_run.h"

#include <cstdlib>
#include <string>

namespace yad::testing {

bool RunsEverything() { return std::getenv("YAD_ALL") != nullptr; }

bool InCi() {
  const char* ci = std::getenv("CI");
  return ci != nullptr && std::string(ci) == "true";
}

SeedRange SeedsToRun(SeedRange usual) {
  if (const char* range = std::getenv("YAD_SEEDS")) {
    const std::string text = range;
    return {std::stoull(text), std::stoull(text.substr(text.find('-') + 1))};
  }
  if (const char* one = std::getenv("YAD_SEED")) return {std::stoull(one), std::stoull(one)};
  return usual;
}

}  // namespace yad::testing
