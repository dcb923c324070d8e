#include "operator/runtime/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

namespace yad {
namespace {

using ::testing::UnorderedElementsAre;

Json MakeJson(const std::string& name, const std::string& version, const std::string& uid = "u",
              const std::string& value = "") {
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata", {{"namespace", "ns"}, {"name", name}, {"uid", uid}, {"resourceVersion", version}}},
          {"data", {{"value", value}}}};
}

ObjectPtr Make(const std::string& name, const std::string& version, const std::string& uid = "u") {
  return std::make_shared<const StoredObject>(MakeJson(name, version, uid), nullptr);
}

std::string VersionOf(const ObjectPtr& object) { return object ? object->meta().resource_version : "-"; }

// Returns "x 1->2" (changed), "x -->1" (added) or "x 1->-" (deleted).
std::string Say(const Store::Change& change) {
  const ObjectPtr& any = change.after ? change.after : change.before;
  return any->meta().key.name + " " + VersionOf(change.before) + "->" + VersionOf(change.after);
}
std::string Say(const std::optional<Store::Change>& change) { return change ? Say(*change) : "no news"; }
std::vector<std::string> Say(const std::vector<Store::Change>& changes) {
  std::vector<std::string> said;
  for (const Store::Change& change : changes) said.push_back(Say(change));
  std::sort(said.begin(), said.end());
  return said;
}

std::string InStore(const Store& store, const std::string& name) {
  Result<ObjectPtr> object = store.Get({"ns", name});
  return object ? VersionOf(*object) : std::string(ToString(object.error().reason));
}

// ---- StoredObject

TEST(StoredObjectTest, KeepsEverything) {
  Json object = MakeJson("a", "1");
  object["spec"]["replicas"] = 3;
  object["spec"]["text"] = "quotes \" and \xC3\xA9";
  object["status"]["ready"] = true;
  EXPECT_EQ(StoredObject(object, nullptr).Parse(), object);
}

// The Store compares an object of a watch (from text) with the answer to a write (from a tree), so both must be equal.
TEST(StoredObjectTest, ObjectOfATextEqualsThatOfItsTree) {
  const std::string text = R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"ns","uid":"u",)"
                           R"("resourceVersion":"5","labels":{"z":"1","b":"2"},"managedFields":[{"manager":"x"}]},)"
                           R"("spec":{"template":{"z":[1,-2,{"y":null,"x":0.5}],"a":"text"},"replicas":3},)"
                           R"("status":{"ready":true}})";
  const JsonDocument document = *JsonDocument::Parse(text);
  const Json tree = document.TreeOfObject();
  const Json part = document.TreeOfObject({{"spec", {{"replicas"}}}});
  Json seen;
  const StoredObject from_text(ParseMeta(document), part, document, [&](const Json& object) {
    seen = object;
    return nullptr;
  });
  const StoredObject from_tree(tree, nullptr);
  EXPECT_EQ(from_text.Parse(), tree);
  EXPECT_FALSE(from_text.Parse()["metadata"].contains("managedFields"));
  EXPECT_EQ(from_text.digest(), from_tree.digest());
  EXPECT_EQ(from_text.status_digest(), from_tree.status_digest());
  EXPECT_EQ(from_text.meta().Label("z"), "1");
  EXPECT_EQ(seen, part);
  EXPECT_FALSE(part["spec"].contains("template"));
}

TEST(StoredObjectTest, KeepsObjectsThatAreStrangelyShaped) {
  for (const Json& object : {Json(nullptr), Json(3), Json::array({1}), Json::object(), Json{{"metadata", 3}},
                             Json{{"metadata", Json::object()}, {"x", Json::object()}}}) {
    EXPECT_EQ(StoredObject(object, nullptr).Parse(), object);
  }
}

TEST(StoredObjectTest, BadUtf8DoesNotThrow) {
  Json object = MakeJson("a", "1");
  object["data"]["bad"] = "\xff\xfe";
  EXPECT_TRUE(StoredObject(object, nullptr).Parse().is_object());
}

TEST(StoredObjectTest, LastAppliedIsInTheTextButNotInTheMetadata) {
  Json object = MakeJson("a", "1");
  object["metadata"]["annotations"] = {{"kubectl.kubernetes.io/last-applied-configuration", "{}"}, {"mine", "x"}};
  StoredObject stored(object, nullptr);
  EXPECT_EQ(stored.meta().annotations, (StringMap{{"mine", "x"}}));
  EXPECT_EQ(stored.Parse(), object);
}

