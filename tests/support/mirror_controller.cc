#include "tests/support/mirror_controller.h"

#include <memory>
#include <nlohmann/json.hpp>

namespace yad::testing {
namespace {

const ResourceType kConfigMapType{"", "v1", "configmaps", "ConfigMap", true};

Result<ReconcileResult> Reconcile(Client& client, const Store& originals, const Store& mirrors, const Request& request,
                                  std::stop_token stop) {
  const auto original = originals.Get(request);
  if (!original) {
    // The garbage collector removes the mirror of a deleted original. Any other error may be temporary.
    if (original.error().reason == Reason::kNotFound) return ReconcileResult::Done();
    return Fail(original.error());
  }
  const ObjectMeta& meta = (*original)->meta();
  if (meta.deleting()) return ReconcileResult::Done();

  Json wanted = {{"apiVersion", "v1"},
                 {"kind", "ConfigMap"},
                 {"metadata",
                  {{"name", request.name + "-mirror"},
                   {"namespace", request.ns},
                   {"labels", {{"mirror-of", request.name}}},
                   {"ownerReferences",
                    {{{"apiVersion", "v1"},
                      {"kind", "ConfigMap"},
                      {"name", request.name},
                      {"uid", meta.uid},
                      {"controller", true}}}}}},
                 {"data", (*original)->Parse().value("data", Json::object())}};
  const auto mirror = mirrors.Get({request.ns, request.name + "-mirror"});
  if (!mirror && mirror.error().reason != Reason::kNotFound) return Fail(mirror.error());
  if (mirror && (*mirror)->Parse().value("data", Json::object()) == wanted["data"]) return ReconcileResult::Done();

  if (mirror) wanted["metadata"]["resourceVersion"] = (*mirror)->meta().resource_version;
  const auto written =
      mirror ? client.Update(kConfigMapType, wanted, {}, stop) : client.Create(kConfigMapType, wanted, {}, stop);
  if (!written) return Fail(written.error());
  return ReconcileResult::Done();
}

}  // namespace

void AddMirrorController(Manager& manager, Client& client, const std::string& ns) {
  ReflectorOptions watch_originals, watch_mirrors;
  watch_originals.type = watch_mirrors.type = kConfigMapType;
  watch_originals.ns = watch_mirrors.ns = ns;
  watch_originals.label_selector = "mirror=true";
  watch_mirrors.label_selector = "mirror-of";
  Informer& originals = manager.InformerFor(watch_originals);
  Informer& mirrors = manager.InformerFor(watch_mirrors);

  ControllerOptions options;
  options.name = "mirror";
  auto controller = std::make_unique<Controller>(options, [&](const Request& request, std::stop_token stop) {
    return Reconcile(client, originals.store(), mirrors.store(), request, stop);
  });
  controller->For(originals).Owns(mirrors);
  manager.AddController(std::move(controller));
}

}  // namespace yad::testing
