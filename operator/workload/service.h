// Rendering of a revision's Service for a pool. Pure.
#ifndef OPERATOR_WORKLOAD_SERVICE_H_
#define OPERATOR_WORKLOAD_SERVICE_H_

#include <string>

#include "operator/api/yurtappdaemon.h"
#include "operator/workload/render.h"
#include "operator/workload/revision.h"

namespace yad {

// Returns the workload's name, made a DNS-1035 label: dots become dashes, `s-` is prepended unless the first character
// is a lower-case letter, and the middle is cut so that 63 characters are left. The workload's hash stays at the end,
// so two workloads that this operator created have different Service names.
std::string ServiceName(const std::string& workload_name);

// Renders the part of the Service that the operator owns: the template's labels and annotations, plus pool-name and
// ref-nodepool, and the template's spec. The selector is the template's plus the workload's plus pool-name.
// {{nodepool-name}} and {{nodepool}} are replaced. The result has no name and no owner. Returns null if the revision
// has no Service template.
Json RenderService(const RevisionContent& revision, const std::string& pool);

// Returns the object for a POST.
Json NewService(const Json& rendered, const YurtAppDaemon& daemon, const std::string& name);

// Returns the object for a PUT: a three-way merge with the last rendering from an annotation of `live`, plus owner and
// labels. A result equal to `live` means that nothing has to be written. Values that the apiserver set (addresses,
// families, nodePorts of ports that stay) are kept, unless the new type must not have them. The ports become exactly
// the wanted ones.
Json MergeService(const Json& rendered, const YurtAppDaemon& daemon, const Json& live);
// Returns true if the template differs from the one that rendered `live`. Otherwise a difference is drift.
bool IsAnotherService(const Json& rendered, const Json& live);

// Returns true if both revisions have the same Service template, or none.
bool SameService(const RevisionContent& a, const RevisionContent& b);
// Compares the renderings of two revisions for a pool. Returns kServiceOnly if only the Services differ.
Difference Compare(const RevisionContent& of_a, const Json& rendered_a, const RevisionContent& of_b,
                   const Json& rendered_b);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_SERVICE_H_
