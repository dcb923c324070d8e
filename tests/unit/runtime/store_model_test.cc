// A Store with random events, and with several threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <thread>

#include "operator/runtime/store.h"
#include "tests/unit/runtime/store_objects.h"

namespace yad::testing {
namespace {

// A server with a log of its changes. The watch is late and repeats some events. Between events, the store receives new
// lists and the responses to this process's writes.
// - The changes that handlers receive must add up to the state that the watch has shown.
// - The store must never be older than this state.
class RandomHistory {
 public:
  explicit RandomHistory(unsigned seed) : seed_(seed), random_(seed) { List(); }

  void Step() {
    const std::string name(1, static_cast<char>('a' + Pick(4)));
    switch (Pick(8)) {
      case 0:
      case 1:  // another client writes
        Write(name);
        break;
      case 2:  // this process writes, and observes the response immediately
        store_.Observe(Make(name, std::to_string(Write(name))));
        break;
      case 3:  // this process observes the response to an earlier write
        if (server_.contains(name)) store_.Observe(Make(name, std::to_string(server_[name])));
        break;
      case 4:
        if (server_.erase(name) > 0) history_.push_back({NextVersion(), name, true});
        break;
      case 5:
        if (Pick(6) == 0) List();
        break;
      default:
        ShowOne();
    }
  }
  void CheckStep(int step) {
    std::map<std::string, std::string> watched;
    for (std::size_t i = 0; i < shown_; ++i) {
      if (history_[i].deleted) {
        watched.erase(history_[i].name);
      } else {
        watched[history_[i].name] = std::to_string(history_[i].version);
      }
    }
    ASSERT_EQ(heard_, watched) << "seed " << seed_ << " step " << step;
    for (const auto& [key, number] : watched) {
      const auto held = store_.Get({"ns", key});
      ASSERT_TRUE(held) << "seed " << seed_ << " step " << step << " " << key;
      ASSERT_NE(CompareResourceVersions(VersionOf(*held), number), -1);
    }
  }
  // After a list, the store must have the server's objects.
  void CheckEnd() {
    List();
    std::map<std::string, int> held;
    const auto objects = store_.List();
    for (const ObjectPtr& object : *objects) held[object->meta().key.name] = std::stoi(VersionOf(object));
    ASSERT_EQ(held, server_) << seed_;
  }

 private:
  struct Entry {
    int version;
    std::string name;
    bool deleted;
  };

  int Pick(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  int NextVersion() const { return static_cast<int>(history_.size()) + 1; }
  // Writes the object. Returns its new version.
  int Write(const std::string& name) {
    const int next = NextVersion();
    history_.push_back({next, name, false});
    server_[name] = next;
    return next;
  }

  void Hear(const std::optional<Store::Change>& change) {
    if (!change) return;
    const std::string name = (change->after ? change->after : change->before)->meta().key.name;
    const std::string before = heard_.contains(name) ? heard_[name] : "-";
    // If only Observe has stored an object, handlers may receive its deletion without an earlier change.
    if (change->after) {
      EXPECT_EQ(VersionOf(change->before), before) << seed_;
      heard_[name] = VersionOf(change->after);
    } else {
      heard_.erase(name);
    }
  }
  void List() {
    std::map<std::string, int> at;
    for (const Entry& entry : history_) {
      if (entry.deleted) {
        at.erase(entry.name);
      } else {
        at[entry.name] = entry.version;
      }
    }
    std::vector<ObjectPtr> objects;
    for (const auto& [name, number] : at) objects.push_back(Make(name, std::to_string(number)));
    std::shuffle(objects.begin(), objects.end(), random_);
    shown_ = history_.size();
    for (Store::Change& change : store_.Replace(objects, std::to_string(shown_))) Hear(change);
  }
  // Shows the next entry of the log, or sometimes an earlier entry again.
  void ShowOne() {
    std::size_t index = shown_;
    if (shown_ > 0 && Pick(5) == 0) index = static_cast<std::size_t>(Pick(static_cast<int>(shown_)));
    if (index >= history_.size()) return;
    const Entry& entry = history_[index];
    const ObjectPtr object = Make(entry.name, std::to_string(entry.version));
    Hear(entry.deleted ? store_.Remove(object) : store_.Apply(object));
    if (index == shown_) ++shown_;
    if (Pick(4) == 0 && shown_ > 0) store_.Advance(std::to_string(shown_));
  }

  unsigned seed_;
  std::mt19937 random_;
  std::vector<Entry> history_;                // index: version - 1
  std::map<std::string, int> server_;         // name -> version now
  std::map<std::string, std::string> heard_;  // the state that the handlers have received
  Store store_;
  std::size_t shown_ = 0;  // how many entries of history_ the watch has shown
};

TEST(StoreTest, HandlersGetTheWatchedStateAndTheStoreIsNeverOlderInRandomHistories) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    RandomHistory history(seed);
    for (int step = 0; step < 120; ++step) {
      history.Step();
      ASSERT_NO_FATAL_FAILURE(history.CheckStep(step));
    }
    ASSERT_NO_FATAL_FAILURE(history.CheckEnd());
  }
}

TEST(StoreTest, ConcurrentReadersAndWritersAreSafe) {
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
