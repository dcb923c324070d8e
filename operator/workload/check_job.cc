#include "operator/workload/check_job.h"

#include <algorithm>

#include "operator/api/names.h"
#include "operator/api/well_known.h"
#include "operator/workload/overrides.h"
#include "operator/workload/owner.h"
#include "operator/workload/render.h"
#include "operator/workload/safe_encode.h"

namespace yad {

std::uint64_t CheckJobDigest(const Check& check) { return Fnv1a64(DumpJson(check.job_spec)); }

std::string CheckJobName(const YurtAppDaemon& daemon, const Check& check, std::uint64_t digest,
                         const CheckedUpdate& update) {
  std::string key = std::to_string(digest);
  for (const std::string& part :
       {daemon.meta.uid, check.name, update.pool, update.revision_label, FormatTime(update.at)})
    key += "/" + part;
  const std::string hash = "-" + SafeEncode(Fnv1a64(key), 10, "0123456789abcdefghijklmnopqrstuvwxyz");
  std::string prefix = daemon.meta.key.name + "-" + check.name;
  std::replace(prefix.begin(), prefix.end(), '.', '-');
  return Truncated(prefix, kMaxLabelValue - hash.size()) + hash;
}

Result<Json> MakeCheckJob(const YurtAppDaemon& daemon, const Check& check, const NodePool& pool,
                          const std::string& revision_label, const std::string& name) {
  Json spec = check.job_spec;
  ReplaceVariables(spec, pool.name);
  Json& pod_template = spec["template"];
  if (!pod_template.is_object() || !BindPodsToPool(pool.taints, /*once=*/true, pool.name, pod_template)) {
    return Fail(Reason::kInvalid, "check " + check.name +
                                      ": template, labels, nodeSelector or tolerations of job.spec have a wrong type");
  }
  pod_template["metadata"]["labels"][kCheckLabel] = check.name;
  if (StringAt(pod_template, {"spec", "restartPolicy"}).empty()) pod_template["spec"]["restartPolicy"] = "Never";
  Json job = OwnedObject(kJobType, name, daemon);
  job["metadata"]["labels"] = {
      {kPoolNameLabel, pool.name}, {kRevisionLabel, revision_label}, {kCheckLabel, check.name}};
  job["spec"] = std::move(spec);
  return job;
}

}  // namespace yad
