// JSON as bytes, for the memory of this process.
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
#include "operator/runtime/likeness.h"

namespace yad {

// Appends CBOR (RFC 8949) with definite lengths, so that nlohmann_json can read it. The writer and reader of
// nlohmann_json make a virtual call for each byte, and look up each key. Every object passes here, and these functions
// take a quarter of the time.
void AppendCbor(const Json& value, std::string& out);
// Appends the same bytes directly from a text, without a tree, which takes far longer to build than the bytes.
void AppendCbor(const simdjson::dom::element& value, std::string& out);
// Appends the head of an object with this many members. The members follow, each as AppendCborKey and AppendCbor, in
// the order of their keys.
void AppendCborObject(std::size_t members, std::string& out);
void AppendCborKey(std::string_view key, std::string& out);

// The members of an object as (key, value), in the order of their keys. The last member wins if two have one key.
using TextMembers = boost::container::small_vector<std::pair<std::string_view, simdjson::dom::element>, 24>;
const Json::object_t& MembersInOrder(const Json& object);
TextMembers MembersInOrder(const simdjson::dom::element& object);

// Reads what AppendCbor has written. Returns a discarded value for other bytes.
Json FromCbor(std::string_view bytes);

// Returns `digest`, extended by these bytes.
std::uint64_t Digested(std::uint64_t digest, std::string_view bytes);
// Implements StoredObject::Likeness for bytes that AppendCbor has written.
std::uint64_t LikenessOfCbor(std::string_view bytes, const std::vector<LikenessRule>& rules, std::string_view name);

}  // namespace yad

#endif  // OPERATOR_RUNTIME_JSON_BYTES_H_
