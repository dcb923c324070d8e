#include "operator/yurtappdaemon/stores.h"

#include <string>
#include <vector>

#include "operator/runtime/controller.h"

namespace yad {

void AddIndexes(Store& store) {
  Controller::AddControllerUidIndex(store);
  store.AddIndex(kOrphansByNamespace, [](const StoredObject& object) -> std::vector<std::string> {
    if (object.meta().controller() != nullptr) return {};
    return {object.meta().key.ns};
  });
}

}  // namespace yad
