// The admission webhooks behind their paths: the defaulting and the validating one of YurtAppDaemon, the validating one
// of NodePoolAutoscaler.
#ifndef WEBHOOK_ADMISSION_HANDLER_H_
#define WEBHOOK_ADMISSION_HANDLER_H_

#include "operator/base/clock.h"
#include "operator/client/client.h"
#include "operator/runtime/store.h"
#include "webhook/https_server.h"

namespace yad {

inline constexpr char kMutatePath[] = "/mutate-apps-openyurt-io-v1alpha1-yurtappdaemon";
inline constexpr char kValidatePath[] = "/validate-apps-openyurt-io-v1alpha1-yurtappdaemon";
inline constexpr char kValidateCapacityPath[] = "/validate-capacity-openyurt-io-v1alpha1-nodepoolautoscaler";

// The controller's own caches, with their projections and Controller::kControllerUidIndex. What is not synced yet is
// not looked at: an admission call never fails for it.
struct AdmissionStores {
  const Store& daemons;
  const Store& pools;
  const Store& deployments;
  const Store& stateful_sets;
};

// Whether the handler answers the call without a request to the apiserver: the defaulting webhook's calls. Thread-safe.
bool NeverWaits(const HttpsCall& call);

// A handler for HttpsServer. Thread-safe. `client`, the stores and `clock`, by which HttpsCall::arrived was taken, must
// outlive it. Half of the apiserver's time limit, counted from the call's arrival, is for requests to the apiserver.
// After that the answer says what is found without them.
//
// 200 with an AdmissionReview: an answer, allowed or not. 400 with text: the body is no AdmissionReview v1, or one
// whose uid, kind or resource is too long. 404: no path of ours. 405: no POST. 415: no JSON by its content type.
HttpsServer::Handler MakeAdmissionHandler(Client& client, AdmissionStores stores, Clock& clock = Clock::Real());

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_HANDLER_H_
