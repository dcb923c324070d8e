// Reports that a property does not hold.
#ifndef TESTS_FUZZ_CHECK_H_
#define TESTS_FUZZ_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>

// Terminates the process if the condition is false. The fuzzer then keeps the input. `detail` is any value that an
// ostream accepts.
#define YAD_CHECK(condition, detail)                                                                                  \
  do {                                                                                                                \
    if (!(condition)) {                                                                                               \
      std::cerr << __FILE__ << ":" << __LINE__ << ": does not hold: " << #condition << "\n" << (detail) << std::endl; \
      std::abort();                                                                                                   \
    }                                                                                                                 \
  } while (false)

#endif  // TESTS_FUZZ_CHECK_H_
