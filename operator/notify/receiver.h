// A server that receives messages of one content type.
#ifndef OPERATOR_NOTIFY_RECEIVER_H_
#define OPERATOR_NOTIFY_RECEIVER_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>

#include "operator/base/clock.h"
#include "operator/base/error.h"
#include "operator/client/auth/service_client.h"

namespace yad {

// Sends messages by POST. Thread-safe. Each call returns within kTimeout, whatever the server does.
class Receiver {
 public:
  static constexpr std::chrono::seconds kTimeout{10};
  static constexpr std::size_t kMaxAnswer = 64u << 10;  // bytes

  // Creates a receiver that sends each POST to the URL in `options`. Does not connect to the server yet. Fails with
  // kConfig if the address, the CA or the token is not usable.
  static Result<std::unique_ptr<Receiver>> Make(ServiceOptions options, std::string content_type);
  // Each POST goes to `path` of the server. `clock` must outlive the receiver.
  Receiver(std::unique_ptr<ServiceClient> server, std::string path, std::string content_type,
           Clock& clock = Clock::Real());

  // Succeeds if the server responds with 2xx. Fails
  // - with kInvalid if the server rejects this message; a retry would fail again;
  // - with kCancelled if `stop` fires;
  // - with another reason if a retry may succeed. If the server requests a delay, the error contains it.
  Status Post(const std::string& body, std::stop_token stop) const;

 private:
  const std::unique_ptr<ServiceClient> server_;
  const std::string path_;
  const std::string content_type_;
  Clock& clock_;
};

}  // namespace yad

#endif  // OPERATOR_NOTIFY_RECEIVER_H_
