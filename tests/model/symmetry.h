// Pools differ only in their names. The explorer treats states that differ only in these names as one state.
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

  // Renames the pools, their workloads and their names in status, so that states that differ only in names become
  // equal.
  // Returns the new names of p1, p2 and so on, or "" if the names stay.
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
  std::map<std::string, Named> workloads_;  // the key is the name that the operator gives the workload
  std::unordered_map<std::uint64_t, Image> images_;
};

}  // namespace yad::model

#endif  // TESTS_MODEL_SYMMETRY_H_
