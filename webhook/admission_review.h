// admission.k8s.io/v1 AdmissionReview: what the apiserver asks, and what it wants to hear. Pure.
#ifndef WEBHOOK_ADMISSION_REVIEW_H_
#define WEBHOOK_ADMISSION_REVIEW_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "operator/api/object.h"
#include "operator/base/error.h"

namespace yad {

struct AdmissionRequest {
  std::string uid;
  std::string operation;  // CREATE, UPDATE, DELETE, CONNECT
  std::string group, version, resource, subresource, kind;
  ObjectKey key;  // the name is empty where the apiserver makes it (generateName)
  bool dry_run = false;
  Json object;      // null for DELETE
  Json old_object;  // null for CREATE
};

struct AdmissionAnswer {
  bool allowed = true;
  Json status;  // why not: a metav1.Status
  Json patch;   // JSONPatch (RFC 6902); null or empty: none
  // Shown by kubectl. Each is made one line. Beyond 4 KiB in all each is cut at 256 bytes, and the last are left out,
  // as an apiserver would.
  std::vector<std::string> warnings;

  static AdmissionAnswer Allowed() { return {}; }
  // 422 Invalid with these causes, worded as an apiserver words it: `YurtAppDaemon.apps.openyurt.io "web" is invalid:
  // …`. The name, each field and each message are cut; the last causes are left out, and counted, where there are more
  // than 100 or the status would take more than 80 KiB as JSON.
  static AdmissionAnswer Invalid(const AdmissionRequest& request, const std::vector<Cause>& causes);
  // 400: a request that this webhook should not have been asked.
  static AdmissionAnswer BadRequest(const std::string& message);
};

// kDecode: no JSON; kBadRequest: JSON, but no AdmissionReview v1 with a request, or one whose uid, kind, resource or
// subresource is longer than 253 bytes, so that an answer, which quotes them, is never long.
Result<AdmissionRequest> ParseAdmissionReview(const std::string& body);
std::string MakeAdmissionReview(const std::string& uid, const AdmissionAnswer& answer);

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_REVIEW_H_
