// Columns of text, as kubectl prints them.
#ifndef PLUGIN_VIEW_TABLE_H_
#define PLUGIN_VIEW_TABLE_H_

#include <ostream>
#include <string>
#include <vector>

#include "plugin/view/console.h"

namespace yad {

// Not thread-safe.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : header_(std::move(header)) {}

  // Adds a row with one cell per column; missing cells are empty.
  void Add(std::vector<std::string> row);
  bool empty() const { return rows_.empty(); }
  std::size_t size() const { return rows_.size(); }

  // Returns the header and all rows. Each column is as wide as its widest cell.
  std::vector<std::string> Lines() const;
  void PrintTo(std::ostream& out) const;
  // Adds an empty line and the result of Lines() to `lines`. Adds nothing if the table has no rows.
  void AppendTo(std::vector<std::string>& lines) const;
  // Returns lines that are not wider than the screen. If the columns do not fit, the gaps become narrower, and then the
  // lines are truncated. Column `coloured`, if the table has it, contains the phases of pools, which have colours.
  std::vector<std::string> LinesFor(const Screen& screen, std::size_t coloured) const;

 private:
  std::vector<std::size_t> Widths() const;

  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

inline constexpr char kNoColour[] = "\x1b[0m";

}  // namespace yad

#endif  // PLUGIN_VIEW_TABLE_H_
