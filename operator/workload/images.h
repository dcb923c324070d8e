#ifndef OPERATOR_WORKLOAD_IMAGES_H_
#define OPERATOR_WORKLOAD_IMAGES_H_

#include <string>

#include "operator/workload/revision.h"

namespace yad {

// Returns the images of a revision, separated by commas and without duplicates: first the images of its containers,
// then the images of its overrides.
std::string ImagesOf(const RevisionContent& content);

}  // namespace yad

#endif  // OPERATOR_WORKLOAD_IMAGES_H_
