// A mutating admission webhook that does not belong to the operator.
#ifndef TESTS_SUPPORT_MUTATING_WEBHOOK_H_
#define TESTS_SUPPORT_MUTATING_WEBHOOK_H_

#include <atomic>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/kube.h"
#include "tests/support/test_pki.h"
#include "tests/support/tls_test_server.h"

namespace yad::testing {

// A webhook in this process. The apiserver calls it for each create and update of one type in one namespace.
class MutatingWebhook {
 public:
  // Changes the object before it is stored. Called on the webhook's threads.
  using Mutate = std::function<void(Json& object)>;

  // Blocks until the apiserver calls the webhook. `kube` must outlive this object.
  MutatingWebhook(const Kube& kube, const ResourceType& type, Mutate mutate);
  ~MutatingWebhook();  // deletes the configuration
  MutatingWebhook(const MutatingWebhook&) = delete;
  MutatingWebhook& operator=(const MutatingWebhook&) = delete;

 private:
  void Answer(TestConnection& connection, const TestRequest& request);

  const Kube& kube_;
  const std::string name_;
  const Mutate mutate_;
  const TestCa ca_;
  std::atomic<int> asked_ = 0;
  std::unique_ptr<TestServer> server_;
};

}  // namespace yad::testing

#endif  // TESTS_SUPPORT_MUTATING_WEBHOOK_H_
