#include "operator/client/transport/tls_material.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/fake_clock.h"

namespace yad {
namespace {

class TlsMaterialReaderTest : public ::testing::Test {
 protected:
  ~TlsMaterialReaderTest() override { std::filesystem::remove(path_); }
  std::string CaAfter(const std::string& text) {
    std::ofstream(path_) << text;
    clock_.Advance(std::chrono::minutes(1));
    return reader_.Get()->ca_pem;
  }

  const std::string path_ = ::testing::TempDir() + "/tls_material_test_" + std::to_string(getpid());
  FakeClock clock_;
  TlsMaterialReader reader_{{path_, "", ""}, {"one", "", ""}, clock_};
};

TEST_F(TlsMaterialReaderTest, FileIsReadAgainAfterAMinute) {
  EXPECT_EQ(reader_.Get()->ca_pem, "one");
  EXPECT_EQ(CaAfter("two"), "two");
}

// The file may be empty while another program writes it, or if the disk is full. With an empty CA, the transport would
// trust the system's CAs.
TEST_F(TlsMaterialReaderTest, LastCaIsKeptWhileTheFileIsMissingOrEmpty) {
  EXPECT_EQ(CaAfter(""), "one");
  EXPECT_EQ(CaAfter(" \n"), "one");
  std::filesystem::remove(path_);
  clock_.Advance(std::chrono::minutes(1));
  EXPECT_EQ(reader_.Get()->ca_pem, "one");
  EXPECT_EQ(CaAfter("two"), "two");
}

}  // namespace
}  // namespace yad