TEST(StoredObjectTest, DigestIgnoresStatusVersionAndGeneration) {
  Json object = MakeJson("a", "1");
  const std::uint64_t digest = StoredObject(object, nullptr).digest();
  object["metadata"]["resourceVersion"] = "2";
  object["metadata"]["generation"] = 7;
  object["status"]["replicas"] = 1;
  EXPECT_EQ(StoredObject(object, nullptr).digest(), digest);
}

TEST(StoredObjectTest, AnotherDigestSeesTheStatusAndNothingElse) {
  Json object = MakeJson("a", "1");
  const std::uint64_t none = StoredObject(object, nullptr).status_digest();
  object["status"]["replicas"] = 1;
  const std::uint64_t one = StoredObject(object, nullptr).status_digest();
  EXPECT_NE(one, none);
  object["data"]["value"] = "other";
  object["metadata"]["resourceVersion"] = "2";
  EXPECT_EQ(StoredObject(object, nullptr).status_digest(), one);
  object["status"]["replicas"] = 2;
  EXPECT_NE(StoredObject(object, nullptr).status_digest(), one);
}

TEST(StoredObjectTest, DigestSeesSpecLabelsAndDeletion) {
  const Json object = MakeJson("a", "1");
  const std::uint64_t digest = StoredObject(object, nullptr).digest();
  Json spec = object, label = object, deleting = object;
  spec["data"]["value"] = "other";
  label["metadata"]["labels"]["x"] = "y";
  deleting["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  for (const Json& changed : {spec, label, deleting}) EXPECT_NE(StoredObject(changed, nullptr).digest(), digest);
}

struct ValueProjection : Projection {
  explicit ValueProjection(std::string text) : value(std::move(text)) {}
  std::string value;
};

TEST(StoredObjectTest, ProjectionIsMadeOnceFromTheObject) {
  int calls = 0;
  StoredObject stored(MakeJson("a", "1", "u", "hello"), [&](const Json& object) {
    ++calls;
    return std::make_unique<ValueProjection>(StringAt(object, {"data", "value"}));
  });
  EXPECT_EQ(dynamic_cast<const ValueProjection&>(*stored.projection()).value, "hello");
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(StoredObject(MakeJson("a", "1"), nullptr).projection(), nullptr);
}

TEST(StoredObjectTest, WorkloadsOfOneOwnerTakeLessThanTheirText) {
  Json object =
      MakeJson("a-workload-with-a-name-of-usual-length-x7k2p", "123456", "0b7c6a3e-7a5e-4f7e-9d9b-5a2f0e1c3d4b");
  for (const char* label : {"example.com/some-label-name", "example.com/hash", "app"}) {
    object["metadata"]["labels"][label] = "some-label-value-of-usual-length";
  }
  object["metadata"]["ownerReferences"] = Json::array({{{"apiVersion", "example.com/v1alpha1"},
                                                        {"kind", "Something"},
                                                        {"name", "the-owner-of-it-all"},
                                                        {"uid", "0b7c6a3e-7a5e-4f7e-9d9b-5a2f0e1c3d4c"},
                                                        {"controller", true}}});
  for (int i = 0; i < 100; ++i) object["spec"]["field" + std::to_string(i)] = std::to_string(i * i * i);
  const StoredObject first(object, nullptr);
  EXPECT_GT(first.bytes(), first.Parse().dump().size());
  object["metadata"]["name"] = "another-workload-with-a-name-of-usual-length-x7k2p";
  object["metadata"]["uid"] = "3c7f8d1e-7a5e-4f7e-9d9b-5a2f0e1c3d4e";
  const StoredObject second(object, nullptr);
  EXPECT_LT(second.bytes(), second.Parse().dump().size());
}

TEST(CompareResourceVersionsTest, ComparesIntegersOfAnySize) {
  EXPECT_EQ(CompareResourceVersions("9", "10"), -1);
  EXPECT_EQ(CompareResourceVersions("10", "9"), 1);
  EXPECT_EQ(CompareResourceVersions("10", "10"), 0);
  EXPECT_EQ(CompareResourceVersions("010", "10"), 0);
  EXPECT_EQ(CompareResourceVersions("0", "1"), -1);
  EXPECT_EQ(CompareResourceVersions("99999999999999999999998", "99999999999999999999999"), -1);
}

TEST(CompareResourceVersionsTest, NonNumericVersionsHaveNoOrder) {
  EXPECT_EQ(CompareResourceVersions("a", "b"), std::nullopt);
  EXPECT_EQ(CompareResourceVersions("1", ""), std::nullopt);
  EXPECT_EQ(CompareResourceVersions("1", "-2"), std::nullopt);
  EXPECT_EQ(CompareResourceVersions("a", "a"), 0);
}

// ---- Reading

TEST(StoreTest, UnsyncedStoreReportsNothingAsAbsent) {
  Store store;
  store.AddIndex("i", [](const StoredObject&) { return std::vector<std::string>{"v"}; });
  EXPECT_FALSE(store.synced());
  EXPECT_EQ(store.List().error().reason, Reason::kNotSynced);
  EXPECT_EQ(store.Get({"ns", "a"}).error().reason, Reason::kNotSynced);
  EXPECT_EQ(store.ByIndex("i", "v").error().reason, Reason::kNotSynced);
  store.Apply(Make("a", "1"));
  EXPECT_EQ(store.List().error().reason, Reason::kNotSynced);
}

TEST(StoreTest, AnEmptyListIsAnAnswer) {
  Store store;
  EXPECT_TRUE(store.Replace({}, "5").empty());
  EXPECT_TRUE(store.synced());
  EXPECT_TRUE(store.List()->empty());
  EXPECT_EQ(store.Get({"ns", "a"}).error().reason, Reason::kNotFound);
}

TEST(StoreTest, IndexFollowsEveryChange) {
  Store store;
  store.AddIndex("uid", [](const StoredObject& object) { return std::vector<std::string>{object.meta().uid}; });
  const auto names = [&](const std::string& uid) {
    std::vector<std::string> result;
    const auto objects = store.ByIndex("uid", uid);
    for (const ObjectPtr& object : *objects) result.push_back(object->meta().key.name);
    return result;
  };
  store.Replace({Make("a", "1", "u1"), Make("b", "2", "u1"), Make("c", "3", "u2")}, "3");
  EXPECT_THAT(names("u1"), UnorderedElementsAre("a", "b"));
  store.Apply(Make("a", "4", "u2"));
  EXPECT_THAT(names("u1"), UnorderedElementsAre("b"));
  EXPECT_THAT(names("u2"), UnorderedElementsAre("a", "c"));
  store.Remove(Make("c", "5", "u2"));
  EXPECT_THAT(names("u2"), UnorderedElementsAre("a"));
  store.Observe(Make("d", "6", "u2"));
  EXPECT_THAT(names("u2"), UnorderedElementsAre("a", "d"));
  store.Replace({}, "7");
  EXPECT_THAT(names("u2"), UnorderedElementsAre());
  EXPECT_EQ(store.ByIndex("no such", "x").error().reason, Reason::kConfig);
}

// ---- List and watch

TEST(StoreTest, ObjectsMissingInANewListAreDeleted) {
  Store store;
  EXPECT_THAT(Say(store.Replace({Make("a", "1"), Make("b", "2"), Make("c", "3")}, "3")),
              UnorderedElementsAre("a -->1", "b -->2", "c -->3"));
  EXPECT_THAT(Say(store.Replace({Make("b", "2"), Make("c", "8"), Make("d", "9")}, "10")),
              UnorderedElementsAre("a 1->-", "c 3->8", "d -->9"));
  EXPECT_EQ(store.size(), 3u);
}

TEST(StoreTest, NewestOfDuplicatesInAListCounts) {
  Store store;
  EXPECT_THAT(Say(store.Replace({Make("a", "7"), Make("a", "3"), Make("b", "1"), Make("b", "2")}, "9")),
              UnorderedElementsAre("a -->7", "b -->2"));
}

TEST(StoreTest, ObjectsWithoutANameAreLeftOut) {
  Store store;
  EXPECT_THAT(Say(store.Replace({Make("", "1"), Make("a", "2")}, "3")), UnorderedElementsAre("a -->2"));
  EXPECT_EQ(Say(store.Apply(Make("", "4"))), "no news");
  store.Observe(Make("", "5"));
  EXPECT_EQ(store.size(), 1u);
}

TEST(StoreTest, AnOlderObjectInANewerListDoesNotGoBackInTime) {
  Store store;
  store.Replace({Make("a", "5")}, "5");
  EXPECT_THAT(Say(store.Replace({Make("a", "4")}, "6")), UnorderedElementsAre());
  EXPECT_EQ(InStore(store, "a"), "5");
}

TEST(StoreTest, DuplicateAndOlderEventsAreIgnored) {
  Store store;
  store.Replace({Make("a", "5")}, "5");
  EXPECT_EQ(Say(store.Apply(Make("a", "7"))), "a 5->7");
  EXPECT_EQ(Say(store.Apply(Make("a", "7"))), "no news");
  EXPECT_EQ(Say(store.Apply(Make("a", "6"))), "no news");
  EXPECT_EQ(Say(store.Remove(Make("a", "6"))), "no news");
  EXPECT_EQ(InStore(store, "a"), "7");
  EXPECT_EQ(Say(store.Remove(Make("a", "8"))), "a 7->-");
  EXPECT_EQ(Say(store.Remove(Make("a", "8"))), "no news");
  EXPECT_EQ(Say(store.Apply(Make("a", "7"))), "no news") << "a repeated event must not bring back what was deleted";
  EXPECT_EQ(InStore(store, "a"), "NotFound");
}

TEST(StoreTest, ADeletionWithTheVersionThatWeHaveIsOne) {
  Store store;
  store.Replace({Make("a", "5")}, "5");
  EXPECT_EQ(Say(store.Remove(Make("a", "5"))), "a 5->-");
}

TEST(StoreTest, VersionsWithoutOrderAlwaysApply) {
  Store store;
  store.Replace({Make("a", "x")}, "list");
  EXPECT_EQ(Say(store.Apply(Make("a", "w"))), "a x->w");
  EXPECT_EQ(Say(store.Apply(Make("a", "w"))), "no news");
  store.Observe(Make("a", "z"));
  EXPECT_EQ(InStore(store, "a"), "w");
  EXPECT_EQ(Say(store.Apply(Make("b", "list"))), "b -->list");
  EXPECT_EQ(Say(store.Remove(Make("a", "v"))), "a w->-");
}

TEST(StoreTest, ANamesakeIsOneChangeWithTwoUids) {
  Store store;
  store.Replace({Make("a", "5", "u1")}, "5");
  const auto changes = store.Replace({Make("a", "9", "u2")}, "9");
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].before->meta().uid, "u1");
  EXPECT_EQ(changes[0].after->meta().uid, "u2");
}

