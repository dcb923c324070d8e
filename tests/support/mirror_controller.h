#ifndef TESTS_SUPPORT_MIRROR_CONTROLLER_H_
#define TESTS_SUPPORT_MIRROR_CONTROLLER_H_

#include <string>

#include "operator/client/client.h"
#include "operator/runtime/manager.h"

namespace yad::testing {

// The example of docs/runtime.md: keeps a copy `<name>-mirror` of every ConfigMap that is labelled mirror=true.
void AddMirrorController(Manager& manager, Client& client, const std::string& ns);

}  // namespace yad::testing

#endif  // TESTS_SUPPORT_MIRROR_CONTROLLER_H_
