// The invariants of every write, and of every state in which no more changes happen.
#ifndef TESTS_MODEL_INVARIANTS_H_
#define TESTS_MODEL_INVARIANTS_H_

#include <string>

#include "tests/model/operator.h"
#include "tests/model/state.h"

namespace yad::model {

// Returns the violation of a write, or "".
// - `now`: the state right before the write, after the earlier writes of the same reconcile
// - `seen`: the events that the caches show
// - `begun`: the events that existed when the reconcile began
std::string FaultOfWrite(const State& now, const Seen& seen, const Seen& begun, const ObjectKey& daemon,
                         const Write& write);

// Returns the violation of a state in which no more changes happen, or "".
std::string FaultAtRest(const State& state);

}  // namespace yad::model

#endif  // TESTS_MODEL_INVARIANTS_H_