// ---- Observe

TEST(StoreTest, ObservedObjectIsThereAtOnceAndAnnouncedByTheWatch) {
  Store store;
  store.Replace({Make("a", "5")}, "5");
  store.Observe(Make("a", "9"));
  store.Observe(Make("b", "10"));
  EXPECT_EQ(InStore(store, "a"), "9");
  EXPECT_EQ(InStore(store, "b"), "10");
  EXPECT_EQ(Say(store.Apply(Make("a", "9"))), "a 5->9");
  EXPECT_EQ(Say(store.Apply(Make("a", "9"))), "no news");
  EXPECT_EQ(Say(store.Apply(Make("b", "10"))), "b -->10");
}

TEST(StoreTest, HandlersGetTheWatchsEventsWhileTheStoreIsAhead) {
  Store store;
  store.Replace({Make("a", "5")}, "5");
  store.Observe(Make("a", "9"));
  EXPECT_EQ(Say(store.Apply(Make("a", "7"))), "a 5->7");
  EXPECT_EQ(InStore(store, "a"), "9");
  EXPECT_EQ(Say(store.Apply(Make("a", "9"))), "a 7->9");
}

TEST(StoreTest, ObserveDoesNotResurrectWhatTheWatchHasSeenDeleted) {
  Store store;
  store.Replace({Make("a", "5")}, "5");
  store.Remove(Make("a", "9"));
  store.Observe(Make("a", "8"));  // Our write came before the deletion, and its answer comes after it.
  EXPECT_EQ(InStore(store, "a"), "NotFound");
}

