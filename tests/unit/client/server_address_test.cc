#include "operator/client/transport/server_address.h"

#include <gmock/gmock.h>

namespace yad {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string FaultOfAddress(const std::string& url) {
  const auto address = ParseServerAddress(url);
  return address ? "" : address.error().message;
}

TEST(ServerAddressTest, CredentialsOfAnInvalidAddressAreNotInTheMessage) {
  for (const std::string url : {"https://user:secret@host:99999", "https://user:secret@host", "ftp://user:secret@host",
                                "user:secret@host", "https://user:sec/ret@host:x", "https://user:secret@host?a=b"}) {
    const std::string fault = FaultOfAddress(url);
    EXPECT_THAT(fault, HasSubstr("host")) << url;
    EXPECT_THAT(fault, Not(HasSubstr("sec"))) << url;
  }
}

TEST(ServerAddressTest, InvalidAddressIsInTheMessageWithTheError) {
  EXPECT_EQ(FaultOfAddress("https://host:99999"),
            "the server's address \"https://host:99999\" cannot be used: it must be https://HOST[:PORT][/PATH]");
}

}  // namespace
}  // namespace yad
