// An open watch, and the decoding of its bytes into events.
#ifndef OPERATOR_CLIENT_WATCH_STREAM_H_
#define OPERATOR_CLIENT_WATCH_STREAM_H_

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "operator/base/error.h"
#include "operator/client/transport/transport.h"
#include "operator/json/json_document.h"

namespace yad {

enum class WatchEventType { kAdded, kModified, kDeleted, kBookmark };

struct WatchEvent {
  WatchEventType type = WatchEventType::kAdded;
  JsonDocument object;
};

// Splits a byte stream into lines and decodes each line into an event. Not thread-safe.
class WatchDecoder {
 public:
  // The buffer to which the caller appends the bytes of the stream.
  std::string& buffer() { return buffer_; }
  // Returns the next complete event, or nullopt if more bytes are needed. An ERROR event is returned as an Error.
  Result<std::optional<WatchEvent>> Next();
  // Returns true if the buffer contains the start of a line without its end.
  bool InMiddle() const;

 private:
  std::string buffer_;
  std::size_t begin_ = 0;    // start of the first line that Next has not returned yet
  std::size_t scanned_ = 0;  // there is no newline between begin_ and scanned_
};

// An open watch. Must be read by one thread.
class Watch {
 public:
  explicit Watch(std::unique_ptr<HttpStream> stream) : stream_(std::move(stream)) {}
  // Blocks until the next event arrives. Returns nullopt if the server ended the watch normally, for example after its
  // timeout. Fails
  // - with the Error in an ERROR event (kExpired for 410);
  // - with kTransport if the connection breaks;
  // - with kDecode if an event is malformed or longer than 16 MiB.
  Result<std::optional<WatchEvent>> Next();

 private:
  std::unique_ptr<HttpStream> stream_;
  WatchDecoder decoder_;
};

}  // namespace yad

#endif  // OPERATOR_CLIENT_WATCH_STREAM_H_
