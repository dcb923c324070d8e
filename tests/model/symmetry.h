// Treats states that differ only in the names of pools as one state.
#ifndef TESTS_MODEL_SYMMETRY_H_
#define TESTS_MODEL_SYMMETRY_H_

#include <array>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/model/state.h"

namespace yad::model {

// Not thread-safe: one per worker.
class Symmetry {
 public:
  explicit Symmetry(int pools);

  // Renames the pools, also in the names of workloads and in status, so that symmetric states become equal. Returns the
  // new names of p1, p2 and so on, or "" if the names stay.
  std::string Canonicalize(State& state);

 private:
  using Renaming = std::vector<int>;  // old pool -> new pool
  struct Image {
    std::uint64_t hash = 0, key_hash = 0;
    const Content* content = nullptr;  // created when it is needed
  };
  Image& ImageOf(const Content& content, std::size_t renaming);
  const Content& Renamed(const Content& content, Image& image, std::size_t renaming);
  std::string RenameIn(const std::string& text, const Renaming& renaming) const;
  Json RenamedObject(const Content& content, const Renaming& renaming) const;

  std::vector<Renaming> renamings_;  // the first is the identity
  struct Named {
    int daemon, number, pool;
  };
  std::map<std::string, Named> workloads_;  // the key is the name that the operator gives the workload
  std::unordered_map<std::uint64_t, Image> images_;
};

}  // namespace yad::model

#endif  // TESTS_MODEL_SYMMETRY_H_
