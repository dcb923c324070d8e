#include "webhook/admission/acceptance_cache.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>

namespace yad {

std::string AcceptanceCache::Digest(const std::string& content) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes;
  unsigned int size = 0;
  // EVP_Digest fails only if there is not enough memory. The digest "" is never stored and never found.
  if (EVP_Digest(content.data(), content.size(), bytes.data(), &size, EVP_sha256(), nullptr) != 1) return "";
  return std::string(bytes.begin(), bytes.begin() + size);
}

std::optional<std::vector<std::string>> AcceptanceCache::Find(const std::string& digest) const {
  const SteadyTime now = clock_.Now();
  return entries_.With([&](const Entries& entries) -> std::optional<std::vector<std::string>> {
    const auto found = entries.find(digest);
    if (found == entries.end() || found->second.until <= now) return std::nullopt;
    return found->second.warnings;
  });
}

void AcceptanceCache::Put(const std::string& digest, std::vector<std::string> warnings) {
  if (digest.empty()) return;
  const SteadyTime now = clock_.Now();
  entries_.With([&](Entries& entries) {
    std::erase_if(entries, [&](const auto& entry) { return entry.second.until <= now; });
    const auto is_older = [](const auto& a, const auto& b) { return a.second.until < b.second.until; };
    if (entries.size() >= capacity_) entries.erase(std::min_element(entries.begin(), entries.end(), is_older));
    // If two concurrent calls have tried the same content, the entry of the first call keeps its expiry.
    entries.try_emplace(digest, Entry{now + lifetime_, std::move(warnings)});
  });
}

}  // namespace yad
