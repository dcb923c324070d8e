// Only static programs contain this file (YAD_STATIC_LIBRARIES in CMakeLists.txt).
#include <netdb.h>
#include <nss.h>

namespace {

// Uses only the sources "files" and "dns", which are part of a static glibc. For any other source in nsswitch.conf,
// glibc would load a module of the machine. The module crashes if the machine's glibc has another version.
[[gnu::constructor]] void UseNameSourcesOfProgram() { __nss_configure_lookup("hosts", "files dns"); }

}  // namespace
