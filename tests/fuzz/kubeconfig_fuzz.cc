// kubeconfig files: loading a file twice has the same result as loading it once, and the result is usable.
#include <string>

#include "operator/client/auth/kubeconfig.h"
#include "tests/fuzz/check.h"

namespace yad {
namespace {

void Kubeconfig(const std::string& text) {
  const KubeconfigFile file{"/nonexistent/config", text};
  const auto config = ConfigFromKubeconfig({file}, "");
  const auto twice = ConfigFromKubeconfig({file, file}, "");
  YAD_CHECK(config.has_value() == twice.has_value(), config ? twice.error().message : config.error().message);
  if (!config) {
    YAD_CHECK(config.error().reason == Reason::kConfig, config.error().message);
    YAD_CHECK(config.error().message.find(file.path) != std::string::npos, config.error().message);
    return;
  }
  YAD_CHECK(config->server == twice->server && config->ns == twice->ns && config->token == twice->token &&
                config->tls.ca_pem == twice->tls.ca_pem && config->exec.has_value() == twice->exec.has_value(),
            config->source);
  YAD_CHECK(config->server.find("://") != std::string::npos, config->server);
  YAD_CHECK(!config->ns.empty() && !config->source.empty(), config->source);
  YAD_CHECK(config->token.find_first_of("\r\n") == std::string::npos, "a header could be forged");
  YAD_CHECK(!config->insecure_skip_tls_verify || config->tls.ca_pem.empty(), "the CA would be ignored silently");
  if (config->exec) YAD_CHECK(!config->exec->command.empty(), config->source);
}

}  // namespace
}  // namespace yad

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  yad::Kubeconfig({reinterpret_cast<const char*>(data), size});
  return 0;
}
