// JSON in a compact binary form, for objects in memory.
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

// Appends `value` as CBOR (RFC 8949). This takes a quarter of the time of nlohmann_json's CBOR writer, which matters
// because every cached object is converted.
void AppendCbor(const Json& value, std::string& out);
// Appends the same bytes as the function above, for a value that simdjson has parsed. A conversion to Json would be
// slow.
void AppendCbor(const simdjson::dom::element& value, std::string& out);
// Begins an object with this number of members. The caller then appends each member with AppendCborKey and AppendCbor,
// in the order of the keys.
void AppendCborObject(std::size_t members, std::string& out);
void AppendCborKey(std::string_view key, std::string& out);

// The members of an object as (key, value), sorted by key. If a key occurs twice, the list has only the last member.
using TextMembers = boost::container::small_vector<std::pair<std::string_view, simdjson::dom::element>, 24>;
const Json::object_t& MembersInOrder(const Json& object);
TextMembers MembersInOrder(const simdjson::dom::element& object);

// Reads bytes that AppendCbor has written. Returns a discarded value (Json::value_t::discarded) for other bytes.
Json FromCbor(std::string_view bytes);

// Returns `digest` extended by `bytes`.
std::uint64_t Digested(std::uint64_t digest, std::string_view bytes);
// Computes StoredObject::NormalizedDigest from bytes that AppendCbor has written.
std::uint64_t NormalizedDigestOfCbor(std::string_view bytes, const std::vector<FieldRule>& rules,
                                     std::string_view name);

}  // namespace yad

#endif  // OPERATOR_RUNTIME_JSON_BYTES_H_
