// Carries out the steps that rotation.h plans. Maintains the Secret, the caBundles of the webhook configurations, and
// the certificate that this replica serves.
#ifndef WEBHOOK_CERTIFICATES_CERTIFICATE_KEEPER_H_
#define WEBHOOK_CERTIFICATES_CERTIFICATE_KEEPER_H_

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "operator/api/object.h"
#include "operator/api/well_known.h"
#include "operator/base/clock.h"
#include "operator/base/error.h"
#include "operator/base/metrics.h"
#include "operator/base/synchronized.h"
#include "operator/client/client.h"
#include "operator/runtime/store.h"
#include "webhook/certificates/rotation.h"
#include "webhook/certificates/serving_certificate.h"

namespace yad {

inline const ResourceType kSecretType{"", "v1", "secrets", "Secret", true};
inline const ResourceType kMutatingConfigurationType{
    "admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations", "MutatingWebhookConfiguration", false};

// Returns the DNS name that an apiserver uses to call a webhook behind this Service.
std::string CalledName(const ObjectKey& service);

// An object, and the informer's cache that contains it.
struct CachedObject {
  const ResourceType* type;
  ObjectKey key;
  Store* store;
};

// Rotates the webhook's certificate. Only one thread may call Run or Pass; the other functions are thread-safe.
class CertificateKeeper {
 public:
  // If `configurations` is empty, no caBundle is written.
  CertificateKeeper(Client& client, CachedObject secret, std::vector<CachedObject> configurations, ObjectKey service,
                    Duration validity, std::shared_ptr<ServingCertificate> certificate, Clock& clock);

  // Calls Pass whenever an object has changed or a step is due, until `stop` fires. Retries a failed Pass after a
  // pause, and never returns an error.
  Status Run(const std::stop_token& stop);
  // Performs the steps that are due. Returns the time of the next Pass. The stores must have synced.
  Result<WallTime> Pass(const std::stop_token& stop);
  // Makes Run call Pass soon. The informers call this when one of the objects has changed.
  void Wake();
  // Returns the error of the last Pass; "" if the Pass succeeded, or if another replica performed the step first.
  std::string failure() const;

 private:
  // The state of all objects at one moment; nullopt for an object that does not exist.
  struct Snapshot {
    std::optional<Json> secret;
    std::vector<std::optional<Json>> configurations;
  };
  // The work that a snapshot requires.
  struct Work {
    RotationView view;
    RotationPlan plan;
    std::vector<std::pair<CachedObject, Json>> trusting;  // configurations with the caBundles that must be written
    bool idle() const { return plan.step == RotationStep::kNone && trusting.empty(); }
  };
  // Records the time since which all configurations have trusted a certificate. `generations` identifies the versions
  // of the configurations. If it changes, the time starts again.
  struct Trusted {
    std::string generations;
    SteadyTime since;
  };

  bool Synced() const;
  void AwaitWake(WallTime until, const std::stop_token& stop);
  void RecordOutcome(const Result<WallTime>& outcome);
  Snapshot Cached() const;
  Result<Snapshot> Read(const std::stop_token& stop);
  Result<std::optional<Json>> Read(const CachedObject& object, const std::stop_token& stop);
  Result<Work> DecideWork(const Snapshot& snapshot);
  void MeasureTrust(const Snapshot& snapshot, RotationView& view);
  Status Serve(RotationView& view);
  Status WriteSecret(const Snapshot& live, const Work& work, const std::stop_token& stop);
  Status WriteTrust(const Work& work, const std::stop_token& stop);

  Client& client_;
  const CachedObject secret_;
  const std::vector<CachedObject> configurations_;
  const ObjectKey service_;
  const std::vector<std::string> names_;
  const Duration validity_;
  const std::shared_ptr<ServingCertificate> certificate_;
  Clock& clock_;
  metrics::Counter& rotations_;

  std::map<std::string, Trusted> trusted_;  // by certificate
  std::optional<TrustedPair> served_;
  bool wrote_ = false;  // whether the last Pass has written an object

  std::mutex mutex_;
  std::condition_variable_any wake_;
  bool awake_ = false;  // guarded by mutex_
  Synchronized<std::string> failure_;
};

}  // namespace yad

#endif  // WEBHOOK_CERTIFICATES_CERTIFICATE_KEEPER_H_
