#include "tests/support/random_faults.h"

#include <nlohmann/json.hpp>
#include <random>

#include "operator/api/object.h"

namespace yad::testing {
namespace {

using std::chrono::milliseconds;

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  // Returns a random number from 0 to sides-1.
  int Throw(int sides) { return static_cast<int>(random_() % static_cast<std::uint64_t>(sides)); }

 private:
  std::mt19937_64 random_;
};

std::string StatusText(int code, const std::string& reason) {
  Json status = {{"kind", "Status"}, {"apiVersion", "v1"}, {"status", "Failure"},
                 {"code", code},     {"reason", reason},   {"message", "an injected fault"}};
  if (code == 429) status["details"] = {{"retryAfterSeconds", 1}};
  return status.dump();
}

ProxyReply InjectedError(int code, const std::string& reason) {
  return {code, StatusText(code, reason), code == 429 ? "Retry-After: 1\r\n" : ""};
}

// Returns a string such as "PUT deployments". It has no namespace and no name, so it is the same in every run.
std::string KindOf(const ProxiedRequest& request) {
  const std::string resources[] = {"yurtappdaemons",      "nodepools", "deployments", "statefulsets",
                                   "controllerrevisions", "leases",    "events"};
  for (const std::string& resource : resources) {
    if (request.path.find("/" + resource) == std::string::npos) continue;
    const std::string subresource = request.path.ends_with("/status") ? "/status" : "";
    return (request.IsWatch() ? "WATCH" : request.method) + " " + resource + subresource;
  }
  return request.method + " others";
}

std::string ToWatch(Dice& dice, Fault& fault) {
  switch (dice.Throw(16)) {
    case 0:
      fault.instead = InjectedError(410, "Expired");
      return "410";
    case 1:
      fault.instead = ProxyReply{200, "{\"type\":\"ERROR\",\"object\":" + StatusText(410, "Expired") + "}\n"};
      return "an ERROR event, 410";
    case 2:
      fault.instead = InjectedError(429, "TooManyRequests");
      return "429";
    case 3:
      fault.instead = InjectedError(500, "InternalError");
      return "500";
    case 4:
      fault.drop = true;
      return "dropped";
    case 5:
    case 6:
    case 7:
    case 8:
      fault.cut_after = static_cast<std::size_t>(20 + dice.Throw(12000));
      return "cut after " + std::to_string(*fault.cut_after) + " bytes";
    case 9:
    case 10:
    case 11:
      fault.lag = milliseconds(100 + dice.Throw(1200));
      return "late by " + std::to_string(fault.lag.count()) + " ms";
    default:
      return "";
  }
}

std::string ToWrite(Dice& dice, Fault& fault) {
  switch (dice.Throw(3)) {
    case 0:
      fault.instead = InjectedError(409, "Conflict");
      return "409";
    case 1:
      fault.pass_on = [](int) { return false; };
      return "executed, and the response dropped";
    default:
      fault.delay = milliseconds(100 + dice.Throw(1500));
      return "delayed by " + std::to_string(fault.delay.count()) + " ms";
  }
}

std::string ToAny(Dice& dice, Fault& fault) {
  switch (dice.Throw(6)) {
    case 0:
      fault.instead = InjectedError(429, "TooManyRequests");
      return "429";
    case 1:
      fault.instead = InjectedError(500, "InternalError");
      return "500";
    case 2:
      fault.instead = InjectedError(503, "ServiceUnavailable");
      return "503";
    case 3:
      fault.drop = true;
      return "dropped";
    case 4:
      fault.cut_after = static_cast<std::size_t>(dice.Throw(2000));
      return "executed, and the response cut after " + std::to_string(*fault.cut_after) + " bytes";
    default:
      fault.delay = milliseconds(20 + dice.Throw(600));
      return "delayed by " + std::to_string(fault.delay.count()) + " ms";
  }
}

}  // namespace

Fault RandomFaults::operator()(const ProxiedRequest& request) {
  Fault fault;
  const std::string kind = KindOf(request);
  const std::lock_guard lock(mutex_);
  const std::uint64_t number = ++counts_[kind];
  if (clear_) return fault;
  Dice dice(Fnv1a64(kind + " " + std::to_string(number), seed_));
  std::string what;
  if (request.IsWatch()) {
    what = ToWatch(dice, fault);
  } else if (const int chance = dice.Throw(100); chance < 16) {
    what = ToAny(dice, fault);
  } else if (chance < 28 && request.IsWrite()) {
    what = ToWrite(dice, fault);
  }
  if (!what.empty()) faults_.push_back(kind + " " + std::to_string(number) + ": " + what);
  return fault;
}

void RandomFaults::Clear() {
  const std::lock_guard lock(mutex_);
  clear_ = true;
}

std::vector<std::string> RandomFaults::faults() const {
  const std::lock_guard lock(mutex_);
  return faults_;
}

}  // namespace yad::testing
