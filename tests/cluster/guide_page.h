// A page of docs/guide, as its readers follow it: commands, and what the page says that they answer.
#ifndef TESTS_CLUSTER_GUIDE_PAGE_H_
#define TESTS_CLUSTER_GUIDE_PAGE_H_

#include <string>
#include <vector>

namespace yad::testing {

struct GuideCommand {
  int line = 0;                     // of the page, from 1
  std::string text;                 // for a shell; may have many lines
  std::vector<std::string> answer;  // "..." stands for any text, and as a line of its own for any lines
  bool fails = false;               // it is shown because it is refused

  // It only looks, so that a reader may look again until it is so.
  bool Looks() const;
};

// All commands of the blocks that begin with "```console"; of one that begins with "```console fails", each is refused.
// A command begins with "$ " and goes on as a shell reads on: after a backslash, and to the end of a here document
// (<<EOF). What follows it, to the next command, is its answer. TestFailure, with the line, for anything else.
std::vector<GuideCommand> CommandsOf(const std::string& page);

// "", or what is not as the page says. Columns may be wider or narrower.
std::string WhyNotTheAnswer(const std::vector<std::string>& answer, const std::string& output);

}  // namespace yad::testing

#endif  // TESTS_CLUSTER_GUIDE_PAGE_H_
