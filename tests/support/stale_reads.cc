#include "tests/support/stale_reads.h"

namespace yad::testing {
namespace {

// Returns "nodepools" for a list or watch of NodePools. For any other request, returns a string that is not a resource.
std::string ResourceRead(const ProxiedRequest& request) {
  if (request.method != "GET" || request.query.find("fieldSelector=") != std::string::npos) return "";
  return request.path.substr(request.path.rfind('/') + 1);
}

bool Has(const ProxiedRequest& request, const std::string& parameter) {
  return ("&" + request.query).find("&" + parameter) != std::string::npos;
}

ProxyReply Rejection(int code, const std::string& reason) {
  return {code, Json{{"kind", "Status"},
                     {"apiVersion", "v1"},
                     {"status", "Failure"},
                     {"code", code},
                     {"reason", reason},
                     {"message", "so the test wants it"}}
                    .dump()};
}

}  // namespace

Fault StaleReads::operator()(const ProxiedRequest& request) {
  Fault fault;
  const std::string resource = ResourceRead(request);
  const std::lock_guard lock(mutex_);
  const auto found = lists_.find(resource);
  if (found == lists_.end()) {
    if (request.IsWatch() && Has(request, "resourceVersion=") && expired_.erase(resource) > 0) {
      fault.instead = Rejection(410, "Expired");
    }
  } else if (found->second.is_null()) {
    fault.drop = true;
  } else if (!request.IsWatch()) {
    fault.instead = ProxyReply{200, found->second.dump()};
  } else {
    fault.drop = true;
  }
  return fault;
}

void StaleReads::Show(const std::string& resource, Json list) {
  const std::lock_guard lock(mutex_);
  lists_[resource] = std::move(list);
}

void StaleReads::Withhold(const std::set<std::string>& resources) {
  const std::lock_guard lock(mutex_);
  for (const std::string& resource : resources) lists_[resource] = nullptr;
}

void StaleReads::Release(bool expired) {
  const std::lock_guard lock(mutex_);
  for (const auto& [resource, list] : lists_) {
    if (expired) expired_.insert(resource);
  }
  lists_.clear();
}

}  // namespace yad::testing
