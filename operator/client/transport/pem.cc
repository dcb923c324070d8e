#include "operator/client/transport/pem.h"

#include <openssl/err.h>
#include <openssl/pem.h>

#include <algorithm>
#include <chrono>
#include <ctime>

namespace yad {
namespace {

// Replaces OpenSSL's prompt on the terminal. Records that a passphrase was requested, and does not return one.
int NoPassphrase(char*, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

BioPtr Open(const std::string& text) { return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))); }

}  // namespace

std::string OpenSslReason() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "unreadable" : reason;
}

std::string Written(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return std::string(data, size > 0 ? static_cast<std::size_t>(size) : 0);
}

Result<std::vector<CertPtr>> ReadCertificates(const std::string& pem, const std::string& what) {
  const BioPtr bio = Open(pem);
  std::vector<CertPtr> out;
  while (bio != nullptr) {
    CertPtr cert(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
    if (cert == nullptr) break;
    out.push_back(std::move(cert));
  }
  const unsigned long code = ERR_peek_last_error();
  const bool at_end = ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE;
  const std::string reason = OpenSslReason();
  if (!at_end) return Fail(Reason::kConfig, what + " cannot be read: " + reason);
  if (out.empty()) {
    return Fail(Reason::kConfig, what + " contains no certificate: it must be PEM (-----BEGIN CERTIFICATE-----)");
  }
  return out;
}

Result<KeyPtr> ReadPrivateKey(const std::string& pem, const std::string& what) {
  const BioPtr bio = Open(pem);
  bool encrypted = false;
  KeyPtr key(bio == nullptr ? nullptr : PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassphrase, &encrypted));
  const std::string reason = OpenSslReason();
  if (encrypted) return Fail(Reason::kConfig, what + " is encrypted with a passphrase: use a key without a passphrase");
  if (key == nullptr) return Fail(Reason::kConfig, what + " is not a PEM private key: " + reason);
  return key;
}

WallTime TimeOf(const ASN1_TIME* time) {
  std::tm fields{};
  if (time == nullptr || ASN1_TIME_to_tm(time, &fields) != 1) return {};
  // A certificate may be valid until the year 9999, but a WallTime ends in the year 2262.
  using std::chrono::seconds;
  constexpr seconds kLatest = std::chrono::floor<seconds>(WallTime::max().time_since_epoch()) - seconds(1);
  return WallTime(std::clamp(seconds(timegm(&fields)), seconds(0), kLatest));
}

}  // namespace yad
