#include "operator/prometheus/pool_query.h"

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>

namespace yad {
namespace {

bool IsNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

std::string Replace(std::string_view query, const std::string& text) {
  return boost::replace_all_copy(std::string(query), kPoolVariable, text);
}

}  // namespace

bool PoolIsInLiteral(std::string_view query) {
  char quote = 0;  // the quote that ends the current literal; 0: outside of literals
  bool comment = false;
  for (std::size_t i = 0; i < query.size(); ++i) {
    const char c = query[i];
    if (quote == 0 && query.substr(i).starts_with(kPoolVariable) && !comment) return false;
    if (comment) {
      comment = c != '\n';
    } else if (quote == 0) {
      if (c == '"' || c == '\'' || c == '`') quote = c;
      comment = c == '#';
    } else if (c == '\\' && quote != '`') {
      ++i;
    } else if (c == quote) {
      quote = 0;
    }
  }
  return true;
}

std::string WithPool(std::string_view query, std::string_view pool) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  for (const char c : pool) {
    if (IsNameByte(c)) {
      text += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    text.append("\\x").append(1, kHex[byte >> 4]).append(1, kHex[byte & 15]);
  }
  return Replace(query, text);
}

std::string WithPools(std::string_view query, std::vector<std::string> pools) {
  std::sort(pools.begin(), pools.end());
  pools.erase(std::unique(pools.begin(), pools.end()), pools.end());
  std::string names;
  const std::string open = "(?:", close = ")";
  for (const std::string& pool : pools) {
    if (pool.empty() || !std::all_of(pool.begin(), pool.end(), IsNameByte)) continue;
    std::string name = names.empty() ? "" : "|";
    for (const char c : pool) name += c == '.' ? "[.]" : std::string(1, c);
    if (open.size() + names.size() + name.size() + close.size() > kMaxPoolExpression) break;
    names += name;
  }
  // "$." matches nothing, because no character follows the end of a string.
  if (names.empty()) names = "$.";
  return Replace(query, open + names + close);
}

}  // namespace yad
