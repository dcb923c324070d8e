#include "operator/client/watch_stream.h"

#include <string_view>
#include <utility>

#include "operator/client/status_error.h"
#include "operator/json/json_document.h"

namespace yad {
namespace {

// The maximum length of a line. The largest objects in etcd have about 1.5 MB, and JSON may be several times longer.
constexpr std::size_t kMaxWatchLine = 16u << 20;

bool IsBlank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

Result<WatchEvent> ParseWatchEvent(std::string_view line) {
  Result<JsonDocument> parsed = JsonDocument::Parse(line);
  if (!parsed) return Fail(Reason::kDecode, "an event of the watch is " + parsed.error().message);
  const std::string type(parsed->TextAt("type"));
  if (!parsed->Enter("object") || !parsed->is_object()) {
    return Fail(Reason::kDecode, "an event of the watch has no object: " + Excerpt(line));
  }
  const auto event = [&](WatchEventType what) { return WatchEvent{what, std::move(*parsed)}; };
  if (type == "ADDED") return event(WatchEventType::kAdded);
  if (type == "MODIFIED") return event(WatchEventType::kModified);
  if (type == "DELETED") return event(WatchEventType::kDeleted);
  if (type == "BOOKMARK") return event(WatchEventType::kBookmark);
  if (type == "ERROR") return Fail(ErrorFromStatus(parsed->TreeOfObject(), 0));
  return Fail(Reason::kDecode, "an event of the watch has the unknown type \"" + Excerpt(type, 40) + "\"");
}

}  // namespace

Result<std::optional<WatchEvent>> WatchDecoder::Next() {
  for (;;) {
    const std::size_t newline = buffer_.find('\n', scanned_);
    if (newline == std::string::npos) {
      // Removes the lines that are already decoded, and moves the unfinished line to the front of the buffer. This
      // happens once per batch, and not after each line.
      buffer_.erase(0, begin_);
      begin_ = 0;
      scanned_ = buffer_.size();
      if (buffer_.size() > kMaxWatchLine) break;
      return std::nullopt;
    }
    const std::string_view line(buffer_.data() + begin_, newline - begin_);
    if (line.size() > kMaxWatchLine) break;
    begin_ = scanned_ = newline + 1;
    if (IsBlank(line)) continue;
    YAD_TRY(WatchEvent event, ParseWatchEvent(line));
    return std::optional<WatchEvent>(std::move(event));
  }
  return Fail(Reason::kDecode, "a line of the watch is longer than " + std::to_string(kMaxWatchLine >> 20) + " MiB");
}

bool WatchDecoder::InMiddle() const { return !IsBlank(std::string_view(buffer_).substr(begin_)); }

Result<std::optional<WatchEvent>> Watch::Next() {
  for (;;) {
    Result<std::optional<WatchEvent>> event = decoder_.Next();
    if (!event || event->has_value()) return event;
    YAD_TRY(const bool more, stream_->Read(decoder_.buffer()));
    if (!more) {
      if (decoder_.InMiddle()) return Fail(Reason::kTransport, "the watch was cut off in the middle of an event");
      return std::nullopt;
    }
  }
}

}  // namespace yad
