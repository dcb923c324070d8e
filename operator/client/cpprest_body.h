// What a request sends and what its answer brings, as cpprestsdk's stream buffers: the library's own hand every block
// through several tasks and copies, which for an event of a watch costs more than to decrypt it.
#ifndef OPERATOR_CLIENT_CPPREST_BODY_H_
#define OPERATOR_CLIENT_CPPREST_BODY_H_

#include <cpprest/astreambuf.h>
#undef U  // A macro of that library, and elsewhere a name.

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

#include "operator/client/transport.h"

namespace yad {

// A buffer for one direction and for nothing but blocks. What the library does not ask for throws std::logic_error.
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
  // nullptr, false: blocks are handed over by copy.
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

// The library may read it to the end while nobody waits for the answer any more: it owns the text.
class RequestBody : public BlockBuffer {
 public:
  explicit RequestBody(std::string text) : text_(std::move(text)) {}

  bool can_read() const override { return true; }
  bool can_seek() const override { return true; }  // The library sends a request again that met a closed connection.
  pplx::task<std::size_t> getn(std::uint8_t* to, std::size_t count) override;
  pos_type getpos(Mode) const override { return static_cast<off_type>(position_); }
  pos_type seekpos(pos_type position, Mode) override;
  // How many bytes the library has read at most. Thread-safe.
  std::size_t taken() const { return taken_; }

 private:
  const std::string text_;
  std::size_t position_ = 0;
  std::atomic<std::size_t> taken_ = 0;
};

// An answer on its way: written by the library's thread, waited for by one other, which is woken for nothing but what
// it waits for.
class Answer : public BlockBuffer {
 public:
  enum class Part { kHead, kSomeBytes, kAll };
  enum class Waited { kThere, kFailed, kStopped, kSilent };

  struct Limits {
    // Of an answer that is taken bit by bit, the library reads no further while so many bytes or more are waiting to be
    // taken.
    std::size_t most_waiting = 0;
    std::size_t most = 0;  // One that is waited for as a whole fails where it has more.
    // So long after bytes were taken nobody is woken for further ones, unless the library waits: a burst is taken
    // together, because to wake up for each of its events costs as much as to read it. What comes alone is not delayed.
    std::chrono::milliseconds rest{0};
  };
  explicit Answer(Limits limits) : limits_(limits) {}

  // ---- for the library's thread
  void Begin(int status, std::map<std::string, std::string> headers);
  void End(std::exception_ptr failure);  // nullptr: all has arrived
  bool can_write() const override { return true; }
  pplx::task<std::size_t> putn_nocopy(const std::uint8_t* from, std::size_t count) override;

  // ---- for the one that waits
  // kThere: the part, or the orderly end. kFailed: it ended before the part was there, see failure(). kSilent: nothing
  // at all has arrived for so long.
  Waited Wait(Part part, std::stop_token stop, std::chrono::milliseconds silence);
  std::exception_ptr failure() const;  // nullptr: none so far
  bool has_begun() const;
  HttpResponse TakeHead();  // status and headers
  // Appends what has arrived and was not taken yet. False: nothing.
  bool TakeBytes(std::string& out);
  // Nobody will wait any more, and nothing more is read.
  void Abandon();

 private:
  // The library waits before it reads on, having brought `count` bytes.
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
  bool resting_ = false;  // whoever wants some bytes: until rested_
  std::chrono::steady_clock::time_point rested_;
  std::size_t pieces_ = 0;  // that have arrived so far
  HttpResponse head_;       // status 0: has not begun
  std::string bytes_;
  std::optional<Pause> pause_;
  bool ended_ = false;
  bool abandoned_ = false;
  std::exception_ptr failure_;
};

}  // namespace yad

#endif  // OPERATOR_CLIENT_CPPREST_BODY_H_
