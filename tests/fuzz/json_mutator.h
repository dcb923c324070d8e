// Mutates JSON as a tree: bytes changed at random hardly ever leave JSON behind.
#ifndef TESTS_FUZZ_JSON_MUTATOR_H_
#define TESTS_FUZZ_JSON_MUTATOR_H_

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

namespace yad::fuzz {

// The body of an LLVMFuzzerCustomMutator; one call in eight changes bytes, and so does every call for what is no JSON.
std::size_t MutateJson(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed);

// `text` as the members of an array, as many as asked for; null where they are missing. A text that is no array gives
// its own value as the first; one that is no JSON, an empty vector.
std::vector<nlohmann::json> Members(const std::uint8_t* data, std::size_t size, std::size_t count);

}  // namespace yad::fuzz

// Of a fuzzer whose inputs are JSON.
#define YAD_FUZZ_JSON()                                                                                      \
  extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size, \
                                                 unsigned seed) {                                            \
    return yad::fuzz::MutateJson(data, size, max_size, seed);                                                \
  }                                                                                                          \
  static_assert(true, "")

#endif  // TESTS_FUZZ_JSON_MUTATOR_H_
