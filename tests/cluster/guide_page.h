// Parses a page of docs/guide into commands with their expected output.
#ifndef TESTS_CLUSTER_GUIDE_PAGE_H_
#define TESTS_CLUSTER_GUIDE_PAGE_H_

#include <string>
#include <vector>

namespace yad::testing {

struct GuideCommand {
  int line = 0;                     // of the page, from 1
  std::string text;                 // for a shell; may have many lines
  std::vector<std::string> answer;  // "..." matches any text; a line "..." matches any lines
  bool fails = false;               // the page expects a failure

  // Returns whether the command only reads. The test may repeat it until its output matches.
  bool OnlyReads() const;
};

// Returns the commands of all blocks "```console":
// - A command begins with "$ ". It continues after a backslash at the end of a line, and in a here document (<<EOF).
// - The lines up to the next command are its output.
// - In a block "```console fails", each command must fail.
//
// For any other line, throws TestFailure with the number of the line.
std::vector<GuideCommand> CommandsOf(const std::string& page);

// Returns "", or the difference between page and output. Columns of tables may have other widths.
std::string DifferenceFromAnswer(const std::vector<std::string>& answer, const std::string& output);

}  // namespace yad::testing

#endif  // TESTS_CLUSTER_GUIDE_PAGE_H_