TEST(StoreTest, ObserveDoesNotGoBackInTime) {
  Store store;
  store.Replace({Make("a", "5")}, "5");
  store.Apply(Make("a", "9"));
  store.Observe(Make("a", "7"));
  EXPECT_EQ(InStore(store, "a"), "9");
  store.Observe(Make("a", "12"));
  store.Observe(Make("a", "11"));
  EXPECT_EQ(InStore(store, "a"), "12");
}

TEST(StoreTest, ABookmarkMovesThePositionThatObserveHasToPass) {
  Store store;
  store.Replace({}, "5");
  store.Advance("20");
  store.Observe(Make("a", "15"));
  EXPECT_EQ(InStore(store, "a"), "NotFound");
  store.Advance("3");
  store.Observe(Make("a", "15"));
  EXPECT_EQ(InStore(store, "a"), "NotFound") << "an old bookmark must not move the position back";
}

TEST(StoreTest, ASuccessorOutlivesTheDeletionOfItsNamesake) {
  Store store;
  store.Replace({Make("a", "5", "u1")}, "5");
  store.Observe(Make("a", "9", "u2"));
  EXPECT_EQ(Say(store.Remove(Make("a", "7", "u1"))), "a 5->-");
  EXPECT_EQ(InStore(store, "a"), "9");
  EXPECT_EQ(Say(store.Remove(Make("a", "7", "u1"))), "no news");
  EXPECT_EQ(Say(store.Apply(Make("a", "9", "u2"))), "a -->9");
}

