// What a run leaves behind.
#ifndef TESTS_BENCH_REPORT_H_
#define TESTS_BENCH_REPORT_H_

#include <string>

#include "tests/bench/bench.h"

namespace yad::bench {

// For a terminal.
std::string Table(const Bench& bench);
// results.json, table.md and the charts (*.svg) into the run's folder.
void WriteResults(const Bench& bench);
// Puts table.md between the marks in `page`, and the charts into the folder beside it that is named like it.
void PutIntoPage(const Bench& bench, const std::string& page);

}  // namespace yad::bench

#endif  // TESTS_BENCH_REPORT_H_
