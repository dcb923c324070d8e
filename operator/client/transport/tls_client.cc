#include "operator/client/transport/tls_client.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <utility>
#include <vector>

#include "operator/base/synchronized.h"
#include "operator/client/transport/pem.h"

namespace yad {
namespace {

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

// The server that a context connects to. The context owns it.
struct Peer {
  std::string name;  // the certificate must be valid for this name
  bool name_is_address = false;
  bool own_ca = false;                       // false: the system's CAs are trusted
  Synchronized<std::string> last_rejection;  // why a server's certificate was last rejected
};

void FreePeer(void*, void* peer, CRYPTO_EX_DATA*, int, long, void*) { delete static_cast<Peer*>(peer); }

int PeerIndex() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, FreePeer);
  return index;
}

Peer* PeerOf(const SSL_CTX* context) { return static_cast<Peer*>(SSL_CTX_get_ex_data(context, PeerIndex())); }

// A verification callback that keeps OpenSSL's result for each certificate. It replaces any callback that another
// library has set.
int KeepVerdict(int ok, X509_STORE_CTX*) { return ok; }

// OpenSSL calls this function to verify the server's certificate, instead of its own code. The function also replaces
// cpprestsdk's comparison of names, which
// - ignores tls-server-name;
// - does not accept addresses in brackets;
// - falls back to the certificate's common name.
int VerifyChain(X509_STORE_CTX* chain, void* peer_pointer) {
  Peer& peer = *static_cast<Peer*>(peer_pointer);
  const auto reject = [&peer](const std::string& why) {
    peer.last_rejection.With([&](std::string& last) { last = why; });
  };
  X509_STORE_CTX_set_verify_cb(chain, KeepVerdict);
  X509_VERIFY_PARAM* param = X509_STORE_CTX_get0_param(chain);
  // As in Go, a certificate in the CA bundle is trusted even if its issuer is not in the bundle.
  X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_PARTIAL_CHAIN);
  X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  const int set = peer.name_is_address ? X509_VERIFY_PARAM_set1_ip_asc(param, peer.name.c_str())
                                       : X509_VERIFY_PARAM_set1_host(param, peer.name.data(), peer.name.size());
  if (set != 1) {
    reject("the server's name \"" + peer.name + "\" cannot be checked");
    return 0;
  }
  const int verdict = X509_verify_cert(chain);
  if (verdict <= 0) {
    reject(Rejection(chain, peer.name, peer.own_ca));
    ERR_clear_error();  // The connection reports the oldest error in the queue, which must be the failed verification.
  }
  return verdict > 0 ? 1 : 0;
}

tl::unexpected<Error> Refused(const TransportOptions& options) {
  ERR_clear_error();
  return Fail(Reason::kConfig, "OpenSSL refuses the TLS settings for " + options.server);
}

Status SetTrustedCas(const TransportOptions& options, SSL_CTX* context) {
  X509_STORE* const trusted = SSL_CTX_get_cert_store(context);
  if (options.tls.ca_pem.empty()) {
    X509_STORE_set_default_paths(trusted);
    return {};
  }
  YAD_TRY(const std::vector<CertPtr> roots,
          ReadCertificates(options.tls.ca_pem, "the cluster's CA (certificate-authority)"));
  for (const CertPtr& root : roots) X509_STORE_add_cert(trusted, root.get());
  return {};
}

// Sets the client certificate, with its chain and its key.
Status SetIdentity(const TransportOptions& options, SSL_CTX* context) {
  const TlsMaterial& tls = options.tls;
  if (tls.client_cert_pem.empty() != tls.client_key_pem.empty()) {
    return Fail(Reason::kConfig, tls.client_key_pem.empty() ? "a client certificate is given without its key"
                                                            : "a client key is given without its certificate");
  }
  if (tls.client_cert_pem.empty()) return {};
  YAD_TRY(const std::vector<CertPtr> certificates, ReadCertificates(tls.client_cert_pem, "the client certificate"));
  YAD_TRY(const KeyPtr key, ReadPrivateKey(tls.client_key_pem, "the client key"));
  if (X509_check_private_key(certificates.front().get(), key.get()) != 1) {
    ERR_clear_error();
    return Fail(Reason::kConfig, "the client key does not belong to the client certificate");
  }
  bool ok = SSL_CTX_use_certificate(context, certificates.front().get()) == 1;
  for (std::size_t i = 1; i < certificates.size(); ++i) {
    ok = ok && SSL_CTX_add1_chain_cert(context, certificates[i].get()) == 1;
  }
  ok = ok && SSL_CTX_use_PrivateKey(context, key.get()) == 1;
  return ok ? Status() : Refused(options);
}

// Sets the server name for SNI when a handshake starts. cpprestsdk's own SNI is off, because it can only send the host
// of the URL. The info callback is the first callback that receives the connection.
void SendServerName(const SSL* ssl, int where, int) {
  if ((where & SSL_CB_HANDSHAKE_START) == 0) return;
  const Peer* peer = PeerOf(SSL_get_SSL_CTX(ssl));
  if (peer != nullptr) SSL_set_tlsext_host_name(const_cast<SSL*>(ssl), peer->name.c_str());
}

}  // namespace

void KeepOpenSslUntilTheEnd() { OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr); }

Result<std::shared_ptr<SSL_CTX>> MakeTlsContext(const TransportOptions& options, const std::string& host) {
  std::shared_ptr<SSL_CTX> made(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  SSL_CTX* const context = made.get();
  auto owned = std::make_unique<Peer>();
  if (context == nullptr || SSL_CTX_set_ex_data(context, PeerIndex(), owned.get()) != 1) return Refused(options);
  Peer* const peer = owned.release();  // FreePeer has it now.
  peer->name = options.tls_server_name.empty() ? host : options.tls_server_name;
  // Removes the trailing dot of "api.example.com.". The dot only keeps the resolver from trying other domains.
  // Certificates never contain it. "." stays, because "" would match every certificate.
  if (peer->name.size() > 1 && peer->name.ends_with('.')) peer->name.pop_back();
  peer->name_is_address = IsIpAddress(peer->name);
  peer->own_ca = !options.tls.ca_pem.empty();

  SSL_CTX_set_options(context, SSL_OP_ALL | SSL_OP_NO_COMPRESSION);
  if (SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1) return Refused(options);
  YAD_TRY_VOID(SetTrustedCas(options, context));
  const bool insecure = options.insecure_skip_tls_verify;
  SSL_CTX_set_verify(context, insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nullptr);
  if (!insecure) SSL_CTX_set_cert_verify_callback(context, VerifyChain, peer);
  if (!peer->name_is_address) SSL_CTX_set_info_callback(context, SendServerName);
  YAD_TRY_VOID(SetIdentity(options, context));
  ERR_clear_error();
  return made;
}

std::string ExplainTlsError(const SSL_CTX* context, int code) {
  const auto packed = static_cast<unsigned long>(static_cast<unsigned int>(code));
  if (ERR_GET_LIB(packed) != ERR_LIB_SSL) return "";
  const int reason = ERR_GET_REASON(packed);
  switch (reason) {
    case SSL_R_CERTIFICATE_VERIFY_FAILED:
      return PeerOf(context)->last_rejection.With([](const std::string& last) { return last; });
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
