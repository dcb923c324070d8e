#include "operator/client/transport/tls_client.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <utility>
#include <vector>

#include "operator/client/transport/pem.h"

namespace yad {
namespace {

using StorePtr = OpenSslPtr<X509_STORE, X509_STORE_free>;
using NamesPtr = OpenSslPtr<GENERAL_NAMES, GENERAL_NAMES_free>;

std::string OneLine(const X509_NAME* name) {
  BioPtr bio(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(bio.get(), name, 0, XN_FLAG_ONELINE & ~XN_FLAG_SPC_EQ);
  return Written(bio.get());
}

std::string TimeText(const ASN1_TIME* time) {
  BioPtr bio(BIO_new(BIO_s_mem()));
  ASN1_TIME_print(bio.get(), time);
  return Written(bio.get());
}

// Returns the names and addresses in a certificate, for a message.
std::string NamesIn(X509* cert) {
  NamesPtr names(static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(cert, NID_subject_alt_name, nullptr, nullptr)));
  std::string out;
  const auto add = [&out](const std::string& name) { out.append(out.empty() ? "" : ", ").append(name); };
  const int count = names == nullptr ? 0 : sk_GENERAL_NAME_num(names.get());
  for (int i = 0; i < count; ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type == GEN_DNS) {
      add(std::string(reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName)),
                      static_cast<std::size_t>(ASN1_STRING_length(name->d.dNSName))));
    } else if (name->type == GEN_IPADD) {
      const unsigned char* bytes = ASN1_STRING_get0_data(name->d.iPAddress);
      if (ASN1_STRING_length(name->d.iPAddress) == 4) {
        add(std::to_string(bytes[0]) + "." + std::to_string(bytes[1]) + "." + std::to_string(bytes[2]) + "." +
            std::to_string(bytes[3]));
      } else {
        add("an IPv6 address");
      }
    }
  }
  return out.empty() ? "no name at all" : out;
}

bool IsIpAddress(const std::string& host) {
  ASN1_OCTET_STRING* address = a2i_IPADDRESS(host.c_str());
  ERR_clear_error();
  ASN1_OCTET_STRING_free(address);
  return address != nullptr;
}

std::string Rejection(X509_STORE_CTX* chain, const std::string& name, bool own_ca) {
  const int error = X509_STORE_CTX_get_error(chain);
  X509* cert = X509_STORE_CTX_get_current_cert(chain);
  if (cert == nullptr) cert = X509_STORE_CTX_get0_cert(chain);
  switch (error) {
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return "the server's certificate is signed by an unknown authority (issuer \"" +
             OneLine(X509_get_issuer_name(cert)) + "\"): " +
             (own_ca ? "it is not one of the configured CAs (certificate-authority)"
                     : "no certificate-authority is configured, and the system does not trust it");
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return "the server's certificate is not valid for \"" + name + "\", but for " +
             NamesIn(X509_STORE_CTX_get0_cert(chain)) +
             " (use one of these as the server's address, or as tls-server-name)";
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "the certificate \"" + OneLine(X509_get_subject_name(cert)) + "\" has expired on " +
             TimeText(X509_get0_notAfter(cert)) + " (renew it, or correct this machine's clock)";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "the certificate \"" + OneLine(X509_get_subject_name(cert)) + "\" is valid only from " +
             TimeText(X509_get0_notBefore(cert)) + " (is this machine's clock right?)";
    default:
      return std::string("the server's certificate is refused: ") + X509_verify_cert_error_string(error);
  }
}

void FreeOwner(void*, void* owner, CRYPTO_EX_DATA*, int, long, void*) {
  delete static_cast<std::shared_ptr<TlsClient>*>(owner);
}

int OwnerIndex() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, FreeOwner);
  return index;
}

TlsClient* OwnerOf(const SSL_CTX* context) {
  auto* owner = static_cast<std::shared_ptr<TlsClient>*>(SSL_CTX_get_ex_data(context, OwnerIndex()));
  return owner == nullptr ? nullptr : owner->get();
}

// A verification callback that keeps OpenSSL's result for each certificate. It replaces any callback that another
// library has set.
int KeepVerdict(int ok, X509_STORE_CTX*) { return ok; }

}  // namespace

void KeepOpenSslUntilTheEnd() { OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr); }

struct TlsClient::Material {
  StorePtr trusted;  // null: the system's CAs
  std::vector<CertPtr> certificates;
  KeyPtr key;
  bool insecure = false;
  bool name_is_address = false;
  std::string sni;  // "" for an address
};

Result<std::shared_ptr<TlsClient>> TlsClient::Make(const TransportOptions& options, const std::string& host) {
  auto material = std::make_unique<Material>();
  material->insecure = options.insecure_skip_tls_verify;
  if (!options.tls.ca_pem.empty()) {
    YAD_TRY(std::vector<CertPtr> roots,
            ReadCertificates(options.tls.ca_pem, "the cluster's CA (certificate-authority)"));
    material->trusted.reset(X509_STORE_new());
    for (const CertPtr& root : roots) X509_STORE_add_cert(material->trusted.get(), root.get());
  }
  if (options.tls.client_cert_pem.empty() != options.tls.client_key_pem.empty()) {
    return Fail(Reason::kConfig, options.tls.client_key_pem.empty() ? "a client certificate is given without its key"
                                                                    : "a client key is given without its certificate");
  }
  if (!options.tls.client_cert_pem.empty()) {
    YAD_TRY(std::vector<CertPtr> certificates, ReadCertificates(options.tls.client_cert_pem, "the client certificate"));
    YAD_TRY(KeyPtr key, ReadPrivateKey(options.tls.client_key_pem, "the client key"));
    const bool fits = X509_check_private_key(certificates.front().get(), key.get()) == 1;
    ERR_clear_error();
    if (!fits) return Fail(Reason::kConfig, "the client key does not belong to the client certificate");
    material->certificates = std::move(certificates);
    material->key = std::move(key);
  }
  std::string name = options.tls_server_name.empty() ? host : options.tls_server_name;
  // Removes the trailing dot of "api.example.com.". The dot only keeps the resolver from trying other domains.
  // Certificates never contain it.
  if (name.size() > 1 && name.ends_with('.')) name.pop_back();  // "." stays, because "" would match every certificate
  material->name_is_address = IsIpAddress(name);
  if (!material->name_is_address) material->sni = name;
  return std::shared_ptr<TlsClient>(new TlsClient(std::move(material), name));
}

