#include "operator/runtime/signals.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

#include "operator/base/log.h"

namespace yad {

void StopOnSignals(std::stop_source& source) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  // The thread is detached, because only a signal ends sigwait. It may outlive main, so it owns everything that it
  // uses.
  std::thread([signals, stop = source]() mutable {
    int signal = 0;
    while (sigwait(&signals, &signal) != 0) {
    }
    log::Info("stopping on a signal; a second signal terminates the process immediately", {{"signal", signal}});
    stop.request_stop();
    while (sigwait(&signals, &signal) != 0) {
    }
    _exit(128 + signal);
  }).detach();
}

}  // namespace yad
