// A text kept small: as what differs from another one that is much like it.
#ifndef OPERATOR_BASE_PACKED_TEXT_H_
#define OPERATOR_BASE_PACKED_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace yad {

// Texts of one family are much alike, as are the objects that one controller makes: of a Deployment's 2.5 KB, some 0.4
// are left. The first text of a family is kept as it is, and so is one that is so different that those after it had
// better be compared with it. LZ4, with that text as the dictionary.
//
// Immutable. Any number may be made at once, in any thread.
class PackedText {
 public:
  PackedText() = default;  // ""
  PackedText(std::string_view text, std::uint64_t family);

  std::string Unpack() const;
  std::size_t bytes() const;  // of its own, beside the object itself: a text that is kept as it is counts with each

 private:
  std::shared_ptr<const std::string> relative_;
  std::unique_ptr<const char[]> packed_;  // nullptr: the text is *relative_
  std::uint32_t packed_size_ = 0;
  std::uint32_t size_ = 0;
};

}  // namespace yad

#endif  // OPERATOR_BASE_PACKED_TEXT_H_
