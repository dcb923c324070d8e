#include "operator/client/auth/token_source.h"

#include "operator/base/file.h"
#include "operator/base/log.h"

namespace yad {
namespace {

constexpr std::chrono::seconds kTokenPeriod{60};

}  // namespace

Result<std::string> TokenFile::Get() {
  std::lock_guard lock(mutex_);
  const SteadyTime now = clock_.Now();
  if (now < fresh_until_) return token_;
  Result<std::string> text = ReadSmallFile(path_);
  if (text) text = Trim(*text);
  if (text && (text->empty() || text->find_first_of("\r\n") != std::string::npos)) {
    text = Fail(Reason::kConfig, path_ + ": the file must contain a token on one line");
  }
  if (!text) {
    if (token_.empty()) return text;
    log::Warn("cannot read the token file; using the previous token", {{"error", text.error()}});
  } else {
    token_ = std::move(*text);
  }
  fresh_until_ = now + kTokenPeriod;
  return token_;
}

void TokenFile::Invalidate() {
  std::lock_guard lock(mutex_);
  fresh_until_ = SteadyTime::min();
}

}  // namespace yad
