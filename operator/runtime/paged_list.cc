#include "operator/runtime/paged_list.h"

#include "operator/runtime/page_size.h"

namespace yad {

Result<int> ForEachListed(Client& client, const ResourceType& type, ListOptions options, const std::stop_token& stop,
                          const std::function<bool(const JsonDocument&)>& read, int most_pages, Clock& clock) {
  PageSize page_size(options.limit);
  options.max_bytes = PageSize::kMaxBytes;
  for (int pages = 0;;) {
    options.limit = page_size.limit();
    const SteadyTime asked_at = clock.Now();
    const Result<ListText> page = client.ListAsText(type, options, stop);
    if (!page && page_size.Halve(page.error(), clock.Now() - asked_at)) continue;
    if (!page) return Fail(page.error());
    ++pages;
    page_size.Adapt(page->bytes());
    for (std::size_t i = 0; i < page->size(); ++i) {
      YAD_TRY(const JsonDocument item, page->Item(i));
      if (!read(item)) return pages;
    }
    options.continue_token = page->continue_token();
    if (options.continue_token.empty() || pages == most_pages) return pages;
  }
}

}  // namespace yad