TEST(StoreTest, DeletionOfAnObservedObjectIsReportedWithItsLastKnownState) {
  Store store;
  store.Replace({}, "5");
  store.Observe(Make("a", "9"));
  EXPECT_EQ(Say(store.Remove(Make("a", "12"))), "a 9->-");
  EXPECT_EQ(InStore(store, "a"), "NotFound");
}

TEST(StoreTest, ANewListKeepsObservedObjectsThatAreNewer) {
  Store store;
  store.Replace({Make("a", "1"), Make("b", "2"), Make("c", "3")}, "5");
  store.Observe(Make("a", "12"));
  store.Observe(Make("new", "11"));
  store.Observe(Make("c", "9"));
  // Another client changed a at 7 and deleted b and c; c was deleted at 10, after our write.
  EXPECT_THAT(Say(store.Replace({Make("a", "7")}, "10")), UnorderedElementsAre("a 1->7", "b 2->-", "c 9->-"));
  EXPECT_EQ(InStore(store, "a"), "12");
  EXPECT_EQ(InStore(store, "new"), "11");
  EXPECT_EQ(InStore(store, "c"), "NotFound");
  EXPECT_EQ(Say(store.Apply(Make("new", "11"))), "new -->11");
  EXPECT_EQ(Say(store.Apply(Make("a", "12"))), "a 7->12");
}

TEST(StoreTest, NewListReportsTheDeletionBeforeAnObservedSuccessor) {
  Store store;
  store.Replace({Make("a", "1", "u1")}, "5");
  store.Observe(Make("a", "12", "u2"));
  EXPECT_THAT(Say(store.Replace({}, "10")), UnorderedElementsAre("a 1->-"));
  EXPECT_EQ(InStore(store, "a"), "12");
  EXPECT_EQ(Say(store.Apply(Make("a", "12", "u2"))), "a -->12");
}

TEST(StoreTest, AnObservedObjectThatAListShowsIsAnnounced) {
  Store store;
  store.Replace({}, "5");
  store.Observe(Make("a", "9"));
  EXPECT_THAT(Say(store.Replace({Make("a", "9")}, "10")), UnorderedElementsAre("a -->9"));
}

TEST(StoreTest, ObservedWriteThatTheWatchPassedWithoutShowingIsRemoved) {
  Store store;
  store.Replace({Make("a", "1")}, "5");
  store.Observe(Make("a", "8"));  // A webhook removed the label by which the informer selects.
  store.Observe(Make("b", "9"));
  store.Observe(Make("later", "20"));
  store.Advance("10");
  EXPECT_EQ(InStore(store, "a"), "1");
  EXPECT_EQ(InStore(store, "b"), "NotFound");
  EXPECT_EQ(InStore(store, "later"), "20");
}

TEST(StoreTest, ObservedBeforeTheFirstListStaysIfNewer) {
  Store store;
  store.Observe(Make("old", "3"));
  store.Observe(Make("new", "9"));
  EXPECT_THAT(Say(store.Replace({}, "5")), UnorderedElementsAre("old 3->-"));
  EXPECT_EQ(InStore(store, "new"), "9");
}

