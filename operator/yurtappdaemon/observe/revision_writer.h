// Changes ControllerRevisions. Their `data` must stay the same byte for byte.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_REVISION_WRITER_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_REVISION_WRITER_H_

#include <stop_token>

#include "operator/client/client.h"

namespace yad {

// Applies a merge patch of metadata and `revision`. Returns the object as the server has it afterwards.
//
// An apiserver encodes `data` again when it applies a patch of any type. It rejects the patch ("field is immutable") if
// the stored bytes differ from the output of Go's encoder. A "&" instead of "\u0026" is enough. ChangeRevision then
// sends a PUT with the stored bytes. It reads them in the protobuf encoding, because no other encoding contains them
// unchanged. Fails with kConflict if the object does not have the uid and the resourceVersion in `patch`.
Result<Json> ChangeRevision(Client& client, const ObjectKey& key, const Json& patch, std::stop_token stop);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_REVISION_WRITER_H_
