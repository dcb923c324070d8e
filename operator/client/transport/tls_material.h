// The certificates and the key of a client. They can change while the client runs.
#ifndef OPERATOR_CLIENT_TRANSPORT_TLS_MATERIAL_H_
#define OPERATOR_CLIENT_TRANSPORT_TLS_MATERIAL_H_

#include <memory>
#include <mutex>
#include <string>

#include "operator/base/clock.h"

namespace yad {

struct TlsMaterial {
  std::string ca_pem;  // only these CAs are trusted; empty: the system's CAs
  std::string client_cert_pem;
  std::string client_key_pem;

  friend bool operator==(const TlsMaterial&, const TlsMaterial&) = default;
};

// Paths of files that other programs renew, such as the cluster's CA in a pod or the certificates of a kubeconfig. An
// empty path means that there is no such file.
struct TlsFiles {
  std::string ca;
  std::string client_cert;
  std::string client_key;
};

// Reads certificates from files and caches them. Thread-safe.
class TlsMaterialReader {
 public:
  // `initial` is the material that was read at startup. A part that has no path in `files` never changes.
  TlsMaterialReader(TlsFiles files, TlsMaterial initial, Clock& clock);

  // Returns the current material. Reads the files at most once a minute. If a file is empty or can't be read, returns
  // the last material.
  std::shared_ptr<const TlsMaterial> Get();
  // Makes the next Get read the files, unless they were read less than a second ago. Call it after a connection has
  // failed, or after the server has rejected the client certificate.
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

#endif  // OPERATOR_CLIENT_TRANSPORT_TLS_MATERIAL_H_
