// Leaks that LeakSanitizer must not report: those of cpprestsdk 2.10.18. Its ssl_proxy_tunnel owns itself when a
// request through a proxy ends early, and tasks that are scheduled when the process ends are never freed. The library
// is archived, and no release links it (decision 14).

// NOLINTNEXTLINE: LeakSanitizer calls it by this name
extern "C" const char* __lsan_default_suppressions();
// NOLINTNEXTLINE
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libcpprest.so\nleak:pplx::\nleak:CpprestTransport\n";
}
