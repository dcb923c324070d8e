#include "tests/model/symmetry.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <tuple>

#include "operator/workload/render.h"
#include "tests/model/names.h"

namespace yad::model {
namespace {

constexpr int kUids = 8;  // the number of uids for the daemons of one name
constexpr std::size_t kHashSize = 5;
constexpr char kNotReady[] = "not ready: ";

std::string StableName(int daemon, int number, int pool) {
  const std::string name = kDaemonNames[daemon];
  return WorkloadName(name, "uid-" + name + "-" + std::to_string(number), kPoolNames[pool], WorkloadKind::kDeployment);
}

bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// Sorts the lists that the operator sorts by name.
void SortStatus(Json& status) {
  if (status.contains("nodepools")) std::sort(status["nodepools"].begin(), status["nodepools"].end());
  if (status.contains("workloadSummary")) {
    std::sort(status["workloadSummary"].begin(), status["workloadSummary"].end(),
              [](const Json& a, const Json& b) { return a["workloadName"] < b["workloadName"]; });
  }
  if (status.contains("pools")) {
    std::stable_sort(status["pools"].begin(), status["pools"].end(), [](const Json& a, const Json& b) {
      return std::tuple(a["phase"] == "Ready", a["name"].get<std::string>()) <
             std::tuple(b["phase"] == "Ready", b["name"].get<std::string>());
    });
  }
  if (!status.contains("conditions")) return;
  for (Json& condition : status["conditions"]) {
    const std::string message = StringAt(condition, {"message"});
    if (!message.starts_with(kNotReady)) continue;
    std::vector<std::string> parts;
    for (std::size_t at = sizeof(kNotReady) - 1; at < message.size();) {
      const std::size_t end = std::min(message.find(", ", at), message.size());
      parts.push_back(message.substr(at, end - at));
      at = end + 2;
    }
    std::sort(parts.begin(), parts.end());
    std::string sorted;
    for (const std::string& part : parts) sorted += (sorted.empty() ? kNotReady : ", ") + part;
    condition["message"] = sorted;
  }
}

}  // namespace

Symmetry::Symmetry(int pools) {
  Renaming renaming(static_cast<std::size_t>(pools));
  std::iota(renaming.begin(), renaming.end(), 0);
  do renamings_.push_back(renaming);
  while (std::next_permutation(renaming.begin(), renaming.end()));
  for (int d = 0; d < static_cast<int>(std::size(kDaemonNames)); ++d) {
    for (int n = 1; n <= kUids; ++n) {
      for (int p = 0; p < pools; ++p) workloads_[StableName(d, n, p)] = {d, n, p};
    }
  }
}

// A pool's name occurs as a separate word, or as a part of "<daemon>-<pool>-<hash>".
std::string Symmetry::RenameIn(const std::string& text, const Renaming& renaming) const {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    int pool = -1;
    if (text[i] == 'p' && (i == 0 || !IsWord(text[i - 1])) && i + 1 < text.size() &&
        (i + 2 == text.size() || !IsWord(text[i + 2]))) {
      pool = text[i + 1] - '1';
    }
    if (pool < 0 || pool >= static_cast<int>(renaming.size())) {
      out += text[i];
      continue;
    }
    const int to = renaming[static_cast<std::size_t>(pool)];
    out += kPoolNames[to];
    ++i;
    if (i + 1 >= text.size() || text[i + 1] != '-' || i < 2 || text[i - 2] != '-') continue;
    std::size_t begin = i - 2;
    while (begin > 0 && IsWord(text[begin - 1])) --begin;
    const std::string name = text.substr(begin, i + 1 - begin + 1 + kHashSize);
    const auto known = workloads_.find(name);
    if (known == workloads_.end()) continue;
    const std::string renamed = StableName(known->second.daemon, known->second.number, to);
    out += renamed.substr(renamed.size() - kHashSize - 1);
    i += kHashSize + 1;
  }
  return out;
}

Json Symmetry::RenamedObject(const Content& content, const Renaming& renaming) const {
  if (content.gone) return nullptr;
  Json object = Json::parse(RenameIn(content.text, renaming));
  if (content.kind == kDaemon && object.contains("status")) SortStatus(object["status"]);
  return object;
}

Symmetry::Image& Symmetry::ImageOf(const Content& content, std::size_t renaming) {
  Image& image = images_[static_cast<std::uint64_t>(content.id) << 4 | renaming];
  if (image.hash != 0) return image;
  if (content.kind == kRevision) {
    image = {content.hash, content.key_hash, &content};
    return image;
  }
  const ObjectKey key{content.key.ns, RenameIn(content.key.name, renamings_[renaming])};
  const Json object = RenamedObject(content, renamings_[renaming]);
  image.key_hash = KeyHash(content.kind, key);
  image.hash = ContentHash(content.kind, key, object.is_null() ? "" : object.dump());
  return image;
}

const Content& Symmetry::Renamed(const Content& content, Image& image, std::size_t renaming) {
  if (image.content == nullptr) {
    const ObjectKey key{content.key.ns, RenameIn(content.key.name, renamings_[renaming])};
    image.content = &Contents::Get().Intern(content.kind, key, RenamedObject(content, renamings_[renaming]));
  }
  return *image.content;
}

std::string Symmetry::Canonicalize(State& state) {
  std::size_t best = 0;
  Fingerprint least = state.fingerprint();
  for (std::size_t r = 1; r < renamings_.size(); ++r) {
    Fingerprint print{1, 2};
    print.Add(state.clock);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> sorted;
    for (const Table& table : state.tables) {
      sorted.clear();
      for (const Cell& cell : table.base) {
        const Image& image = ImageOf(cell.content(), r);
        sorted.emplace_back(image.key_hash, image.hash + cell.incarnation());
      }
      std::sort(sorted.begin(), sorted.end());
      print.Add(sorted.size());
      for (const auto& [key_hash, hash] : sorted) print.Add(hash);
      print.Add(table.events.size());
      for (const Cell& cell : table.events) print.Add(ImageOf(cell.content(), r).hash + cell.incarnation());
    }
    if (std::tie(print.a, print.b) < std::tie(least.a, least.b)) {
      best = r;
      least = print;
    }
  }
  if (best == 0) return "";
  for (Table& table : state.tables) {
    for (Cells* cells : {&table.base, &table.events}) {
      for (Cell& cell : *cells) {
        const Content& content = cell.content();
        cell = Cell(Renamed(content, ImageOf(content, best), best), cell.incarnation());
      }
    }
    std::sort(table.base.begin(), table.base.end(),
              [](const Cell& a, const Cell& b) { return a.content().key_hash < b.content().key_hash; });
  }
  std::string names;
  for (const int to : renamings_[best]) names += (names.empty() ? "" : ", ") + std::string(kPoolNames[to]);
  return names;
}

}  // namespace yad::model
