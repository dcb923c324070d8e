// Decoding of a watch's bytes into events.
#ifndef OPERATOR_CLIENT_WATCH_STREAM_H_
#define OPERATOR_CLIENT_WATCH_STREAM_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "operator/base/error.h"
#include "operator/client/transport/transport.h"
#include "operator/client/watch.h"

namespace yad {

// Longer lines are rejected. The largest objects in etcd have about 1.5 MB.
inline constexpr std::size_t kMaxWatchLine = 16u << 20;

// Splits a byte stream into lines and decodes each line into an event. Not thread-safe.
class WatchDecoder {
 public:
  // The buffer to which the caller appends the bytes of the stream.
  std::string& buffer() { return buffer_; }
  // Returns the next complete event, or nullopt if more bytes are needed. An ERROR event becomes the Error that it
  // describes.
  Result<std::optional<WatchEvent>> Next();
  // Returns true if the buffer ends with an unfinished line.
  bool InMiddle() const;

 private:
  std::string buffer_;
  std::size_t begin_ = 0;    // start of the first line that Next has not returned
  std::size_t scanned_ = 0;  // [begin_, scanned_) contains no newline.
};

Result<WatchEvent> ParseWatchEvent(std::string_view line);

// A watch on an HTTP stream. One thread reads it.
class StreamWatch : public Watch {
 public:
  explicit StreamWatch(std::unique_ptr<HttpStream> stream) : stream_(std::move(stream)) {}
  Result<std::optional<WatchEvent>> Next() override;

 private:
  std::unique_ptr<HttpStream> stream_;
  WatchDecoder decoder_;
};

}  // namespace yad

#endif  // OPERATOR_CLIENT_WATCH_STREAM_H_
