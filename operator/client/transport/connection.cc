#include "operator/client/transport/connection.h"

#include <netinet/tcp.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <cerrno>
#include <climits>

namespace yad {
namespace {

using Code = Connection::Code;

constexpr std::chrono::milliseconds kGracePoll{100};

Code SystemError() { return {errno, boost::system::system_category()}; }

int AtMostInt(std::size_t size) { return static_cast<int>(std::min<std::size_t>(size, INT_MAX)); }

bool WouldBlock() { return errno == EAGAIN || errno == EWOULDBLOCK; }

// A BIO function that sets MSG_NOSIGNAL. OpenSSL's own BIO does not set it, so a write to a broken connection would
// terminate the process with SIGPIPE.
int WriteToSocket(BIO* bio, const char* from, int size) {
  const auto socket = static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
  BIO_clear_retry_flags(bio);
  const ssize_t sent = ::send(socket, from, static_cast<std::size_t>(size), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0 && (WouldBlock() || errno == EINTR)) BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

int ReadFromSocket(BIO* bio, char* to, int size) {
  const auto socket = static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
  BIO_clear_retry_flags(bio);
  const ssize_t received = ::recv(socket, to, static_cast<std::size_t>(size), MSG_DONTWAIT);
  if (received < 0 && (WouldBlock() || errno == EINTR)) BIO_set_retry_read(bio);
  if (received == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return static_cast<int>(received);
}

long ControlSocket(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

const BIO_METHOD* SocketMethod() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket without signals");
    BIO_meth_set_write(made, WriteToSocket);
    BIO_meth_set_read(made, ReadFromSocket);
    BIO_meth_set_ctrl(made, ControlSocket);
    return made;
  }();
  return method;
}

}  // namespace

void Connection::FreeSsl::operator()(ssl_st* ssl) const { SSL_free(ssl); }

Connection::Connection(int address_family)
    : socket_(::socket(address_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP)) {
  const int on = 1;
  if (socket_ >= 0) ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Connection::~Connection() {
  ssl_.reset();
  if (socket_ >= 0) ::close(socket_);
}

bool Connection::aborted() const {
  const SteadyTime end = end_;
  return end != SteadyTime::max() && end <= std::chrono::steady_clock::now();
}

Code Connection::Wait(short events, SteadyTime deadline) const {
  for (;;) {
    if (aborted()) return boost::asio::error::operation_aborted;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    // Without a grace period, Interrupt shuts the socket down, which ends the poll. With a grace period, Interrupt does
    // not end the poll, so this thread polls for short times and calls aborted() in between.
    const std::int64_t most = grace_ > grace_.zero() ? kGracePoll.count() : INT_MAX;
    pollfd wanted{socket_, events, 0};
    const int ready = ::poll(&wanted, 1, static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, most)));
    if (ready > 0) return {};  // if the connection failed, the next call returns the error
    if (ready == 0 && left.count() <= 0) return boost::asio::error::timed_out;
    if (ready < 0 && errno != EINTR) return SystemError();
  }
}

Code Connection::Connect(const SocketAddress& address, SteadyTime deadline) {
  if (socket_ < 0) return SystemError();
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address.bytes), address.size) == 0) return {};
  if (errno != EINPROGRESS && errno != EINTR) return SystemError();
  if (const Code waited = Wait(POLLOUT, deadline)) return waited;
  if (aborted()) return boost::asio::error::operation_aborted;
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return SystemError();
  return {error, boost::system::system_category()};
}

Code Connection::StartTls(ssl_ctx_st* context, SteadyTime deadline) {
  ERR_clear_error();
  ssl_.reset(SSL_new(context));
  BIO* const bio = ssl_ == nullptr ? nullptr : BIO_new(SocketMethod());
  if (bio == nullptr) return {ENOMEM, boost::system::system_category()};
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(socket_)));
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_.get(), bio, bio);
  // Idle connections release their buffers (34 KB each).
  SSL_set_mode(ssl_.get(),
               SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_set_read_ahead(ssl_.get(), 1);  // reads a record and its header with one system call
  Code error;
  Repeat([this] { return SSL_connect(ssl_.get()); }, POLLIN | POLLOUT, deadline, error);
  return error;
}

