// An open watch and its events.
#ifndef OPERATOR_CLIENT_WATCH_H_
#define OPERATOR_CLIENT_WATCH_H_

#include <nlohmann/json.hpp>
#include <optional>

#include "operator/base/error.h"
#include "operator/json/json_document.h"

namespace yad {

enum class WatchEventType { kAdded, kModified, kDeleted, kBookmark };

struct WatchEvent {
  WatchEventType type = WatchEventType::kAdded;
  JsonDocument object;
};

// An open watch. Must be read by one thread.
class Watch {
 public:
  virtual ~Watch() = default;
  // Blocks until the next event arrives. Returns nullopt if the server ended the watch normally, for example after its
  // timeout. Fails
  // - with the Error in an ERROR event (kExpired for 410);
  // - with kTransport if the connection breaks;
  // - with kDecode if an event is malformed or longer than 16 MiB.
  virtual Result<std::optional<WatchEvent>> Next() = 0;
};

}  // namespace yad

#endif  // OPERATOR_CLIENT_WATCH_H_
