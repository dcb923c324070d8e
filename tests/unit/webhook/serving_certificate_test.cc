#include "webhook/certificates/serving_certificate.h"

#include <gmock/gmock.h>
#include <openssl/ssl.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/support/fake_clock.h"
#include "tests/support/test_pki.h"

namespace yad {
namespace {

using testing::CertificateAndKey;
using ::testing::HasSubstr;

std::string CommonName(const ServingCertificate& certificate) {
  const auto context = certificate.loaded().context;
  if (context == nullptr) return "none";
  char text[256] = "";
  X509_NAME_get_text_by_NID(X509_get_subject_name(SSL_CTX_get0_certificate(context.get())), NID_commonName, text,
                            sizeof text);
  return text;
}

class ServingCertificateTest : public ::testing::Test {
 protected:
  CertificateAndKey Pair(const std::string& name) const { return ca_.Issue({.common_name = name}); }

  const testing::TestCa ca_;
  ServingCertificate certificate_;
};

TEST_F(ServingCertificateTest, HasNoCertificateBeforeTheFirstLoad) {
  EXPECT_EQ(certificate_.loaded().context, nullptr);
  EXPECT_EQ(certificate_.loaded().context, nullptr);
  EXPECT_EQ(certificate_.loaded().not_after, WallTime());
}

TEST_F(ServingCertificateTest, KeepsTheLeafItsChainAndItsExpiry) {
  const CertificateAndKey pair = Pair("leaf");
  const WallTime about = std::chrono::system_clock::now() + std::chrono::days(30);
  ASSERT_TRUE(certificate_.Load("some words before\n" + pair.cert_pem + ca_.cert_pem(), pair.key_pem));
  EXPECT_NE(certificate_.loaded().context, nullptr);
  EXPECT_EQ(CommonName(certificate_), "leaf");
  EXPECT_GT(certificate_.loaded().not_after, about - std::chrono::hours(1));
  EXPECT_LT(certificate_.loaded().not_after, about + std::chrono::hours(1));
  SSL_CTX* context = certificate_.loaded().context.get();
  STACK_OF(X509)* chain = nullptr;
  ASSERT_EQ(SSL_CTX_get0_chain_certs(context, &chain), 1);
  EXPECT_EQ(sk_X509_num(chain), 1);
  EXPECT_EQ(SSL_CTX_get_min_proto_version(context), TLS1_2_VERSION);
  EXPECT_EQ(SSL_CTX_get_session_cache_mode(context), SSL_SESS_CACHE_OFF);
}

TEST_F(ServingCertificateTest, ExpiryBeyondTheClocksRangeIsTheEndOfTheRange) {
  const CertificateAndKey pair = ca_.Issue({.valid_to_days = 1000 * 365});
  ASSERT_TRUE(certificate_.Load(pair.cert_pem, pair.key_pem));
  EXPECT_GT(certificate_.loaded().not_after, ParseTime("2262-01-01T00:00:00Z"));
}

TEST_F(ServingCertificateTest, OldContextStaysValidForItsUsers) {
  const CertificateAndKey one = Pair("one");
  const CertificateAndKey two = Pair("two");
  ASSERT_TRUE(certificate_.Load(one.cert_pem, one.key_pem));
  const auto before = certificate_.loaded().context;
  ASSERT_TRUE(certificate_.Load(two.cert_pem, two.key_pem));
  EXPECT_NE(certificate_.loaded().context, before);
  EXPECT_EQ(CommonName(certificate_), "two");
  EXPECT_EQ(before.use_count(), 1);
}

TEST_F(ServingCertificateTest, UnusablePairIsRejectedAndTheOldPairIsKept) {
  const CertificateAndKey good = Pair("good");
  ASSERT_TRUE(certificate_.Load(good.cert_pem, good.key_pem));
  const auto failure = [&](const std::string& certificate_pem, const std::string& key_pem) {
    const Status loaded = certificate_.Load(certificate_pem, key_pem);
    EXPECT_FALSE(loaded);
    EXPECT_EQ(loaded.error().reason, Reason::kConfig);
    EXPECT_EQ(CommonName(certificate_), "good");
    return loaded.error().message;
  };
  const std::string broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  EXPECT_THAT(failure("", good.key_pem), HasSubstr("tls.crt contains no certificate"));
  EXPECT_THAT(failure("garbage", good.key_pem), HasSubstr("tls.crt contains no certificate"));
  EXPECT_THAT(failure(broken, good.key_pem), HasSubstr("tls.crt cannot be read"));
  EXPECT_THAT(failure(good.cert_pem + broken, good.key_pem), HasSubstr("tls.crt cannot be read"));
  EXPECT_THAT(failure(good.cert_pem.substr(0, 200), good.key_pem), HasSubstr("tls.crt"));
  EXPECT_THAT(failure(good.cert_pem, ""), HasSubstr("tls.key is not a PEM private key"));
  EXPECT_THAT(failure(good.cert_pem, good.key_pem.substr(0, 100)), HasSubstr("tls.key is not a PEM private key"));
  EXPECT_THAT(failure(good.cert_pem, testing::EncryptedKeyPem()), HasSubstr("tls.key is encrypted"));
  EXPECT_THAT(failure(good.cert_pem, Pair("other").key_pem), HasSubstr("tls.key is not the key of tls.crt"));
  EXPECT_THAT(failure(ca_.cert_pem() + good.cert_pem, good.key_pem), HasSubstr("first certificate"));
}

// A folder for FollowCertificateFiles. The test controls when the files are read.
class FollowCertificateFilesTest : public ServingCertificateTest {
 protected:
  FollowCertificateFilesTest() {
    char path[] = "/tmp/yad-certificates.XXXXXX";
    directory_ = mkdtemp(path);
  }
  ~FollowCertificateFilesTest() override {
    thread_.request_stop();
    thread_.join();
    std::filesystem::remove_all(directory_);
  }
  void Start() {
    thread_ = std::jthread([this](std::stop_token stop) {
      EXPECT_TRUE(FollowCertificateFiles(directory_, certificate_, stop, std::chrono::seconds(1), clock_));
    });
    clock_.AwaitWaiters(1);
  }
  void Look() {
    clock_.Advance(std::chrono::seconds(1));
    clock_.AwaitWaiters(1);
  }
  void Write(const std::string& file, const std::string& text) { std::ofstream(directory_ + "/" + file) << text; }
  void Write(const CertificateAndKey& pair) {
    Write("tls.crt", pair.cert_pem);
    Write("tls.key", pair.key_pem);
  }

