#include "operator/client/transport/tls_material.h"

#include <utility>

#include "operator/base/file.h"
#include "operator/base/log.h"

namespace yad {
namespace {

constexpr std::chrono::seconds kReadPeriod{60};
constexpr std::chrono::seconds kShortestPeriod{1};

}  // namespace

TlsMaterialReader::TlsMaterialReader(TlsFiles files, TlsMaterial initial, Clock& clock)
    : files_(std::move(files)),
      clock_(clock),
      material_(std::make_shared<const TlsMaterial>(std::move(initial))),
      read_at_(clock.Now()),
      fresh_until_(read_at_ + kReadPeriod) {}

std::shared_ptr<const TlsMaterial> TlsMaterialReader::Get() {
  std::lock_guard lock(mutex_);
  const SteadyTime now = clock_.Now();
  if (now < fresh_until_) return material_;
  read_at_ = now;
  fresh_until_ = now + kReadPeriod;
  TlsMaterial next = *material_;
  const std::pair<const std::string&, std::string&> parts[] = {
      {files_.ca, next.ca_pem}, {files_.client_cert, next.client_cert_pem}, {files_.client_key, next.client_key_pem}};
  for (const auto& [path, pem] : parts) {
    if (path.empty()) continue;
    Result<std::string> text = ReadNonEmptyFile(path);  // A file is empty while another program begins to write it.
    if (!text) {
      log::Warn("cannot read a certificate file; using the previous certificates", {{"error", text.error()}});
      return material_;
    }
    pem = std::move(*text);
  }
  if (!(next == *material_)) material_ = std::make_shared<const TlsMaterial>(std::move(next));
  return material_;
}

void TlsMaterialReader::Invalidate() {
  std::lock_guard lock(mutex_);
  if (clock_.Now() - read_at_ >= kShortestPeriod) fresh_until_ = SteadyTime::min();
}

}  // namespace yad
