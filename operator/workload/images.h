// The container images of a revision.
#ifndef OPERATOR_WORKLOAD_IMAGES_H_
#define OPERATOR_WORKLOAD_IMAGES_H_

#include <string>

#include "operator/workload/revision.h"

namespace yad {

// Returns the distinct images of a revision, comma-separated. The images of its containers come first, in their order,
// then those of its overrides. Pure.
std::string ImagesOf(const RevisionContent& content);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_IMAGES_H_
