// Turns SIGTERM and SIGINT into a stop request.
#ifndef OPERATOR_RUNTIME_SIGNALS_H_
#define OPERATOR_RUNTIME_SIGNALS_H_

#include <stop_token>

namespace yad {

// Blocks SIGTERM and SIGINT in this thread and in all threads that it starts. The first signal requests a stop; the
// second one ends the process immediately (exit code 128 + signal). Must be called once, before the first thread is
// started.
void StopOnSignals(std::stop_source& source);

}  // namespace yad

#endif  // OPERATOR_RUNTIME_SIGNALS_H_
