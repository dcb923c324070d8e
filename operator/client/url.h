// URL paths and queries.
#ifndef OPERATOR_CLIENT_URL_H_
#define OPERATOR_CLIENT_URL_H_

#include <string>
#include <string_view>

namespace yad {

// Encodes a path segment or a query value: all characters except the unreserved characters of RFC 3986 become %XX.
std::string PercentEncode(std::string_view text);

// Builds the query of a URL: "?a=b&c=d", or "" if nothing was added.
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
