#include "webhook/certificates/certificate_pair.h"

#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <utility>

#include "operator/client/transport/pem.h"

namespace yad {
namespace {

using NumberPtr = OpenSslPtr<BIGNUM, BN_free>;
using TextPtr = OpenSslPtr<char, [](char* text) { OPENSSL_free(text); }>;
using StorePtr = OpenSslPtr<X509_STORE, X509_STORE_free>;
using VerificationPtr = OpenSslPtr<X509_STORE_CTX, X509_STORE_CTX_free>;
using NamesPtr = OpenSslPtr<GENERAL_NAMES, GENERAL_NAMES_free>;
using ChainPtr = OpenSslPtr<STACK_OF(X509), [](STACK_OF(X509) * chain) { sk_X509_free(chain); }>;

tl::unexpected<Error> Complaint(Reason reason, const std::string& what) {
  return Fail(reason, what + ": " + OpenSslReason());
}

// Returns each readable certificate. Skips broken PEM blocks, and PEM blocks of other kinds.
std::vector<CertPtr> ReadAll(const std::string& pem) {
  std::vector<CertPtr> certificates;
  const BioPtr bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  char* name = nullptr;
  char* header = nullptr;
  unsigned char* data = nullptr;
  long size = 0;
  for (std::size_t left = BIO_ctrl_pending(bio.get()); left > 0;) {
    const bool read = PEM_read_bio(bio.get(), &name, &header, &data, &size) == 1;
    // PEM_read_bio advances past each block, even a broken block. If it does not advance, it is at the end.
    if (BIO_ctrl_pending(bio.get()) >= std::exchange(left, BIO_ctrl_pending(bio.get()))) break;
    if (!read) continue;
    const unsigned char* at = data;
    if (std::string(name) == PEM_STRING_X509) {
      if (CertPtr certificate{d2i_X509(nullptr, &at, size)}) certificates.push_back(std::move(certificate));
    }
    OPENSSL_free(name);
    OPENSSL_free(header);
    OPENSSL_free(data);
  }
  ERR_clear_error();
  return certificates;
}

std::string ToPem(X509& certificate) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  return PEM_write_bio_X509(bio.get(), &certificate) == 1 ? Written(bio.get()) : "";
}

std::string ToPem(EVP_PKEY& key) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  return PEM_write_bio_PKCS8PrivateKey(bio.get(), &key, nullptr, nullptr, 0, nullptr, nullptr) == 1 ? Written(bio.get())
                                                                                                    : "";
}

bool AddExtension(X509& certificate, X509& issuer, int id, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str());
  const bool added = extension != nullptr && X509_add_ext(&certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return added;
}

// Returns an unsigned certificate. If `issuer` is nullptr, the certificate is its own issuer.
CertPtr Unsigned(const std::string& subject, EVP_PKEY& key, X509* issuer, WallTime not_before, WallTime not_after) {
  CertPtr certificate(X509_new());
  const NumberPtr serial(BN_new());
  const auto seconds = [](WallTime time) { return std::chrono::system_clock::to_time_t(time); };
  if (certificate == nullptr || serial == nullptr) return nullptr;
  X509* made = certificate.get();
  // The serial number must be positive, and have at most 20 bytes.
  const bool good =
      X509_set_version(made, X509_VERSION_3) == 1 &&
      BN_rand(serial.get(), 127, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
      BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(made)) != nullptr &&
      ASN1_TIME_set(X509_getm_notBefore(made), seconds(not_before)) != nullptr &&
      ASN1_TIME_set(X509_getm_notAfter(made), seconds(not_after)) != nullptr && X509_set_pubkey(made, &key) == 1 &&
      X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_UTF8,
                                 reinterpret_cast<const unsigned char*>(subject.c_str()), -1, -1, 0) == 1 &&
      X509_set_issuer_name(made, X509_get_subject_name(issuer == nullptr ? made : issuer)) == 1;
  return good ? std::move(certificate) : nullptr;
}

// Returns a different subject for each CA, because a bundle contains several CAs, and a client finds the CA of a leaf
// by its subject.
std::string CaSubject() {
  const NumberPtr number(BN_new());
  if (number == nullptr || BN_rand(number.get(), 64, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) != 1) return "";
  const TextPtr text(BN_bn2hex(number.get()));
  return text == nullptr ? "" : "yurtappdaemon-operator webhook CA " + std::string(text.get());
}

}  // namespace

