// A preloaded library that shifts the time of day by $WRONG_CLOCK_SECONDS. It does not shift:
// - the monotonic clock, which is also correct on a machine with a wrong clock
// - time(), because TLS would reject the servers' certificates
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>

extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const long result = syscall(SYS_clock_gettime, clock, now);
  const char* shift = getenv("WRONG_CLOCK_SECONDS");
  if (result == 0 && clock == CLOCK_REALTIME && shift != nullptr) now->tv_sec += std::atol(shift);
  return static_cast<int>(result);
}
