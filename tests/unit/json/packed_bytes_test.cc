#include "operator/json/packed_bytes.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <vector>

namespace yad {
namespace {

std::string Noise(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

TEST(PackedBytesTest, DefaultAndEmptyTextUnpackAsEmpty) {
  EXPECT_EQ(PackedBytes().Unpack(), "");
  EXPECT_EQ(PackedBytes().size(), 0U);
  EXPECT_EQ(PackedBytes("", 1).Unpack(), "");
  EXPECT_EQ(PackedBytes("", 1).Unpack(), "");
}

// Memory budgets count unpacked sizes. The first value of a family is stored unpacked, and also has a size.
TEST(PackedBytesTest, ReportsTheUnpackedSize) {
  const std::string text = Noise(3000, 7);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(PackedBytes(text, 77).unpacked_size(), text.size());
}

TEST(PackedBytesTest, SimilarTextsTakeLittleSpaceAndUnpackUnchanged) {
  const std::string common = Noise(3000, 1);
  std::vector<std::string> texts;
  std::vector<PackedBytes> packed;
  for (int i = 0; i < 100; ++i) {
    texts.push_back(common.substr(0, 1000) + std::to_string(i) + common.substr(1000));
    packed.emplace_back(texts.back(), 2);
  }
  EXPECT_EQ(packed[0].size(), texts[0].size());
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(packed[i].Unpack(), texts[i]);
    if (i > 0) {
      EXPECT_LT(packed[i].size(), 100U);
    }
  }
}

TEST(PackedBytesTest, DissimilarTextBecomesTheDictionaryOfTheNextText) {
  const std::string a = Noise(2000, 1), b = Noise(2000, 2);
  const PackedBytes first(a, 3), second(b, 3), like_second(b + "x", 3);
  EXPECT_EQ(second.size(), b.size());
  EXPECT_LT(like_second.size(), 100U);
  EXPECT_EQ(first.Unpack(), a);
  EXPECT_EQ(second.Unpack(), b);
  EXPECT_EQ(like_second.Unpack(), b + "x");
}

TEST(PackedBytesTest, DictionaryOfAnotherFamilyIsNotUsed) {
  const std::string text = Noise(2000, 4);
  const PackedBytes one(text, 4), other(text, 5);
  EXPECT_EQ(other.size(), text.size());
}

TEST(PackedBytesTest, DictionaryIsFreedWithItsLastUser) {
  const std::string text = Noise(2000, 6);
  auto first = std::make_unique<PackedBytes>(text, 6);
  auto second = std::make_unique<PackedBytes>(text, 6);
  first.reset();
  EXPECT_EQ(second->Unpack(), text);
  EXPECT_LT(PackedBytes(text, 6).size(), 100U);
  second.reset();
  EXPECT_EQ(PackedBytes(text, 6).size(), text.size());
}

TEST(PackedBytesTest, TextsOfAnySizeUnpackUnchanged) {
  unsigned seed = 0;
  for (const std::size_t size : {1, 2, 12, 13, 64, 1000, 65'535, 65'536, 65'537, 200'000, 1'500'000}) {
    const std::string text = Noise(size, ++seed), zeros(size, 'z');
    std::string changed = text;
    changed[size / 2] ^= 1;
    const PackedBytes a(text, 7), b(changed, 7), c(zeros, 7), d(text.substr(size / 2), 7), e(text + zeros, 7);
    EXPECT_EQ(a.Unpack(), text) << size;
    EXPECT_EQ(b.Unpack(), changed) << size;
    EXPECT_EQ(c.Unpack(), zeros) << size;
    EXPECT_EQ(d.Unpack(), text.substr(size / 2)) << size;
    EXPECT_EQ(e.Unpack(), text + zeros) << size;
  }
}

TEST(PackedBytesTest, SeveralThreadsCanPackConcurrently) {
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (unsigned i = 0; i < 500; ++i) {
        const std::string text = Noise(300, i % 3) + std::to_string(t);
        const PackedBytes packed(text, i % 100);
        ASSERT_EQ(packed.Unpack(), text);
      }
    });
  }
}

}  // namespace
}  // namespace yad
