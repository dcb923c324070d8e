#include "tests/fuzz/json_mutator.h"

#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "operator/json/json_document.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace yad::fuzz {
namespace {

// Returns a value with a special meaning in Kubernetes' types, or a value near a limit.
const Json& Interesting(std::size_t random) {
  static const Json& values = *new Json(Json::parse(R"([
      null, true, false, 0, -1, 1, 2147483647, 2147483648, 9223372036854775807, 18446744073709551615, 1.5, 1e300, "",
      "1", "0", "1000m", "1Ki", "100%", "0%", "101%", "a", "*", "-a", "TCP", "UDP", "{{nodepool-name}}", "$patch",
      [], {}, [null], [{}], {"":null}, {"name":"a"}, "2026-01-02T03:04:05Z", "a/b", "~1", "~0", "/", "/spec/-"])"));
  return values[random % values.size()];
}

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  void Mutate(Json& root) {
    Collect(root, 0);
    Json& target = *nodes_[Below(nodes_.size())];
    switch (Below(8)) {
      case 0:
        target = Interesting(random_());
        break;
      case 1: {
        const Json other = *nodes_[Below(nodes_.size())];  // a copy, because it may contain `target`
        target = other;
        break;
      }
      case 2:
        Erase(target);
        break;
      case 3:
        Insert(target);
        break;
      case 4:
        Rename(target);
        break;
      case 5:
        if (Below(2) == 0) {
          target = Json::array({std::exchange(target, nullptr)});
        } else {
          const std::string key = AnyKey();
          target = Json{{key, std::exchange(target, nullptr)}};
        }
        break;
      default:
        Scalar(target);
    }
  }

 private:
  std::size_t Below(std::size_t count) { return random_() % count; }

  void Collect(Json& node, int depth) {
    nodes_.push_back(&node);
    if (depth > 300) return;
    if (node.is_object()) {
      for (auto it = node.begin(); it != node.end(); ++it) {
        keys_.push_back(&it.key());
        Collect(*it, depth + 1);
      }
    } else if (node.is_array()) {
      for (Json& item : node) Collect(item, depth + 1);
    }
  }

  std::string AnyKey() { return keys_.empty() || Below(16) == 0 ? "a" : *keys_[Below(keys_.size())]; }

  void Erase(Json& node) {
    if (!node.is_structured() || node.empty()) return;
    node.erase(std::next(node.begin(), static_cast<std::ptrdiff_t>(Below(node.size()))));
  }

  void Insert(Json& node) {
    const Json value = Below(2) == 0 ? Interesting(random_()) : Json(*nodes_[Below(nodes_.size())]);
    if (node.is_object()) {
      const std::string key = AnyKey();
      node[key] = value;
    } else if (node.is_array()) {
      node.insert(std::next(node.begin(), static_cast<std::ptrdiff_t>(Below(node.size() + 1))), value);
    }
  }

  void Rename(Json& node) {
    if (node.is_array() && node.size() > 1) return std::swap(node[Below(node.size())], node[Below(node.size())]);
    if (!node.is_object() || node.empty()) return;
    const std::string key = AnyKey();
    const auto member = std::next(node.begin(), static_cast<std::ptrdiff_t>(Below(node.size())));
    Json value = std::move(*member);
    node.erase(member);
    node[key] = std::move(value);
  }

  void Scalar(Json& node) {
    if (node.is_number_integer()) {
      node = node.get<std::int64_t>() / 2 + static_cast<std::int64_t>(Below(7)) - 3;
    } else if (node.is_string()) {
      std::string text = node.get<std::string>();
      const std::size_t size = text.size();
      text.resize(size + 16);
      text.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(text.data()), size, text.size()));
      node = text;
    } else {
      node = Interesting(random_());
    }
  }

  std::minstd_rand random_;
  std::vector<Json*> nodes_;
  std::vector<const std::string*> keys_;
};

}  // namespace

std::size_t MutateJson(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed) {
  if (seed % 8 != 0) {
    auto root = ParseJson({reinterpret_cast<const char*>(data), size});
    if (root) {
      Mutator mutator(seed / 8);
      mutator.Mutate(*root);
      const std::string text = DumpJson(*root);
      if (text.size() <= max_size) {
        std::memcpy(data, text.data(), text.size());
        return text.size();
      }
    }
  }
  return LLVMFuzzerMutate(data, size, max_size);
}

std::vector<Json> Members(const std::uint8_t* data, std::size_t size, std::size_t count) {
  auto root = ParseJson({reinterpret_cast<const char*>(data), size});
  if (!root) return {};
  std::vector<Json> members;
  if (root->is_array()) {
    for (Json& member : *root) members.push_back(std::move(member));
  } else {
    members.push_back(std::move(*root));
  }
  members.resize(count);
  return members;
}

}  // namespace yad::fuzz
