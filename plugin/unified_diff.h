// How two texts differ, line by line. Pure.
#ifndef PLUGIN_UNIFIED_DIFF_H_
#define PLUGIN_UNIFIED_DIFF_H_

#include <string>

namespace yad {

// As `diff -u` prints it, from the first "@@" on: three lines of context around each change. "" where they are equal.
std::string UnifiedDiff(const std::string& before, const std::string& after);

}  // namespace yad

#endif  // PLUGIN_UNIFIED_DIFF_H_
