#include "operator/base/packed_text.h"

#include <lz4.h>

#include <cstring>
#include <unordered_map>

#include "operator/base/guarded.h"

namespace yad {
namespace {

using Text = std::shared_ptr<const std::string>;

// The text with which the next ones of a family are compared. Held by those that need it: the last one takes it along.
class Families {
 public:
  Text Relative(std::uint64_t family) {
    return relatives_.With([&](auto& relatives) {
      const auto found = relatives.find(family);
      return found == relatives.end() ? nullptr : found->second.lock();
    });
  }
  void SetRelative(std::uint64_t family, const Text& text) {
    relatives_.With([&](auto& relatives) {
      if (relatives.size() >= sweep_at_) {
        std::erase_if(relatives, [](const auto& entry) { return entry.second.expired(); });
        sweep_at_ = 2 * relatives.size() + 64;
      }
      relatives[family] = text;
    });
  }

 private:
  Guarded<std::unordered_map<std::uint64_t, std::weak_ptr<const std::string>>> relatives_;
  std::size_t sweep_at_ = 64;  // with relatives_' lock
};

Families& AllFamilies() {
  static auto& families = *new Families;  // Never destroyed: threads may pack while the process ends.
  return families;
}

}  // namespace

PackedText::PackedText(std::string_view text, std::uint64_t family) {
  if (text.size() <= LZ4_MAX_INPUT_SIZE) {
    if ((relative_ = AllFamilies().Relative(family))) {
      // Worth it only where most of the text is gone.
      const int room = static_cast<int>(text.size() / 2);
      const auto packed = std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(room) + 1);
      LZ4_stream_t state;
      LZ4_initStream(&state, sizeof state);
      LZ4_loadDict(&state, relative_->data(), static_cast<int>(relative_->size()));
      const int size =
          LZ4_compress_fast_continue(&state, text.data(), packed.get(), static_cast<int>(text.size()), room, 1);
      if (size > 0) {
        size_ = static_cast<std::uint32_t>(text.size());
        packed_size_ = static_cast<std::uint32_t>(size);
        auto kept = std::make_unique_for_overwrite<char[]>(packed_size_);
        std::memcpy(kept.get(), packed.get(), packed_size_);
        packed_ = std::move(kept);
        return;
      }
    }
  }
  relative_ = std::make_shared<const std::string>(text);
  AllFamilies().SetRelative(family, relative_);
}

std::string PackedText::Unpack() const {
  if (!packed_) return relative_ ? *relative_ : std::string();
  std::string text(size_, '\0');
  LZ4_decompress_safe_usingDict(packed_.get(), text.data(), static_cast<int>(packed_size_), static_cast<int>(size_),
                                relative_->data(), static_cast<int>(relative_->size()));
  return text;
}

std::size_t PackedText::bytes() const { return packed_ ? packed_size_ : relative_ ? relative_->size() : 0; }

}  // namespace yad
