#include "operator/client/auth/token_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/fake_clock.h"

namespace yad {
namespace {

class TokenFileTest : public ::testing::Test {
 protected:
  TokenFileTest() { Write("one\n"); }
  ~TokenFileTest() override { std::filesystem::remove(path_); }
  void Write(const std::string& text) const { std::ofstream(path_) << text; }

  const std::string path_ = ::testing::TempDir() + "/token_file_test_" + std::to_string(getpid());
  FakeClock clock_;
  TokenFile file_{path_, clock_};
};

TEST_F(TokenFileTest, FileIsReadAgainAfterAMinute) {
  EXPECT_EQ(file_.Get().value_or(""), "one");
  Write("two");
  clock_.Advance(std::chrono::seconds(59));
  EXPECT_EQ(file_.Get().value_or(""), "one");
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_EQ(file_.Get().value_or(""), "two");
}

TEST_F(TokenFileTest, FileIsReadImmediatelyAfterAnUnauthorizedResponse) {
  EXPECT_EQ(file_.Get().value_or(""), "one");
  Write("two");
  file_.Invalidate();
  EXPECT_EQ(file_.Get().value_or(""), "two");
}

TEST_F(TokenFileTest, LastTokenIsKeptWhileTheFileIsMissingOrEmpty) {
  EXPECT_EQ(file_.Get().value_or(""), "one");
  std::filesystem::remove(path_);
  file_.Invalidate();
  EXPECT_EQ(file_.Get().value_or(""), "one");
  Write(" \n");
  file_.Invalidate();
  EXPECT_EQ(file_.Get().value_or(""), "one");
  Write("two");
  file_.Invalidate();
  EXPECT_EQ(file_.Get().value_or(""), "two");
}

TEST_F(TokenFileTest, MissingOrInvalidFileIsAnErrorThatContainsNoToken) {
  std::filesystem::remove(path_);
  const Result<std::string> missing = file_.Get();
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().reason, Reason::kConfig);
  EXPECT_THAT(missing.error().message, ::testing::HasSubstr(path_));
  Write("secret\nX-Header: injected");
  const Result<std::string> lines = file_.Get();
  ASSERT_FALSE(lines);
  EXPECT_THAT(lines.error().message, ::testing::Not(::testing::HasSubstr("secret")));
}

}  // namespace
}  // namespace yad
