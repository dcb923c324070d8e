// One connection to a server: TCP, and TLS over it.
#ifndef OPERATOR_CLIENT_CONNECTION_H_
#define OPERATOR_CLIENT_CONNECTION_H_

#include <atomic>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <memory>

#include "operator/base/clock.h"
#include "operator/base/error.h"
#include "operator/client/resolver.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX
struct ssl_st;      // OpenSSL's SSL

namespace yad {

// One thread uses it; Interrupt is for any thread. A call waits until `deadline` at most.
// Error codes are the system's, OpenSSL's (asio's ssl category, the packed code of OpenSSL's queue), and asio's
// eof, timed_out and operation_aborted. After any error the connection is of no use but for Read.
class Connection {
 public:
  using Code = boost::system::error_code;

  // Makes a socket. The error of `Connect` says so where the system has none left.
  explicit Connection(int address_family);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Code Connect(const SocketAddress& address, SteadyTime deadline);
  // From here on all bytes are encrypted.
  Code StartTls(ssl_ctx_st* context, SteadyTime deadline);
  // At least one byte, at most `size`; 0 with an error.
  std::size_t Read(char* to, std::size_t size, SteadyTime deadline, Code& error);
  // All of the bytes, or an error. Returns how many the system has taken.
  std::size_t Write(const char* from, std::size_t size, SteadyTime deadline, Code& error);
  // Between two requests: false where the server has closed the connection or says something unasked.
  bool IsQuiet();
  // Ends the call that waits, and all later ones, with operation_aborted.
  void Interrupt() noexcept;
  // Says goodbye to the server, without waiting for an answer. Not after an error.
  void SayGoodbye() noexcept;

 private:
  struct FreeSsl {
    void operator()(ssl_st* ssl) const;
  };

  Code Wait(short events, SteadyTime deadline) const;
  // What to do after OpenSSL's `result` of less than 1: nothing (the call can be repeated), or an error.
  Code AfterTlsCall(int result, SteadyTime deadline);
  int Receive(char* to, std::size_t size, Code& error) const;

  const int socket_;
  std::unique_ptr<ssl_st, FreeSsl> ssl_;  // null without TLS
  std::atomic<bool> interrupted_ = false;
};

}  // namespace yad

#endif  // OPERATOR_CLIENT_CONNECTION_H_
