#include "operator/client/protobuf.h"

#include <gtest/gtest.h>

#include <string>

namespace yad {
namespace {

using std::string_literals::operator""s;

TEST(ProtobufTest, FindsTheLastFieldWithTheGivenNumber) {
  const std::string message =
      "\x08\x96\x01"                          // 1: varint 150
      "\x11\x01\x02\x03\x04\x05\x06\x07\x08"  // 2: fixed64
      "\x1d\x01\x02\x03\x04"                  // 3: fixed32
      "\x22\x02hi\x22\x03you\x2a"s +          // 4: twice, 5:
      "\x80\x01" +
      std::string(128, 'x');
  EXPECT_EQ(BytesField(message, 4), "you");
  EXPECT_EQ(BytesField(message, 5), std::string(128, 'x'));
  for (const unsigned number : {0U, 1U, 2U, 3U, 6U}) EXPECT_EQ(BytesField(message, number), std::nullopt) << number;
  EXPECT_EQ(BytesField("", 1), std::nullopt);
}

TEST(ProtobufTest, RejectsTruncatedAndMalformedMessages) {
  for (const std::string& message :
       {"\x22\x05hi"s, "\x22"s, "\x80"s, "\x08\x80"s, "\x11\x01"s, "\x23\x01x"s, std::string(11, '\xff')}) {
    EXPECT_EQ(BytesField(message, 4), std::nullopt);
  }
}

TEST(ProtobufTest, UnwrapsAResponseOfKubernetes) {
  EXPECT_EQ(KubernetesMessage("k8s\0\x0a\x01t\x12\x03raw"s), "raw");
  EXPECT_EQ(KubernetesMessage("{\"kind\":\"Status\"}"), std::nullopt);
  EXPECT_EQ(KubernetesMessage("k8s\0"s), std::nullopt);
}

}  // namespace
}  // namespace yad
