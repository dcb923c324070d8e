// The difference of two texts, line by line. Pure.
#ifndef PLUGIN_VIEW_UNIFIED_DIFF_H_
#define PLUGIN_VIEW_UNIFIED_DIFF_H_

#include <string>

namespace yad {

// Returns the output of `diff -u` from the first "@@" on, with three lines of context around each change; "" if the
// texts are equal.
std::string UnifiedDiff(const std::string& before, const std::string& after);

}  // namespace yad

#endif  // PLUGIN_VIEW_UNIFIED_DIFF_H_
