// JSON as compact bytes, for objects in memory.
#ifndef OPERATOR_RUNTIME_JSON_BYTES_H_
#define OPERATOR_RUNTIME_JSON_BYTES_H_

#include <simdjson.h>

#include <boost/container/small_vector.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "operator/api/object.h"
#include "operator/runtime/field_rule.h"

namespace yad {

// Appends CBOR (RFC 8949) with definite lengths, so that nlohmann_json can read it. These functions take a quarter of
// the time of nlohmann_json, which makes a virtual call for each byte and looks up each key. The time matters because
// all cached objects are converted.
void AppendCbor(const Json& value, std::string& out);
// Appends the same bytes from a parsed text, without a tree, which would take far longer to build.
void AppendCbor(const simdjson::dom::element& value, std::string& out);
// Appends the head of an object with this number of members. The members must follow in the order of their keys, each
// with AppendCborKey and AppendCbor.
void AppendCborObject(std::size_t members, std::string& out);
void AppendCborKey(std::string_view key, std::string& out);

// The members of an object as (key, value), in the order of their keys. If two members have the same key, the last one
// counts.
using TextMembers = boost::container::small_vector<std::pair<std::string_view, simdjson::dom::element>, 24>;
const Json::object_t& MembersInOrder(const Json& object);
TextMembers MembersInOrder(const simdjson::dom::element& object);

// Reads the bytes that AppendCbor has written. Returns a discarded value for other bytes.
Json FromCbor(std::string_view bytes);

// Returns `digest` extended by these bytes.
std::uint64_t Digested(std::uint64_t digest, std::string_view bytes);
// Implements StoredObject::NormalizedDigest on the bytes of AppendCbor.
std::uint64_t NormalizedDigestOfCbor(std::string_view bytes, const std::vector<FieldRule>& rules,
                                     std::string_view name);

}  // namespace yad

#endif  // OPERATOR_RUNTIME_JSON_BYTES_H_
