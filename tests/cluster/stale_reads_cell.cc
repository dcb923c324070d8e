#include "tests/cluster/stale_reads_cell.h"

namespace yad::testing {

void StaleReadsCell::AllowCreateAndDelete(const std::string& pool) {
  AllowRemoval(pool);
  coming_and_going_.insert(pool);
}

void StaleReadsCell::AllowRemoval(const std::string& pool) { going_.insert(NameOf(WorkloadOf(kCellDaemon, pool))); }

void StaleReadsCell::SetTaints(const std::string& pool, const Json& taints) {
  kube().MergePatch(kNodePoolType, pool, {{"spec", {{"taints", taints}}}});
}

void StaleReadsCell::SetPoolSelector(const Json& labels) {
  Json match_labels = At(Daemon(kCellDaemon), "/spec/nodepoolSelector/matchLabels");
  match_labels.update(labels);
  kube().Edit(kYurtAppDaemonType, kCellDaemon, [&](Json& daemon) {
    daemon["spec"]["nodepoolSelector"] = {{"matchLabels", match_labels}};
  });
}

void StaleReadsCell::LabelPool(const std::string& pool, const std::string& label, const Json& value) {
  kube().MergePatch(kNodePoolType, pool, {{"metadata", {{"labels", {{label, value}}}}}});
}

std::set<std::string> StaleReadsCell::ResourcesOf(const Views& views) const {
  std::set<std::string> resources;
  for (const char view : views) {
    if (view == 'p') resources.insert(kNodePoolType.resource);
    if (view == 'd') resources.insert(kYurtAppDaemonType.resource);
    if (view == 'w') resources.insert(type().resource);
    if (view == 'r') resources.insert(kControllerRevisionType.resource);
  }
  return resources;
}

std::map<std::string, Json> StaleReadsCell::ListAll() {
  std::map<std::string, Json> lists;
  for (const auto& [type, selector] :
       std::vector<std::pair<ResourceType, std::string>>{{kNodePoolType, ""},
                                                         {kYurtAppDaemonType, ""},
                                                         {this->type(), kPoolNameLabel},
                                                         {kControllerRevisionType, kOurRevisionLabel}}) {
    ListOptions options;
    options.ns = type.namespaced ? ns() : "";
    options.label_selector = selector;
    const Result<ListPage> page = kube().client().List(type, options);
    if (!page) throw TestFailure("list " + type.resource + ": " + page.error().ToString());
    lists[type.resource] = {{"apiVersion", type.ApiVersion()},
                            {"kind", type.kind + "List"},
                            {"metadata", {{"resourceVersion", page->resource_version}}},
                            {"items", page->items}};
  }
  return lists;
}

std::map<std::string, std::string> StaleReadsCell::States() {
  std::map<std::string, std::string> workloads;
  for (const Json& workload : AllButTheBystander()) {
    const std::string pool = Annotation(workload, kRefNodePoolAnnotation);
    if (coming_and_going_.contains(pool)) continue;
    workloads[pool + " " + NameOf(workload)] =
        "uid " + UidOf(workload) + " generation " + At(workload, "/metadata/generation").dump();
  }
  return workloads;
}

void StaleReadsCell::WaitUntilItHasReconciled() {
  const std::string total = "controller_runtime_reconcile_total";
  Eventually("the operator has reconciled with the old data", [&] {
    return op().Metric(total) - op().Metric(total, {"result=\"error\""}) >= 1 ||
           op().Metric(total, {"result=\"error\""}) >= 3;
  });
}

void StaleReadsCell::PlayStale(Act before, Act act, const Views& stale) {
  AddThreePools();
  AddBystander(Pool("a"));
  StartOperator();
  WaitUntil(before(*this));
  const auto earlier = ListAll();
  const Wanted wanted = act(*this);
  WaitUntil(wanted);
  KillOperator();
  RememberWorkloads();
  WatchWorkloads();
  for (const std::string& name : going_) watch().ExpectRemoval(name);
  const auto as_they_were = States();

  for (const std::string& resource : ResourcesOf(stale)) stale_reads_.Show(resource, earlier.at(resource));
  StartOperator();
  WaitUntilItHasReconciled();
  Comparison is;
  is.Is("while its reads are stale: the workloads", States(), as_they_were);
  if (!is.why_not().empty()) throw TestFailure(is.why_not());

  stale_reads_.Release(/*expired=*/false);
  WaitUntil(wanted);
  Barrier();
  WaitUntil(wanted);
  ExpectNoFaultWasSeen();
}

void StaleReadsCell::PlayUnobserved(Act before, Act act, const Views& withheld) {
  AddThreePools();
  AddBystander(Pool("a"));
  StartOperator();
  WaitUntil(before(*this));
  WatchWorkloads();
  stale_reads_.Withhold(ResourcesOf(withheld));
  proxy().CloseConnections();
  const Wanted wanted = act(*this);
  for (const std::string& name : going_) watch().ExpectRemoval(name);
  // Waits until a faulty operator would have removed or created workloads.
  if (withheld.find('d') == Views::npos) Barrier();
  stale_reads_.Release(/*expired=*/true);
  WaitUntil(wanted);
  Barrier();
  WaitUntil(wanted);
  ExpectNoFaultWasSeen();
}

}  // namespace yad::testing
