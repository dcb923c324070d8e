#include "operator/client/transport/resolver.h"

#include <netdb.h>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

namespace yad {
namespace {

constexpr int kMaxHanging = 32;  // maximum number of threads that wait for a name server

std::atomic<int> hanging = 0;

struct Resolution {
  std::mutex mutex;
  std::condition_variable_any done_changed;
  bool done = false;
  int error = 0;  // code of getaddrinfo
  std::vector<SocketAddress> addresses;
};

int LookUp(const std::string& host, const std::string& port, int flags, std::vector<SocketAddress>& addresses) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (error != 0) return error;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    SocketAddress address;
    std::memcpy(&address.bytes, each->ai_addr, each->ai_addrlen);
    address.size = each->ai_addrlen;
    addresses.push_back(address);
  }
  freeaddrinfo(found);
  return addresses.empty() ? EAI_NONAME : 0;
}

void LookUpInto(const std::shared_ptr<Resolution>& resolution, const std::string& host, const std::string& port) {
  std::vector<SocketAddress> addresses;
  const int error = LookUp(host, port, AI_ADDRCONFIG, addresses);
  {
    std::lock_guard lock(resolution->mutex);
    resolution->error = error;
    resolution->addresses = std::move(addresses);
    resolution->done = true;
  }
  resolution->done_changed.notify_all();
  --hanging;
}

tl::unexpected<Error> Unresolved(const std::string& host, const std::string& why) {
  return Fail(Reason::kTransport, "the name \"" + host + "\" cannot be resolved (" + why + ")");
}

}  // namespace

Result<std::vector<SocketAddress>> Resolve(const std::string& host, const std::string& port, SteadyTime deadline,
                                           const std::stop_token& stop) {
  std::vector<SocketAddress> numeric;
  if (LookUp(host, port, AI_NUMERICHOST, numeric) == 0) return numeric;

  if (++hanging > kMaxHanging) {
    --hanging;
    return Unresolved(host,
                      "the name server does not respond: " + std::to_string(kMaxHanging) + " requests wait for it");
  }
  auto resolution = std::make_shared<Resolution>();
  try {
    std::thread([resolution, host, port] { LookUpInto(resolution, host, port); }).detach();
  } catch (const std::system_error& e) {
    --hanging;
    return Unresolved(host, e.what());
  }
  std::unique_lock lock(resolution->mutex);
  const bool done = resolution->done_changed.wait_until(lock, stop, deadline, [&] { return resolution->done; });
  if (stop.stop_requested()) return Fail(Reason::kCancelled, "cancelled");
  if (!done) return Unresolved(host, "the name server does not respond");
  if (resolution->error == EAI_AGAIN) return Unresolved(host, "the name server does not respond");
  if (resolution->error != 0) return Unresolved(host, "no such host");
  return std::move(resolution->addresses);
}

}  // namespace yad
