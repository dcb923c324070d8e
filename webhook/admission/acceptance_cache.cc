#include "webhook/admission/acceptance_cache.h"

#include <openssl/evp.h>

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
  return state_.With([&](const State& state) -> std::optional<std::vector<std::string>> {
    const auto found = state.entries.find(digest);
    if (found == state.entries.end() || found->second.until <= now) return std::nullopt;
    return found->second.warnings;
  });
}

void AcceptanceCache::Put(const std::string& digest, std::vector<std::string> warnings) {
  if (digest.empty()) return;
  const SteadyTime now = clock_.Now();
  state_.With([&](State& state) {
    // All entries have the same lifetime, so the oldest entries expire first.
    while (!state.by_age.empty() &&
           (state.by_age.size() >= capacity_ || state.entries.at(state.by_age.front()).until <= now)) {
      state.entries.erase(state.by_age.front());
      state.by_age.pop_front();
    }
    // If two concurrent calls have tried the same content, the entry of the first call keeps its expiry.
    if (state.entries.try_emplace(digest, Entry{now + lifetime_, std::move(warnings)}).second) {
      state.by_age.push_back(digest);
    }
  });
}

}  // namespace yad
