// Bytes kept small: as what differs from others that are much like them.
#ifndef OPERATOR_BASE_PACKED_BYTES_H_
#define OPERATOR_BASE_PACKED_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace yad {

// Those of one family are much alike, as are the objects that one controller makes: of a Deployment's 2.5 KB, some 0.4
// are left. The first of a family are kept as they are, and so are such as differ so much that those after them had
// better be compared with them. LZ4, with them as the dictionary.
//
// Immutable. Any number may be made at once, in any thread.
class PackedBytes {
 public:
  PackedBytes() = default;  // none
  PackedBytes(std::string_view bytes, std::uint64_t family);

  std::string Unpack() const;
  std::size_t size() const;  // in memory; what is shared with the family left out
  std::size_t unpacked_size() const { return unpacked_size_; }

 private:
  std::shared_ptr<const std::string> relative_;
  std::unique_ptr<const char[]> packed_;  // nullptr: *relative_ is the whole
  std::uint32_t packed_size_ = 0;
  std::uint32_t unpacked_size_ = 0;
};

}  // namespace yad

#endif  // OPERATOR_BASE_PACKED_BYTES_H_
