// The bodies of a request and its response as stream buffers of cpprestsdk. In the library's own buffers, each block
// passes through several tasks and copies. For a watch event, these cost more than its decryption.
#ifndef OPERATOR_CLIENT_TRANSPORT_CPPREST_BODY_H_
#define OPERATOR_CLIENT_TRANSPORT_CPPREST_BODY_H_

#include <cpprest/astreambuf.h>
#undef U  // U is a macro of cpprestsdk, and a name elsewhere.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "operator/client/transport/transport.h"

namespace yad {

// A buffer that is either read or written, and only in blocks. Functions that the library does not call throw
// std::logic_error.
class BlockBuffer : public concurrency::streams::details::basic_streambuf<std::uint8_t> {
 public:
  using Mode = std::ios_base::openmode;

  bool can_read() const override { return false; }
  bool can_write() const override { return false; }
  bool can_seek() const override { return false; }
  bool has_size() const override { return false; }
  bool is_eof() const override { return false; }
  bool is_open() const override { return true; }
  std::size_t buffer_size(Mode) const override { return 0; }
  void set_buffer_size(std::size_t, Mode) override {}
  std::size_t in_avail() const override { return 0; }
  utility::size64_t size() const override { return 0; }
  std::exception_ptr exception() const override { return nullptr; }
  // The results nullptr and false make the library copy blocks.
  std::uint8_t* alloc(std::size_t) override { return nullptr; }
  void commit(std::size_t) override {}
  bool acquire(std::uint8_t*&, std::size_t&) override { return false; }
  void release(std::uint8_t*, std::size_t) override {}
  pplx::task<void> close(Mode) override { return pplx::task_from_result(); }
  pplx::task<void> close(Mode, std::exception_ptr) override { return pplx::task_from_result(); }
  pplx::task<void> sync() override { return pplx::task_from_result(); }

  pplx::task<int_type> putc(std::uint8_t) override { Refuse(); }
  pplx::task<std::size_t> putn(const std::uint8_t*, std::size_t) override { Refuse(); }
  pplx::task<std::size_t> putn_nocopy(const std::uint8_t*, std::size_t) override { Refuse(); }
  pplx::task<int_type> bumpc() override { Refuse(); }
  int_type sbumpc() override { Refuse(); }
  pplx::task<int_type> getc() override { Refuse(); }
  int_type sgetc() override { Refuse(); }
  pplx::task<int_type> nextc() override { Refuse(); }
  pplx::task<int_type> ungetc() override { Refuse(); }
  pplx::task<std::size_t> getn(std::uint8_t*, std::size_t) override { Refuse(); }
  std::size_t scopy(std::uint8_t*, std::size_t) override { Refuse(); }
  pos_type getpos(Mode) const override { Refuse(); }
  pos_type seekpos(pos_type, Mode) override { Refuse(); }
  pos_type seekoff(off_type, std::ios_base::seekdir, Mode) override { Refuse(); }

 private:
  [[noreturn]] static void Refuse();
};

// The body of a request. Owns the text, because the library may still read the text after the caller has stopped
// waiting.
class RequestBody : public BlockBuffer {
 public:
  explicit RequestBody(std::string text) : text_(std::move(text)) {}

  bool can_read() const override { return true; }
  // The library repeats a request after a pooled connection turned out to be closed.
  bool can_seek() const override { return true; }
  pplx::task<std::size_t> getn(std::uint8_t* to, std::size_t count) override;
  pos_type getpos(Mode) const override { return static_cast<off_type>(position_); }
  pos_type seekpos(pos_type position, Mode) override;
  // Returns the largest number of bytes that the library has read. Thread-safe.
  std::size_t taken() const { return taken_; }

 private:
  const std::string text_;
  std::size_t position_ = 0;
  std::atomic<std::size_t> taken_ = 0;
};

// A response in progress. The library's thread writes it. One other thread waits for it, and is woken only when the
// part that it needs has arrived.
class Answer : public BlockBuffer {
 public:
  enum class Part { kHead, kSomeBytes, kAll };
  enum class Waited { kThere, kFailed, kStopped, kSilent };

  struct Limits {
    // If a response is taken in parts, the library stops reading when this number of bytes waits to be taken.
    std::size_t most_waiting = 0;
    std::size_t most = 0;  // limit of a response that is taken as a whole; a longer one fails
    // After the waiting thread has taken bytes, it is not woken for this time, unless the library waits for it. The
    // events of a burst are then taken together; a wake-up for each event would cost as much as reading the event. An
    // event after a quiet period is delivered immediately.
    std::chrono::milliseconds rest{0};
  };
  explicit Answer(Limits limits) : limits_(limits) {}

  // ---- for the library's thread
  void Begin(int status, std::map<std::string, std::string> headers);
  void End(std::exception_ptr failure);  // nullptr: the answer is complete
  bool can_write() const override { return true; }
  pplx::task<std::size_t> putn_nocopy(const std::uint8_t* from, std::size_t count) override;

  // ---- for the waiting thread
  // Blocks until the part has arrived. kThere: the part has arrived, or the response ended normally. kFailed: the
  // response failed before the part arrived; see failure(). kSilent: no byte has arrived for `silence`.
  Waited Wait(Part part, std::stop_token stop, std::chrono::milliseconds silence);
  std::exception_ptr failure() const;  // nullptr: no failure so far
  bool has_begun() const;
  HttpResponse TakeHead();  // status and headers
  // Appends the bytes that have arrived since the last call. Returns false if there are none.
  bool TakeBytes(std::string& out);
  // Stops the library from reading on. Called when the caller no longer waits.
  void Abandon();

 private:
  // The library has delivered `count` bytes and waits until `over` is set.
  struct Pause {
    pplx::task_completion_event<std::size_t> over;
    std::size_t count = 0;
  };

  bool Has(Part part) const;
  void Arrived();
  void GoOn(std::unique_lock<std::mutex> lock);

  const Limits limits_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<Part> wanted_;
  bool resting_ = false;  // the waiting thread sleeps until rested_, although some bytes have arrived
  std::chrono::steady_clock::time_point rested_;
  std::size_t pieces_ = 0;  // number of pieces that have arrived
  HttpResponse head_;       // status 0: the response has not begun
  std::string bytes_;
  std::optional<Pause> pause_;
  bool ended_ = false;
  bool abandoned_ = false;
  std::exception_ptr failure_;
};

}  // namespace yad

#endif  // OPERATOR_CLIENT_TRANSPORT_CPPREST_BODY_H_
