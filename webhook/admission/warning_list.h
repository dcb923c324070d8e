// Helpers for lists of warnings.
#ifndef WEBHOOK_ADMISSION_WARNING_LIST_H_
#define WEBHOOK_ADMISSION_WARNING_LIST_H_

#include <string>
#include <vector>

#include "operator/api/conditions.h"

namespace yad {

// Collects warnings of one kind. Keeps only the first few. The destructor adds the number of the other warnings to the
// last warning.
class Warnings {
 public:
  explicit Warnings(std::vector<std::string>& out) : out_(out) {}
  ~Warnings() {
    if (count_ > kOfOneKind) out_.back() += " (and " + std::to_string(count_ - kOfOneKind) + " more like this)";
  }
  Warnings(const Warnings&) = delete;
  Warnings& operator=(const Warnings&) = delete;

  void Add(const std::string& path, const std::string& text) {
    if (++count_ <= kOfOneKind) out_.push_back(path + ": " + text);
  }

 private:
  static constexpr std::size_t kOfOneKind = 4;
  std::vector<std::string>& out_;
  std::size_t count_ = 0;
};

// Returns a list such as "a", "b", "c" and 4 more.
inline std::string QuoteSome(const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  for (const std::string& name : names) quoted.push_back("\"" + name + "\"");
  return NameSome(quoted, 3);
}

}  // namespace yad

#endif  // WEBHOOK_ADMISSION_WARNING_LIST_H_
