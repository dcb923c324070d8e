// What must hold of every write, and of the state in which everything comes to rest.
#ifndef TESTS_MODEL_INVARIANTS_H_
#define TESTS_MODEL_INVARIANTS_H_

#include <string>

#include "tests/model/operator.h"
#include "tests/model/state.h"

namespace yad::model {

// `now` is the state before the write, whatever the same reconcile has written before included; `seen` what its caches
// show, `begun` what the server had when it began. "" or what is wrong.
std::string FaultOfWrite(const State& now, const Seen& seen, const Seen& begun, const ObjectKey& daemon,
                         const Write& write);

// What is wrong with a state in which nobody has anything more to do; "" for nothing.
std::string FaultAtRest(const State& state);

}  // namespace yad::model

#endif  // TESTS_MODEL_INVARIANTS_H_
