#include "operator/workload/overrides.h"

#include <gtest/gtest.h>

#include "tests/unit/workload/json.h"

namespace yad {
namespace {

NodePool PoolNamed(const std::string& name, StringMap labels = {}) {
  NodePool pool;
  pool.name = name;
  pool.labels = std::move(labels);
  return pool;
}

bool Selects(const Json& entry, const NodePool& pool) { return !OverrideIndex(Json::array({entry})).Of(pool).empty(); }
bool Selects(const std::string& pools, const std::string& name) {
  return Selects(Json{{"pools", J(pools)}}, PoolNamed(name));
}

Json Workload() {
  return J(R"({"metadata":{"labels":{},"annotations":{}},"spec":{"replicas":2,"template":{"spec":{
      "initContainers":[{"name":"init","image":"i:1"}],"containers":[{"name":"web","image":"w:1","env":[{"name":"A","value":"1"}]}]}}}})");
}

Status Apply(const Json& entry, std::size_t index, const std::string& pool, Json& workload, int rules = 2) {
  OverrideBounds bounds(workload);
  return ApplyOverride(entry, index, pool, rules, bounds, workload);
}

Json Applied(const std::string& entry, const std::string& pool = "beijing") {
  Json workload = Workload();
  const auto status = Apply(J(entry), 0, pool, workload);
  EXPECT_TRUE(status.has_value()) << (status ? "" : status.error().message);
  return workload;
}

Error Rejected(const std::string& entry) {
  Json workload = Workload();
  const auto status = Apply(J(entry), 2, "beijing", workload);
  EXPECT_FALSE(status.has_value()) << workload.dump();
  return status ? Error{} : status.error();
}

TEST(OverrideTest, SelectsPoolsByName) {
  EXPECT_TRUE(Selects(R"(["a","b"])", "b"));
  EXPECT_FALSE(Selects(R"(["a","b"])", "c"));
  EXPECT_TRUE(Selects(R"(["*"])", "c"));
  EXPECT_TRUE(Selects(R"(["-a"])", "c"));
  EXPECT_FALSE(Selects(R"(["-a"])", "a"));
  EXPECT_FALSE(Selects(R"(["*","-a"])", "a"));
  EXPECT_TRUE(Selects(R"(["*","-a"])", "c"));
  EXPECT_FALSE(Selects(R"(["b","-a"])", "c"));
  EXPECT_TRUE(Selects(R"(["b","-a"])", "b"));
  EXPECT_FALSE(Selects(R"(["a","-a"])", "a"));
  EXPECT_FALSE(Selects(R"(["a",""])", ""));
  EXPECT_FALSE(Selects(R"([])", "c"));
  EXPECT_FALSE(Selects(R"([1,null])", "c"));
  EXPECT_FALSE(Selects(R"("c")", "c"));
}

TEST(OverrideTest, SelectsPoolsByLabel) {
  const NodePool pool = PoolNamed("p", {{"tier", "edge"}});
  EXPECT_TRUE(Selects(J(R"({"nodepoolSelector":{"matchLabels":{"tier":"edge"}}})"), pool));
  EXPECT_TRUE(Selects(J(R"({"nodepoolSelector":{}})"), pool));
  EXPECT_FALSE(Selects(J(R"({"nodepoolSelector":{"matchLabels":{"tier":"cloud"}}})"), pool));
  EXPECT_FALSE(Selects(J(R"({"nodepoolSelector":{"matchExpressions":[{"key":"tier","operator":"In"}]}})"), pool));
  EXPECT_FALSE(Selects(J("null"), pool));
}

TEST(OverrideTest, EntriesThatSelectByNameOrLabelApplyInTheirOrder) {
  const OverrideIndex index(J(R"([{"pools":["p","p"]},{"nodepoolSelector":{}},{"pools":["q"]},{"pools":["p"]},
                                  null,{"pools":["-q"]}])"));
  EXPECT_EQ(index.Of(PoolNamed("p")), (std::vector<int>{0, 1, 3, 5}));
  EXPECT_EQ(index.Of(PoolNamed("q")), (std::vector<int>{1, 2}));
  EXPECT_EQ(OverrideIndex(J("null")).Of(PoolNamed("p")), std::vector<int>());
}

TEST(OverrideTest, SetsReplicas) { EXPECT_EQ(Applied(R"({"replicas":0})")["spec"]["replicas"], 0); }

