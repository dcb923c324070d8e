// Rendering of a revision's Service for a pool. Pure.
#ifndef OPERATOR_WORKLOAD_SERVICE_H_
#define OPERATOR_WORKLOAD_SERVICE_H_

#include <string>

#include "operator/api/yurtappdaemon.h"
#include "operator/workload/render.h"
#include "operator/workload/revision.h"

namespace yad {

// Returns the name of a workload's Service, a DNS-1035 label: dots become dashes, `s-` is prepended unless the first
// character is a lower-case letter, and the middle is removed if the name has more than 63 characters. The workload's
// hash stays at the end, so two workloads that this operator created have different Service names.
std::string ServiceName(const std::string& workload_name);

// Renders the part of the Service that the operator owns: the template's labels, annotations and spec, with pool-name
// and ref-nodepool. The selector contains the labels of the template's selector and of the workload's, and pool-name.
// {{nodepool-name}} and {{nodepool}} are replaced. The result has no name and no owner. Returns null if the revision
// has no Service template.
Json RenderService(const RevisionContent& revision, const std::string& pool);

// Returns the object for a POST.
Json NewService(const Json& rendered, const YurtAppDaemon& daemon, const std::string& name);

// Returns the object for a PUT: a three-way merge with the last rendering (from an annotation of `live`), controlled by
// the daemon. A result equal to `live` means that no write is needed. Values that the apiserver has set (addresses,
// families, nodePorts of ports that stay) are kept, unless the new type does not allow them. All ports that are not in
// the template are removed.
Json MergeService(const Json& rendered, const YurtAppDaemon& daemon, const Json& live);
// Returns true if `live` was rendered from another template. If the result is false and `live` differs from `rendered`,
// another actor has changed `live`.
bool IsAnotherService(const Json& rendered, const Json& live);

// Returns true if both revisions have the same Service template, or none.
bool SameService(const RevisionContent& a, const RevisionContent& b);
// Compares the renderings of two revisions for a pool. Returns kServiceOnly if only the Services differ.
Difference Compare(const RevisionContent& of_a, const Json& rendered_a, const RevisionContent& of_b,
                   const Json& rendered_b);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_SERVICE_H_
