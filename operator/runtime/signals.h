// Turns SIGTERM and SIGINT into a stop request.
#ifndef OPERATOR_RUNTIME_SIGNALS_H_
#define OPERATOR_RUNTIME_SIGNALS_H_

#include <stop_token>

namespace yad {

// The first SIGTERM or SIGINT requests a stop of `source`. A second signal terminates the process immediately, with
// exit code 128 + signal. Must be called once, before the first thread is started, because threads inherit the mask
// that blocks these signals.
void StopOnSignals(std::stop_source& source);

}  // namespace yad

#endif  // OPERATOR_RUNTIME_SIGNALS_H_