TEST(OverrideTest, SetsImagesOfContainersAndInitContainers) {
  const Json workload =
      Applied(R"({"images":[{"name":"web","image":"w:2"},{"name":"init","image":"{{nodepool-name}}/i:2"}]})");
  EXPECT_EQ(workload["spec"]["template"]["spec"]["containers"][0]["image"], "w:2");
  EXPECT_EQ(workload["spec"]["template"]["spec"]["initContainers"][0]["image"], "beijing/i:2");
}

TEST(OverrideTest, RejectsAnImageOfAnUnknownContainer) {
  const Error error = Rejected(R"({"images":[{"name":"web","image":"w:2"},{"name":"wbe","image":"w:2"}]})");
  EXPECT_EQ(error.reason, Reason::kInvalid);
  ASSERT_EQ(error.causes.size(), 1U);
  EXPECT_EQ(error.causes[0].field, "spec.overrides[2].images[1].name");
}

TEST(OverrideTest, PatchMergesListsByKeyAndNullRemovesAMember) {
  const Json workload =
      Applied(R"({"patch":{"metadata":{"labels":{"pool":"{{nodepool}}"}},"spec":{"replicas":null,"template":{"spec":{
      "initContainers":null,"containers":[{"name":"web","env":[{"name":"P","value":"in {{nodepool-name}}, {{nodepool}}"}]},
      {"name":"side","image":"s"}]}}}}})");
  EXPECT_EQ(workload, J(R"({"metadata":{"labels":{"pool":"beijing"},"annotations":{}},"spec":{"template":{"spec":{
      "containers":[{"name":"web","image":"w:1","env":[{"name":"A","value":"1"},{"name":"P","value":"in beijing, beijing"}]},
                    {"name":"side","image":"s"}]}}}})"));
}

TEST(OverrideTest, PatchIsMergedIntoAListThatHasAKeyTwice) {
  const auto env = [](const std::string& patch, int rules) {
    Json workload = Workload();
    const Json::json_pointer at("/spec/template/spec/containers/0/env");
    workload[at] = J(R"([{"name":"X","value":"1"},{"name":"Y","value":"2"},{"name":"X","value":"3"}])");
    const Json entry = {
        {"patch", J(R"({"spec":{"template":{"spec":{"containers":[{"name":"web","env":)" + patch + R"(}]}}}})")}};
    EXPECT_TRUE(Apply(entry, 0, "p", workload, rules));
    return workload[at].dump();
  };
  EXPECT_EQ(env(R"([{"name":"Z","value":"9"},{"name":"X","value":"8"}])", 2),
            J(R"([{"name":"X","value":"8"},{"name":"Y","value":"2"},{"name":"X","value":"3"},
                  {"name":"Z","value":"9"}])")
                .dump());
  EXPECT_EQ(env(R"([{"name":"Z","value":"9"}])", 1), R"([{"name":"Z","value":"9"}])")
      << "an existing workload keeps its pods";
}

TEST(OverrideTest, PatchedZerosAreSet) {
  const Json workload = Applied(R"({"patch":{"spec":{"template":{"spec":{"automountServiceAccountToken":false}}}}})");
  EXPECT_EQ(workload["spec"]["template"]["spec"]["automountServiceAccountToken"], false);
}

TEST(OverrideTest, JsonPatchesAreApplied) {
  const Json workload = Applied(R"({"jsonPatches":[
      {"op":"test","path":"/spec/replicas","value":2},
      {"op":"add","path":"/spec/template/spec/containers/0/env/-","value":{"name":"B","value":"{{nodepool}}"}},
      {"op":"copy","from":"/spec/template/spec/containers/0/image","path":"/spec/template/spec/initContainers/0/image"},
      {"op":"move","from":"/spec/replicas","path":"/spec/minReadySeconds"},
      {"op":"replace","path":"/spec/minReadySeconds","value":5},
      {"op":"remove","path":"/metadata/annotations"}]})");
  EXPECT_EQ(workload, J(R"({"metadata":{"labels":{}},"spec":{"minReadySeconds":5,"template":{"spec":{
      "initContainers":[{"name":"init","image":"w:1"}],
      "containers":[{"name":"web","image":"w:1","env":[{"name":"A","value":"1"},{"name":"B","value":"beijing"}]}]}}}})"));
}

