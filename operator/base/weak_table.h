// What several objects share, found by a key for as long as one of them holds it.
#ifndef OPERATOR_BASE_WEAK_TABLE_H_
#define OPERATOR_BASE_WEAK_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "operator/base/guarded.h"

namespace yad {

// Thread-safe. The last who holds a value takes it along; its key goes at some later Set.
template <typename T>
class WeakTable {
 public:
  // nullptr: nobody holds one.
  std::shared_ptr<const T> Find(std::uint64_t key) const {
    return table_.With([&](const Table& table) {
      const auto found = table.values.find(key);
      return found == table.values.end() ? nullptr : found->second.lock();
    });
  }
  void Set(std::uint64_t key, const std::shared_ptr<const T>& value) {
    table_.With([&](Table& table) {
      if (table.values.size() >= table.sweep_at) {
        std::erase_if(table.values, [](const auto& entry) { return entry.second.expired(); });
        table.sweep_at = 2 * table.values.size() + 64;
      }
      table.values[key] = value;
    });
  }

 private:
  struct Table {
    std::unordered_map<std::uint64_t, std::weak_ptr<const T>> values;
    std::size_t sweep_at = 64;
  };
  Guarded<Table> table_;
};

}  // namespace yad

#endif  // OPERATOR_BASE_WEAK_TABLE_H_
