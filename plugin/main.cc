// kubectl-yad: `kubectl yad`.
#include <string>
#include <vector>

#include "operator/client/transport/tls_client.h"
#include "plugin/plugin.h"
#include "plugin/view/console.h"

int main(int argc, char** argv) {
  yad::KeepOpenSslUntilTheEnd();
  yad::Console console = yad::StandardConsole();
  return yad::RunPlugin(std::vector<std::string>(argv + 1, argv + argc), YAD_VERSION, console);
}
