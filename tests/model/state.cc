#include "tests/model/state.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <tuple>

#include "operator/api/well_known.h"
#include "operator/api/yurtappdaemon.h"
#include "operator/workload/revision.h"
#include "tests/model/names.h"

namespace yad::model {
namespace {

constexpr std::size_t kMaxContents = 1 << 24;

std::string FaultOf(const Json& object, const Content& content) {
  const std::string app = StringAt(object, {"metadata", "labels", "app"});
  const Json* owners = Find(object, {"metadata", "ownerReferences"});
  if (owners != nullptr && owners->size() > 1) return "two owners";
  const Json wanted = {{"matchLabels", {{"app", app}, {kPoolNameLabel, content.pool}}}};
  if (object["spec"]["selector"] != wanted) return "selector";
  if (!content.key.name.starts_with(app + "-" + content.pool + "-")) return "name";
  if (StringAt(object, {"metadata", "labels", kPoolNameLabel}) != content.pool) return "pool label";
  if (StringAt(object, {"metadata", "annotations", kRefNodePoolAnnotation}) != content.pool) return "ref-nodepool";
  const Json* pod = Find(object, {"spec", "template"});
  if (StringAt(*pod, {"metadata", "labels", kPoolNameLabel}) != content.pool) return "pod label";
  if (StringAt(*pod, {"spec", "nodeSelector", kNodePoolLabel}) != content.pool) return "nodeSelector";
  return "";
}

int PortIn(const Json& service) {
  const Json* ports = Find(service, {"spec", "ports"});
  return ports == nullptr ? 0 : static_cast<int>(IntAt(ports->at(0), {"port"}));
}

void ReadFacts(const Json& object, Content& content) {
  const ObjectMeta meta = ParseMeta(object);
  content.deleting = meta.deleting();
  content.labels = meta.labels;
  if (const OwnerReference* controller = meta.controller()) content.owner = controller->uid;
  switch (content.kind) {
    case kDaemon: {
      const YurtAppDaemon daemon = *ParseYurtAppDaemon(object);
      content.uid = meta.uid;
      content.paused = daemon.paused;
      content.gated = daemon.strategy.type == UpdateStrategyType::kRollingUpdate;
      content.current = StringAt(object, {"status", "currentRevision"});
      content.update = StringAt(object, {"status", "updateRevision"});
      content.digest = ContentOf(daemon).digest;
      Json rest = object;
      rest.erase("status");
      content.without_status = Fnv1a64(rest.dump());
      break;
    }
    case kPool:
      content.selected = meta.Label(kSelectedLabel) == "yes";
      content.held = meta.annotations.contains(kHoldAnnotation);
      content.offline = ParseNodePool(object).offline;
      break;
    case kWorkload:
      content.pool = StringAt(object, {"spec", "selector", "matchLabels", kPoolNameLabel});
      content.label = meta.Label(kRevisionLabel);
      content.labelled = !meta.Label(kPoolNameLabel).empty();
      content.foreign = !meta.Annotation(kForeignAnnotation).empty();
      content.fault = FaultOf(object, content);
      break;
    case kService:
      content.pool = StringAt(object, {"spec", "selector", kPoolNameLabel});
      content.labelled = meta.Label(kPoolNameLabel) == content.pool;
      content.port = PortIn(object);
      content.fault = content.labelled ? "" : "pool label";
      break;
    case kRevision:
      if (const auto held = ContentOf(object)) {
        content.digest = held->digest;
        content.port = PortIn(held->service_template);
      }
      break;
    case kFreeze:
      content.expires = !StringAt(object, {"data", "until"}).empty();
      break;
  }
}

bool ByKey(const Cell& a, const Cell& b) { return a.content().key_hash < b.content().key_hash; }

// Inserts or replaces the cell of this name. If its content is gone, removes the cell.
void Put(Cells& cells, Cell cell) {
  const auto at = std::lower_bound(cells.begin(), cells.end(), cell, ByKey);
  const bool there = at != cells.end() && at->content().key_hash == cell.content().key_hash;
  if (cell.content().gone) {
    if (there) cells.erase(at);
  } else if (there) {
    *at = cell;
  } else {
    cells.insert(at, cell);
  }
}

// Renumbers the incarnations of each name from 0, in the order of the table.
void Renumber(Table& table) {
  struct Known {
    std::uint64_t key_hash;
    unsigned was, is;
  };
  std::vector<Known> known;
  const auto number = [&](Cell& cell) {
    const Content& content = cell.content();
    if (content.gone) return;
    unsigned count = 0;
    for (const Known& k : known) {
      if (k.key_hash != content.key_hash) continue;
      if (k.was == cell.incarnation()) {
        cell = Cell(content, k.is);
        return;
      }
      ++count;
    }
    known.push_back({content.key_hash, cell.incarnation(), count});
    cell = Cell(content, count);
  };
  for (Cell& cell : table.base) number(cell);
  for (Cell& cell : table.events) number(cell);
}

}  // namespace

const ResourceType& TypeOf(Kind kind) {
  switch (kind) {
    case kDaemon:
      return kYurtAppDaemonType;
    case kPool:
      return kNodePoolType;
    case kWorkload:
      return kDeploymentType;
    case kService:
      return kServiceType;
    case kFreeze:
      return kConfigMapType;
    case kRevision:
      break;
  }
  return kControllerRevisionType;
}

std::uint64_t KeyHash(Kind kind, const ObjectKey& key) {
  return Fnv1a64(key.ToString(), Fnv1a64(std::string(1, static_cast<char>('0' + kind))));
}

std::uint64_t ContentHash(Kind kind, const ObjectKey& key, const std::string& text) {
  return Fnv1a64(text, KeyHash(kind, key));
}

Contents& Contents::Get() {
  // Never destroyed, because references to its Contents stay valid until the process exits.
  static Contents& contents = *new Contents;
  return contents;
}

Contents::Contents() { by_id_.reserve(kMaxContents); }

std::size_t Contents::size() const {
  std::lock_guard lock(mutex_);
  return by_id_.size();
}

const Content& Contents::Intern(Kind kind, const ObjectKey& key, Json object) {
  std::string text;
  if (!object.is_null()) {
    Json& metadata = object["metadata"];
    metadata.erase("resourceVersion");
    metadata.erase("managedFields");
    if (kind != kDaemon) metadata.erase("uid");
    text = object.dump();
  }
  std::string whole = std::to_string(kind) + key.ToString() + "\n" + text;
  {
    std::lock_guard lock(mutex_);
    if (const auto found = ids_.find(whole); found != ids_.end()) return *by_id_[found->second];
  }
  auto content = std::make_unique<Content>();
  content->kind = kind;
  content->key = key;
  content->key_hash = KeyHash(kind, key);
  content->hash = ContentHash(kind, key, text);
  content->gone = object.is_null();
  content->text = std::move(text);
  if (!content->gone) ReadFacts(object, *content);

  std::lock_guard lock(mutex_);
  const auto [at, is_new] = ids_.emplace(std::move(whole), static_cast<std::uint32_t>(by_id_.size()));
  if (!is_new) return *by_id_[at->second];
  if (by_id_.size() == kMaxContents) {
    std::fprintf(stderr, "too many different objects\n");
    std::abort();
  }
  content->id = at->second;
  by_id_.push_back(content.release());
  return *by_id_.back();
}

Cells Table::At(std::size_t events_seen) const {
  Cells cells = base;
  for (std::size_t i = 0; i < events_seen && i < events.size(); ++i) Put(cells, events[i]);
  return cells;
}

const Content* Table::Find(std::uint64_t key_hash, std::size_t events_seen) const {
  for (std::size_t i = std::min(events_seen, events.size()); i-- > 0;) {
    const Content& content = events[i].content();
    if (content.key_hash == key_hash) return content.gone ? nullptr : &content;
  }
  return FindByName(base, key_hash);
}

unsigned Table::NextIncarnation(std::uint64_t key_hash) const {
  unsigned next = 0;
  const auto look = [&](const Cell& cell) {
    if (cell.content().key_hash == key_hash && !cell.content().gone) next = std::max(next, cell.incarnation() + 1);
  };
  for (const Cell& cell : base) look(cell);
  for (const Cell& cell : events) look(cell);
  if (next > 15) {
    std::fprintf(stderr, "too many objects of one name\n");
    std::abort();
  }
  return next;
}

void Table::Change(const Content& content) {
  if (content.gone) return events.push_back(Cell(content, 0));
  for (const Cell& cell : Live()) {
    if (cell.content().key_hash == content.key_hash) return events.push_back(Cell(content, cell.incarnation()));
  }
  events.push_back(Cell(content, NextIncarnation(content.key_hash)));
}

void Table::Fold(std::size_t lag) {
  if (events.size() <= lag) return;
  const std::size_t folded = events.size() - lag;
  for (std::size_t i = 0; i < folded; ++i) Put(base, events[i]);
  events.erase(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(folded));
}

void Fingerprint::Add(std::uint64_t value) {
  a = (a ^ value) * 0x9E3779B97F4A7C15ULL;
  a ^= a >> 29;
  b = (b + value) * 0xC2B2AE3D27D4EB4FULL;
  b ^= b >> 31;
}

void State::Canonicalize(std::size_t lag) {
  for (Table& table : tables) {
    table.Fold(lag);
    Renumber(table);
  }
}

Fingerprint State::fingerprint() const {
  Fingerprint print{1, 2};
  print.Add(clock);
  for (const Table& table : tables) {
    for (const Cells* cells : {&table.base, &table.events}) {
      print.Add(cells->size());
      for (const Cell& cell : *cells) print.Add(cell.content().hash + cell.incarnation());
    }
  }
  return print;
}

std::vector<std::uint32_t> State::Pack() const {
  std::vector<std::uint32_t> packed;
  std::size_t size = 1;
  for (const Table& table : tables) size += 2 + table.base.size() + table.events.size();
  packed.reserve(size);
  packed.push_back(clock);
  for (const Table& table : tables) {
    for (const Cells* cells : {&table.base, &table.events}) {
      packed.push_back(static_cast<std::uint32_t>(cells->size()));
      for (const Cell& cell : *cells) packed.push_back(cell.bits());
    }
  }
  return packed;
}

State State::Unpack(const std::vector<std::uint32_t>& packed) {
  State state;
  std::size_t at = 0;
  state.clock = packed[at++];
  for (Table& table : state.tables) {
    for (Cells* cells : {&table.base, &table.events}) {
      cells->resize(packed[at++]);
      for (Cell& cell : *cells) cell = Cell::OfBits(packed[at++]);
    }
  }
  return state;
}

const Content* FindByName(const Cells& cells, std::uint64_t key_hash) {
  for (const Cell& cell : cells) {
    if (cell.content().key_hash == key_hash) return &cell.content();
  }
  return nullptr;
}

}  // namespace yad::model
