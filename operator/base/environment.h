// Reads environment variables.
#ifndef OPERATOR_BASE_ENVIRONMENT_H_
#define OPERATOR_BASE_ENVIRONMENT_H_

#include <cstdlib>
#include <string>

namespace yad {

// Returns the value of the variable, or "" if it is not set.
inline std::string EnvironmentVariable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace yad

#endif  // OPERATOR_BASE_ENVIRONMENT_H_
