// Changes ControllerRevisions. Their `data` must stay the same byte for byte.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_REVISION_WRITER_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_REVISION_WRITER_H_

#include <stop_token>

#include "operator/client/client.h"

namespace yad {

// Applies a merge patch that changes only metadata and the field `revision`. Returns the object as the server has it
// afterwards. Fails with kConflict if the object has another uid or resourceVersion than `patch`.
//
// The server encodes `data` again when it applies a patch, and this may change its bytes. For example, "&" becomes
// "\u0026". The server then rejects the patch with "field is immutable". In this case, ChangeRevision sends a PUT with
// the stored bytes. It reads them in the protobuf encoding, because only this encoding returns them unchanged.
Result<Json> ChangeRevision(Client& client, const ObjectKey& key, const Json& patch, std::stop_token stop);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_REVISION_WRITER_H_
