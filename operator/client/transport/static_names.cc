// Only static programs contain this file (YAD_STATIC_LIBRARIES in CMakeLists.txt).
#include <netdb.h>
#include <nss.h>

namespace {

// A static glibc loads the modules that nsswitch.conf names, from the glibc of the machine. If that glibc has another
// version, the modules crash. The sources "files" and "dns" need no modules, because they are part of the program.
[[gnu::constructor]] void UseNameSourcesOfProgram() { __nss_configure_lookup("hosts", "files dns"); }

}  // namespace
