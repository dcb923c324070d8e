// The certificates and keys of a client, where they change while it runs.
#ifndef OPERATOR_CLIENT_TLS_MATERIAL_H_
#define OPERATOR_CLIENT_TLS_MATERIAL_H_

#include <memory>
#include <mutex>
#include <string>

#include "operator/base/clock.h"
#include "operator/base/error.h"

namespace yad {

struct TlsMaterial {
  std::string ca_pem;  // empty: the system's CAs
  std::string client_cert_pem;
  std::string client_key_pem;

  friend bool operator==(const TlsMaterial&, const TlsMaterial&) = default;
};

// Files that others renew: the cluster's CA in a pod, certificates that a kubeconfig names. "": not from a file.
struct TlsFiles {
  std::string ca;
  std::string client_cert;
  std::string client_key;

  bool empty() const { return ca.empty() && client_cert.empty() && client_key.empty(); }
};

// Thread-safe.
class TlsMaterialReader {
 public:
  // `initial` is what the files held when the configuration was read, and holds the parts that come from no file.
  TlsMaterialReader(TlsFiles files, TlsMaterial initial, Clock& clock);

  // Reads the files at most once a minute. While one of them cannot be read, the material read last is returned.
  std::shared_ptr<const TlsMaterial> Get();
  // A connection has failed, or the server has refused the client certificate: the next Get reads the files, but not
  // within a second of the last time.
  void Invalidate();

 private:
  const TlsFiles files_;
  Clock& clock_;
  std::mutex mutex_;
  std::shared_ptr<const TlsMaterial> material_;
  SteadyTime read_at_;
  SteadyTime fresh_until_;
};

}  // namespace yad

#endif  // OPERATOR_CLIENT_TLS_MATERIAL_H_
