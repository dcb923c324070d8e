// Certificates and private keys as PEM text, and owning pointers for OpenSSL's objects.
#ifndef OPERATOR_CLIENT_TRANSPORT_PEM_H_
#define OPERATOR_CLIENT_TRANSPORT_PEM_H_

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <vector>

#include "operator/base/clock.h"
#include "operator/base/error.h"

namespace yad {

// An owning pointer is written OpenSslPtr<X509, X509_free>.
template <auto Function>
struct OpenSslDeleter {
  template <typename T>
  void operator()(T* pointer) const {
    Function(pointer);
  }
};
template <typename T, auto Free>
using OpenSslPtr = std::unique_ptr<T, OpenSslDeleter<Free>>;
using BioPtr = OpenSslPtr<BIO, BIO_free_all>;
using CertPtr = OpenSslPtr<X509, X509_free>;
using KeyPtr = OpenSslPtr<EVP_PKEY, EVP_PKEY_free>;

// Returns the newest error of OpenSSL on this thread. Clears OpenSSL's error queue, so that the error is not attributed
// to a later call.
std::string OpenSslReason();

// Returns all certificates of a PEM text, at least one, and skips other blocks. Fails with kConfig; `what` ("the client
// certificate") is the subject of the message.
Result<std::vector<CertPtr>> ReadCertificates(const std::string& pem, const std::string& what);
// Fails with kConfig. An encrypted key fails too, because there is no prompt for a passphrase.
Result<KeyPtr> ReadPrivateKey(const std::string& pem, const std::string& what);

// Returns the epoch if the time is malformed.
WallTime TimeOf(const ASN1_TIME* time);

}  // namespace yad

#endif  // OPERATOR_CLIENT_TRANSPORT_PEM_H_
