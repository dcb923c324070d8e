// Compressed bytes. The compression uses earlier, similar bytes as a dictionary.
#ifndef OPERATOR_JSON_PACKED_BYTES_H_
#define OPERATOR_JSON_PACKED_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace yad {

// Bytes that are compressed with LZ4. Similar values form a family, such as the objects that one controller creates.
// Each family has one of its values as a dictionary, which is stored without compression. A 2.5 KB Deployment then
// takes about 0.4 KB. The first value becomes the dictionary of its family. A value that would not shrink to half
// becomes the new dictionary.
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
  std::shared_ptr<const std::string> relative_;
  std::shared_ptr<const char[]> packed_;  // nullptr: *relative_ contains all bytes
  std::uint32_t packed_size_ = 0;
  std::uint32_t unpacked_size_ = 0;
};

}  // namespace yad

#endif  // OPERATOR_JSON_PACKED_BYTES_H_
