#include "operator/runtime/leader_elector.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <utility>

#include "operator/api/well_known.h"
#include "operator/base/log.h"
#include "operator/base/metrics.h"
#include "operator/base/synchronized.h"
#include "operator/runtime/lease_watch.h"
#include "operator/runtime/stop_timer.h"
#include "operator/runtime/store.h"

namespace yad {
namespace {

constexpr double kJitterFactor = 1.2;  // client-go's leaderelection.JitterFactor
// If the server rejects a watch (for example, because the Role lacks the verb), the next watch is opened after this
// time.
constexpr Duration kWatchRejectedFor = std::chrono::minutes(1);

// The holder's record in a Lease.
struct Record {
  std::string holder;  // "": no holder
  std::int64_t duration_seconds = 0;
  std::int64_t transitions = 0;
  std::string fingerprint;  // changes with each write of the holder
};

bool AbsentOr(const Json& spec, const char* field, bool (Json::*is_type)() const) {
  const auto found = spec.find(field);
  return found == spec.end() || found->is_null() || ((*found).*is_type)();
}

// Reads the holder's record from a Lease. If a field of the spec has a wrong type,
// - a missing holder is replaced by "<unreadable>", so that the lease counts as held by another process;
// - each write to the Lease counts as a renewal.
Record ReadRecord(const Json& lease) {
  Record record;
  const Json* spec = Find(lease, {"spec"});
  if (spec == nullptr || spec->is_null()) return record;
  const bool readable = spec->is_object() && AbsentOr(*spec, "holderIdentity", &Json::is_string) &&
                        AbsentOr(*spec, "leaseDurationSeconds", &Json::is_number_integer) &&
                        AbsentOr(*spec, "leaseTransitions", &Json::is_number_integer) &&
                        AbsentOr(*spec, "acquireTime", &Json::is_string) &&
                        AbsentOr(*spec, "renewTime", &Json::is_string);
  record.holder = StringAt(lease, {"spec", "holderIdentity"});
  record.duration_seconds = IntAt(lease, {"spec", "leaseDurationSeconds"});
  record.transitions = std::max<std::int64_t>(0, IntAt(lease, {"spec", "leaseTransitions"}));
  if (readable) {
    record.fingerprint = record.holder + '\n' + std::to_string(record.duration_seconds) + '\n' +
                         std::to_string(record.transitions) + '\n' + StringAt(lease, {"spec", "acquireTime"}) + '\n' +
                         StringAt(lease, {"spec", "renewTime"});
  } else {
    if (record.holder.empty()) record.holder = "<unreadable>";
    record.fingerprint = "resourceVersion " + StringAt(lease, {"metadata", "resourceVersion"});
  }
  return record;
}

}  // namespace

struct LeaderElector::Impl {
  enum class Attempt { kHeld, kHeldByOther, kFailed };

  Impl(Client& the_client, LeaderElectionOptions the_options, Clock& the_clock)
      : client(the_client),
        options(std::move(the_options)),
        clock(the_clock),
        status(metrics::GetGauge("leader_election_master_status",
                                 "1: this process leads. 0: it is a backup. The label has the name of the lease.",
                                 {{"name", options.lease.name}})),
        timer(clock),
        random(std::random_device{}()) {
    status.Set(0);
  }

  Client& client;
  const LeaderElectionOptions options;
  Clock& clock;
  metrics::Gauge& status;

  // Only the elector's thread uses these members.
  StopTimer timer;
  std::mt19937_64 random;
  std::optional<Json> lease;  // the newest state that this process has read
  SteadyTime sent_at{};       // the time of the last request
  Record observed;
  SteadyTime observed_at{};  // the time at which `observed` was first seen
  std::string last_failure;
  SteadyTime watch_opened_at{};
  SteadyTime watch_rejected_until{};
  std::optional<Reason> watch_failure;  // the reason that was logged last; an event resets it

  struct Shared {
    bool leading = false;
    SteadyTime renewed_at{};  // the time at which the last successful renewal was sent
    std::string holder;
  };
  Synchronized<Shared> shared;

  bool Leading() const {
    return shared.With([](const Shared& s) { return s.leading; });
  }
  SteadyTime RenewedAt() const {
    return shared.With([](const Shared& s) { return s.renewed_at; });
  }

