// The discovery of a cluster in memory, which the plugin reads before NodePools.
#ifndef TESTS_UNIT_PLUGIN_DISCOVERY_H_
#define TESTS_UNIT_PLUGIN_DISCOVERY_H_

#include "tests/support/fake_apiserver.h"
#include "tests/support/fake_transport.h"

namespace yad::testing {

// Serves the cluster, and the discovery of NodePools.
inline void ServeWithDiscovery(FakeCluster& cluster, FakeTransport& transport) {
  transport.OnSend([&cluster](const HttpRequest& request) -> Result<HttpResponse> {
    if (request.path == "/apis/apps.openyurt.io")
      return JsonResponse({{"kind", "APIGroup"}, {"versions", {{{"version", "v1beta1"}}}}});
    if (request.path == "/apis/apps.openyurt.io/v1beta1") {
      const Json pools = {{"name", "nodepools"}, {"kind", "NodePool"}, {"namespaced", false}};
      return JsonResponse({{"kind", "APIResourceList"}, {"resources", Json::array({pools})}});
    }
    return cluster.transport()->Send(request, {});
  });
}

}  // namespace yad::testing

#endif  // TESTS_UNIT_PLUGIN_DISCOVERY_H_
