#include <gmock/gmock.h>

#include "operator/api/update_strategy.h"

namespace yad {
namespace {

using ::testing::ElementsAre;

TEST(ApprovalsTest, EntriesHaveNoWhiteSpaceAroundThem) {
  EXPECT_THAT(ApprovalEntries("web-1/one"), ElementsAre("web-1/one"));
  EXPECT_THAT(ApprovalEntries(" web-1/one ,\tweb-1/two,\r\n  web-1/three\n"),
              ElementsAre("web-1/one", "web-1/two", "web-1/three"));
  EXPECT_THAT(ApprovalEntries(""), ElementsAre(""));
  EXPECT_THAT(ApprovalEntries(",\n"), ElementsAre("", ""));
}

}  // namespace
}  // namespace yad
