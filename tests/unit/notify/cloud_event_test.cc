#include "operator/notify/cloud_event.h"

#include <gtest/gtest.h>

#include <set>

#include "operator/notify/digest.h"

namespace yad {
namespace {

TEST(CloudEventTest, TextHasTheAttributesOfTheSpecification) {
  const CloudEvent event{"1", "/things/a", "io.example.began", "a", ParseTime("2026-01-02T03:04:05Z"), {{"b", 2}}};
  EXPECT_EQ(Json::parse(ToText(event)), Json({{"specversion", "1.0"},
                                              {"id", "1"},
                                              {"source", "/things/a"},
                                              {"type", "io.example.began"},
                                              {"subject", "a"},
                                              {"time", "2026-01-02T03:04:05Z"},
                                              {"datacontenttype", "application/json"},
                                              {"data", {{"b", 2}}}}));
}

TEST(CloudEventTest, AnUnknownTimeIsOmittedAndInvalidBytesAreReplaced) {
  const CloudEvent event{"1", "/a", "b", "c", std::nullopt, {{"message", "\xff"}}};
  const Json text = Json::parse(ToText(event));
  EXPECT_FALSE(text.contains("time"));
  EXPECT_EQ(text["data"]["message"], "\xef\xbf\xbd");
}

TEST(DigestTest, DigestSeparatesItsPartsAndHasTheRequestedLength) {
  EXPECT_EQ(Digest({"a", "b"}), Digest({"a", "b"}));
  EXPECT_EQ(Digest({"a"}).size(), 32U);
  EXPECT_EQ(Digest({"a"}, 16), Digest({"a"}).substr(0, 16));
  const std::set<std::string> all = {Digest({"a", "bc"}), Digest({"ab", "c"}), Digest({"abc"}), Digest({"a", "bc", ""}),
                                     Digest({})};
  EXPECT_EQ(all.size(), 5U);
}

TEST(DigestTest, DigestsAreTheSameInAllReleases) {
  EXPECT_EQ(Digest({"uid", "web-5f7", "3", "began"}), "a9bc2195f97058250b68bfa076ab6bc3");
}

}  // namespace
}  // namespace yad
