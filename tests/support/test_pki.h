// Certificates made at run time, for tests of TLS.
#ifndef TESTS_SUPPORT_TEST_PKI_H_
#define TESTS_SUPPORT_TEST_PKI_H_

#include <memory>
#include <string>

namespace yad::testing {

struct CertificateAndKey {
  std::string cert_pem;
  std::string key_pem;
};

struct LeafOptions {
  std::string common_name = "leaf";
  std::string alt_names = "IP:127.0.0.1,DNS:localhost";  // OpenSSL's subjectAltName; "" for none
  int valid_from_days = -1;                              // from now
  int valid_to_days = 30;
  std::string organization = {};  // a group of Kubernetes; "" for none
};

// A certificate authority with a fresh key.
class TestCa {
 public:
  explicit TestCa(const std::string& common_name = "test-ca");
  ~TestCa();
  const std::string& cert_pem() const { return cert_pem_; }
  CertificateAndKey Issue(const LeafOptions& options = {}) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::string cert_pem_;
};

// Returns an unused private key, protected by a passphrase.
std::string EncryptedKeyPem();

}  // namespace yad::testing

#endif  // TESTS_SUPPORT_TEST_PKI_H_