  std::string directory_;
  FakeClock clock_;
  std::jthread thread_;
};

TEST_F(FollowCertificateFilesTest, LoadsImmediatelyAndWheneverTheFilesChange) {
  Write(Pair("one"));
  Start();
  EXPECT_EQ(CommonName(certificate_), "one");
  const auto before = certificate_.loaded().context;
  Look();
  EXPECT_EQ(certificate_.loaded().context, before) << "the same files must not be loaded again";
  Write(Pair("two"));
  Look();
  EXPECT_EQ(CommonName(certificate_), "two");
}

TEST_F(FollowCertificateFilesTest, WaitsForMissingFilesAndKeepsThePairOfDeletedFiles) {
  Start();
  EXPECT_EQ(certificate_.loaded().context, nullptr);
  const CertificateAndKey pair = Pair("late");
  Write("tls.crt", pair.cert_pem);
  Look();
  EXPECT_EQ(certificate_.loaded().context, nullptr);
  Write("tls.key", pair.key_pem);
  Look();
  EXPECT_EQ(CommonName(certificate_), "late");
  std::filesystem::remove(directory_ + "/tls.key");
  Look();
  EXPECT_EQ(CommonName(certificate_), "late");
  Write(Pair("back"));
  Look();
  EXPECT_EQ(CommonName(certificate_), "back");
}

TEST_F(FollowCertificateFilesTest, PartlyWrittenPairIsRetried) {
  Write(Pair("old"));
  Start();
  const CertificateAndKey next = Pair("new");
  Write("tls.crt", next.cert_pem.substr(0, 300));
  Look();
  EXPECT_EQ(CommonName(certificate_), "old");
  Write("tls.crt", next.cert_pem);
  Look();
  EXPECT_EQ(CommonName(certificate_), "old") << "the key file still has the old key";
  Write("tls.key", next.key_pem);
  Look();
  EXPECT_EQ(CommonName(certificate_), "new");
}

// The kubelet replaces a mounted Secret in this way: tls.crt -> ..data/tls.crt, and ..data -> a new folder by rename.
TEST_F(FollowCertificateFilesTest, FollowsSymbolicLinksThatAreReplaced) {
  namespace fs = std::filesystem;
  const auto version = [&](const std::string& name) {
    fs::create_directory(directory_ + "/.." + name);
    const CertificateAndKey pair = Pair(name);
    Write(".." + name + "/tls.crt", pair.cert_pem);
    Write(".." + name + "/tls.key", pair.key_pem);
    fs::create_symlink(".." + name, directory_ + "/..data_tmp");
    fs::rename(directory_ + "/..data_tmp", directory_ + "/..data");
  };
  version("first");
  fs::create_symlink("..data/tls.crt", directory_ + "/tls.crt");
  fs::create_symlink("..data/tls.key", directory_ + "/tls.key");
  Start();
  EXPECT_EQ(CommonName(certificate_), "first");
  version("second");
  Look();
  EXPECT_EQ(CommonName(certificate_), "second");
}

TEST_F(FollowCertificateFilesTest, AnErrorIsLoggedOnceUntilItIsFixed) {
  const auto complaints = [](const std::string& log) {
    int count = 0;
    for (std::size_t at = log.find("can't be loaded"); at != std::string::npos;
         at = log.find("can't be loaded", at + 1)) {
      ++count;
    }
    return count;
  };
  ::testing::internal::CaptureStderr();
  Start();
  Look();
  Look();
  const std::string missing = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(complaints(missing), 1) << missing;
  EXPECT_THAT(missing, HasSubstr(directory_ + "/tls.crt: No such file or directory"));
  ::testing::internal::CaptureStderr();
  Write(Pair("one"));
  Look();
  std::filesystem::remove(directory_ + "/tls.crt");
  Look();
  Look();
  const std::string again = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(complaints(again), 1) << again;
  EXPECT_THAT(again, HasSubstr("serving certificate loaded"));
}

}  // namespace
}  // namespace yad
