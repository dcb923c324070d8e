// Mutates JSON as a tree. Random changes of bytes would almost never result in valid JSON.
#ifndef TESTS_FUZZ_JSON_MUTATOR_H_
#define TESTS_FUZZ_JSON_MUTATOR_H_

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

namespace yad::fuzz {

// The body of an LLVMFuzzerCustomMutator. Changes JSON values. In one call of eight, and in invalid JSON, changes bytes
// instead.
std::size_t MutateJson(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed);

// Parses the input as a JSON array, and returns its first `count` members. Missing members are null. A JSON value that
// is not an array becomes the first member. For invalid JSON, returns an empty vector.
std::vector<nlohmann::json> Members(const std::uint8_t* data, std::size_t size, std::size_t count);

}  // namespace yad::fuzz

// Defines the mutator of a fuzzer whose inputs are JSON.
#define YAD_FUZZ_JSON()                                                                                      \
  extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size, \
                                                 unsigned seed) {                                            \
    return yad::fuzz::MutateJson(data, size, max_size, seed);                                                \
  }                                                                                                          \
  static_assert(true, "")

#endif  // TESTS_FUZZ_JSON_MUTATOR_H_