TlsClient::TlsClient(std::unique_ptr<Material> material, std::string name)
    : material_(std::move(material)), name_(std::move(name)) {}
TlsClient::~TlsClient() = default;

std::shared_ptr<ssl_ctx_st> TlsClient::MakeContext() {
  std::shared_ptr<SSL_CTX> made(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  SSL_CTX* const context = made.get();
  if (context == nullptr) return nullptr;
  auto owner = std::make_unique<std::shared_ptr<TlsClient>>(shared_from_this());
  if (SSL_CTX_set_ex_data(context, OwnerIndex(), owner.get()) != 1) return nullptr;
  owner.release();  // NOLINT(bugprone-unused-return-value): FreeOwner has it now.

  SSL_CTX_set_options(context, SSL_OP_ALL | SSL_OP_NO_COMPRESSION);
  bool ok = SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1;
  if (material_->trusted != nullptr) {
    SSL_CTX_set1_cert_store(context, material_->trusted.get());
  } else {
    X509_STORE_set_default_paths(SSL_CTX_get_cert_store(context));
  }
  SSL_CTX_set_verify(context, material_->insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nullptr);
  if (!material_->insecure) SSL_CTX_set_cert_verify_callback(context, &TlsClient::VerifyChain, this);
  // Sets the server name for SNI when a handshake starts. cpprestsdk's own SNI is off, because it can only send the
  // host of the URL. The info callback is the first callback that receives the connection.
  if (!material_->sni.empty()) {
    SSL_CTX_set_info_callback(context, [](const SSL* ssl, int where, int) {
      if ((where & SSL_CB_HANDSHAKE_START) == 0) return;
      const TlsClient* self = OwnerOf(SSL_get_SSL_CTX(ssl));
      if (self != nullptr) SSL_set_tlsext_host_name(const_cast<SSL*>(ssl), self->material_->sni.c_str());
    });
  }
  if (!material_->certificates.empty()) {
    ok = ok && SSL_CTX_use_certificate(context, material_->certificates.front().get()) == 1;
    for (std::size_t i = 1; i < material_->certificates.size(); ++i) {
      ok = ok && SSL_CTX_add1_chain_cert(context, material_->certificates[i].get()) == 1;
    }
    ok = ok && SSL_CTX_use_PrivateKey(context, material_->key.get()) == 1;
  }
  ERR_clear_error();
  return ok ? made : nullptr;
}

ssl_ctx_st* TlsClient::NewReference(ssl_ctx_st* context) {
  SSL_CTX_up_ref(context);
  return context;
}

// OpenSSL calls this function to verify the server's certificate, instead of its own code. The function also replaces
// cpprestsdk's comparison of names, which
// - ignores tls-server-name;
// - does not accept addresses in brackets;
// - falls back to the certificate's common name.
int TlsClient::VerifyChain(x509_store_ctx_st* chain, void* self_pointer) {
  auto* self = static_cast<TlsClient*>(self_pointer);
  const auto reject = [self](const std::string& why) {
    self->last_rejection_.With([&](std::string& last) { last = why; });
  };
  X509_STORE_CTX_set_verify_cb(chain, KeepVerdict);
  X509_VERIFY_PARAM* param = X509_STORE_CTX_get0_param(chain);
  // As in Go, a certificate in the CA bundle is trusted even if its issuer is not in the bundle.
  X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_PARTIAL_CHAIN);
  X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  const int set = self->material_->name_is_address
                      ? X509_VERIFY_PARAM_set1_ip_asc(param, self->name_.c_str())
                      : X509_VERIFY_PARAM_set1_host(param, self->name_.data(), self->name_.size());
  if (set != 1) {
    reject("the server's name \"" + self->name_ + "\" cannot be checked");
    return 0;
  }
  const int verdict = X509_verify_cert(chain);
  if (verdict <= 0) {
    reject(Rejection(chain, self->name_, self->material_->trusted != nullptr));
    ERR_clear_error();  // The connection reports the oldest error in the queue, which must be the failed verification.
  }
  return verdict > 0 ? 1 : 0;
}

std::string TlsClient::Explain(int code) const {
  const auto packed = static_cast<unsigned long>(static_cast<unsigned int>(code));
  if (ERR_GET_LIB(packed) != ERR_LIB_SSL) return "";
  const int reason = ERR_GET_REASON(packed);
  switch (reason) {
    case SSL_R_CERTIFICATE_VERIFY_FAILED:
      return last_rejection_.With([](const std::string& last) { return last; });
    case SSL_R_WRONG_VERSION_NUMBER:
      return "the server does not speak TLS on this port";
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
      return "the server offers no TLS 1.2 or later";
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
      return "the server requires a client certificate, and none is configured";
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN: {
      const char* text = ERR_reason_error_string(packed);
      return std::string("the server rejects the client certificate (") + (text == nullptr ? "" : text) + ")";
    }
    default: {
      const char* text = ERR_reason_error_string(packed);
      return "TLS: " + (text == nullptr ? "error " + std::to_string(reason) : std::string(text));
    }
  }
}

}  // namespace yad
