// Only static programs contain this file (YAD_STATIC_LIBRARIES in CMakeLists.txt).
#include <netdb.h>
#include <nss.h>

namespace {

// A static glibc loads the modules that nsswitch.conf names from this machine's glibc, which may be another version and
// then crashes. The sources "files" and "dns" are part of the program.
[[gnu::constructor]] void UseNameSourcesOfProgram() { __nss_configure_lookup("hosts", "files dns"); }

}  // namespace
