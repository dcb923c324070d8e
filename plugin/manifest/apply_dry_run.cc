#include "plugin/manifest/apply_dry_run.h"

#include <nlohmann/json.hpp>

#include "operator/api/well_known.h"
#include "operator/json/json_codec.h"

namespace yad {
namespace {

constexpr char kLastApplied[] = "kubectl.kubernetes.io/last-applied-configuration";

bool Has(const Json& object, const std::string& key) { return object.is_object() && object.contains(key); }
const Json& MemberOr(const Json& object, const std::string& key) {
  static const Json& null = *new Json(nullptr);
  return Has(object, key) ? object.at(key) : null;
}

}  // namespace

Json ManifestPatch(const Json& last, const Json& manifest, const Json& live) {
  Json patch = Json::object();
  for (const auto& [key, wish] : manifest.items()) {
    const Json& now = MemberOr(live, key);
    if (wish.is_object() && now.is_object()) {
      if (Json inner = ManifestPatch(MemberOr(last, key), wish, now); !inner.empty()) patch[key] = std::move(inner);
    } else if (wish != now) {
      patch[key] = wish;
    }
  }
  if (!last.is_object()) return patch;
  for (const auto& [key, said] : last.items()) {
    if (!Has(manifest, key) && Has(live, key)) patch[key] = nullptr;
  }
  return patch;
}

Result<Json> ApplyAsDryRun(Client& client, const Json& manifest) {
  const ObjectKey key{StringAt(manifest, {"metadata", "namespace"}), StringAt(manifest, {"metadata", "name"})};
  WriteOptions dry_run;
  dry_run.dry_run = true;
  const auto live = client.Get(kYurtAppDaemonType, key);
  if (!live && live.error().reason == Reason::kNotFound) return client.Create(kYurtAppDaemonType, manifest, dry_run);
  if (!live) return live;
  Json last;
  if (const auto text = StringAt(*live, {"metadata", "annotations", kLastApplied}); !text.empty()) {
    if (auto parsed = ParseJson(text)) last = *std::move(parsed);
  }
  Json patch = ManifestPatch(last, manifest, *live);
  patch.erase("status");
  if (patch.empty()) return live;
  return client.Patch(kYurtAppDaemonType, key, PatchType::kMerge, patch, dry_run);
}

}  // namespace yad
