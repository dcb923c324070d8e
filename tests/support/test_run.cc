#include "tests/support/test_run.h"

#include <cstdlib>
#include <string>

namespace yad::testing {

bool RunsEverything() { return std::getenv("YAD_ALL") != nullptr; }

bool InCi() {
  const char* ci = std::getenv("CI");
  return ci != nullptr && std::string(ci) == "true";
}

}  // namespace yad::testing