TEST(OverrideTest, AJsonPatchThatDoesNotApplyIsReported) {
  for (const char* operation : {
           R"({"op":"remove","path":"/spec/nothing"})",
           R"({"op":"replace","path":"/spec/template/spec/containers/7/image","value":"x"})",
           R"({"op":"test","path":"/spec/replicas","value":3})",
           R"({"op":"add","path":"/spec/replicas/x","value":1})",
           R"({"op":"copy","from":"/spec/replicas","path":"/spec/replicas/x"})",
           R"({"op":"move","from":"/spec/template","path":"/spec/template/spec/x"})",
           R"({"op":"add","path":"no-slash","value":1})",
           R"({"op":"add","path":"/spec/~2","value":1})",
           R"({"op":"add","path":"/spec/x"})",
           R"({"op":"fly","path":"/spec"})",
           R"({"op":"add","path":7,"value":1})",
           R"({"op":"add","path":"/spec/template/spec/containers/99999999999999999999","value":1})",
           R"({"path":"/spec"})",
           R"("text")",
       }) {
    const Error error =
        Rejected(std::string(R"({"jsonPatches":[{"op":"test","path":"/spec/replicas","value":2},)") + operation + "]}");
    EXPECT_EQ(error.reason, Reason::kInvalid) << operation;
    ASSERT_EQ(error.causes.size(), 1U) << operation;
    EXPECT_EQ(error.causes[0].field, "spec.overrides[2].jsonPatches[1]") << operation;
  }
}

TEST(OverrideTest, PatchThatCopiesTheWorkloadIntoItselfIsLimited) {
  Json entry = {{"jsonPatches", Json::array()}};
  for (int i = 0; i < 40; ++i) {
    entry["jsonPatches"].push_back({{"op", "copy"}, {"from", "/spec"}, {"path", "/spec/x" + std::to_string(i)}});
  }
  Json workload = Workload();
  const auto status = Apply(entry, 0, "p", workload);
  ASSERT_FALSE(status.has_value());
  EXPECT_NE(status.error().message.find("200,000 values"), std::string::npos) << status.error().message;
}

