// From a revision and a pool to the pool's Service. Pure.
#ifndef OPERATOR_WORKLOAD_SERVICE_H_
#define OPERATOR_WORKLOAD_SERVICE_H_

#include <string>

#include "operator/api/yurtappdaemon.h"
#include "operator/workload/render.h"
#include "operator/workload/revision.h"

namespace yad {

// The workload's name, where that is a DNS-1035 label; else `s-` before it, dots to dashes, the middle cut to 63. The
// workload's hash stays at the end, so no two workloads of our making have the same one.
std::string ServiceName(const std::string& workload_name);

// What we own of the Service: the template's labels and annotations, plus pool-name and ref-nodepool; its spec, with a
// selector that is the template's, the workload's and pool-name; {{nodepool-name}} and {{nodepool}} replaced. No name,
// no owner. Null where the revision has no Service template.
Json RenderService(const RevisionContent& revision, const std::string& pool);

// The object to POST.
Json NewService(const Json& rendered, const YurtAppDaemon& daemon, const std::string& name);

// The object to PUT: a three-way merge whose last rendering stands in an annotation of `live`, with owner and labels in
// place. Equal to `live`: nothing to write. What the apiserver fills in is kept (addresses, families, nodePorts of
// ports that stay), and given up where another type may not have it; ports become exactly the wanted ones.
Json MergeService(const Json& rendered, const YurtAppDaemon& daemon, const Json& live);
// Whether the template asks for something else than what made `live`: else a difference is drift.
bool IsAnotherService(const Json& rendered, const Json& live);

// Whether both revisions have the same Service template, or none.
bool SameService(const RevisionContent& a, const RevisionContent& b);
// Compare of what two revisions make of a pool: kServiceOnly where just the Services differ.
Difference Compare(const RevisionContent& of_a, const Json& rendered_a, const RevisionContent& of_b,
                   const Json& rendered_b);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_SERVICE_H_
