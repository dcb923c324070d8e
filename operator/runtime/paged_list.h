// A list that is read past the caches.
#ifndef OPERATOR_RUNTIME_PAGED_LIST_H_
#define OPERATOR_RUNTIME_PAGED_LIST_H_

#include <functional>
#include <limits>
#include <stop_token>

#include "operator/client/client.h"

namespace yad {

// Calls `read` with each object of the list, until it returns false. Objects are parsed one by one, and a page has at
// most PageSize::kMaxBytes: neither many nor large objects take more memory than that. `options` says what to list, its
// limit how many objects a page has at most. It ends after `most_pages`, too. Returns how many pages it has read. An
// Error of a page, or of an object, ends it.
Result<int> ForEachListed(Client& client, const ResourceType& type, ListOptions options, const std::stop_token& stop,
                          const std::function<bool(const JsonDocument&)>& read,
                          int most_pages = std::numeric_limits<int>::max());

}  // namespace yad

#endif  // OPERATOR_RUNTIME_PAGED_LIST_H_
