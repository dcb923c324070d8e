// SIGTERM and SIGINT as a stop request.
#ifndef OPERATOR_RUNTIME_SIGNALS_H_
#define OPERATOR_RUNTIME_SIGNALS_H_

#include <stop_token>

namespace yad {

// Blocks SIGTERM and SIGINT in this thread and all that it starts, and requests a stop when one comes; a second signal
// ends the process at once (exit code 128 + signal). Call it before the first thread is started, and once.
void StopOnSignals(std::stop_source& source);

}  // namespace yad

#endif  // OPERATOR_RUNTIME_SIGNALS_H_
