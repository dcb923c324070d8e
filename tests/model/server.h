// A fake kube-apiserver behind the Client's transport interface. It serves a State, and records the writes. It computes
// the effect of each write once, so a replay does not parse.
#ifndef TESTS_MODEL_SERVER_H_
#define TESTS_MODEL_SERVER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "operator/client/transport/transport.h"
#include "operator/runtime/store.h"
#include "tests/model/state.h"

namespace yad::model {

// The number of events that each cache shows, by type.
using Seen = std::array<std::uint8_t, kKinds>;
Seen SeesAll(const State& state);

// An object of a State in the server's format. The cached version has resourceVersion 1, and each later event adds 1.
struct Shown {
  Cell cell;
  unsigned version = 1;
  std::uint64_t print() const;
};

// A cache of the JSON of objects. Not thread-safe: one per worker.
class Objects {
 public:
  const std::string& Text(const Shown& shown) { return Of(shown).text; }
  const ObjectPtr& Stored(const Shown& shown);

 private:
  struct Entry {
    std::string text;
    ObjectPtr stored;
  };
  Entry& Of(const Shown& shown);
  std::unordered_map<std::uint64_t, Entry> entries_;
};

// One write that had an effect.
struct Write {
  Kind kind;
  const Content* before;  // nullptr: a creation
  const Content* after;   // `gone`: a deletion
  bool operator==(const Write&) const = default;
};

// A parsed request. It lives as long as the process.
struct Request {
  std::uint32_t id = 0;
  enum Verb : std::uint8_t { kGet, kList, kPost, kPut, kPatch, kDelete, kGetCrd, kListPods, kUnknown } verb = kUnknown;
  Kind kind = kDaemon;
  ObjectKey key;
  std::uint64_t key_hash = 0;
  bool status = false;   // the subresource
  std::string labels;    // selector of a list
  std::string name;      // of a list: from the field selector
  std::string text;      // method, path and body
  std::size_t body = 0;  // where it starts in `text`

  Json Body() const {
    return body == text.size() ? Json::object()
                               : Json::parse(text.begin() + static_cast<std::ptrdiff_t>(body), text.end());
  }

  static const Request& Intern(const HttpRequest& request);
};

// Not thread-safe.
class Server : public HttpTransport {
 public:
  explicit Server(Objects& objects) : objects_(objects) {}

  void Start(const State& state, const Seen& seen);
  // Calls `change`, a write of another client, right after write number `writes` of this run. Start cancels the call.
  void Interrupt(std::size_t writes, std::function<void(State&)> change);
  // Computes the response to the request, and returns its fingerprint. Equal fingerprints mean equal responses.
  std::uint64_t Serve(const Request& request);

  const std::vector<Write>& writes() const { return writes_; }
  // Returns the request that a real server would reject as malformed, or "".
  const std::string& rejected() const { return rejected_; }
  struct Step {
    const Request* request;
    std::uint64_t answer;
  };
  const std::vector<Step>& steps() const { return steps_; }  // the requests since Start

  Result<HttpResponse> Send(const HttpRequest& request, std::stop_token stop) override;
  Result<std::unique_ptr<HttpStream>> Open(const HttpRequest& request, std::stop_token stop) override;

 private:
  // The effect of a write on a certain version of an object.
  struct Effect {
    const Content* after = nullptr;  // nullptr: nothing is changed
    int error = 0;
    std::string message;
  };
  void Load();
  Shown* Find(Kind kind, std::uint64_t key_hash);
  const Effect& EffectOf(const Request& request, const Shown* live);
  Effect Compute(const Request& request, const Shown* live) const;
  Effect ComputePut(const Request& request, const Shown& live, Json object) const;
  static std::string Rejection(const Json& metadata, const Shown& live);
  HttpResponse Answer() const;

  Objects& objects_;
  State state_;
  Seen seen_{};
  std::array<std::vector<Shown>, kKinds> live_;
  std::unordered_map<std::uint64_t, Effect> effects_;
  std::vector<Write> writes_;
  std::vector<Step> steps_;
  std::string rejected_;
  std::size_t interrupt_after_ = 0;
  std::function<void(State&)> interrupt_;
  // The last response.
  int status_ = 0;
  std::optional<Shown> shown_;
  std::vector<Shown> items_;
  const Effect* effect_ = nullptr;
};

// Sets the generation of the workload `object`. It is 1, or 2 if the spec has changed since the controller wrote the
// status.
void SetGeneration(const Json& before, Json& object);

}  // namespace yad::model

#endif  // TESTS_MODEL_SERVER_H_
