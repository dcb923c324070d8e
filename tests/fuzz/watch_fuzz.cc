// The bytes of a watch. The events must not depend on the size of the pieces.
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "operator/client/watch_stream.h"
#include "operator/json/json_document.h"
#include "operator/runtime/store.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/json_mutator.h"

namespace yad {
namespace {

// Returns `text` in pieces of at most `most` bytes.
class Pieces : public HttpStream {
 public:
  Pieces(std::string text, std::size_t most, unsigned seed) : text_(std::move(text)), most_(most), random_(seed) {}
  const HttpResponse& head() const override { return head_; }
  Result<bool> Read(std::string& out) override {
    if (text_.size() == done_) return false;
    const std::size_t piece = std::min<std::size_t>(1 + random_() % most_, text_.size() - done_);
    out.append(text_, done_, piece);
    done_ += piece;
    return true;
  }

 private:
  const HttpResponse head_{200, {}, ""};
  const std::string text_;
  const std::size_t most_;
  std::size_t done_ = 0;
  std::minstd_rand random_;
};

// Returns all events of a watch until it fails or ends.
std::vector<std::string> EventsOf(const std::string& text, std::size_t most, unsigned seed) {
  Watch watch(std::make_unique<Pieces>(text, most, seed));
  std::vector<std::string> events;
  for (;;) {
    auto event = watch.Next();
    if (!event) {
      events.push_back("failed: " + std::to_string(static_cast<int>(event.error().reason)) + event.error().message);
      return events;
    }
    if (!event->has_value()) return events;
    const Json object = (*event)->object.TreeOfObject();
    YAD_CHECK(object.is_object(), DumpJson(object));
    const std::string dumped = DumpJson(object);
    const auto again = ParseJson(dumped);
    YAD_CHECK(again && *again == object, dumped);
    const StoredObject stored(ParseMeta(object), object, (*event)->object, nullptr);
    YAD_CHECK(stored.Parse() == object && stored.digest() == StoredObject(object, nullptr).digest(), dumped);
    events.push_back(std::to_string(static_cast<int>((*event)->type)) + dumped);
  }
}

}  // namespace
}  // namespace yad

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const unsigned seed = yad::Fnv1a32(text);
  const auto whole = yad::EventsOf(text, size + 1, 1);
  for (const std::size_t most : {std::size_t{1}, std::size_t{7}, size / 2 + 1}) {
    YAD_CHECK(yad::EventsOf(text, most, seed) == whole, most);
  }
  return 0;
}

// Mutates one line of the input, as JSON or as bytes. Lines can also be cut, repeated or moved.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  std::string text(reinterpret_cast<const char*>(data), size);
  const std::size_t begin = size == 0 ? 0 : text.rfind('\n', seed % size) + 1;  // npos + 1 is 0
  const std::size_t end = std::min(text.find('\n', begin), size);
  const std::size_t line = end - begin;
  const std::size_t room = max_size - (size - line);
  std::string mutant(room, '\0');
  text.copy(mutant.data(), line, begin);
  mutant.resize(yad::fuzz::MutateJson(reinterpret_cast<std::uint8_t*>(mutant.data()), line, room, seed));
  text.replace(begin, line, mutant);
  text.copy(reinterpret_cast<char*>(data), text.size());
  return text.size();
}
