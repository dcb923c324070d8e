#include "tests/support/test_pki.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <atomic>

namespace yad::testing {
namespace {

template <auto Function>
struct Deleter {
  template <typename T>
  void operator()(T* pointer) const {
    Function(pointer);
  }
};
using BioPtr = std::unique_ptr<BIO, Deleter<BIO_free_all>>;
using CertPtr = std::unique_ptr<X509, Deleter<X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;

std::string TextOf(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return std::string(data, static_cast<std::size_t>(size));
}

std::string PemOf(X509* cert) {
  BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(bio.get(), cert);
  return TextOf(bio.get());
}

std::string PemOf(EVP_PKEY* key) {
  BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_PKCS8PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  return TextOf(bio.get());
}

KeyPtr NewKey() { return KeyPtr(EVP_EC_gen("P-256")); }

void AddExtension(X509* cert, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, cert, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  X509_add_ext(cert, extension, -1);
  X509_EXTENSION_free(extension);
}

void AddToSubject(X509* cert, const char* attribute, const std::string& value) {
  X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), attribute, MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(value.c_str()), -1, -1, 0);
}

CertPtr NewCert(const std::string& common_name, EVP_PKEY* key, X509* issuer, int from_days, int to_days) {
  static std::atomic<long> serial{1};
  CertPtr cert(X509_new());
  X509_set_version(cert.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(cert.get()), serial++);
  X509_gmtime_adj(X509_getm_notBefore(cert.get()), from_days * 86400L);
  X509_gmtime_adj(X509_getm_notAfter(cert.get()), to_days * 86400L);
  X509_set_pubkey(cert.get(), key);
  AddToSubject(cert.get(), "CN", common_name);
  X509_set_issuer_name(cert.get(), X509_get_subject_name(issuer == nullptr ? cert.get() : issuer));
  return cert;
}

}  // namespace

struct TestCa::Impl {
  KeyPtr key;
  CertPtr cert;
};

TestCa::TestCa(const std::string& common_name) : impl_(std::make_unique<Impl>()) {
  impl_->key = NewKey();
  impl_->cert = NewCert(common_name, impl_->key.get(), nullptr, -1, 365);
  X509* cert = impl_->cert.get();
  AddExtension(cert, cert, NID_basic_constraints, "critical,CA:TRUE");
  AddExtension(cert, cert, NID_key_usage, "critical,keyCertSign,cRLSign");
  AddExtension(cert, cert, NID_subject_key_identifier, "hash");
  X509_sign(cert, impl_->key.get(), EVP_sha256());
  cert_pem_ = PemOf(cert);
}

TestCa::~TestCa() = default;

CertificateAndKey TestCa::Issue(const LeafOptions& options) const {
  const KeyPtr key = NewKey();
  const CertPtr cert =
      NewCert(options.common_name, key.get(), impl_->cert.get(), options.valid_from_days, options.valid_to_days);
  if (!options.organization.empty()) AddToSubject(cert.get(), "O", options.organization);
  AddExtension(cert.get(), impl_->cert.get(), NID_basic_constraints, "critical,CA:FALSE");
  AddExtension(cert.get(), impl_->cert.get(), NID_ext_key_usage, "serverAuth,clientAuth");
  if (!options.alt_names.empty()) {
    AddExtension(cert.get(), impl_->cert.get(), NID_subject_alt_name, options.alt_names);
  }
  X509_sign(cert.get(), impl_->key.get(), EVP_sha256());
  return {PemOf(cert.get()), PemOf(key.get())};
}

std::string EncryptedKeyPem() {
  const KeyPtr key = NewKey();
  BioPtr bio(BIO_new(BIO_s_mem()));
  char passphrase[] = "secret";
  PEM_write_bio_PKCS8PrivateKey(bio.get(), key.get(), EVP_aes_128_cbc(), passphrase, 6, nullptr, nullptr);
  return TextOf(bio.get());
}

}  // namespace yad::testing
