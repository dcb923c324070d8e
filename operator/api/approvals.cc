#include "operator/api/approvals.h"

#include <algorithm>
#include <utility>

namespace yad {

std::vector<std::string> ApprovalEntries(const std::string& annotation) {
  constexpr char kSpace[] = " \t\r\n";
  std::vector<std::string> entries;
  for (std::size_t begin = 0; begin <= annotation.size();) {
    const std::size_t end = std::min(annotation.find(',', begin), annotation.size());
    std::string entry = annotation.substr(begin, end - begin);
    entry.erase(0, entry.find_first_not_of(kSpace));
    entry.erase(entry.find_last_not_of(kSpace) + 1);
    entries.push_back(std::move(entry));
    begin = end + 1;
  }
  return entries;
}

}  // namespace yad
