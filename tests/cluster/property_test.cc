// Sets, changes, empties, invalidates and reverts every property of a YurtAppDaemon.
// - After each step, the cluster must match naive_model.h and a dry run of the apiserver.
// - An invalid value must not change a running workload. The revert must restore everything.
//
// The properties come from the CRD, and from apps/v1 in the apiserver's OpenAPI. property_values.yaml has facts that
// the schemas lack. Each property has its own daemon, and many daemons are tested at the same time.
//   YAD_ALL=1                         all properties; otherwise a sample
//   YAD_SEED=7                        another sample
//   YAD_PROPERTY=spec.nodePools.type  only this property, to replay a failure
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <thread>

#include "tests/cluster/property_fixture.h"

namespace yad::testing {
namespace {

constexpr std::size_t kHistoriesAtOnce = 24;

}  // namespace

std::vector<PropertyTest::Task> PropertyTest::Sample(std::vector<Task> tasks, std::uint64_t share) {
  const char* seed = std::getenv("YAD_SEED");
  const std::string salt = seed == nullptr ? "1" : seed;
  if (const char* only = std::getenv("YAD_PROPERTY")) {
    std::erase_if(tasks, [&](const Task& task) { return task.property.path != only; });
  } else if (!RunsEverything()) {
    std::erase_if(tasks, [&](const Task& task) { return Fnv1a64(salt + task.Name()) % share != 0; });
    for (Task& task : tasks) {  // keeps all good values and at most two other values
      int others = 0;
      std::uint64_t at = Fnv1a64(salt + task.Name()) / share;
      std::erase_if(task.property.values, [&](const PropertyValue& value) {
        return value.sense != Sense::kGood && (at++ % 3 != 0 || ++others > 2);
      });
    }
    std::cout << "[   sample ] seed " << salt << "\n";
  }
  return tasks;
}

void PropertyTest::Run(const std::vector<Task>& tasks) {
  Tally tally;
  std::mutex mutex;
  std::vector<std::string> failures;
  std::atomic<std::size_t> next = 0;
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < kHistoriesAtOnce; ++i) {
      threads.emplace_back([&] {
        for (std::size_t at = next++; at < tasks.size(); at = next++) {
          std::vector<std::string> found = Play(tasks[at], tally);
          const std::lock_guard lock(mutex);
          for (std::string& failure : found) {
            failures.push_back(failure + "\n  repeat with YAD_PROPERTY='" + tasks[at].property.path + "'");
          }
        }
      });
    }
  }
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  for (const std::string& failure : failures) {
    ADD_FAILURE() << failure << " build/release/bin/cluster_test --gtest_filter='" << test->test_suite_name() << "."
                  << test->name() << "'";
  }
  std::cout << "[ property ] " << tasks.size() << " properties, " << tally.steps << " values: " << tally.applied
            << " applied, " << tally.rejected << " rejected, " << tally.reported << " reported in status\n";
  EXPECT_GT(tally.applied, 0);
}

namespace {

INSTANTIATE_TEST_SUITE_P(Webhook, PropertyTest, ::testing::Values(true, false),
                         [](const auto& test) { return test.param ? "Reviewed" : "Unreviewed"; });

TEST_P(PropertyTest, CrdFieldsCanBeSetAndRevertedAndInvalidValuesChangeNothing) {
  std::vector<Task> tasks;
  for (const WorkloadKind kind : {WorkloadKind::kDeployment, WorkloadKind::kStatefulSet}) {
    for (const Property& property : space().Walk(spec_schema(), "spec", 10)) tasks.push_back({kind, property});
  }
  EXPECT_GT(tasks.size(), 100U);
  Run(Sample(tasks, 7));
}

TEST_P(PropertyTest, AppsV1FieldsCanBeSetAndRevertedAsTheApiserverAcceptsThem) {
  std::vector<Task> tasks;
  for (const WorkloadKind kind : {WorkloadKind::kDeployment, WorkloadKind::kStatefulSet}) {
    const std::string path = std::string("spec.workloadTemplate.") + TemplateField(kind) + ".spec";
    for (const Property& property : space().Walk(AppsSchema(kind), path, 5)) tasks.push_back({kind, property, true});
  }
  EXPECT_GT(tasks.size(), 500U);
  Run(Sample(tasks, 60));
}

}  // namespace
}  // namespace yad::testing
