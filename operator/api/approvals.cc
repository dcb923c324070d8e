#include "operator/api/approvals.h"

#include <algorithm>

#include "operator/base/file.h"

namespace yad {

std::vector<std::string> ApprovalEntries(const std::string& annotation) {
  std::vector<std::string> entries;
  for (std::size_t begin = 0; begin <= annotation.size();) {
    const std::size_t end = std::min(annotation.find(',', begin), annotation.size());
    entries.push_back(Trim(annotation.substr(begin, end - begin)));
    begin = end + 1;
  }
  return entries;
}

}  // namespace yad
