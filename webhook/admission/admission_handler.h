// The admission webhooks and their paths: the defaulting and the validating webhook of YurtAppDaemon, and the
// validating webhook of NodePoolAutoscaler.
#ifndef WEBHOOK_ADMISSION_ADMISSION_HANDLER_H_
#define WEBHOOK_ADMISSION_ADMISSION_HANDLER_H_

#include "operator/base/clock.h"
#include "operator/client/client.h"
#include "webhook/admission/admission_stores.h"
#include "webhook/admission/trials.h"
#include "webhook/server/https_server.h"

namespace yad {

inline constexpr char kMutatePath[] = "/mutate-apps-openyurt-io-v1alpha1-yurtappdaemon";
inline constexpr char kValidatePath[] = "/validate-apps-openyurt-io-v1alpha1-yurtappdaemon";
inline constexpr char kValidateCapacityPath[] = "/validate-capacity-openyurt-io-v1alpha1-nodepoolautoscaler";

// Returns whether the handler responds to this call without a request to the apiserver. True only for the defaulting
// webhook. Thread-safe.
bool NeverWaits(const HttpsCall& call);

// Returns a handler for HttpsServer. Thread-safe. `client`, the stores and `clock` must outlive the handler;
// HttpsCall::arrived must be a time of `clock`. When half of the call's timeout has passed since its arrival, the
// handler responds without the results that the apiserver has not sent yet.
//
// The handler replies with
//   200 and an AdmissionReview: the object is allowed or not. The response to a body with too many values
//     is also 200 (not allowed) if its uid can be read.
//   400 and a message: ParseAdmissionReview has rejected the body
//   404: the path does not belong to a webhook
//   405: the method is not POST
//   415: the content type is not JSON
HttpsServer::Handler MakeAdmissionHandler(Client& client, AdmissionStores stores, Clock& clock = Clock::Real(),
                                          QueryCheck check_query = nullptr);

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_ADMISSION_HANDLER_H_
