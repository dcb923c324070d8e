// Certificates and private keys as PEM text, and OpenSSL's objects with owners.
#ifndef OPERATOR_CLIENT_PEM_H_
#define OPERATOR_CLIENT_PEM_H_

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <vector>

#include "operator/base/clock.h"
#include "operator/base/error.h"

namespace yad {

// OpenSslPtr<X509, X509_free>
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

// OpenSSL's newest complaint on this thread. Empties its error queue, so that it can't be taken for a later call's.
std::string OpenSslReason();

// All certificates of a PEM text, at least one; other blocks are passed over. kConfig with `what` ("the client
// certificate") as the subject of the message.
Result<std::vector<CertPtr>> ReadCertificates(const std::string& pem, const std::string& what);
// kConfig also where the key is encrypted: nobody is asked for a passphrase.
Result<KeyPtr> ReadPrivateKey(const std::string& pem, const std::string& what);

// The epoch for a time that is none.
WallTime TimeOf(const ASN1_TIME* time);

}  // namespace yad

#endif  // OPERATOR_CLIENT_PEM_H_
