// A bearer token that changes while the program runs.
#ifndef OPERATOR_CLIENT_AUTH_TOKEN_SOURCE_H_
#define OPERATOR_CLIENT_AUTH_TOKEN_SOURCE_H_

#include <mutex>
#include <string>

#include "operator/base/clock.h"
#include "operator/base/error.h"

namespace yad {

// A token in a file that another program renews, as the kubelet does long before the token expires. Thread-safe.
class TokenFile {
 public:
  TokenFile(std::string path, Clock& clock) : path_(std::move(path)), clock_(clock) {}

  // Returns the token. Reads the file at most once a minute. If the file can't be read, returns the last token, or
  // fails if no token was read before.
  Result<std::string> Get();
  // Makes the next Get read the file. Call it after the server has rejected the token.
  void Invalidate();

 private:
  const std::string path_;
  Clock& clock_;
  std::mutex mutex_;
  std::string token_;
  SteadyTime fresh_until_ = SteadyTime::min();
};

}  // namespace yad

#endif  // OPERATOR_CLIENT_AUTH_TOKEN_SOURCE_H_
