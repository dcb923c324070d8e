#include "operator/client/transport/server_address.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "operator/base/number.h"
#include "operator/client/transport/base64.h"

namespace yad {
namespace {

struct Parts {
  std::string scheme;
  std::string user_info;
  std::string host;
  std::string port;  // "" if the URL has no port
  std::string path;
  bool has_query = false;
};

bool IsPort(std::string_view text) { return text.size() <= 5 && ParseNumber<std::uint16_t>(text).value_or(0) > 0; }

// Splits "host", "host:port" or "[address]:port". Returns false for any other string.
bool SplitAuthority(std::string_view text, Parts& to) {
  std::string_view rest;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return false;
    to.host = text.substr(1, end - 1);
    rest = text.substr(end + 1);
  } else {
    const std::size_t colon = std::min(text.find(':'), text.size());
    to.host = text.substr(0, colon);
    rest = text.substr(colon);
  }
  if (rest.empty()) return true;
  to.port = rest.substr(1);
  return rest.front() == ':' && IsPort(to.port);
}

// Returns false if `url` is not a URL with a host.
bool Split(std::string_view url, Parts& to) {
  const bool bad_byte = std::any_of(url.begin(), url.end(), [](unsigned char c) { return c <= ' ' || c == 127; });
  const std::size_t scheme_end = url.find("://");
  if (bad_byte || scheme_end == std::string_view::npos) return false;
  to.scheme = url.substr(0, scheme_end);
  url.remove_prefix(scheme_end + 3);
  const std::size_t query = std::min(url.find_first_of("?#"), url.size());
  to.has_query = query < url.size();
  url = url.substr(0, query);
  const std::size_t slash = std::min(url.find('/'), url.size());
  to.path = url.substr(slash);
  std::string_view authority = url.substr(0, slash);
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    to.user_info = authority.substr(0, at);
    authority.remove_prefix(at + 1);
  }
  return SplitAuthority(authority, to);
}

std::string PercentDecoded(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char* const digits = text.data() + i + 1;
    unsigned byte = 0;
    if (text[i] == '%' && i + 2 < text.size() && std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      out += static_cast<char>(byte);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

// Returns the URL with "***" instead of a user name and password, even if the URL is invalid.
std::string WithoutCredentials(const std::string& url) {
  const std::size_t end = url.rfind('@');
  if (end == std::string::npos) return url;
  const std::size_t scheme = url.find("://");
  return (scheme < end ? url.substr(0, scheme + 3) : "") + "***" + url.substr(end);
}

}  // namespace

Result<ServerAddress> ParseServerAddress(const std::string& url) {
  const auto bad = [&url](const std::string& why) {
    return Fail(Reason::kConfig, "the server's address \"" + WithoutCredentials(url) + "\" " + why);
  };
  Parts parts;
  const bool is_url = Split(url, parts);
  if (parts.scheme != "https" && parts.scheme != "http") return bad("must begin with https:// (or http://)");
  if (!is_url) return bad("cannot be used: it must be https://HOST[:PORT][/PATH]");
  if (parts.host.empty()) return bad("has no host");
  if (!parts.user_info.empty()) {
    return Fail(Reason::kConfig, "the server's address of host \"" + parts.host + "\" must not contain credentials");
  }
  if (parts.has_query) return bad("must not contain a query");
  ServerAddress address;
  address.tls = parts.scheme == "https";
  address.host = parts.host;
  address.port = !parts.port.empty() ? parts.port : address.tls ? "443" : "80";
  const bool is_ipv6 = parts.host.find(':') != std::string::npos;
  address.authority = is_ipv6 ? "[" + parts.host + "]" : parts.host;
  if (!parts.port.empty()) address.authority += ":" + parts.port;
  while (parts.path.ends_with('/')) parts.path.pop_back();
  address.prefix = parts.path;
  return address;
}

Result<ProxyAddress> ParseProxyAddress(const std::string& url) {
  Parts parts;
  const bool is_url = Split(url, parts);
  if (!is_url || parts.host.empty()) {
    return Fail(Reason::kConfig, "proxy-url is not a valid address: it must be http://[USER:PASSWORD@]HOST[:PORT]");
  }
  if (parts.scheme != "http") {
    return Fail(Reason::kConfig, "proxy-url \"" + parts.host + "\": only http:// proxies are supported");
  }
  ProxyAddress proxy{.host = parts.host, .port = parts.port.empty() ? "80" : parts.port, .authorization = {}};
  if (!parts.user_info.empty()) {
    std::string credentials = PercentDecoded(parts.user_info);
    if (credentials.find(':') == std::string::npos) credentials += ':';
    proxy.authorization = "Basic " + Base64Encode(credentials);
  }
  return proxy;
}

}  // namespace yad