  void SetLeading(bool leading) {
    shared.With([&](Shared& s) { s.leading = leading; });
    status.Set(leading ? 1 : 0);
  }

  // Makes a request that ends at `deadline`, or after half of renew_deadline if that is earlier. The second limit
  // leaves time for another request if the connection hangs.
  template <typename Call>
  Result<Json> Request(SteadyTime deadline, std::stop_token stop, Call call) {
    sent_at = clock.Now();
    const std::stop_token token = timer.Begin(std::min(deadline, sent_at + options.renew_deadline / 2), stop);
    Result<Json> answer = call(token);
    timer.End();
    if (!answer) {
      if (answer.error().reason == Reason::kCancelled && !stop.stop_requested()) {
        return Fail(Reason::kTransport, "the request for the lease took too long");
      }
      return answer;
    }
    if (!answer->is_object() || Find(*answer, {"metadata", "resourceVersion"}) == nullptr ||
        IsDeeperThan(*answer, kMaxJsonDepth)) {
      return Fail(Reason::kDecode, "the response is not a Lease");
    }
    return answer;
  }

  Result<Json> Get(SteadyTime deadline, std::stop_token stop) {
    return Request(deadline, stop, [&](std::stop_token token) { return client.Get(kLeaseType, options.lease, token); });
  }

  // Sets the fields of `spec` in the lease and keeps its other fields. Fails with kConflict if the lease was written
  // after `object` was read.
  Result<Json> Update(Json object, const Json& spec, SteadyTime deadline, std::stop_token stop) {
    Json& merged = object["spec"];
    if (!merged.is_object()) merged = Json::object();
    merged.update(spec);
    return Request(deadline, stop, [&](std::stop_token token) { return client.Update(kLeaseType, object, {}, token); });
  }

  Json OurSpec() const {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(options.lease_duration).count();
    return {{"holderIdentity", options.identity},
            {"leaseDurationSeconds", std::max<std::int64_t>(1, seconds)},
            {"renewTime", FormatMicroTime(clock.WallNow())}};
  }

  void Observe(Json object) {
    Record record = ReadRecord(object);
    lease = std::move(object);
    if (record.fingerprint == observed.fingerprint) return;
    observed_at = clock.Now();
    observed = std::move(record);
    const std::string before = shared.With([&](Shared& s) { return std::exchange(s.holder, observed.holder); });
    if (before != observed.holder && !observed.holder.empty()) {
      log::Info("new leader", {{"lease", options.lease.ToString()}, {"identity", observed.holder}});
    }
  }

  SteadyTime ObservedRunsOut() const {
    Duration duration = options.lease_duration;
    if (observed.duration_seconds > 0) {
      duration = std::chrono::seconds(
          std::min<std::int64_t>(observed.duration_seconds, std::numeric_limits<std::int32_t>::max()));
    }
    return observed_at + duration;
  }
  bool ObservedIsValid() const { return clock.Now() < ObservedRunsOut(); }

  // Handles the response to a write. Must be called before the next request.
  Attempt AttemptFrom(Result<Json> written) {
    if (!written) return Failed(written.error());
    last_failure.clear();
    Observe(*std::move(written));
    // The response shows what the server has stored. It may differ from the request, for example because of a webhook.
    if (observed.holder != options.identity) return Attempt::kHeldByOther;
    shared.With([&](Shared& s) { s.renewed_at = sent_at; });
    SetLeading(true);
    return Attempt::kHeld;
  }

  Attempt Failed(const Error& error) {
    const bool expected = error.reason == Reason::kConflict ||
                          error.reason == Reason::kAlreadyExists ||  // another process was faster
                          error.reason == Reason::kCancelled;
    if (expected) return Attempt::kFailed;
    std::string text = error.ToString();
    if (text != last_failure) {
      log::Warn("the lease could not be read or written",
                {{"lease", options.lease.ToString()}, {"leading", Leading()}, {"error", error}});
      last_failure = std::move(text);
    }
    return Attempt::kFailed;
  }

