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
  // Adds the result of Lines() to `lines`.
  void AppendTo(std::vector<std::string>& lines) const;
  // Returns lines that are not wider than the screen. If the columns do not fit, the gaps become narrower, and then the
  // lines are truncated. In column `coloured`, each text is printed in the colour that ColourOf returns for it.
  std::vector<std::string> LinesFor(const Screen& screen, std::size_t coloured) const;

 private:
  std::vector<std::size_t> Widths() const;

  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

// Returns the escape sequence that starts the colour of a pool's phase; "" if the phase has no colour.
std::string ColourOf(const std::string& phase);
inline constexpr char kNoColour[] = "\x1b[0m";

}  // namespace yad

#endif  // PLUGIN_VIEW_TABLE_H_