TEST(OverrideTest, PatchThatDoublesTheDepthOrATextIsLimited) {
  const auto rejected = [](const Json& patches) {
    Json workload = Workload();
    const auto status = Apply({{"jsonPatches", patches}}, 0, "p", workload);
    return status ? std::string() : status.error().message;
  };
  Json deep = Json::object();
  std::string path = "/spec/z";
  for (int i = 0; i < 200; ++i) deep = {{"z", deep}};
  Json deepening = Json::array({{{"op", "add"}, {"path", path}, {"value", deep}}});
  for (int i = 0; i < 4; ++i) {
    const std::size_t levels = 200u << i;
    std::string inmost = "/spec/z";
    for (std::size_t level = 0; level < levels; ++level) inmost += "/z";
    deepening.push_back({{"op", "copy"}, {"from", path}, {"path", inmost + "/z"}});
  }
  EXPECT_NE(rejected(deepening).find("too deep"), std::string::npos) << rejected(deepening);
  for (const char* op : {"add", "replace"}) {
    Json value = deep;
    for (int i = 0; i < 299; ++i) value = {{"z", value}};
    EXPECT_NE(rejected({{{"op", op}, {"path", "/spec/template"}, {"value", value}}}).find("too deep"),
              std::string::npos);
  }
  Json widening = Json::array({{{"op", "add"}, {"path", "/spec/z"}, {"value", std::string(100'000, 'x')}}});
  for (int i = 0; i < 12; ++i) {
    widening.push_back({{"op", "copy"}, {"from", "/spec"}, {"path", "/spec/x" + std::to_string(i)}});
  }
  EXPECT_NE(rejected(widening).find("too large"), std::string::npos) << rejected(widening);
}

// The length of a rendered workload, and the field of its error.
struct Grown {
  std::size_t text = 0;
  std::string field;  // "": no error
};

Grown Grow(const Json& entry, Json workload = Workload(), const std::string& pool = std::string(63, 'p')) {
  const Status status = Apply(entry, 2, pool, workload);
  if (status) return {workload.dump().size(), ""};
  EXPECT_EQ(status.error().reason, Reason::kInvalid);
  return {workload.dump().size(), status.error().causes.empty() ? "?" : status.error().causes[0].field};
}

Json Operation(const char* op, const std::string& path, const Json& value) {
  return {{"op", op}, {"path", path}, {"value", value}};
}
Json Copy(const std::string& from, const std::string& path) { return {{"op", "copy"}, {"from", from}, {"path", path}}; }

TEST(OverrideBoundsTest, TextIsMeasuredWithItsEscapes) {
  Json patches = Json::array({Operation("add", "/spec/z", std::string(20'000, '\x01'))});
  for (int i = 0; i < 13; ++i) patches.push_back(Copy("/spec/z", "/spec/x" + std::to_string(i)));
  const Grown fourteen = Grow({{"jsonPatches", patches}});  // each takes 120 KB of JSON
  EXPECT_EQ(fourteen.field, "spec.overrides[2].jsonPatches[13]") << fourteen.text;
  EXPECT_LT(fourteen.text, 2 * kMaxRenderedText);
  patches.erase(13);
  EXPECT_EQ(Grow({{"jsonPatches", patches}}).field, "");
}

TEST(OverrideBoundsTest, TextIsMeasuredAfterVariablesAreReplaced) {
  std::string variables;
  for (int i = 0; i < 40'000; ++i) variables += "{{nodepool}}";  // 480 KB, and 2.5 MB with the pool's name
  const Json spec = {{"spec", {{"template", {{"spec", {{"hostname", variables}}}}}}}};
  EXPECT_EQ(Grow({{"patch", spec}}).field, "spec.overrides[2].patch");
  EXPECT_EQ(Grow({{"patch", spec}}, Workload(), "p").field, "");
  EXPECT_EQ(Grow({{"jsonPatches", {Operation("replace", "/spec/replicas", variables)}}}).field,
            "spec.overrides[2].jsonPatches[0]");
}

TEST(OverrideBoundsTest, AnImageIsSetInOnlyOneContainerWithItsName) {
  Json workload = Workload();
  Json& containers = workload["spec"]["template"]["spec"]["containers"];
  while (containers.size() < 1000) containers.push_back(containers[0]);
  const Json entry = {{"images", {{{"name", "web"}, {"image", std::string(100'000, 'i')}}}}};
  EXPECT_LT(Grow(entry, workload).text, 300'000U);
}

TEST(OverrideBoundsTest, TextAfterOneCopyIsAtMostTwiceTheLimit) {
  Json patches = Json::array({Operation("add", "/spec/z", std::string(700'000, 'x'))});
  for (int i = 0; i < 3; ++i) patches.push_back(Copy("/spec", "/spec/x" + std::to_string(i)));
  const Grown grown = Grow({{"jsonPatches", patches}});
  EXPECT_EQ(grown.field, "spec.overrides[2].jsonPatches[2]");
  EXPECT_LT(grown.text, 2 * kMaxRenderedText);
}

TEST(OverrideBoundsTest, ReplacedValuesDoNotCountTowardsTheLimit) {
  Json patches = Json::array();
  for (int i = 0; i < 20; ++i) {
    patches.push_back(Operation("add", "/spec/z", std::string(500'000, 'x')));
    patches.push_back(Copy("/spec/z", "/spec/y"));
  }
  EXPECT_EQ(Grow({{"jsonPatches", patches}}).field, "");
}

TEST(OverrideBoundsTest, CopiesOfOneRenderingHaveALimitedNumberOfValues) {
  Json patches = Json::array({Operation("add", "/spec/z", std::vector<int>(60'000, 1))});
  for (int i = 0; i < 4; ++i) patches.push_back(Copy("/spec/z", "/spec/x"));
  EXPECT_EQ(Grow({{"jsonPatches", patches}}).field, "spec.overrides[2].jsonPatches[4]");
  patches.erase(4);
  EXPECT_EQ(Grow({{"jsonPatches", patches}}).field, "");
}

TEST(OverrideBoundsTest, ATemplateOfAMegabyteWithOverridesIsRendered) {
  Json workload = Workload();
  workload["metadata"]["annotations"]["large"] = std::string(1 << 20, 'x');
  EXPECT_EQ(Grow(J(R"({"replicas":3,"images":[{"name":"web","image":"{{nodepool}}/w:2"}]})"), workload).field, "");
}

TEST(OverrideBoundsTest, ErrorNamesTheFix) {
  Json workload = Workload();
  const Status status =
      Apply({{"jsonPatches", {Operation("add", "/spec/z", std::string(2'000'000, 'x'))}}}, 0, "p", workload);
  ASSERT_FALSE(status.has_value());
  EXPECT_NE(status.error().message.find("remove or shorten"), std::string::npos) << status.error().message;
  EXPECT_LT(status.error().message.size(), 600U);
}

TEST(OverrideTest, RejectsValuesOfWrongTypes) {
  for (const char* entry :
       {"[]", R"({"replicas":-1})", R"({"replicas":"2"})", R"({"images":{}})", R"({"images":[1]})",
        R"({"images":[{"name":"web"}]})", R"({"patch":[]})", R"({"jsonPatches":{}})", R"({"patch":{"spec":null}})",
        R"({"patch":{"metadata":"text"}})", R"({"patch":{"template":{}}})"}) {
    EXPECT_EQ(Rejected(entry).reason, Reason::kInvalid) << entry;
  }
}

}  // namespace
}  // namespace yad
