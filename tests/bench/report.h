// Reports the results of a run.
#ifndef TESTS_BENCH_REPORT_H_
#define TESTS_BENCH_REPORT_H_

#include <string>

#include "tests/bench/bench.h"

namespace yad::bench {

// Formats the figures for a terminal.
std::string Table(const Bench& bench);
// Writes results.json, table.md (the main figures), notes.md (the other figures) and the charts (*.svg) into
// options().out.
void WriteResults(const Bench& bench);
// Updates the pages in `docs`. Inserts table.md between the two marks of benchmarks.md, and notes.md between the marks
// of performance-notes.md. Copies the charts to benchmarks/.
void PutIntoPages(const Bench& bench, const std::string& docs);

}  // namespace yad::bench

#endif  // TESTS_BENCH_REPORT_H_
