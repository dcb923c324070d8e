#include "operator/json/packed_bytes.h"

#include <lz4.h>

#include <array>
#include <cstring>

#include "operator/base/weak_table.h"

namespace yad {
namespace {

// The current dictionary of each family.
WeakTable<std::string>& Dictionaries() {
  // Never destroyed, because threads may still use it while the process exits.
  static auto& dictionaries = *new WeakTable<std::string>;
  return dictionaries;
}

}  // namespace

PackedBytes::PackedBytes(std::string_view bytes, std::uint64_t family) {
  unpacked_size_ = static_cast<std::uint32_t>(bytes.size());
  if (bytes.size() <= LZ4_MAX_INPUT_SIZE && (dictionary_ = Dictionaries().Find(family))) {
    // The bytes are compressed only if they shrink to half.
    const std::size_t room = bytes.size() / 2;
    std::array<char, 4096> on_stack;
    std::unique_ptr<char[]> on_heap;
    if (room > on_stack.size()) on_heap = std::make_unique_for_overwrite<char[]>(room);
    char* const packed = on_heap ? on_heap.get() : on_stack.data();
    LZ4_stream_t state;
    LZ4_initStream(&state, sizeof state);
    LZ4_loadDict(&state, dictionary_->data(), static_cast<int>(dictionary_->size()));
    const int size = LZ4_compress_fast_continue(&state, bytes.data(), packed, static_cast<int>(bytes.size()),
                                                static_cast<int>(room), 1);
    if (size > 0) {
      packed_size_ = static_cast<std::uint32_t>(size);
      auto kept = std::make_shared_for_overwrite<char[]>(packed_size_);
      std::memcpy(kept.get(), packed, packed_size_);
      packed_ = std::move(kept);
      return;
    }
  }
  dictionary_ = std::make_shared<const std::string>(bytes);
  Dictionaries().Set(family, dictionary_);
}

std::string PackedBytes::Unpack() const {
  if (!packed_) return dictionary_ ? *dictionary_ : std::string();
  std::string bytes(unpacked_size_, '\0');
  LZ4_decompress_safe_usingDict(packed_.get(), bytes.data(), static_cast<int>(packed_size_),
                                static_cast<int>(unpacked_size_), dictionary_->data(),
                                static_cast<int>(dictionary_->size()));
  return bytes;
}

std::size_t PackedBytes::size() const { return packed_ ? packed_size_ : dictionary_ ? dictionary_->size() : 0; }

}  // namespace yad