// A server with a log of versions. The store gets the events late, with repeats, relists and the answers to our own
// writes in random order. The handlers' events must add up to the state that the watch has shown, and the store must
// never be older than that state.
TEST(StoreTest, ModelOfRandomHistories) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
    struct Entry {
      int version;
      std::string name;
      bool deleted;
    };
    std::vector<Entry> history;                // index: version - 1
    std::map<std::string, int> server;         // name -> version now
    std::map<std::string, std::string> heard;  // the handlers' state
    Store store;
    std::size_t shown = 0;  // entries of the history
    const auto version = [](int number) { return std::to_string(number); };
    const auto hear = [&](const std::optional<Store::Change>& change) {
      if (!change) return;
      const std::string name = (change->after ? change->after : change->before)->meta().key.name;
      const std::string before = heard.contains(name) ? heard[name] : "-";
      // A deletion may report an object that was only observed.
      if (change->after) {
        EXPECT_EQ(VersionOf(change->before), before) << seed;
        heard[name] = VersionOf(change->after);
      } else {
        heard.erase(name);
      }
    };
    const auto list = [&] {
      std::map<std::string, int> at;
      for (const Entry& entry : history) {
        if (entry.deleted) {
          at.erase(entry.name);
        } else {
          at[entry.name] = entry.version;
        }
      }
      std::vector<ObjectPtr> objects;
      for (const auto& [name, number] : at) objects.push_back(Make(name, version(number)));
      std::shuffle(objects.begin(), objects.end(), random);
      shown = history.size();
      for (Store::Change& change : store.Replace(objects, version(static_cast<int>(shown)))) hear(change);
    };
    list();
    for (int step = 0; step < 120; ++step) {
      const std::string name(1, static_cast<char>('a' + pick(4)));
      const int next = static_cast<int>(history.size()) + 1;
      switch (pick(8)) {
        case 0:
        case 1:  // another client writes
          history.push_back({next, name, false});
          server[name] = next;
          break;
        case 2:  // we write, and Observe the answer now or ...
          history.push_back({next, name, false});
          server[name] = next;
          store.Observe(Make(name, version(next)));
          break;
        case 3:  // ... late
          if (server.contains(name)) store.Observe(Make(name, version(server[name])));
          break;
        case 4:
          if (server.erase(name) > 0) history.push_back({next, name, true});
          break;
        case 5:
          if (pick(6) == 0) list();
          break;
        default:  // the watch shows one more, sometimes an old one again
          std::size_t index = shown;
          if (shown > 0 && pick(5) == 0) index = static_cast<std::size_t>(pick(static_cast<int>(shown)));
          if (index >= history.size()) break;
          const Entry& entry = history[index];
          const ObjectPtr object = Make(entry.name, version(entry.version));
          hear(entry.deleted ? store.Remove(object) : store.Apply(object));
          if (index == shown) ++shown;
          if (pick(4) == 0 && shown > 0) store.Advance(version(static_cast<int>(shown)));
      }
      std::map<std::string, std::string> watched;
      for (std::size_t i = 0; i < shown; ++i) {
        if (history[i].deleted) {
          watched.erase(history[i].name);
        } else {
          watched[history[i].name] = version(history[i].version);
        }
      }
      ASSERT_EQ(heard, watched) << "seed " << seed << " step " << step;
      for (const auto& [key, number] : watched) {
        const auto held = store.Get({"ns", key});
        ASSERT_TRUE(held) << "seed " << seed << " step " << step << " " << key;
        ASSERT_NE(CompareResourceVersions(VersionOf(*held), number), -1);
      }
    }
    list();
    std::map<std::string, int> held;
    const auto objects = store.List();
    for (const ObjectPtr& object : *objects) held[object->meta().key.name] = std::stoi(VersionOf(object));
    ASSERT_EQ(held, server) << seed;
  }
}

TEST(StoreTest, ReadersAndWritersMayMeet) {
  Store store;
  store.AddIndex("uid", [](const StoredObject& object) { return std::vector<std::string>{object.meta().uid}; });
  store.Replace({}, "1");
  std::jthread reader([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      (void)store.List();
      (void)store.ByIndex("uid", "u");
      (void)store.Get({"ns", "a1"});
    }
  });
  std::jthread observer([&] {
    for (int i = 2; i < 300; ++i) store.Observe(Make("a" + std::to_string(i % 7), std::to_string(i)));
  });
  for (int i = 2; i < 300; ++i) {
    store.Apply(Make("a" + std::to_string(i % 7), std::to_string(i)));
    if (i % 5 == 0) store.Remove(Make("a" + std::to_string(i % 7), std::to_string(i)));
  }
  EXPECT_LE(store.size(), 7u);
}

}  // namespace
}  // namespace yad