  // Implements client-go's tryAcquireOrRenew.
  Attempt TryAcquireOrRenew(SteadyTime deadline, std::stop_token stop) {
    const bool leading = Leading();
    if (leading && lease && observed.holder == options.identity) {
      Result<Json> renewed = Update(*lease, OurSpec(), deadline, stop);
      if (renewed || (renewed.error().reason != Reason::kConflict && renewed.error().reason != Reason::kNotFound)) {
        return AttemptFrom(std::move(renewed));
      }
      // The write failed because `lease` is outdated: another process wrote or deleted the Lease, or the response to
      // this process's last write was lost. The code below reads the Lease again.
    }

    Result<Json> found = Get(deadline, stop);
    if (!found) {
      if (found.error().reason != Reason::kNotFound) return Failed(found.error());
      Json spec = OurSpec();
      spec["acquireTime"] = spec["renewTime"];
      spec["leaseTransitions"] = 0;
      const Json object = {{"apiVersion", kLeaseType.ApiVersion()},
                           {"kind", kLeaseType.kind},
                           {"metadata", {{"name", options.lease.name}, {"namespace", options.lease.ns}}},
                           {"spec", std::move(spec)}};
      return AttemptFrom(
          Request(deadline, stop, [&](std::stop_token token) { return client.Create(kLeaseType, object, {}, token); }));
    }

    Observe(*std::move(found));
    const bool ours = observed.holder == options.identity;
    if (!ours && !observed.holder.empty() && (leading || ObservedIsValid())) {
      last_failure.clear();
      return Attempt::kHeldByOther;
    }
    Json spec = OurSpec();
    if (!ours) {
      spec["acquireTime"] = spec["renewTime"];
      spec["leaseTransitions"] = observed.transitions + 1;
    }
    return AttemptFrom(Update(*lease, spec, deadline, stop));
  }

  Duration AcquireDelay() {
    return std::chrono::duration_cast<Duration>(options.retry_period *
                                                std::uniform_real_distribution(1.0, 1.0 + kJitterFactor)(random));
  }

  // Returns the time of the next attempt to acquire the lease. An event of the watch may lead to an earlier attempt.
  SteadyTime NextTry() {
    const bool held_by_other = !observed.holder.empty() && observed.holder != options.identity && ObservedIsValid();
    return held_by_other ? ObservedRunsOut() : clock.Now() + AcquireDelay();
  }

  // Waits until the next attempt to acquire the lease is due:
  // - With a watch, the attempt is due when the lease has expired, or when the watch reports that the lease was
  //   released or deleted.
  // - Without a watch, or after a failed attempt, it is due after client-go's delay at most.
  //
  // Returns true if a watch is open and the attempt became due by time, not by an event of the watch. A wrong or old
  // event can't cause a wrong acquisition: each attempt reads the lease again, and writes with the resourceVersion of
  // this read.
  bool AwaitNextTry(Attempt attempt, std::optional<LeaseWatch>& watch, const std::stop_token& stop) {
    if (attempt == Attempt::kHeldByOther && !watch && clock.Now() >= watch_rejected_until) {
      watch_opened_at = clock.Now();
      watch.emplace(client, options.lease, StringAt(*lease, {"metadata", "resourceVersion"}), clock);
    }
    SteadyTime next_try = attempt == Attempt::kHeldByOther ? NextTry() : clock.Now() + AcquireDelay();
    while (watch) {
      LeaseWatch::News news = watch->Next(next_try, stop);
      if (news.ended) {
        watch.reset();
        if (WatchEnded(*news.ended)) return false;
      } else if (!news.event) {
        return true;
      } else if (IsNewer(news.event->object)) {
        watch_failure.reset();
        if (news.event->type == WatchEventType::kDeleted) return false;
        Observe(std::move(news.event->object));
        if (observed.holder.empty()) return false;
        // If the holder has renewed the lease, the next attempt is due at the new expiry. If the lease has expired, the
        // next attempt may move only to an earlier time. So a write that does not renew the lease, for example of an
        // annotation, can't postpone it.
        next_try = ObservedIsValid() ? NextTry() : std::min(next_try, NextTry());
      }
    }
    clock.Sleep(std::min<Duration>(next_try - clock.Now(), AcquireDelay()), stop);
    return false;
  }

  // Returns whether the object is newer than `lease`. An event may be older, because each attempt also reads the lease.
  bool IsNewer(const Json& object) const {
    const std::string version = StringAt(object, {"metadata", "resourceVersion"});
    return CompareResourceVersions(version, StringAt(*lease, {"metadata", "resourceVersion"})).value_or(1) == 1;
  }

