// Installs the webhooks of an operator on this machine for the namespace of a test.
#ifndef TESTS_SUPPORT_WEBHOOK_SETUP_H_
#define TESTS_SUPPORT_WEBHOOK_SETUP_H_

#include <string>
#include <vector>

#include "tests/support/kube.h"
#include "tests/support/test_pki.h"

namespace yad::testing {

inline const ResourceType kMutatingWebhookConfigurationType{
    "admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations", "MutatingWebhookConfiguration", false};
inline const ResourceType kValidatingWebhookConfigurationType{
    "admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration", false};

// The webhooks ignore objects with this label, so a test can create objects as if they were older than the webhooks.
// But the webhooks review the update that removes the label, because the apiserver also checks their selector against
// the new object.
inline constexpr char kUncheckedLabel[] = "test/unchecked";

// Makes the certificate files, the port and both configurations of the webhooks. Not thread-safe.
class WebhookSetup {
 public:
  // Writes tls.crt and tls.key into `dir`/webhook-NAMESPACE. `kube` must outlive this object.
  WebhookSetup(const Kube& kube, const std::string& dir);
  ~WebhookSetup();  // uninstalls
  WebhookSetup(const WebhookSetup&) = delete;
  WebhookSetup& operator=(const WebhookSetup&) = delete;

  // Returns the flags for the operator.
  std::vector<std::string> flags() const;
  // Creates the configurations (failurePolicy Fail), and waits until the apiserver calls the webhooks. Needs a ready
  // operator.
  void Install();
  void Uninstall();

  int port() const { return port_; }
  const std::string& ca_pem() const { return ca_.cert_pem(); }

 private:
  const Kube& kube_;
  const std::string name_;
  const std::string dir_;
  const int port_;
  const TestCa ca_;
  bool installed_ = false;
};

}  // namespace yad::testing

#endif  // TESTS_SUPPORT_WEBHOOK_SETUP_H_
