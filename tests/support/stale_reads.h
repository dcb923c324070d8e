// Makes a FaultProxy show its client an old state of the cluster, or no changes for a while.
#ifndef TESTS_SUPPORT_STALE_READS_H_
#define TESTS_SUPPORT_STALE_READS_H_

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "operator/api/object.h"
#include "tests/support/fault_proxy.h"

namespace yad::testing {

// Responds to lists and watches of chosen resources, such as "nodepools", from an old list, or does not respond to
// them. Passes all other requests, even reads of single objects. Thread-safe.
class StaleReads {
 public:
  // The hook of a FaultProxy.
  Fault operator()(const ProxiedRequest& request);

  // Responds to lists of this resource with `list`, in the apiserver's format, and withholds later events.
  void Show(const std::string& resource, Json list);
  // Withholds lists and events of these resources. The caller closes the open connections.
  void Withhold(const std::set<std::string>& resources);
  // Passes all requests again. Watches continue from the resourceVersion of the old list. If `expired` is true, the
  // response to the next watch of each resource is 410 Expired, and the client lists again.
  void Release(bool expired);

 private:
  std::mutex mutex_;
  std::map<std::string, Json> lists_;  // null: withheld
  std::set<std::string> expired_;
};

}  // namespace yad::testing

#endif  // TESTS_SUPPORT_STALE_READS_H_
