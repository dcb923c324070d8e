#include "operator/yurtappdaemon/observe/daemon_projection.h"

#include "operator/yurtappdaemon/observe/snapshot.h"

namespace yad {
namespace {

constexpr std::string_view kOurPrefix = "apps.openyurt.io/";

}  // namespace

std::unique_ptr<const Projection> ProjectDaemon(const Json& object) {
  auto projection = std::make_unique<DaemonProjection>();
  if (auto daemon = ParseYurtAppDaemonWithoutStatus(object)) {
    projection->pools = std::move(daemon->pools);
    projection->rolling = daemon->strategy.type == UpdateStrategyType::kRollingUpdate;
    if (auto selector = LabelSelector::Parse(daemon->selector, "spec.selector")) {
      projection->selector = *std::move(selector);
    }
    projection->pod_labels = StringMapAt(daemon->workload_template, {"spec", "template", "metadata", "labels"});
    projection->readable = true;
  }
  projection->annotations_of_ours = Fnv1a64("");
  for (const auto& [key, value] : ParseMeta(object).annotations) {
    if (!key.starts_with(kOurPrefix)) continue;
    projection->annotations_of_ours = Fnv1a64(value, Fnv1a64(key, projection->annotations_of_ours));
  }
  return projection;
}

std::vector<Request> DaemonsSelecting(const Store& daemons, const Event& pool_event) {
  std::vector<Request> requests;
  // Before the first list of daemons, List fails. No request is lost, because the first list causes a reconcile of each
  // daemon.
  const auto all = daemons.List();
  if (!all) return requests;
  const auto concerns = [](const DaemonProjection& daemon, const ObjectPtr& pool) {
    return pool != nullptr && daemon.pools.Selects(PoolProjectionOf(pool).pool);
  };
  for (const ObjectPtr& object : *all) {
    const auto& daemon = ProjectionOf<DaemonProjection>(object);
    if (daemon.readable && (concerns(daemon, pool_event.before) || concerns(daemon, pool_event.after))) {
      requests.push_back(object->meta().key);
    }
  }
  return requests;
}

}  // namespace yad
