// A state of the cluster: the objects in the apiserver, and the last changes of each type, which caches might not show
// yet. The form is canonical: equal situations have equal States.
#ifndef TESTS_MODEL_STATE_H_
#define TESTS_MODEL_STATE_H_

#include <array>
#include <cstdint>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "operator/api/object.h"

namespace yad::model {

enum Kind : std::uint8_t { kDaemon, kPool, kWorkload, kRevision, kService, kFreeze };
inline constexpr int kKinds = 6;
const ResourceType& TypeOf(Kind kind);

// One version of an object, without resourceVersion. `gone`: the object does not exist. Immutable.
// Only daemons have a uid, because the names of workloads contain the uid's hash.
struct Content {
  Kind kind = kDaemon;
  ObjectKey key;
  std::uint64_t key_hash = 0;
  std::uint64_t hash = 0;  // of kind, key and text; the same in every run
  std::uint32_t id = 0;
  bool gone = false;
  std::string text;

  bool deleting = false;
  StringMap labels;
  std::string owner;                 // uid of the controller, "" for none
  std::string uid;                   // of a daemon
  bool paused = false;               // of a daemon
  bool gated = false;                // of a daemon: it uses RollingUpdate, so gates delay its updates
  std::string current;               // of a daemon: status.currentRevision
  std::string update;                // of a daemon: status.updateRevision
  std::uint64_t without_status = 0;  // of a daemon: a hash of all but its status
  std::string digest;                // of a daemon's spec, or of a revision's content
  bool selected = false;             // of a pool
  bool held = false;                 // of a pool: its annotation holds it
  bool offline = false;              // of a pool
  bool expires = false;              // of a freeze: it ends at kFreezeEnds
  std::string pool;                  // of a workload or a Service, from its selector
  std::string label;                 // of a workload: the revision
  bool labelled = false;             // of a workload: informers show it
  bool foreign = false;              // of a workload: the operator must not change it
  int port = 0;                      // of a Service, or of a revision's Service template; 0: none
  std::string fault;                 // of a workload or a Service: a violation in owner, selector or labels; "": none

  Json Parse() const { return Json::parse(text); }
};

// Every Content of this process. References stay valid until the process exits. Thread-safe.
class Contents {
 public:
  static Contents& Get();
  // Returns the Content of `object`. For null, returns a Content that is `gone`.
  const Content& Intern(Kind kind, const ObjectKey& key, Json object);
  const Content& At(std::uint32_t id) const { return *by_id_[id]; }
  std::size_t size() const;

 private:
  Contents();
  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::vector<const Content*> by_id_;  // never reallocated
};

// A Content and its incarnation. The first object of a name in a State has incarnation 0, and each new object has the
// next number.
class Cell {
 public:
  Cell() = default;
  Cell(const Content& content, unsigned incarnation) : bits_(content.id << 4 | incarnation) {}
  static Cell OfBits(std::uint32_t bits) { return Cell(bits); }
  const Content& content() const { return Contents::Get().At(bits_ >> 4); }
  unsigned incarnation() const { return bits_ & 15; }
  std::uint32_t bits() const { return bits_; }
  bool operator==(const Cell&) const = default;

 private:
  explicit Cell(std::uint32_t bits) : bits_(bits) {}
  std::uint32_t bits_ = 0;
};
using Cells = std::vector<Cell>;

// The objects of one type. The server's objects are `base` after all `events`. A cache's objects are `base` after the
// first few events.
struct Table {
  Cells base;    // by key_hash
  Cells events;  // oldest first; a Cell whose content is gone is a deletion

  Cells At(std::size_t events_seen) const;
  Cells Live() const { return At(events.size()); }
  // Returns the object with this name after the first `events_seen` events, or nullptr.
  const Content* Find(std::uint64_t key_hash, std::size_t events_seen) const;
  // Returns the incarnation for a new object of this name.
  unsigned NextIncarnation(std::uint64_t key_hash) const;
  void Change(const Content& content);  // adds an event
  void Fold(std::size_t lag);           // moves all events except the last `lag` into `base`
};

struct Fingerprint {
  std::uint64_t a = 0, b = 0;
  bool operator==(const Fingerprint&) const = default;
  void Add(std::uint64_t value);
};

struct State {
  std::array<Table, kKinds> tables;
  std::uint32_t clock = 0;  // seconds since the start; only worlds with gates change it

  Table& operator[](Kind kind) { return tables[kind]; }
  const Table& operator[](Kind kind) const { return tables[kind]; }

  void Canonicalize(std::size_t lag);
  Fingerprint fingerprint() const;  // the same in every run
  std::vector<std::uint32_t> Pack() const;
  static State Unpack(const std::vector<std::uint32_t>& packed);
};

std::uint64_t KeyHash(Kind kind, const ObjectKey& key);
std::uint64_t ContentHash(Kind kind, const ObjectKey& key, const std::string& text);  // Content::hash
const Content* FindByName(const Cells& cells, std::uint64_t key_hash);

}  // namespace yad::model

template <>
struct std::hash<yad::model::Fingerprint> {
  std::size_t operator()(const yad::model::Fingerprint& print) const noexcept { return print.a; }
};

#endif  // TESTS_MODEL_STATE_H_
