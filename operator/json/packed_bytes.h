// Bytes that are compressed with the help of similar bytes.
#ifndef OPERATOR_JSON_PACKED_BYTES_H_
#define OPERATOR_JSON_PACKED_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace yad {

// Bytes that are compressed with LZ4. The dictionary is an earlier member of the same family. The objects that one
// controller creates form a family, in which a 2.5 KB Deployment takes about 0.4 KB. The first member of a family is
// stored verbatim. A member that does not shrink to half is also stored verbatim, and becomes the new dictionary of the
// family.
//
// Immutable. Copies share the bytes. Any number of threads may construct values at the same time.
class PackedBytes {
 public:
  PackedBytes() = default;  // empty
  PackedBytes(std::string_view bytes, std::uint64_t family);

  std::string Unpack() const;
  std::size_t size() const;  // number of bytes in memory, without the shared dictionary
  std::size_t unpacked_size() const { return unpacked_size_; }

 private:
  std::shared_ptr<const std::string> relative_;
  std::shared_ptr<const char[]> packed_;  // nullptr: *relative_ contains all bytes
  std::uint32_t packed_size_ = 0;
  std::uint32_t unpacked_size_ = 0;
};

}  // namespace yad

#endif  // OPERATOR_JSON_PACKED_BYTES_H_
