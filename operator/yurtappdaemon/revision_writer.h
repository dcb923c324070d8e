// Changes ControllerRevisions, whose `data` an apiserver keeps byte for byte.
#ifndef OPERATOR_YURTAPPDAEMON_REVISION_WRITER_H_
#define OPERATOR_YURTAPPDAEMON_REVISION_WRITER_H_

#include <stop_token>

#include "operator/client/client.h"

namespace yad {

// Applies a merge patch of metadata and `revision`. Returns the object as the server has it afterwards.
//
// An apiserver encodes `data` anew when it applies a patch of any type, and then refuses the patch ("field is
// immutable") where `data` was written with other whitespace or escapes than Go's encoder writes: a "&" instead of
// "\u0026" is enough. It accepts a PUT with the bytes that it stores, and it shows these bytes only in its protobuf
// encoding. So a refused patch becomes such a PUT. kConflict where the object is not the one that `patch` names by uid
// and resourceVersion.
Result<Json> ChangeRevision(Client& client, const ObjectKey& key, const Json& patch, std::stop_token stop);

}  // namespace yad

#endif  // OPERATOR_YURTAPPDAEMON_REVISION_WRITER_H_
