// Runs commands of the plugin with an apiserver in memory.
#ifndef TESTS_UNIT_PLUGIN_SESSION_FIXTURE_H_
#define TESTS_UNIT_PLUGIN_SESSION_FIXTURE_H_

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "plugin/commands/commands.h"
#include "tests/support/fake_apiserver.h"
#include "tests/support/fake_clock.h"
#include "tests/unit/plugin/console_fixture.h"
#include "tests/unit/yurtappdaemon/builders.h"

namespace yad::testing {

// The apiserver serves NodePools. It is Friday, 2026-01-02T03:04:05Z.
class SessionTest : public ConsoleTest {
 protected:
  SessionTest() {
    transport_->OnSend([this](const HttpRequest& request) { return Answer(request); });
  }
  Result<HttpResponse> Answer(const HttpRequest& request) {
    if (request.path == "/apis/apps.openyurt.io")
      return JsonResponse({{"kind", "APIGroup"}, {"versions", {{{"version", "v1beta1"}}}}});
    if (request.path == "/apis/apps.openyurt.io/v1beta1") {
      const Json pools = {{"name", "nodepools"}, {"kind", "NodePool"}, {"namespaced", false}};
      return JsonResponse({{"kind", "APIResourceList"},
                           {"groupVersion", "apps.openyurt.io/v1beta1"},
                           {"resources", Json::array({pools})}});
    }
    return cluster_.transport()->Send(request, {});
  }
  // Runs the command. Afterwards, the console contains only the output of this command.
  Result<int> Run(Result<int> (*command)(Session&)) {
    out_.str("");
    err_.str("");
    Session session{options_, console_, client_, kNs, clock_};
    return command(session);
  }
  std::vector<std::string> Lines() {
    std::vector<std::string> lines;
    std::istringstream text(out_.str());
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  }

  FakeCluster cluster_;
  const std::shared_ptr<FakeTransport> transport_ = std::make_shared<FakeTransport>();
  Client client_{transport_, {}};
  FakeClock clock_;
  PluginOptions options_;
};

}  // namespace yad::testing

#endif  // TESTS_UNIT_PLUGIN_SESSION_FIXTURE_H_
