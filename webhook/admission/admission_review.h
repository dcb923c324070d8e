// admission.k8s.io/v1 AdmissionReview: the apiserver's request, and the response. Pure.
#ifndef WEBHOOK_ADMISSION_ADMISSION_REVIEW_H_
#define WEBHOOK_ADMISSION_ADMISSION_REVIEW_H_

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/error.h"

namespace yad {

struct AdmissionRequest {
  std::string uid;
  std::string operation;  // CREATE, UPDATE, DELETE, CONNECT
  std::string group, version, resource, subresource, kind;
  ObjectKey key;  // the name is empty if the apiserver generates it (generateName)
  bool dry_run = false;
  Json object;      // null for DELETE
  Json old_object;  // null for CREATE
};

struct AdmissionResponse {
  bool allowed = true;
  Json status{};  // the reason for a rejection: a metav1.Status
  Json patch{};   // JSONPatch (RFC 6902); null or empty if there is no patch
  // kubectl shows each warning as one line. All warnings together have at most 4 KiB, which is also the apiserver's
  // limit. If they are longer, each warning is truncated to 256 bytes, and the last warnings are omitted if necessary.
  std::vector<std::string> warnings{};

  static AdmissionResponse Allowed() { return {}; }
  // Returns 422 Invalid with these causes, in the format of an apiserver: `YurtAppDaemon.apps.openyurt.io "web" is
  // invalid: …`.
  // - Truncates the name, each field and each message.
  // - Keeps at most 100 causes, and at most 80 KiB of JSON. An additional cause then states the number of omitted
  //   causes.
  static AdmissionResponse Invalid(const AdmissionRequest& request, const std::vector<Cause>& causes);
  // Returns 400 for a request that the apiserver should not have sent to this webhook.
  static AdmissionResponse BadRequest(const std::string& message);
};

// Parses a request. Fails
// - with kDecode if the body is not JSON;
// - with kTooLarge if the body or its object has too many values;
// - with kBadRequest if the body is not an AdmissionReview v1 with a request and a uid;
// - with kBadRequest if the request's uid, kind, resource or subresource is longer than 253 bytes. A response quotes
//   these fields, and must be short.
Result<AdmissionRequest> ParseAdmissionReview(const std::string& body);
// Returns the uid of a review without parsing its body, or "" if the uid is not at the position where an apiserver
// writes it. With the uid, the webhook can respond to a review that is too large, so that the user sees the reason.
std::string UidOfLargeReview(std::string_view body);
std::string MakeAdmissionReview(const std::string& uid, const AdmissionResponse& response);

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_ADMISSION_REVIEW_H_
