#include "webhook/admission/known_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace yad {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

FieldError Bad(const std::string& path, const Json& value = 1, const std::string& detail = "wrong") {
  return FieldError::Invalid(path, value, detail);
}

TEST(KnownErrorsTest, IndicesAreRemovedFromPathsAndKeysAreKept) {
  EXPECT_EQ(WithoutIndices("spec.a[12].b[0]"), "spec.a[].b[]");
  EXPECT_EQ(WithoutIndices("spec.labels[app].x[1a][]["), "spec.labels[app].x[1a][][");
}

TEST(KnownErrorsTest, ErrorIsKnownByItsPathAndMessageWhateverItsValue) {
  const auto sorted = SortErrors({Bad("a", 2), Bad("b"), Bad("c", 1, "other")}, {Bad("a", 1), Bad("c")});
  EXPECT_THAT(sorted.known, ElementsAre(Bad("a", 2)));
  EXPECT_THAT(sorted.fresh, ElementsAre(Bad("b"), Bad("c", 1, "other")));
}

TEST(KnownErrorsTest, ErrorWithTheSameValueElsewhereInItsListIsKnownOnce) {
  EXPECT_THAT(SortErrors({Bad("l[1].x", "v")}, {Bad("l[0].x", "v")}).fresh, IsEmpty());
  EXPECT_THAT(SortErrors({Bad("l[1].x", "w")}, {Bad("l[0].x", "v")}).fresh, ElementsAre(Bad("l[1].x", "w")));
  const auto two = SortErrors({Bad("l[0].x", "v"), Bad("l[1].x", "v")}, {Bad("l[1].x", "v")});
  EXPECT_THAT(two.known, ElementsAre(Bad("l[1].x", "v")));
  EXPECT_THAT(two.fresh, ElementsAre(Bad("l[0].x", "v")));
}

TEST(KnownErrorsTest, ErrorsBeyondTheLimitAreNotKnown) {
  FieldErrors many;
  while (!many.full()) many.Add(Bad("a[" + std::to_string(many.size()) + "]"));
  const auto sorted = SortErrors(many, many);
  EXPECT_EQ(sorted.known.size(), FieldErrors::kMost);
  ASSERT_EQ(sorted.fresh.size(), 1U);
  EXPECT_EQ(sorted.fresh[0].path, "spec");
  EXPECT_EQ(SortErrors(many, {}).fresh.size(), FieldErrors::kMost);
}

}  // namespace
}  // namespace yad
