// The live objects of a type in one namespace. Reads do not send requests, so a test can read often.
#ifndef TESTS_CLUSTER_LIVE_VIEW_H_
#define TESTS_CLUSTER_LIVE_VIEW_H_

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "operator/client/client.h"

namespace yad::testing {

// A watch updates the objects, so they may be slightly outdated. Thread-safe.
class LiveView {
 public:
  LiveView(Client& client, const ResourceType& type, std::string ns);

  std::optional<Json> Find(const std::string& name) const;
  // Returns the objects whose controller has this uid.
  std::vector<Json> ControlledBy(const std::string& uid) const;

 private:
  void Run(const std::stop_token& stop);
  std::string List();  // returns the resourceVersion for the watch

  Client& client_;
  const ResourceType type_;
  const std::string ns_;
  mutable std::mutex mutex_;
  std::map<std::string, Json> objects_;  // by name
  std::jthread thread_;
};

}  // namespace yad::testing

#endif  // TESTS_CLUSTER_LIVE_VIEW_H_
