#include "operator/api/merge_patch.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace yad {
namespace {

using namespace nlohmann::literals;

TEST(MergePatchTest, PatchEqualsThatOfKubectlApply) {
  const Json last = R"({"spec": {"a": 1, "gone": 2, "deep": {"x": 1, "y": 2}, "list": [1]}})"_json;
  const Json manifest = R"({"spec": {"a": 2, "deep": {"x": 1}, "list": [1, 2], "new": true}})"_json;
  const Json live = R"({"metadata": {"uid": "u"}, "spec": {"a": 1, "gone": 2, "deep": {"x": 1, "y": 3, "z": 4},
    "list": [1], "others": 5}, "status": {"s": 1}})"_json;
  EXPECT_EQ(MergePatch(last, manifest, live),
            R"({"spec": {"a": 2, "gone": null, "deep": {"y": null}, "list": [1, 2], "new": true}})"_json);
  EXPECT_EQ(MergePatch(nullptr, manifest, live), R"({"spec": {"a": 2, "list": [1, 2], "new": true}})"_json);
  EXPECT_EQ(MergePatch(last, R"({"spec": {"a": 1}})"_json, R"({"spec": {"a": 1}})"_json), Json::object());
}

}  // namespace
}  // namespace yad
