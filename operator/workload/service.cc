#include "operator/workload/service.h"

#include <algorithm>

#include "operator/api/label_selector.h"
#include "operator/api/well_known.h"
#include "operator/workload/merge.h"
#include "operator/workload/overrides.h"
#include "operator/workload/owner.h"
#include "operator/workload/safe_encode.h"
#include "operator/workload/semantics.h"

namespace yad {
namespace {

constexpr std::size_t kMaxServiceName = 63;

std::string TypeIn(const Json& service) {
  const std::string type = StringAt(service, {"spec", "type"});
  return type.empty() ? "ClusterIP" : type;
}

bool HasNodePorts(const std::string& type) { return type == "NodePort" || type == "LoadBalancer"; }

bool SamePort(const Json& a, const Json& b) {
  const auto protocol = [](const Json& port) {
    const std::string text = StringAt(port, {"protocol"});
    return text.empty() ? "TCP" : text;
  };
  return MemberOf(a, "port") == MemberOf(b, "port") && protocol(a) == protocol(b);
}

// Returns the wanted ports as the server would store them. A port that is also in `live` keeps its nodePort.
Json ExactPorts(const Json& wanted, const Json& live, bool node_ports) {
  Json ports = Json::array();
  for (const Json& wish : wanted) {
    Json& port = ports.emplace_back(wish);
    if (!port.is_object()) continue;
    const auto known = std::find_if(live.begin(), live.end(), [&](const Json& other) { return SamePort(wish, other); });
    if (known != live.end() && known->is_object()) {
      port = *known;
      for (const char* own : {"name", "appProtocol", "targetPort"}) port.erase(own);
      if (!node_ports) port.erase("nodePort");
      for (const auto& [key, value] : wish.items()) {
        if (key != "nodePort" || !IsZero(value)) port[key] = value;
      }
    }
    if (StringAt(port, {"protocol"}).empty()) port["protocol"] = "TCP";
    if (const Json& target = MemberOf(port, "targetPort"); target.is_null() || IsZero(target)) {
      port["targetPort"] = MemberOf(port, "port");
    }
  }
  return ports;
}

bool IsPrefix(const Json& a, const Json& b) {
  return a.is_array() && b.is_array() && a.size() <= b.size() && std::equal(a.begin(), a.end(), b.begin());
}

// Removes fields that a Service of this type must not have, unless the template sets them. The apiserver itself removes
// some of them, but not if another field also changes.
void DropForbiddenFields(const Json& wanted, const std::string& old_type, const std::string& type, Json& spec) {
  const auto drop = [&](std::initializer_list<const char*> names) {
    for (const char* name : names) {
      if (MemberOf(wanted, name).is_null()) spec.erase(name);
    }
  };
  if (StringAt(spec, {"sessionAffinity"}) != "ClientIP") drop({"sessionAffinityConfig"});
  if (type == old_type) return;
  if (!HasNodePorts(type)) drop({"externalTrafficPolicy", "healthCheckNodePort"});
  if (type != "LoadBalancer") drop({"allocateLoadBalancerNodePorts", "loadBalancerClass"});
  if (type == "ExternalName") {
    drop({"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"});
  }
}

void SetOwner(const Json& rendered, const YurtAppDaemon& daemon, Json& service) {
  service["metadata"]["annotations"][kLastRenderedAnnotation] = DumpJson(rendered);
  EnsureOwner(service, daemon);
}

// Returns the last rendered Service, or null if it is not known.
Json LastRendered(const Json& live) {
  const Json last =
      Json::parse(StringAt(live, {"metadata", "annotations", kLastRenderedAnnotation}), nullptr, /*throw=*/false);
  return last.is_object() && !IsDeeperThan(last, kMaxJsonDepth) ? last : Json();
}

}  // namespace

std::string ServiceName(const std::string& workload_name) {
  std::string name = workload_name;
  std::replace(name.begin(), name.end(), '.', '-');
  if (name.empty() || name.front() < 'a' || name.front() > 'z') name = "s-" + name;
  return WithoutMiddle(name, kMaxServiceName);
}

Json RenderService(const RevisionContent& revision, const std::string& pool) {
  const Json& service_template = revision.service_template;
  if (!service_template.is_object()) return nullptr;
  Json rendered = {{"metadata", MetadataOfTemplate(service_template)}, {"spec", MemberOf(service_template, "spec")}};
  if (!rendered["spec"].is_object()) rendered["spec"] = Json::object();
  ReplaceVariables(rendered, pool);
  rendered["metadata"]["labels"][kPoolNameLabel] = pool;
  rendered["metadata"]["annotations"][kRefNodePoolAnnotation] = pool;
  Json& selector = rendered["spec"]["selector"];
  if (!selector.is_object()) selector = Json::object();
  const Json& workload_selector = MemberOf(MemberOf(revision.workload_template, "spec"), "selector");
  const auto labels = LabelsSelectedBy(workload_selector);
  for (const auto& [key, value] : labels ? *labels : StringMapAt(workload_selector, {"matchLabels"})) {
    selector[key] = value;
  }
  selector[kPoolNameLabel] = pool;
  return rendered;
}

Json NewService(const Json& rendered, const YurtAppDaemon& daemon, const std::string& name) {
  Json service = rendered;
  service.update(OwnedObject(kServiceType, name, daemon), /*merge_objects=*/true);
  SetOwner(rendered, daemon, service);
  return service;
}

Json MergeService(const Json& rendered, const YurtAppDaemon& daemon, const Json& live) {
  Json last = LastRendered(live);
  if (last.is_null()) last = rendered;
  Json now = rendered;
  Json& wanted = now["spec"];
  const Json& live_spec = MemberOf(live, "spec");
  const std::string old_type = TypeIn(live);
  // `chooses` is false if neither the template nor the last rendered Service sets a type. Another owner has then chosen
  // the type, so the live type stays.
  const Json& wish = MemberOf(wanted, "type");
  const bool chooses = !(wish.is_null() || wish == "") || !StringAt(last, {"spec", "type"}).empty();
  const std::string type = chooses ? TypeIn(now) : old_type;
  if (const Json& ports = MemberOf(wanted, "ports"); ports.is_array())
    wanted["ports"] = ExactPorts(ports, ListAt(live_spec, {"ports"}), HasNodePorts(type));
  for (const char* name : {"clusterIPs", "ipFamilies"}) {  // the server adds the second element
    if (IsPrefix(MemberOf(wanted, name), MemberOf(live_spec, name))) wanted.erase(name);
  }
  Json merged = ThreeWayMerge(last, now, live, ServiceSchema());
  Json& spec = merged["spec"];
  if (!spec.is_object()) spec = Json::object();
  if (!MemberOf(wanted, "ports").is_array() || MemberOf(wanted, "ports").empty()) spec.erase("ports");
  DropForbiddenFields(wanted, old_type, TypeIn(merged), spec);
  SetOwner(rendered, daemon, merged);
  return merged;
}

bool IsAnotherService(const Json& rendered, const Json& live) {
  const Json last = LastRendered(live);
  return !last.is_null() && last != rendered;
}

bool SameService(const RevisionContent& a, const RevisionContent& b) {
  if (a.service_template.is_null() != b.service_template.is_null()) return false;
  return a.service_template.is_null() || SameObject(ServiceSchema(), a.service_template, b.service_template);
}

Difference Compare(const RevisionContent& of_a, const Json& rendered_a, const RevisionContent& of_b,
                   const Json& rendered_b) {
  const Difference difference = Compare(rendered_a, rendered_b);
  const bool alike = difference == Difference::kNone || difference == Difference::kReplicasOnly;
  return alike && !SameService(of_a, of_b) ? Difference::kServiceOnly : difference;
}

}  // namespace yad
