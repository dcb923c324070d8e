// The memory of a cached object.
#ifndef TESTS_SUPPORT_OBJECT_BYTES_H_
#define TESTS_SUPPORT_OBJECT_BYTES_H_

#include <string>

#include "operator/runtime/store.h"

namespace yad::testing {

inline std::size_t BytesOf(const std::string& text) {
  return text.capacity() > 15 ? text.capacity() + 1 : 0;  // Shorter strings are stored in the string object itself.
}

inline std::size_t BytesOf(const StringMap& map) {
  std::size_t sum = 0;
  for (const auto& [key, value] : map) sum += sizeof(key) + sizeof(value) + BytesOf(key) + BytesOf(value);
  return sum;
}

// Returns the approximate size in memory, without the projection and without memory that objects share.
inline std::size_t BytesOf(const StoredObject& object) {
  const ObjectMeta& meta = object.meta();
  return sizeof object + object.packed_bytes() + BytesOf(meta.key.ns) + BytesOf(meta.key.name) + BytesOf(meta.uid) +
         BytesOf(meta.creation_timestamp) + BytesOf(meta.deletion_timestamp) + BytesOf(meta.labels) +
         BytesOf(meta.annotations);
}

}  // namespace yad::testing

#endif  // TESTS_SUPPORT_OBJECT_BYTES_H_
