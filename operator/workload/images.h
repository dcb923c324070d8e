// The images that a revision brings.
#ifndef OPERATOR_WORKLOAD_IMAGES_H_
#define OPERATOR_WORKLOAD_IMAGES_H_

#include <string>

#include "operator/workload/revision.h"

namespace yad {

// The distinct images of a revision, comma-separated, in the order of its containers, then what overrides bring. Pure.
std::string ImagesOf(const RevisionContent& content);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_IMAGES_H_
