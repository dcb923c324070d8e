// A console that keeps the output of the plugin as text.
#ifndef TESTS_UNIT_PLUGIN_CONSOLE_FIXTURE_H_
#define TESTS_UNIT_PLUGIN_CONSOLE_FIXTURE_H_

#include <gtest/gtest.h>

#include <optional>
#include <sstream>

#include "plugin/view/console.h"

namespace yad::testing {

class ConsoleTest : public ::testing::Test {
 protected:
  std::ostringstream out_, err_;
  std::istringstream in_;
  Console console_{out_, err_, in_, [] { return std::nullopt; }};
};

}  // namespace yad::testing

#endif  // TESTS_UNIT_PLUGIN_CONSOLE_FIXTURE_H_
