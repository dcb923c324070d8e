// Stream buffers for the bodies of requests and responses in cpprestsdk. The library's own buffers are slow: each block
// passes through several tasks and copies, which takes more time than the decryption of a watch event.
#ifndef OPERATOR_CLIENT_TRANSPORT_CPPREST_BODY_H_
#define OPERATOR_CLIENT_TRANSPORT_CPPREST_BODY_H_

#include <cpprest/astreambuf.h>
#undef U  // cpprestsdk defines U as a macro, but other headers use it as a name.

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

#include "operator/base/clock.h"
#include "operator/client/transport/transport.h"

namespace yad {

// The base class of a buffer that the library only reads, or only writes, in whole blocks. The functions that the
// library does not need throw std::logic_error.
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
  // The library can't access the buffer directly, because alloc returns nullptr and acquire returns false. It copies
  // blocks instead.
  std::uint8_t* alloc(std::size_t) override { return nullptr; }
  void commit(std::size_t) override {}
  bool acquire(std::uint8_t*&, std::size_t&) override { return false; }
  void release(std::uint8_t*, std::size_t) override {}
  pplx::task<void> close(Mode) override { return pplx::task_from_result(); }
  pplx::task<void> close(Mode, std::exception_ptr) override { return pplx::task_from_result(); }
  pplx::task<void> sync() override { return pplx::task_from_result(); }

  pplx::task<int_type> putc(std::uint8_t) override { Reject(); }
  pplx::task<std::size_t> putn(const std::uint8_t*, std::size_t) override { Reject(); }
  pplx::task<std::size_t> putn_nocopy(const std::uint8_t*, std::size_t) override { Reject(); }
  pplx::task<int_type> bumpc() override { Reject(); }
  int_type sbumpc() override { Reject(); }
  pplx::task<int_type> getc() override { Reject(); }
  int_type sgetc() override { Reject(); }
  pplx::task<int_type> nextc() override { Reject(); }
  pplx::task<int_type> ungetc() override { Reject(); }
  pplx::task<std::size_t> getn(std::uint8_t*, std::size_t) override { Reject(); }
  std::size_t scopy(std::uint8_t*, std::size_t) override { Reject(); }
  pos_type getpos(Mode) const override { Reject(); }
  pos_type seekpos(pos_type, Mode) override { Reject(); }
  pos_type seekoff(off_type, std::ios_base::seekdir, Mode) override { Reject(); }

 private:
  [[noreturn]] static void Reject();
};

// The body of a request. It owns the bytes, because the library may still read them after the caller has stopped
// waiting.
class RequestBody : public BlockBuffer {
 public:
  explicit RequestBody(std::string text) : text_(std::move(text)) {}

  bool can_read() const override { return true; }
  // The library repeats a request if the server has closed a pooled connection. It then seeks to the start of the body.
  bool can_seek() const override { return true; }
  pplx::task<std::size_t> getn(std::uint8_t* to, std::size_t count) override;
  pos_type getpos(Mode) const override { return static_cast<off_type>(position_); }
  pos_type seekpos(pos_type position, Mode) override;
  // Returns how many bytes the library has read. If it has repeated the request, returns the largest number of all
  // attempts. Thread-safe.
  std::size_t taken() const { return taken_; }

 private:
  const std::string text_;
  std::size_t position_ = 0;
  std::atomic<std::size_t> taken_ = 0;
};

// A response that is still arriving. The library's thread writes it, and one other thread waits for it. The library's
// thread wakes the waiting thread only when the part that it needs has arrived.
class Answer : public BlockBuffer {
 public:
  enum class Part { kHead, kSomeBytes, kAll };
  enum class Waited { kThere, kFailed, kStopped, kSilent };

  struct Limits {
    // For a response that is read in parts: the maximum number of bytes that wait for the reader. When this number is
    // reached, the library stops reading from the server until the reader has taken the bytes.
    std::size_t most_waiting = 0;
    std::size_t most = 0;  // for a response that is read as a whole: its maximum length; a longer response fails
    // The waiting thread sleeps this long after it has taken bytes, so that it takes all events of a burst together. (A
    // wake-up for each event would cost as much as reading the event.)
    // - The thread is woken earlier if the library has stopped reading because of `most_waiting`.
    // - An event after a quiet period is delivered immediately.
    std::chrono::milliseconds rest{0};
  };
  explicit Answer(Limits limits) : limits_(limits) {}

  // ---- for the library's thread
  void Begin(int status, std::map<std::string, std::string> headers);
  void End(std::exception_ptr failure);  // nullptr: the response is complete
  bool can_write() const override { return true; }
  pplx::task<std::size_t> putn_nocopy(const std::uint8_t* from, std::size_t count) override;

  // Blocks until `part` of the response has arrived. The results are:
  // - kThere: the part has arrived, or the response ended normally.
  // - kFailed: the response failed before; see failure().
  // - kStopped: `stop` fired.
  // - kSilent: no byte has arrived for the time `silence`, or the part has not arrived at the time `end`.
  Waited Wait(Part part, std::stop_token stop, std::chrono::milliseconds silence, SteadyTime end = SteadyTime::max());
  std::exception_ptr failure() const;  // nullptr: no failure so far
  bool has_begun() const;
  HttpResponse TakeHead();  // status and headers
  // Appends the bytes that have arrived since the last call. Returns false if there are none.
  bool TakeBytes(std::string& out);
  // Makes cpprestsdk stop reading the response. Called when the caller no longer waits for it.
  void Abandon();

 private:
  // The library pauses after it has written `count` bytes of the response. It continues when `over` is set.
  struct Pause {
    pplx::task_completion_event<std::size_t> over;
    std::size_t count = 0;
  };

  bool Has(Part part) const;
  void Arrived();
  void Resume(std::unique_lock<std::mutex> lock);

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
