#include "tests/support/prometheus_server.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "tests/support/eventually.h"
#include "tests/support/process.h"
#include "tests/support/tls_test_server.h"

namespace yad::testing {
namespace {

constexpr char kProgram[] = "/usr/bin/prometheus";

std::string MakeFolder() {
  std::string path = std::filesystem::temp_directory_path() / "yad_prometheus_XXXXXX";
  if (mkdtemp(path.data()) == nullptr) throw TestFailure("cannot create " + path);
  return path;
}

}  // namespace

struct PrometheusServer::Impl {
  const std::string folder = MakeFolder();
  const int port = FreePort();
  std::string url;
  std::mutex mutex;
  std::string metrics;
  long scrapes = 0;
  TestServer exporter{PlainServer(), [this](TestConnection& connection, const TestRequest&) { Serve(connection); }};
  std::unique_ptr<Process> process;

  void Serve(TestConnection& connection) {
    std::lock_guard lock(mutex);
    ++scrapes;
    connection.Write("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: " +
                     std::to_string(metrics.size()) + "\r\n\r\n" + metrics);
  }
  long Scrapes() {
    std::lock_guard lock(mutex);
    return scrapes;
  }
};

std::string PrometheusServer::Missing() {
  return access(kProgram, X_OK) == 0 ? "" : std::string(kProgram) + " is missing: hack/packages.sh chart";
}

PrometheusServer::PrometheusServer(const std::string& prefix) : impl_(std::make_unique<Impl>()) {
  const std::string address = "127.0.0.1:" + std::to_string(impl_->port);
  impl_->url = "http://" + address + prefix;
  WriteFile(impl_->folder + "/config.yaml",
            "global: {scrape_interval: 200ms, scrape_timeout: 200ms}\n"
            "scrape_configs: [{job_name: test, static_configs: [{targets: ['127.0.0.1:" +
                std::to_string(impl_->exporter.port()) + "']}]}]\n");
  ProcessOptions options;
  options.output_file = impl_->folder + "/log";
  impl_->process = std::make_unique<Process>(
      std::vector<std::string>{kProgram, "--config.file=" + impl_->folder + "/config.yaml",
                               "--web.listen-address=" + address, "--web.external-url=" + impl_->url,
                               "--storage.tsdb.path=" + impl_->folder + "/data"},
      options);
  Eventually("Prometheus is ready", [&]() -> std::string {
    if (impl_->process->ExitCode()) throw TestFailure("Prometheus exited: " + ReadFile(impl_->folder + "/log"));
    return HttpGet(impl_->port, prefix + "/-/ready").status == 200 ? "" : ReadFile(impl_->folder + "/log");
  });
}

PrometheusServer::~PrometheusServer() {
  impl_->process.reset();
  std::error_code ignored;
  std::filesystem::remove_all(impl_->folder, ignored);
}

std::string PrometheusServer::url() const { return impl_->url; }

void PrometheusServer::Export(const std::string& metrics) {
  long before = 0;
  {
    std::lock_guard lock(impl_->mutex);
    impl_->metrics = metrics;
    before = impl_->scrapes;
  }
  // `scrapes` counts scrapes that have begun. When the second new scrape begins, Prometheus has stored the first.
  Eventually("the metrics are scraped", [&] { return impl_->Scrapes() >= before + 2; });
}

void PrometheusServer::Signal(int signal) { impl_->process->Signal(signal); }

}  // namespace yad::testing
