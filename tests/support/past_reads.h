// Shows a client of the apiserver, through a FaultProxy, the cluster as it was, or as it was until now.
#ifndef TESTS_SUPPORT_PAST_READS_H_
#define TESTS_SUPPORT_PAST_READS_H_

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "operator/api/object.h"
#include "tests/support/fault_proxy.h"

namespace yad::testing {

// Lists and watches of some resources ("nodepools") are of the past or withheld; all else passes: writes, reads of
// single objects (by name, or by a field selector), other resources. Thread-safe.
class PastReads {
 public:
  // For FaultProxy.
  Fault operator()(const ProxiedRequest& request);

  // Lists of this resource say this, a list as the apiserver answers; what happened since is not told.
  void Show(const std::string& resource, Json list);
  // Nothing is told any more. Close the connections that are open.
  void Withhold(const std::set<std::string>& resources);
  // From now on all is told. Watches go on where the lists were; or, where nothing but that will do, `expired`: what
  // happened in between is forgotten, and they have to list anew.
  void Release(bool expired);

 private:
  std::mutex mutex_;
  std::map<std::string, Json> lists_;  // null: withheld
  std::set<std::string> expired_;
};

}  // namespace yad::testing

#endif  // TESTS_SUPPORT_PAST_READS_H_
