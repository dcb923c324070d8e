// Compressed bytes. The compression uses earlier, similar bytes as a dictionary.
#ifndef OPERATOR_JSON_PACKED_BYTES_H_
#define OPERATOR_JSON_PACKED_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace yad {

// Bytes that are compressed with LZ4. A 2.5 KB Deployment takes about 0.4 KB. `family` identifies similar values, such
// as the objects of one controller. The first value of a family stays uncompressed, as the dictionary for later values.
// A value that does not shrink to half becomes the new dictionary.
//
// Immutable. Copies share the bytes. Any number of threads may construct values at the same time.
class PackedBytes {
 public:
  PackedBytes() = default;  // empty
  PackedBytes(std::string_view bytes, std::uint64_t family);

  std::string Unpack() const;
  std::size_t size() const;  // number of bytes in memory, without the dictionary
  std::size_t unpacked_size() const { return unpacked_size_; }

 private:
  std::shared_ptr<const std::string> dictionary_;
  std::shared_ptr<const char[]> packed_;  // nullptr: *dictionary_ contains all bytes
  std::uint32_t packed_size_ = 0;
  std::uint32_t unpacked_size_ = 0;
};

}  // namespace yad

#endif  // OPERATOR_JSON_PACKED_BYTES_H_
