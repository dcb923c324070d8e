#include "webhook/certificates/serving_certificate.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <utility>
#include <vector>

#include "operator/base/file.h"
#include "operator/base/log.h"
#include "operator/base/metrics.h"
#include "operator/client/transport/pem.h"
#include "webhook/certificates/certificate_pair.h"

namespace yad {
namespace {

tl::unexpected<Error> NotServable(const std::string& what) {
  return Fail(Reason::kConfig, what + ": " + OpenSslReason());
}

Result<CertificatePair> ReadPair(const std::string& directory) {
  YAD_TRY(auto certificate, ReadSmallFile(directory + "/tls.crt"));
  YAD_TRY(auto key, ReadSmallFile(directory + "/tls.key"));
  return CertificatePair{std::move(certificate), std::move(key)};
}

}  // namespace

Status ServingCertificate::Load(const std::string& certificate_pem, const std::string& key_pem) {
  YAD_TRY(const std::vector<CertPtr> certificates, ReadCertificates(certificate_pem, "tls.crt"));
  YAD_TRY(const KeyPtr key, ReadPrivateKey(key_pem, "tls.key"));
  X509* leaf = certificates.front().get();
  const bool fits = X509_check_private_key(leaf, key.get()) == 1;
  ERR_clear_error();
  if (!fits) return Fail(Reason::kConfig, "tls.key is not the key of tls.crt's first certificate");

  const std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  if (context == nullptr) return NotServable("cannot create a TLS context");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  // Otherwise, a client could waste CPU time with repeated renegotiations.
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);
  // Clients store their sessions as tickets, so the server does not need a cache. OpenSSL's default of 20,000 sessions
  // would take tens of megabytes.
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  if (SSL_CTX_use_certificate(context.get(), leaf) != 1) return NotServable("tls.crt is refused");
  for (std::size_t i = 1; i < certificates.size(); ++i) {
    if (SSL_CTX_add1_chain_cert(context.get(), certificates[i].get()) != 1) {
      return NotServable("certificate " + std::to_string(i + 1) + " of tls.crt is refused");
    }
  }
  if (SSL_CTX_use_PrivateKey(context.get(), key.get()) != 1) return NotServable("tls.key is refused");
  const WallTime not_after = TimeOf(X509_get0_notAfter(leaf));
  loaded_.With([&](Loaded& last) { last = {context, not_after, certificate_pem}; });
  metrics::GetGauge("yurtappdaemon_webhook_certificate_expiry_timestamp_seconds",
                    "Unix time when the certificate that the webhook serves expires.")
      .Set(static_cast<double>(std::chrono::system_clock::to_time_t(not_after)));
  return {};
}

Status FollowCertificateFiles(const std::string& directory, ServingCertificate& certificate, std::stop_token stop,
                              Duration period, Clock& clock) {
  CertificatePair loaded;
  std::string reported;  // the error that was logged; "" if there is no error
  do {
    const Result<CertificatePair> found = ReadPair(directory);
    const bool changed = found && *found != loaded;
    const Status status = !found    ? Status(Fail(found.error()))
                          : changed ? certificate.Load(found->certificate, found->key)
                                    : Status();
    if (!status) {
      if (status.error().message == reported) continue;
      reported = status.error().message;
      log::Err("serving certificate can't be loaded; trying again",
               {{"directory", directory}, {"error", status.error()}});
      continue;
    }
    reported.clear();
    if (!changed) continue;
    loaded = *found;
    log::Info("serving certificate loaded",
              {{"directory", directory}, {"notAfter", FormatTime(certificate.loaded().not_after)}});
  } while (clock.Sleep(period, stop));
  return {};
}

}  // namespace yad
