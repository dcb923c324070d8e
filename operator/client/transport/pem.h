// Reads certificates and private keys in PEM format, and defines owning pointers for OpenSSL's objects.
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

// Usage: OpenSslPtr<X509, X509_free>.
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

// Returns the message of OpenSSL's newest error on this thread. Clears the error queue, so that an old error is not
// reported for a later call.
std::string OpenSslReason();

// Returns the bytes that were written to a memory BIO.
std::string Written(BIO* bio);

// Returns the certificates in `pem`, and skips other blocks. Fails with kConfig if there is no certificate, or if a
// certificate is malformed. `what` is the subject of the message, such as "the client certificate".
Result<std::vector<CertPtr>> ReadCertificates(const std::string& pem, const std::string& what);
// Returns the private key in `pem`. Fails with kConfig if the key is malformed, or if it is encrypted, because there is
// no prompt for a passphrase.
Result<KeyPtr> ReadPrivateKey(const std::string& pem, const std::string& what);

// Converts a time in a certificate. There are two special cases:
// - A malformed time, or a time before 1970, becomes the epoch (1970).
// - A time after the end of WallTime (2262) becomes a time near that end. A caller may add a second to it.
WallTime TimeOf(const ASN1_TIME* time);

}  // namespace yad

#endif  // OPERATOR_CLIENT_TRANSPORT_PEM_H_
