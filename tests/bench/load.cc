#include "tests/bench/load.h"

#include <cstdlib>
#include <functional>
#include <mutex>

#include "operator/base/parallel.h"
#include "tests/bench/measure.h"
#include "tests/support/eventually.h"
#include "tests/support/process.h"

namespace yad::bench {
namespace {

Load Send(HttpTransport& transport, const std::function<const HttpRequest&(std::size_t)>& request, std::size_t count,
          std::size_t parallel) {
  Load load;
  load.latencies_ms.resize(count);
  std::mutex mutex;
  std::string failure;
  const double cpu = OwnCpuSeconds();
  const SteadyTime begin = std::chrono::steady_clock::now();
  ParallelFor(count, parallel, [&](std::size_t i) {
    const SteadyTime sent = std::chrono::steady_clock::now();
    const Result<HttpResponse> response = transport.Send(request(i), {});
    load.latencies_ms[i] = SecondsSince(sent) * 1e3;
    if (response && response->status / 100 == 2) return;
    std::lock_guard lock(mutex);
    if (failure.empty()) {
      failure = response ? std::to_string(response->status) + " " + response->body.substr(0, 300)
                         : response.error().ToString();
    }
  });
  load.seconds = SecondsSince(begin);
  load.cpu_seconds = OwnCpuSeconds() - cpu;
  if (!failure.empty()) throw testing::TestFailure("a bare " + request(0).method + " failed: " + failure);
  return load;
}

constexpr char kLua[] = R"(
local threads = 0
function setup(thread) threads = threads + 1; thread:set("id", threads) end
function init(args)
  method, path, names, step, count = args[1], args[2], tonumber(args[3]), tonumber(args[4]), 0
  local file = io.open(args[5]); body = file:read("*a"); file:close()
  headers = {["Content-Type"] = "application/json"}
  if args[6] then headers["Authorization"] = "Bearer " .. args[6] end
end
function request()
  local number, round = count * step + id, 0
  if names > 0 then round = math.floor(number / names); number = number % names end
  count = count + 1
  local text = body:gsub("@N@", tostring(number)):gsub("@ROUND@", tostring(round))
  return wrk.format(method, (path:gsub("@N@", tostring(number))), headers, text)
end
)";

}  // namespace

Load SendAll(HttpTransport& transport, const std::vector<HttpRequest>& requests, std::size_t parallel) {
  return Send(
      transport, [&](std::size_t i) -> const HttpRequest& { return requests[i]; }, requests.size(), parallel);
}

Load SendRepeatedly(HttpTransport& transport, const HttpRequest& request, std::size_t count, std::size_t parallel) {
  return Send(
      transport, [&](std::size_t) -> const HttpRequest& { return request; }, count, parallel);
}

double RunWrk(const WrkOptions& options, const std::string& dir) {
  const std::string script = dir + "/wrk.lua";
  const std::string body = dir + "/wrk.body";
  testing::WriteFile(script, kLua);
  testing::WriteFile(body, options.body);
  const int threads = options.connections < 2 ? 1 : 2;
  std::vector<std::string> command = {"wrk",
                                      "-t" + std::to_string(threads),
                                      "-c" + std::to_string(options.connections),
                                      "-d" + std::to_string(options.seconds) + "s",
                                      "-s",
                                      script,
                                      options.server,
                                      "--",
                                      options.method,
                                      options.path,
                                      std::to_string(options.names),
                                      std::to_string(threads),
                                      body};
  if (!options.token.empty()) command.push_back(options.token);
  const testing::ProcessResult result = testing::RunProcess(command);
  if (result.exit_code != 0 || result.out.find("Non-2xx") != std::string::npos) return 0;
  const std::string label = "Requests/sec:";
  const std::size_t at = result.out.find(label);
  return at == std::string::npos ? 0 : std::strtod(result.out.c_str() + at + label.size(), nullptr);
}

}  // namespace yad::bench
