#include "operator/base/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

namespace yad::metrics {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(MetricsTest, TheSameNameAndLabelsReturnTheSameMetric) {
  Counter& counter = GetCounter("test_same_total", "Help.", {{"a", "1"}});
  EXPECT_EQ(&counter, &GetCounter("test_same_total", "Help.", {{"a", "1"}}));
  EXPECT_NE(&counter, &GetCounter("test_same_total", "Help.", {{"a", "2"}}));
}

TEST(MetricsTest, RenderShowsCountersGaugesAndHistograms) {
  GetCounter("test_shown_total", "Things.", {{"kind", "a \"b\""}}).Increment(2);
  Gauge& gauge = GetGauge("test_shown", "A level.");
  gauge.Set(5);
  gauge.Decrement(1.5);
  EXPECT_EQ(gauge.Value(), 3.5);
  Histogram& histogram = GetHistogram("test_shown_seconds", "Times.", {{"x", "y"}}, {0.1, 1});
  histogram.Observe(0.05);
  histogram.Observe(0.5);
  histogram.Observe(50);
  const std::string text = Render();
  EXPECT_THAT(text, HasSubstr("# HELP test_shown_total Things.\n# TYPE test_shown_total counter\n"));
  EXPECT_THAT(text, HasSubstr("test_shown_total{kind=\"a \\\"b\\\"\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE test_shown gauge\ntest_shown 3.5\n"));
  EXPECT_THAT(text, HasSubstr("test_shown_seconds_bucket{x=\"y\",le=\"0.1\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("test_shown_seconds_bucket{x=\"y\",le=\"1\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("test_shown_seconds_bucket{x=\"y\",le=\"+Inf\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("test_shown_seconds_count{x=\"y\"} 3\n"));
}

TEST(MetricsTest, RemovedLabelSetsAreNotRenderedAndRestartAtZero) {
  GetGauge("test_removed", "Help.", {{"pool", "a"}}).Set(1);
  GetGauge("test_removed", "Help.", {{"pool", "b"}}).Set(2);
  Remove("test_removed", {{"pool", "a"}});
  Remove("test_removed", {{"pool", "unknown"}});
  Remove("test_unknown", {});
  const std::string text = Render();
  EXPECT_THAT(text, Not(HasSubstr("test_removed{pool=\"a\"}")));
  EXPECT_THAT(text, HasSubstr("test_removed{pool=\"b\"} 2\n"));
  EXPECT_EQ(GetGauge("test_removed", "Help.", {{"pool", "a"}}).Value(), 0);
}

TEST(MetricsTest, CountersOfSeveralThreadsAddUp) {
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([] {
        for (int j = 0; j < 1000; ++j) GetCounter("test_threads_total", "Help.").Increment();
      });
    }
  }
  EXPECT_EQ(GetCounter("test_threads_total", "Help.").Value(), 4000);
}

double ValueOf(const std::string& text, const std::string& name) {
  const std::size_t at = text.find("\n" + name + " ");
  return at == std::string::npos ? -1 : std::strtod(text.c_str() + at + name.size() + 2, nullptr);
}

TEST(MetricsTest, ProcessMetricsAreRendered) {
  const std::string text = Render();
  EXPECT_GE(ValueOf(text, "process_cpu_seconds_total"), 0);
  EXPECT_GT(ValueOf(text, "process_resident_memory_bytes"), 100'000);
  EXPECT_GT(ValueOf(text, "process_start_time_seconds"), 1'600'000'000);
  EXPECT_GE(ValueOf(text, "process_open_fds"), 3);
  EXPECT_THAT(text, HasSubstr("# TYPE process_cpu_seconds_total counter\n"));
}

using MetricsDeathTest = testing::Test;
TEST(MetricsDeathTest, OneNameForTwoTypesEndsTheProgram) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  GetCounter("test_two_types", "Help.");
  EXPECT_DEATH(GetGauge("test_two_types", "Help."), "");
}

}  // namespace
}  // namespace yad::metrics
