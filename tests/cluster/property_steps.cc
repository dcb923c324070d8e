// The steps of property_test.cc for one property: sets each value, and restores the base after it.
#include <atomic>

#include "tests/cluster/property_fixture.h"

namespace yad::testing {
namespace {

// Returns true for values without content: null, "", [] and {}.
bool HasNoEffect(const Json& value) {
  return value.is_null() || value == "" || (value.is_structured() && value.empty());
}

}  // namespace

std::vector<std::string> PropertyTest::Play(const Task& task, Tally& tally) const {
  std::vector<std::string> failures;
  static std::atomic<int> number = 0;
  Cell cell{task, "p" + std::to_string(++number), {}, {}, {}, {}, {}};
  cell.base = BaseSpec(cell);
  bool started = false;
  const std::string frozen[] = {
      "spec.selector", std::string("spec.workloadTemplate.") + TemplateField(task.kind == WorkloadKind::kDeployment
                                                                                 ? WorkloadKind::kStatefulSet
                                                                                 : WorkloadKind::kDeployment)};
  for (const PropertyValue& one : task.property.values) {
    const Json value = Json::parse(ReplaceAll(one.value.dump(), "<app>", cell.name));
    Sense sense = task.as_server ? Sense::kOpen : one.sense;
    for (const std::string& path : frozen) {
      if (sense == Sense::kGood && task.property.path.starts_with(path)) sense = Sense::kWrong;
    }
    std::string doing = "base";
    try {
      if (!started) {
        Step(cell, cell.base, Sense::kGood);
        RememberBase(cell);
        started = true;
      }
      doing = Short(value);
      Json spec = cell.base;
      space_->Place(whole_schema_, task.property.path, value, spec);
      spec = Json::parse(ReplaceAll(spec.dump(), "<app>", cell.name));
      ++tally.steps;
      const Outcome outcome = Step(cell, spec, sense, task.as_server && HasNoEffect(value));
      ++(outcome == Outcome::kApplied    ? tally.applied
         : outcome == Outcome::kRejected ? tally.rejected
                                         : tally.reported);
      doing += ", reverted";
      if (outcome != Outcome::kRejected) RestoreRevision(cell, outcome == Outcome::kApplied);
    } catch (const std::exception& failure) {
      failures.push_back(task.Name() + " = " + doing + ": " + failure.what());
      if (!started) return failures;
      try {
        cell.workloads.clear();  // unknown until the next observation
        Step(cell, cell.base, Sense::kGood);
      } catch (const std::exception& again) {
        failures.push_back(task.Name() + ": revert after the failure: " + again.what());
        break;
      }
    }
  }
  try {
    kube().Delete(kYurtAppDaemonType, cell.name);
  } catch (const std::exception& failure) {
    failures.push_back(task.Name() + ": " + failure.what());
  }
  return failures;
}

PropertyTest::Outcome PropertyTest::Step(Cell& cell, const Json& spec, Sense sense, bool empty) const {
  const Result<Json> written = Write(cell, spec);
  if (!written) {
    ExpectRejection(cell, spec, sense, written.error());
    return Outcome::kRejected;
  }

  auto expected = Expected(cell, At(*written, "/spec"));
  const bool either = cell.task.as_server ? empty && !expected : sense != Sense::kGood;
  if (!expected && empty) expected = Expected(cell, cell.base);
  if (sense == Sense::kGood && !expected) throw TestFailure("the naive model rejects a valid value");
  if (sense == Sense::kWrong && expected && reviewed()) throw TestFailure("an invalid value was accepted");
  const Outcome outcome = Await(cell, At(*written, "/metadata/generation"), expected, !expected || either);
  if (outcome == Outcome::kReported) {
    if (reviewed()) throw TestFailure("the webhook admitted a value that the operator rejects");
    ExpectUntouched(cell);
    return outcome;
  }
  if (sense == Sense::kWrong) throw TestFailure("the operator applied an invalid value");
  RememberWorkloads(cell);
  return outcome;
}

Result<Json> PropertyTest::Write(Cell& cell, const Json& spec) const {
  Json object = daemons_->Find(cell.name).value_or(Json());
  Result<Json> written = Json();
  if (object.is_null()) {
    written = kube().Create(kYurtAppDaemonType, {{"metadata", {{"name", cell.name}}}, {"spec", spec}});
    cell.uid = UidOf(*written);
  } else {
    object["spec"] = spec;
    object["metadata"].erase("resourceVersion");
    object["metadata"]["resourceVersion"] = VersionOf(kube().Get(kYurtAppDaemonType, cell.name));
    for (int attempt = 0; attempt < 5; ++attempt) {
      written = kube().client().Update(kYurtAppDaemonType, object);
      if (written || written.error().reason != Reason::kConflict) break;
      object["metadata"]["resourceVersion"] = VersionOf(kube().Get(kYurtAppDaemonType, cell.name));
    }
  }
  return written;
}

void PropertyTest::ExpectRejection(const Cell& cell, const Json& spec, Sense sense, const Error& rejection) const {
  const Reason reason = rejection.reason;
  if (reason != Reason::kInvalid && reason != Reason::kBadRequest) throw TestFailure(rejection.ToString());
  if (sense == Sense::kGood) throw TestFailure("a valid value was rejected: " + rejection.message);
  if (cell.task.as_server && Expected(cell, spec)) {
    throw TestFailure("a value was rejected although an apiserver accepts the workload: " + rejection.message);
  }
  ExpectUntouched(cell);
}

PropertyTest::Outcome PropertyTest::Await(const Cell& cell, const Json& generation,
                                          const std::optional<std::map<std::string, Json>>& expected,
                                          bool may_tell) const {
  Outcome outcome = Outcome::kApplied;
  Eventually("the cluster matches the spec, or status reports an error", [&]() -> std::string {
    const Json daemon = daemons_->Find(cell.name).value_or(Json());
    if (At(daemon, "/metadata/generation") != generation || At(daemon, "/status/observedGeneration") != generation)
      return "the spec is not observed: " + Short(At(daemon, "/status"));
    outcome = Outcome::kReported;
    if (may_tell && ReportsFailure(daemon)) return "";
    outcome = Outcome::kApplied;
    if (!expected)
      return "the spec cannot be applied, and status reports no error: " + Short(At(daemon, "/status/conditions"));
    return WhyNotApplied(cell, daemon, *expected);
  });
  return outcome;
}

void PropertyTest::RememberWorkloads(Cell& cell) const {
  std::map<std::string, Known> now;
  for (const Json& workload : workloads(cell.task.kind).ControlledBy(cell.uid)) {
    if (ParseMeta(workload).deleting()) continue;
    const std::string pool = Annotation(workload, kRefNodePoolAnnotation);
    cell.names[pool] = NameOf(workload);
    now[pool] = {UidOf(workload), NameOf(workload), IntAt(workload, {"metadata", "generation"})};
  }
  cell.workloads = std::move(now);
}

void PropertyTest::RememberBase(Cell& cell) const {
  for (const auto& [pool, known] : cell.workloads) {
    cell.base_workloads[pool] = At(kube().Get(TypeOf(cell.task.kind), known.name), "/spec");
  }
}

void PropertyTest::RestoreRevision(Cell& cell, bool applied) const {
  if (!applied) {
    const auto before = cell.workloads;
    Step(cell, cell.base, Sense::kGood);
    for (const auto& [pool, known] : before) {
      if (cell.workloads.at(pool).generation != known.generation)
        throw TestFailure("the revert wrote the workload of pool " + pool);
    }
  } else {
    Step(cell, cell.base, Sense::kGood);
  }
  for (const auto& [pool, spec] : cell.base_workloads) {
    const Json live = At(kube().Get(TypeOf(cell.task.kind), cell.workloads.at(pool).name), "/spec");
    if (WithoutEmpty(live) != WithoutEmpty(spec))
      throw TestFailure("after the revert, the workload of pool " + pool +
                        " differs: " + Short(Json::diff(spec, live)));
  }
}

}  // namespace yad::testing
