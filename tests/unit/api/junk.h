// Values of wrong types, on which a parser must not crash.
#ifndef TESTS_UNIT_API_JUNK_H_
#define TESTS_UNIT_API_JUNK_H_

#include <nlohmann/json.hpp>

#include "operator/api/object.h"

namespace yad::testing {

inline const Json kJunk[] = {nullptr,
                             true,
                             1,
                             -1.5,
                             "text",
                             Json::array(),
                             Json::array({1, "x"}),
                             Json::object(),
                             Json{{"metadata", 3}},
                             Json{{"a", {{"b", nullptr}}}}};

}  // namespace yad::testing

#endif  // TESTS_UNIT_API_JUNK_H_
