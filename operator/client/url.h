// Paths and queries.
#ifndef OPERATOR_CLIENT_URL_H_
#define OPERATOR_CLIENT_URL_H_

#include <string>
#include <string_view>

namespace yad {

// Everything but RFC 3986's unreserved characters becomes %XX: right for a path segment and for a query value.
std::string PercentEncode(std::string_view text);

// "?a=b&c=d" from what was added; "" from nothing.
class Query {
 public:
  void Add(std::string_view name, std::string_view value);
  void AddIfSet(std::string_view name, std::string_view value) {
    if (!value.empty()) Add(name, value);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace yad

#endif  // OPERATOR_CLIENT_URL_H_
