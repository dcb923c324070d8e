// Reports the results of a run.
#ifndef TESTS_BENCH_REPORT_H_
#define TESTS_BENCH_REPORT_H_

#include <string>

#include "tests/bench/bench.h"

namespace yad::bench {

// Formats the figures for a terminal.
std::string Table(const Bench& bench);
// Writes results.json, table.md, notes.md and the charts (*.svg) into options().out. table.md has the main figures, and
// notes.md has all others.
void WriteResults(const Bench& bench);
// Updates the pages in `docs`. table.md replaces the text between the two marks of benchmarks.md, and notes.md that of
// performance-notes.md. The charts go to benchmarks/.
void PutIntoPages(const Bench& bench, const std::string& docs);

}  // namespace yad::bench

#endif  // TESTS_BENCH_REPORT_H_
