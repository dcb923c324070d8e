#include "tests/bench/bare_watch.h"

#include <filesystem>
#include <iostream>

#include "operator/client/config.h"
#include "tests/bench/beast_transport.h"
#include "tests/bench/load.h"
#include "tests/bench/measure.h"
#include "tests/support/eventually.h"
#include "tests/support/process.h"

namespace yad::bench {

std::vector<Bound> BareWatches(Cluster& cluster, const std::string& collection,
                               const std::vector<HttpRequest>& requests, std::size_t parallel) {
  std::vector<std::unique_ptr<testing::Process>> watchers;
  std::vector<double> cpu;
  for (const char* transport : {"cpprest", "beast"}) {
    const auto& watcher = watchers.emplace_back(std::make_unique<testing::Process>(std::vector<std::string>{
        std::filesystem::read_symlink("/proc/self/exe"), std::string("--watch=") + transport,
        "--watch-kubeconfig=" + cluster.plane().kubeconfig(), "--watch-collection=" + collection}));
    testing::Eventually("a bare watch is open", [&] { return !watcher->Output().empty(); });
    WaitUntilQuiet(watcher->pid());
    cpu.push_back(CpuSeconds(watcher->pid()));
  }
  SendAll(cluster.beast(), requests, parallel);
  for (std::size_t i = 0; i < watchers.size(); ++i) {
    WaitUntilQuiet(watchers[i]->pid());
    cpu[i] = (CpuSeconds(watchers[i]->pid()) - cpu[i]) * 1e6 / static_cast<double>(requests.size());
  }
  return {{"bare watch, same transport class", cpu[0]}, {"bare watch, Beast", cpu[1]}};
}

int ServeBareWatch(const std::string& transport, const std::string& kubeconfig, const std::string& collection) {
  const auto config = LoadClusterConfig(kubeconfig);
  if (!config) {
    std::cerr << config.error().ToString() << "\n";
    return 1;
  }
  const TransportOptions options = AdminTransport(*config);
  std::shared_ptr<HttpTransport> server;
  if (transport == "beast") {
    server = MakeBeastTransport(options);
  } else if (auto made = MakeTransport(options)) {
    server = *made;
  } else {
    std::cerr << made.error().ToString() << "\n";
    return 1;
  }
  // Without a resourceVersion all that is there comes first.
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
