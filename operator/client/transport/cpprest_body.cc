#include "operator/client/transport/cpprest_body.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace yad {
namespace {

constexpr std::size_t kLarge = 64 * 1024;

}  // namespace

void BlockBuffer::Reject() { throw std::logic_error("this buffer can only be read or written in blocks"); }

pplx::task<std::size_t> RequestBody::getn(std::uint8_t* to, std::size_t count) {
  count = std::min(count, text_.size() - position_);
  std::memcpy(to, text_.data() + position_, count);
  position_ += count;
  taken_ = std::max<std::size_t>(taken_, position_);
  return pplx::task_from_result(count);
}

RequestBody::pos_type RequestBody::seekpos(pos_type position, Mode) {
  position_ = std::min(static_cast<std::size_t>(static_cast<off_type>(position)), text_.size());
  return static_cast<off_type>(position_);
}

bool Answer::Has(Part part) const {
  switch (part) {
    case Part::kHead:
      return head_.status != 0;
    case Part::kSomeBytes:
      return !bytes_.empty() && (!resting_ || pause_);
    case Part::kAll:
      return ended_ && failure_ == nullptr;
  }
  return false;
}

void Answer::Arrived() {
  ++pieces_;
  if (wanted_ && (ended_ || Has(*wanted_))) changed_.notify_all();
}

void Answer::Begin(int status, std::map<std::string, std::string> headers) {
  std::lock_guard lock(mutex_);
  head_.status = status;
  head_.headers = std::move(headers);
  Arrived();
}

void Answer::End(std::exception_ptr failure) {
  std::lock_guard lock(mutex_);
  ended_ = true;
  failure_ = std::move(failure);
  Arrived();
}

pplx::task<std::size_t> Answer::putn_nocopy(const std::uint8_t* from, std::size_t count) {
  const auto reject = [](const std::string& why) {
    return pplx::task_from_exception<std::size_t>(std::length_error(why));
  };
  std::lock_guard lock(mutex_);
  if (abandoned_) return reject("the request was abandoned");
  if (bytes_.size() + count > limits_.most)
    return reject("the response is larger than " + std::to_string(limits_.most >> 20) + " MiB");
  // Reserves memory in large steps, so that a long response (a page of a list) is not copied many times. Reserved
  // memory that is not used does not take physical memory.
  if (wanted_ == Part::kAll && bytes_.size() + count > std::max(bytes_.capacity(), kLarge)) {
    bytes_.reserve(std::min(limits_.most, 8 * bytes_.size()));
  }
  bytes_.append(reinterpret_cast<const char*>(from), count);
  const bool enough = wanted_ != Part::kAll && bytes_.size() >= limits_.most_waiting;
  if (enough) pause_ = Pause{{}, count};
  Arrived();
  return enough ? pplx::create_task(pause_->over) : pplx::task_from_result(count);
}

void Answer::Resume(std::unique_lock<std::mutex> lock) {
  const std::optional<Pause> pause = std::exchange(pause_, std::nullopt);
  lock.unlock();
  if (pause) pause->over.set(pause->count);
}

void Answer::Abandon() {
  std::unique_lock lock(mutex_);
  abandoned_ = true;
  Resume(std::move(lock));
}

Answer::Waited Answer::Wait(Part part, std::stop_token stop, std::chrono::milliseconds silence, SteadyTime end) {
  std::unique_lock lock(mutex_);
  wanted_ = part;
  if (part == Part::kAll && pause_) {
    Resume(std::move(lock));
    lock = std::unique_lock(mutex_);
  }
  if (part == Part::kSomeBytes && std::chrono::steady_clock::now() < rested_) {
    resting_ = true;
    changed_.wait_until(lock, stop, rested_, [&] { return ended_ || Has(part); });
    resting_ = false;
  }
  for (;;) {
    const std::size_t before = pieces_;
    const auto deadline = std::min<SteadyTime>(std::chrono::steady_clock::now() + silence, end);
    const bool there = changed_.wait_until(lock, stop, deadline, [&] { return ended_ || Has(part); });
    if (!there && !stop.stop_requested() && deadline < end && pieces_ != before) continue;
    wanted_.reset();
    if (there) return Has(part) || failure_ == nullptr ? Waited::kThere : Waited::kFailed;
    return stop.stop_requested() ? Waited::kStopped : Waited::kSilent;
  }
}

std::exception_ptr Answer::failure() const {
  std::lock_guard lock(mutex_);
  return failure_;
}

bool Answer::has_begun() const {
  std::lock_guard lock(mutex_);
  return head_.status != 0;
}

HttpResponse Answer::TakeHead() {
  std::lock_guard lock(mutex_);
  return std::move(head_);
}

bool Answer::TakeBytes(std::string& out) {
  std::unique_lock lock(mutex_);
  if (bytes_.empty()) return false;
  if (out.empty()) {
    out.swap(bytes_);
  } else {
    out += bytes_;
  }
  bytes_ = std::string();  // releases the memory of a burst
  rested_ = std::chrono::steady_clock::now() + limits_.rest;
  Resume(std::move(lock));
  return true;
}

}  // namespace yad
