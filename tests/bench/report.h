// The results of a run.
#ifndef TESTS_BENCH_REPORT_H_
#define TESTS_BENCH_REPORT_H_

#include <string>

#include "tests/bench/bench.h"

namespace yad::bench {

// Formats the figures for a terminal.
std::string Table(const Bench& bench);
// Writes results.json, table.md (some twenty rows for readers), notes.md (all other figures) and the charts (*.svg)
// into the run's folder.
void WriteResults(const Bench& bench);
// Puts table.md between the marks in docs/benchmarks.md, notes.md between those in docs/performance-notes.md, and the
// charts into docs/benchmarks/.
void PutIntoPages(const Bench& bench, const std::string& docs);

}  // namespace yad::bench

#endif  // TESTS_BENCH_REPORT_H_
