// A Store under random histories, and under several threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <thread>

#include "operator/runtime/store.h"
#include "tests/unit/runtime/store_objects.h"

namespace yad::testing {
namespace {

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
}  // namespace yad::testing
