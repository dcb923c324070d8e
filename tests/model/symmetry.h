// Pools differ only in their names, so states that differ only in these names are one state.
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

  // Renames the pools, the workloads and the names in status, so that all states that differ only in the names of pools
  // become equal. Returns the new names of p1, p2, ...; "" if the pools keep their names.
  std::string Canonicalize(State& state);

 private:
  using Renaming = std::vector<int>;  // pool -> pool
  struct Image {
    std::uint64_t hash = 0, key_hash = 0;
    const Content* content = nullptr;  // created when it is needed
  };
  Image& ImageOf(const Content& content, std::size_t renaming);
  const Content& Renamed(const Content& content, Image& image, std::size_t renaming);
  std::string RenameIn(const std::string& text, const Renaming& renaming) const;
  Json RenamedObject(const Content& content, const Renaming& renaming) const;

  std::vector<Renaming> renamings_;  // the first one changes nothing
  struct Named {
    int daemon, number, pool;
  };
  std::map<std::string, Named> workloads_;  // by the names that the operator gives them
  std::unordered_map<std::uint64_t, Image> images_;
};

}  // namespace yad::model

#endif  // TESTS_MODEL_SYMMETRY_H_
