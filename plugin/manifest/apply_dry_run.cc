#include "plugin/manifest/apply_dry_run.h"

#include <nlohmann/json.hpp>

#include "operator/api/merge_patch.h"
#include "operator/api/well_known.h"
#include "operator/json/json_document.h"

namespace yad {
namespace {

constexpr char kLastApplied[] = "kubectl.kubernetes.io/last-applied-configuration";

// Returns the patch that kubectl apply would send.
Json PatchOf(const Json& live, const Json& manifest) {
  Json last;
  if (const auto text = StringAt(live, {"metadata", "annotations", kLastApplied}); !text.empty()) {
    if (auto parsed = ParseJson(text)) last = *std::move(parsed);
  }
  Json patch = MergePatch(last, manifest, live);
  patch.erase("status");
  return patch;
}

}  // namespace

Json ApplyWithoutServer(const Json& live, const Json& manifest) {
  Json applied = live.is_null() ? manifest : live;
  if (live.is_null()) {
    applied.erase("status");
    applied["metadata"]["uid"] = "simulated";
  } else {
    applied.merge_patch(PatchOf(live, manifest));
  }
  return applied;
}

Result<Json> ApplyAsDryRun(Client& client, const Json& manifest) {
  const ObjectKey key{StringAt(manifest, {"metadata", "namespace"}), StringAt(manifest, {"metadata", "name"})};
  const WriteOptions dry_run{.dry_run = true};
  const auto live = client.Get(kYurtAppDaemonType, key);
  if (!live && live.error().reason == Reason::kNotFound) return client.Create(kYurtAppDaemonType, manifest, dry_run);
  if (!live) return live;
  const Json patch = PatchOf(*live, manifest);
  if (patch.empty()) return live;
  return client.Patch(kYurtAppDaemonType, key, PatchType::kMerge, patch, dry_run);
}

}  // namespace yad
