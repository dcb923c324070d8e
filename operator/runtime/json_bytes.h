// JSON as bytes, for this process's own memory.
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

namespace yad {

// CBOR (RFC 8949) of definite lengths, so that nlohmann_json can read it. Its own writer and reader go through virtual
// calls byte by byte and look each key up; in the place where every object passes, these take a quarter of the time.
void AppendCbor(const Json& value, std::string& out);
// The same bytes straight from a text: without the tree, which takes far longer to make than they.
void AppendCbor(const simdjson::dom::element& value, std::string& out);
// The beginning of an object of this many members. Each follows as AppendCbor of a key and of a value, keys in order.
void AppendCborObject(std::size_t members, std::string& out);
void AppendCborKey(std::string_view key, std::string& out);

// An object's members in the order of their keys, as (key, value). Of two with one key, the last.
using TextMembers = boost::container::small_vector<std::pair<std::string_view, simdjson::dom::element>, 24>;
const Json::object_t& MembersInOrder(const Json& object);
TextMembers MembersInOrder(const simdjson::dom::element& object);

// What AppendCbor has written. Anything else gives a discarded value.
Json FromCbor(std::string_view bytes);

// A digest that goes on with these bytes.
std::uint64_t Digested(std::uint64_t digest, std::string_view bytes);
// See StoredObject::Likeness. Of what AppendCbor has written.
struct LikenessRule;
std::uint64_t LikenessOfCbor(std::string_view bytes, const std::vector<LikenessRule>& rules, std::string_view name);

}  // namespace yad

#endif  // OPERATOR_RUNTIME_JSON_BYTES_H_
