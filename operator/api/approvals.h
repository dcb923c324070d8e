// Annotation apps.openyurt.io/approve.
#ifndef OPERATOR_API_APPROVALS_H_
#define OPERATOR_API_APPROVALS_H_

#include <string>
#include <vector>

namespace yad {

// What stands between the commas, without the blanks around it. Pure.
std::vector<std::string> ApprovalEntries(const std::string& annotation);

}  // namespace yad

#endif  // OPERATOR_API_APPROVALS_H_