Result<TrustedPair> IssueCertificate(const std::vector<std::string>& names, WallTime not_before, WallTime not_after) {
  const auto failed = [] { return Complaint(Reason::kInternalError, "cannot create a certificate"); };
  const KeyPtr ca_key(EVP_EC_gen("P-256"));
  const KeyPtr key(EVP_EC_gen("P-256"));
  const std::string subject = CaSubject();
  if (ca_key == nullptr || key == nullptr || subject.empty()) return failed();
  const CertPtr ca = Unsigned(subject, *ca_key, nullptr, not_before, not_after);
  if (ca == nullptr || !AddExtension(*ca, *ca, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") ||
      !AddExtension(*ca, *ca, NID_key_usage, "critical,keyCertSign") ||
      !AddExtension(*ca, *ca, NID_subject_key_identifier, "hash") ||
      X509_sign(ca.get(), ca_key.get(), EVP_sha256()) == 0) {
    return failed();
  }
  std::string alt_names;
  for (const std::string& name : names) alt_names += (alt_names.empty() ? "DNS:" : ",DNS:") + name;
  const CertPtr leaf = Unsigned("yurtappdaemon-operator webhook", *key, ca.get(), not_before, not_after);
  if (leaf == nullptr || !AddExtension(*leaf, *ca, NID_basic_constraints, "critical,CA:FALSE") ||
      !AddExtension(*leaf, *ca, NID_key_usage, "critical,digitalSignature") ||
      !AddExtension(*leaf, *ca, NID_ext_key_usage, "serverAuth") ||
      !AddExtension(*leaf, *ca, NID_authority_key_identifier, "keyid:always") ||
      !AddExtension(*leaf, *ca, NID_subject_alt_name, alt_names) ||
      X509_sign(leaf.get(), ca_key.get(), EVP_sha256()) == 0) {
    return failed();
  }
  TrustedPair issued{{ToPem(*leaf), ToPem(*key)}, ToPem(*ca)};
  if (issued.bundle.empty() || issued.pair.certificate.empty() || issued.pair.key.empty()) return failed();
  return issued;
}

Result<CertificateTimes> ReadTimes(const std::string& certificate) {
  const std::vector<CertPtr> all = ReadAll(certificate);
  if (all.empty()) return Fail(Reason::kConfig, "the PEM contains no certificate");
  return CertificateTimes{TimeOf(X509_get0_notBefore(all[0].get())), TimeOf(X509_get0_notAfter(all[0].get()))};
}

std::vector<std::string> ReadNames(const std::string& certificate) {
  std::vector<std::string> names;
  const std::vector<CertPtr> all = ReadAll(certificate);
  if (all.empty()) return names;
  const NamesPtr found(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(all[0].get(), NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; i < sk_GENERAL_NAME_num(found.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(found.get(), i);
    if (name->type != GEN_DNS) continue;
    names.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName)),
                       static_cast<std::size_t>(ASN1_STRING_length(name->d.dNSName)));
  }
  return names;
}

Status VerifyServer(const std::string& certificate, const std::string& bundle, const std::vector<std::string>& names,
                    WallTime now) {
  const std::vector<CertPtr> presented = ReadAll(certificate);
  const std::vector<CertPtr> trusted = ReadAll(bundle);
  if (presented.empty()) return Fail(Reason::kConfig, "the PEM contains no certificate");
  if (trusted.empty()) return Fail(Reason::kConfig, "no CA is trusted");
  for (const std::string& name : names) {
    if (X509_check_host(presented[0].get(), name.c_str(), name.size(), X509_CHECK_FLAG_NEVER_CHECK_SUBJECT, nullptr) !=
        1) {
      return Fail(Reason::kConfig, "the certificate is not for the name " + name);
    }
  }
  const StorePtr store(X509_STORE_new());
  const VerificationPtr verification(X509_STORE_CTX_new());
  const ChainPtr chain(sk_X509_new_null());
  if (store == nullptr || verification == nullptr || chain == nullptr)
    return Complaint(Reason::kInternalError, "cannot verify the certificate");
  for (const CertPtr& ca : trusted) X509_STORE_add_cert(store.get(), ca.get());
  for (std::size_t i = 1; i < presented.size(); ++i) sk_X509_push(chain.get(), presented[i].get());
  if (X509_STORE_CTX_init(verification.get(), store.get(), presented[0].get(), chain.get()) != 1 ||
      X509_STORE_CTX_set_default(verification.get(), "ssl_server") != 1) {
    return Complaint(Reason::kInternalError, "cannot verify the certificate");
  }
  X509_VERIFY_PARAM* parameters = X509_STORE_CTX_get0_param(verification.get());
  X509_VERIFY_PARAM_set_time(parameters, std::chrono::system_clock::to_time_t(now));
  X509_VERIFY_PARAM_set_flags(parameters, X509_V_FLAG_PARTIAL_CHAIN);
  const bool accepted = X509_verify_cert(verification.get()) == 1;
  const int error = X509_STORE_CTX_get_error(verification.get());
  ERR_clear_error();
  if (!accepted) return Fail(Reason::kConfig, X509_verify_cert_error_string(error));
  return {};
}

Status VerifyKey(const CertificatePair& pair) {
  const std::vector<CertPtr> certificates = ReadAll(pair.certificate);
  if (certificates.empty()) return Fail(Reason::kConfig, "there is no certificate");
  YAD_TRY(const KeyPtr key, ReadPrivateKey(pair.key, "the key"));
  if (X509_check_private_key(certificates[0].get(), key.get()) != 1)
    return Complaint(Reason::kConfig, "the key does not belong to the certificate");
  return {};
}

std::vector<std::string> SplitBundle(const std::string& bundle) {
  std::vector<std::string> certificates;
  for (const CertPtr& certificate : ReadAll(bundle)) {
    std::string pem = ToPem(*certificate);
    if (!pem.empty() && std::find(certificates.begin(), certificates.end(), pem) == certificates.end())
      certificates.push_back(std::move(pem));
  }
  return certificates;
}

}  // namespace yad
