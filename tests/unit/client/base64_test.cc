#include "operator/client/transport/base64.h"

#include <gtest/gtest.h>

namespace yad {
namespace {

TEST(Base64Test, TestVectorsOfRfc4648AreEncodedAndDecoded) {
  const std::pair<const char*, const char*> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : vectors) {
    EXPECT_EQ(Base64Encode(bytes), text);
    EXPECT_EQ(Base64Decode(text), bytes);
  }
}

TEST(Base64Test, AllBytesAreDecodedUnchanged) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  for (std::size_t cut = 0; cut < 4; ++cut) {
    const std::string part = bytes.substr(cut);
    EXPECT_EQ(Base64Decode(Base64Encode(part)), part);
  }
}

TEST(Base64Test, WhitespaceIsSkipped) { EXPECT_EQ(Base64Decode(" Zm9v\r\nYg= =\n"), "foob"); }

TEST(Base64Test, InvalidBase64IsRejected) {
  for (const char* text : {"Z", "Zg", "Zg=", "Zg===", "Zm9v=", "Zg==Zg==", "Zm-v", "====", "-----BEGIN"}) {
    EXPECT_EQ(Base64Decode(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace yad