Code Connection::AfterTlsCall(int result, SteadyTime deadline) {
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return Wait(POLLIN, deadline);
    case SSL_ERROR_WANT_WRITE:
      return Wait(POLLOUT, deadline);
    case SSL_ERROR_ZERO_RETURN:
      return boost::asio::error::eof;
    case SSL_ERROR_SYSCALL:
      if (errno != 0) return SystemError();
      break;
    case SSL_ERROR_SSL: {
      const unsigned long packed = ERR_peek_error();
      ERR_clear_error();
      if (ERR_GET_REASON(packed) == SSL_R_UNEXPECTED_EOF_WHILE_READING) break;
      return {static_cast<int>(packed), boost::asio::error::get_ssl_category()};
    }
    default:
      break;
  }
  return boost::asio::ssl::error::stream_truncated;
}

std::size_t Connection::Repeat(const std::function<ssize_t()>& call, short events, SteadyTime deadline, Code& error) {
  for (error = {}; !error;) {
    if (aborted()) {
      error = boost::asio::error::operation_aborted;
      break;
    }
    ERR_clear_error();
    errno = 0;
    const ssize_t count = call();
    if (count > 0) return static_cast<std::size_t>(count);
    if (ssl_ != nullptr) {
      error = AfterTlsCall(static_cast<int>(count), deadline);
    } else if (count == 0) {
      error = boost::asio::error::eof;
    } else {
      error = WouldBlock() || errno == EINTR ? Wait(events, deadline) : SystemError();
    }
  }
  return 0;
}

std::size_t Connection::Read(char* to, std::size_t size, SteadyTime deadline, Code& error) {
  const auto read = [&]() -> ssize_t {
    return ssl_ == nullptr ? ::recv(socket_, to, size, MSG_DONTWAIT) : SSL_read(ssl_.get(), to, AtMostInt(size));
  };
  return Repeat(read, POLLIN, deadline, error);
}

std::size_t Connection::Write(const char* from, std::size_t size, SteadyTime deadline, Code& error) {
  std::size_t written = 0;
  const auto write = [&]() -> ssize_t {
    const std::size_t left = size - written;
    return ssl_ == nullptr ? ::send(socket_, from + written, left, MSG_NOSIGNAL | MSG_DONTWAIT)
                           : SSL_write(ssl_.get(), from + written, AtMostInt(left));
  };
  for (error = {}; written < size && !error;) written += Repeat(write, POLLOUT, deadline, error);
  return written;
}

bool Connection::IsQuiet() {
  pollfd readable{socket_, POLLIN, 0};
  const bool read_ahead = ssl_ != nullptr && SSL_has_pending(ssl_.get()) == 1;
  if (!read_ahead && ::poll(&readable, 1, 0) == 0) return true;
  if (ssl_ == nullptr) return false;
  // The bytes that have arrived may belong to TLS itself, such as the session tickets of TLS 1.3. SSL_peek shows
  // whether they contain data of the server.
  char byte = 0;
  ERR_clear_error();
  const int count = SSL_peek(ssl_.get(), &byte, 1);
  const bool quiet = count <= 0 && SSL_get_error(ssl_.get(), count) == SSL_ERROR_WANT_READ;
  ERR_clear_error();
  return quiet;
}

void Connection::Interrupt() noexcept {
  end_ = std::chrono::steady_clock::now() + grace_;
  if (grace_ == grace_.zero()) ::shutdown(socket_, SHUT_RDWR);
}

void Connection::SendCloseNotify() noexcept {
  if (ssl_ != nullptr) SSL_shutdown(ssl_.get());
  ERR_clear_error();
}

}  // namespace yad
