// One connection to a server: TCP, optionally with TLS.
#ifndef OPERATOR_CLIENT_TRANSPORT_CONNECTION_H_
#define OPERATOR_CLIENT_TRANSPORT_CONNECTION_H_

#include <sys/types.h>

#include <atomic>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

#include "operator/base/clock.h"
#include "operator/base/error.h"
#include "operator/client/transport/resolver.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX
struct ssl_st;      // OpenSSL's SSL

namespace yad {

// A TCP connection, with or without TLS. Must be used by one thread, but any thread may call Interrupt.
// Each call blocks until `deadline` at the latest. After an error, only Read may be called. Error codes are:
// - those of the system;
// - those of OpenSSL, in asio's ssl category;
// - asio's eof, timed_out and operation_aborted.
class Connection {
 public:
  using Code = boost::system::error_code;

  // Creates a socket. If the system has no more sockets, Connect returns the error.
  explicit Connection(int address_family);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Code Connect(const SocketAddress& address, SteadyTime deadline);
  // Performs the TLS handshake. All later bytes are encrypted.
  Code StartTls(ssl_ctx_st* context, SteadyTime deadline);
  // Reads at least one byte and at most `size`. Returns 0 on an error.
  std::size_t Read(char* to, std::size_t size, SteadyTime deadline, Code& error);
  // Writes all bytes or fails. Returns the number of bytes that the system accepted.
  std::size_t Write(const char* from, std::size_t size, SteadyTime deadline, Code& error);
  // Checks an idle connection. Returns false if the server has closed the connection, or has sent bytes without a
  // request.
  bool IsQuiet();
  // Sets how long calls may still last after Interrupt. Must not be called while another thread may call Interrupt.
  void SetGrace(std::chrono::milliseconds grace) { grace_ = grace; }
  // Ends the current call and all later calls with operation_aborted, as soon as the grace period is over.
  void Interrupt() noexcept;
  // Sends close_notify of TLS, and does not wait for a response. Must not be called after an error.
  void SendCloseNotify() noexcept;

 private:
  struct FreeSsl {
    void operator()(ssl_st* ssl) const;
  };

  bool aborted() const;
  Code Wait(short events, SteadyTime deadline) const;
  // Handles the result of an OpenSSL call that failed (`result` is less than 1). Waits for the socket if necessary.
  // Returns no error if the call should be repeated.
  Code AfterTlsCall(int result, SteadyTime deadline);
  // Calls `call`, a function of the system or of OpenSSL, until it returns a positive number. Returns this number, or 0
  // on an error. Between the calls, waits for `events` of the socket, or for the events that TLS needs.
  std::size_t Repeat(const std::function<ssize_t()>& call, short events, SteadyTime deadline, Code& error);

  const int socket_;
  std::unique_ptr<ssl_st, FreeSsl> ssl_;  // null without TLS
  std::chrono::milliseconds grace_{0};
  std::atomic<SteadyTime> end_ = SteadyTime::max();  // calls fail from this time on
};

}  // namespace yad

#endif  // OPERATOR_CLIENT_TRANSPORT_CONNECTION_H_
