// A test whose operator can be killed right after one of its writes.
#ifndef TESTS_CLUSTER_GATED_H_
#define TESTS_CLUSTER_GATED_H_

#include <memory>

#include "tests/support/fault_proxy.h"
#include "tests/support/operator_process.h"
#include "tests/support/write_gate.h"

namespace yad::testing {

// Adds a proxy between operator and apiserver to the ClusterTest `Test`. Each write passes through `gate_`.
template <typename Test>
class Gated : public Test {
 protected:
  OperatorOptions DefaultOptions() override {
    OperatorOptions options = Test::DefaultOptions();
    if (proxy_ == nullptr) {
      proxy_ = MakeProxy(options.kubeconfig, [this](const ProxiedRequest& request) { return OnRequest(request); });
    }
    options.kubeconfig =
        KubeconfigThrough(*proxy_, options.kubeconfig, this->plane().dir() + "/" + this->ns() + ".kubeconfig");
    return options;
  }
  // Runs on the proxy's threads.
  virtual Fault OnRequest(const ProxiedRequest& request) { return gate_(request); }

  // Starts the killed operator again, and blocks until it is ready.
  void StartAgain(std::vector<std::string> flags = {}) {
    this->KillOperator();  // The process is dead. This updates the fixture.
    gate_.Reopen();
    this->StartOperator(std::move(flags));
  }

  WriteGate gate_;

 private:
  std::unique_ptr<FaultProxy> proxy_;  // destroyed first, because it calls the gate
};

}  // namespace yad::testing

#endif  // TESTS_CLUSTER_GATED_H_
