// Renders the Service of a revision for a pool.
#ifndef OPERATOR_WORKLOAD_SERVICE_H_
#define OPERATOR_WORKLOAD_SERVICE_H_

#include <string>

#include "operator/api/yurtappdaemon.h"
#include "operator/workload/render.h"
#include "operator/workload/revision.h"

namespace yad {

// Returns the name of the Service of a workload, which must be a DNS-1035 label:
// - Dots become dashes.
// - `s-` is prepended unless the name begins with a lower-case letter.
// - In a name of more than 63 characters, the middle is removed. The hash at the end stays, so the name is unique.
std::string ServiceName(const std::string& workload_name);

// Renders the part of the Service that the operator owns: labels, annotations and spec. Returns null if the revision
// has no Service template.
// - Labels and annotations: those of the template, plus pool-name and ref-nodepool.
// - Selector: the labels of the template's selector and of the workload's selector, plus pool-name.
// - {{nodepool-name}} and {{nodepool}} are replaced.
Json RenderService(const RevisionContent& revision, const std::string& pool);

// Returns the object for a POST.
Json NewService(const Json& rendered, const YurtAppDaemon& daemon, const std::string& name);

// Returns the object for a PUT, with the daemon as its controller. If the result equals `live`, no write is needed. The
// result is a three-way merge of the last rendered Service (from an annotation of `live`), `rendered` and `live`, with
// two exceptions:
// - Values that the apiserver has set (addresses, IP families, nodePorts) are kept if the new type allows them.
// - Ports that are not in the template are removed.
Json MergeService(const Json& rendered, const YurtAppDaemon& daemon, const Json& live);
// Returns true if `live` was rendered from another template. Otherwise, any difference between `live` and `rendered` is
// a change by another client.
bool IsAnotherService(const Json& rendered, const Json& live);

// Returns true if both revisions have the same Service template, or if neither has one.
bool SameService(const RevisionContent& a, const RevisionContent& b);
// Compares the rendered objects of two revisions for a pool. Returns kServiceOnly if only the Services differ.
Difference Compare(const RevisionContent& of_a, const Json& rendered_a, const RevisionContent& of_b,
                   const Json& rendered_b);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_SERVICE_H_
