// Parses the annotation apps.openyurt.io/approve.
#ifndef OPERATOR_API_APPROVALS_H_
#define OPERATOR_API_APPROVALS_H_

#include <string>
#include <vector>

namespace yad {

// Returns the entries of the comma-separated list, without white space around them.
std::vector<std::string> ApprovalEntries(const std::string& annotation);

}  // namespace yad

#endif  // OPERATOR_API_APPROVALS_H_
