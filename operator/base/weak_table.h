// A table of weak pointers to shared values.
#ifndef OPERATOR_BASE_WEAK_TABLE_H_
#define OPERATOR_BASE_WEAK_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "operator/base/synchronized.h"

namespace yad {

// A map that does not own its values: a value is freed when its last owner releases it. The method Set also removes the
// keys of freed values from time to time. Thread-safe.
template <typename T>
class WeakTable {
 public:
  // Returns nullptr if the key has no value, or if the value was freed.
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
  Synchronized<Table> table_;
};

}  // namespace yad

#endif  // OPERATOR_BASE_WEAK_TABLE_H_
