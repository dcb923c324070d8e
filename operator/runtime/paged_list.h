// A list that is read from the server, not from a cache.
#ifndef OPERATOR_RUNTIME_PAGED_LIST_H_
#define OPERATOR_RUNTIME_PAGED_LIST_H_

#include <functional>
#include <limits>
#include <stop_token>

#include "operator/client/client.h"

namespace yad {

// Calls `read` with each object of the list, until `read` returns false. Objects are parsed one by one, and a page has
// at most PageSize::kMaxBytes, so memory depends neither on the number of objects nor on their size. `options` selects
// the objects; its limit is the maximum number of objects in a page. Reads at most `most_pages`. Returns the number of
// pages that were read. Fails at the first page or object with an Error.
Result<int> ForEachListed(Client& client, const ResourceType& type, ListOptions options, const std::stop_token& stop,
                          const std::function<bool(const JsonDocument&)>& read,
                          int most_pages = std::numeric_limits<int>::max());

}  // namespace yad

#endif  // OPERATOR_RUNTIME_PAGED_LIST_H_