  // Handles the end of the watch. Returns true if the next watch may be opened immediately, because the server's
  // timeout ended this watch.
  bool WatchEnded(const Status& ended) {
    if (ended) return clock.Now() - watch_opened_at >= options.retry_period;
    const Error& error = ended.error();
    if (!IsTransient(error) && error.reason != Reason::kExpired) watch_rejected_until = clock.Now() + kWatchRejectedFor;
    if (std::exchange(watch_failure, error.reason) == error.reason) return false;
    if (error.reason == Reason::kForbidden) {
      log::Warn("not allowed: the role lacks a verb; the lease is polled every few seconds instead",
                {{"verb", "watch"},
                 {"resource", kLeaseType.resource + "." + kLeaseType.group},
                 {"lease", options.lease.ToString()},
                 {"error", error}});
    } else {
      log::Info("the watch of the lease failed; the lease is polled every few seconds until another watch is open",
                {{"lease", options.lease.ToString()}, {"error", error}});
    }
    return false;
  }

  bool Lost(const char* why) {
    SetLeading(false);
    log::Err("the lease is lost", {{"lease", options.lease.ToString()},
                                   {"identity", options.identity},
                                   {"why", why},
                                   {"holder", observed.holder}});
    return false;
  }
};

LeaderElector::LeaderElector(Client& client, LeaderElectionOptions options, Clock& clock)
    : impl_(std::make_unique<Impl>(client, std::move(options), clock)) {}

LeaderElector::~LeaderElector() = default;

bool LeaderElector::Acquire(std::stop_token stop) {
  log::Info("waiting for the lease",
            {{"lease", impl_->options.lease.ToString()}, {"identity", impl_->options.identity}});
  std::optional<LeaseWatch> watch;  // closed when the wait ends
  bool silent = false;
  while (!stop.stop_requested()) {
    const Impl::Attempt attempt = impl_->TryAcquireOrRenew(SteadyTime::max(), stop);
    if (attempt == Impl::Attempt::kHeld) return true;
    // The holder has renewed the lease, but the watch did not report it: the watch hangs.
    if (silent && attempt == Impl::Attempt::kHeldByOther) watch.reset();
    silent = impl_->AwaitNextTry(attempt, watch, stop);
  }
  return false;
}

bool LeaderElector::HoldLease(std::stop_token stop) {
  for (;;) {
    const SteadyTime deadline = impl_->RenewedAt() + impl_->options.renew_deadline;
    if (impl_->clock.Now() >= deadline) return impl_->Lost("it was not renewed in time");
    if (!impl_->clock.Sleep(std::min(impl_->options.retry_period, deadline - impl_->clock.Now()), stop)) return true;
    // If the process was frozen during the sleep, another process may lead now, and this process must not renew the
    // lease.
    if (impl_->clock.Now() >= deadline) return impl_->Lost("it was not renewed in time");
    const Impl::Attempt attempt = impl_->TryAcquireOrRenew(deadline, stop);
    if (attempt == Impl::Attempt::kHeldByOther) return impl_->Lost("another process holds it");
    if (stop.stop_requested()) return true;
  }
}

void LeaderElector::Release() {
  if (!impl_->Leading()) return;
  impl_->SetLeading(false);
  for (int attempt = 0; attempt < 2 && impl_->lease; ++attempt) {
    const std::string now = FormatMicroTime(impl_->clock.WallNow());
    Result<Json> answer = impl_->Update(
        *impl_->lease, {{"holderIdentity", ""}, {"leaseDurationSeconds", 1}, {"acquireTime", now}, {"renewTime", now}},
        SteadyTime::max(), {});
    const bool released = answer.has_value();
    if (!released && answer.error().reason == Reason::kConflict) answer = impl_->Get(SteadyTime::max(), {});
    if (!answer) {
      impl_->Failed(answer.error());
      return;
    }
    impl_->Observe(*std::move(answer));
    if (released) log::Info("the lease is released", {{"lease", impl_->options.lease.ToString()}});
    if (released || impl_->observed.holder != impl_->options.identity) return;
  }
}

bool LeaderElector::may_write() const {
  const SteadyTime now = impl_->clock.Now();
  return impl_->shared.With(
      [&](const Impl::Shared& s) { return s.leading && now < s.renewed_at + impl_->options.renew_deadline; });
}

std::string LeaderElector::holder() const {
  return impl_->shared.With([](const Impl::Shared& s) { return s.holder; });
}

}  // namespace yad
