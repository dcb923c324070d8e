// A list that is read from the server, not from a cache.
#ifndef OPERATOR_RUNTIME_PAGED_LIST_H_
#define OPERATOR_RUNTIME_PAGED_LIST_H_

#include <functional>
#include <limits>
#include <stop_token>

#include "operator/base/clock.h"
#include "operator/client/client.h"

namespace yad {

// Lists objects, and calls `read` with each of them. Returns the number of pages that were read.
// - Ends when `read` returns false, after `most_pages` pages, or at the first Error.
// - `options` selects the objects. Its limit is the maximum number of objects in a page.
// - Only one page is in memory at a time, with at most PageSize::kMaxBytes.
Result<int> ForEachListed(Client& client, const ResourceType& type, ListOptions options, const std::stop_token& stop,
                          const std::function<bool(const JsonDocument&)>& read,
                          int most_pages = std::numeric_limits<int>::max(), Clock& clock = Clock::Real());

}  // namespace yad

#endif  // OPERATOR_RUNTIME_PAGED_LIST_H_
