// JSON as bytes, for this process's own memory.
#ifndef OPERATOR_RUNTIME_JSON_BYTES_H_
#define OPERATOR_RUNTIME_JSON_BYTES_H_

#include <string>
#include <string_view>

#include "operator/api/object.h"

namespace yad {

// CBOR (RFC 8949) of definite lengths, so that nlohmann_json can read it. Its own writer and reader go through virtual
// calls byte by byte and look each key up; in the place where every object passes, these take a quarter of the time.
void AppendCbor(const Json& value, std::string& out);
// The beginning of an object of this many members. Each follows as AppendCbor of a key and of a value, keys in order.
void AppendCborObject(std::size_t members, std::string& out);

// What AppendCbor has written. Anything else gives a discarded value.
Json FromCbor(std::string_view bytes);

}  // namespace yad

#endif  // OPERATOR_RUNTIME_JSON_BYTES_H_
