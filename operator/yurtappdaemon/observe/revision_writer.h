// Changes ControllerRevisions, whose `data` an apiserver stores byte for byte.
#ifndef OPERATOR_YURTAPPDAEMON_OBSERVE_REVISION_WRITER_H_
#define OPERATOR_YURTAPPDAEMON_OBSERVE_REVISION_WRITER_H_

#include <stop_token>

#include "operator/client/client.h"

namespace yad {

// Applies a merge patch of metadata and `revision`. Returns the object as the server has it afterwards.
//
// An apiserver encodes `data` again when it applies a patch of any type. The apiserver then rejects the patch ("field
// is immutable") if `data` was written with other whitespace or escapes than Go's encoder writes: a "&" instead of
// "\u0026" is enough. A PUT with the stored bytes is accepted. The apiserver returns these bytes only in its protobuf
// encoding. ChangeRevision replaces a rejected patch by such a PUT. Fails with kConflict if the object does not have
// the uid and the resourceVersion in `patch`.
Result<Json> ChangeRevision(Client& client, const ObjectKey& key, const Json& patch, std::stop_token stop);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_OBSERVE_REVISION_WRITER_H_
