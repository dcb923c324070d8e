// A DryRun against an apiserver in memory.
#ifndef TESTS_UNIT_WEBHOOK_DRY_RUN_FIXTURE_H_
#define TESTS_UNIT_WEBHOOK_DRY_RUN_FIXTURE_H_

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/unit/webhook/admission.h"
#include "webhook/admission/dry_run.h"

namespace yad::testing {

class DryRunTest : public ::testing::Test {
 protected:
  static inline const std::string kTemplate = "spec.workloadTemplate.deploymentTemplate.";
  static inline const Cause kImageFault{"spec.template.spec.containers[0].image", "FieldValueInvalid",
                                        "Invalid value: \"a b\": spaces"};
  static std::vector<std::string> Texts(const std::vector<Cause>& causes) {
    std::vector<std::string> texts;
    for (const Cause& cause : causes) texts.push_back(cause.field + ": " + cause.message);
    return texts;
  }

  // Sets the pools. Unless `before` is null, also creates the workloads of this daemon in all pools.
  void Given(const std::vector<Json>& pools, const Json& before = nullptr) {
    world_.SetPools(pools);
    std::vector<Json> live;
    if (!before.is_null()) {
      for (const Json& pool : pools) live.push_back(WorkloadJson(before, MakeRevision(before), pool));
    }
    world_.SetDeployments(live);
    world_.SetStatefulSets({});
  }

  Findings Ask(const Json& object, const Json& before = nullptr) {
    const YurtAppDaemon daemon = *ParseYurtAppDaemon(object);
    std::optional<YurtAppDaemon> old;
    if (!before.is_null()) old = *ParseYurtAppDaemon(before);
    Deadline deadline(world_.clock, world_.clock.Now() + std::chrono::seconds(5));
    return dry_run_.Try(daemon, old ? &*old : nullptr, deadline);
  }

  std::vector<std::string> AskedPools() {
    std::vector<std::string> pools;
    for (const Asked& asked : world_.TakeAsked()) pools.push_back(asked.method + " " + asked.pool());
    return pools;
  }
  void AnswerAll(const HttpResponse& response) {
    world_.OnAsk([response](const Asked&) { return response; });
  }

  AdmissionWorld world_;
  ByteBudget text_{kDryRunText};
  DryRun dry_run_{world_.client, world_.stores(), world_.clock, text_};
};

}  // namespace yad::testing

#endif  // TESTS_UNIT_WEBHOOK_DRY_RUN_FIXTURE_H_
