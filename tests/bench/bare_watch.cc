#include "tests/bench/bare_watch.h"

#include <filesystem>
#include <iostream>

#include "operator/client/auth/config.h"
#include "tests/bench/beast_transport.h"
#include "tests/bench/load.h"
#include "tests/bench/measure.h"
#include "tests/support/eventually.h"
#include "tests/support/process.h"

namespace yad::bench {

Bound BareWatch(Cluster& cluster, const std::string& collection, const std::vector<HttpRequest>& requests,
                std::size_t parallel) {
  testing::Process watcher({std::filesystem::read_symlink("/proc/self/exe"), "--watch=" + collection,
                            "--watch-kubeconfig=" + cluster.plane().kubeconfig()});
  testing::Eventually("a bare watch is open", [&] { return !watcher.Output().empty(); });
  WaitUntilQuiet(watcher.pid());
  const double cpu = CpuSeconds(watcher.pid());
  SendAll(cluster.beast(), requests, parallel);
  WaitUntilQuiet(watcher.pid());
  return {"bare watch, Beast", (CpuSeconds(watcher.pid()) - cpu) * 1e6 / static_cast<double>(requests.size())};
}

int ServeBareWatch(const std::string& kubeconfig, const std::string& collection) {
  const auto config = LoadClusterConfig(kubeconfig);
  if (!config) {
    std::cerr << config.error().ToString() << "\n";
    return 1;
  }
  const auto server = MakeBareTransport(AdminTransport(*config));
  // Because the request has no resourceVersion, the watch begins with all existing objects.
  HttpRequest request{.method = "GET", .path = collection + "?watch=true", .headers = {}, .body = {}};
  request.timeout = std::chrono::hours(1);
  const auto stream = server->Open(request, {});
  if (!stream || (*stream)->head().status != 200) {
    std::cerr << (stream ? std::to_string((*stream)->head().status) : stream.error().ToString()) << "\n";
    return 1;
  }
  std::cout << "open" << std::endl;
  for (std::string text; const auto more = (*stream)->Read(text);) {
    if (!*more) break;
    text.clear();
  }
  std::cerr << "the watch has ended\n";
  return 1;
}

}  // namespace yad::bench
