// Opens the dashboard in the user's browser.
#ifndef PLUGIN_DASHBOARD_BROWSER_H_
#define PLUGIN_DASHBOARD_BROWSER_H_

#include <string>

#include "operator/base/error.h"

namespace yad {

// Returns whether this process has a display.
bool HasDisplay();

// Opens an address in a browser, through an HTML file that redirects to the address. The address contains a secret.
// Other users can see the arguments of a process, but they can't read the file.
class AddressFile {
 public:
  AddressFile() = default;
  AddressFile(const AddressFile&) = delete;
  AddressFile& operator=(const AddressFile&) = delete;
  ~AddressFile();  // removes the file

  // Writes the file and opens it with xdg-open or open. Does not wait for the browser.
  Status Open(const std::string& address);
  Status Write(const std::string& address);
  const std::string& path() const { return path_; }

 private:
  std::string directory_;
  std::string path_;
};

}  // namespace yad

#endif  // PLUGIN_DASHBOARD_BROWSER_H_
