// The files of the page, which the build embeds into the program (embed.cmake).
#ifndef PLUGIN_DASHBOARD_PAGE_FILES_H_
#define PLUGIN_DASHBOARD_PAGE_FILES_H_

#include <string_view>
#include <vector>

namespace yad {

struct PageFile {
  std::string_view name;  // "index.html"
  std::string_view text;
};
const std::vector<PageFile>& PageFiles();

}  // namespace yad

#endif  // PLUGIN_DASHBOARD_PAGE_FILES_H_
