// The value of the Authorization header, where it changes over time.
#ifndef OPERATOR_CLIENT_TOKEN_SOURCE_H_
#define OPERATOR_CLIENT_TOKEN_SOURCE_H_

#include <mutex>
#include <string>

#include "operator/base/clock.h"
#include "operator/base/error.h"

namespace yad {

// A token in a file that somebody else renews (the kubelet does so long before it expires). Thread-safe.
class TokenFile {
 public:
  TokenFile(std::string path, Clock& clock) : path_(std::move(path)), clock_(clock) {}

  // Reads the file at most once a minute. While it cannot be read, the token read last is returned.
  Result<std::string> Get();
  // The server has refused it: the next Get reads the file.
  void Invalidate();

 private:
  const std::string path_;
  Clock& clock_;
  std::mutex mutex_;
  std::string token_;
  SteadyTime fresh_until_ = SteadyTime::min();
};

}  // namespace yad

#endif  // OPERATOR_CLIENT_TOKEN_SOURCE_H_
