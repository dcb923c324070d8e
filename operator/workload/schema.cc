#include "operator/workload/schema.h"

#include <algorithm>
#include <array>

namespace yad {
namespace {

// All schemas. They are built once. A schema refers only to schemas that are declared before it.
struct Schemas {
  Schema unknown;
  Schema plain;  // a struct without special fields, which is also used for all structs in it
  Schema strings, quantities;
  Schema meta, label_selector, field_ref, resource_field_ref, reference;
  Schema http_get, handler, probe, lifecycle;
  Schema file_key_ref, env, env_source, port, host_port, volume_mount, resources, profile, security, container,
      host_container;
  Schema claim_spec, claim_status, claim, downward_item, downward, token, projection, files, empty_dir, host_path, csi,
      ephemeral, iscsi, rbd, azure_disk, scale_io, volume;
  Schema pod, host_pod, pod_template, rolling_deployment, rolling_stateful_set, strategy, update_strategy, retention,
      spec, workload;
  Schema selected, service_port, client_ip, affinity_config, service_spec, service;

  Schemas();
  void BuildCommon();
  void BuildContainer();
  void BuildVolumes();
  void BuildPod();
  void BuildWorkload();
  void BuildService();
};

Field Of(const Schema& schema, unsigned flags = 0) { return {&schema, {}, flags, nullptr}; }
Field KeyedList(const Schema& item, std::vector<std::string> keys) { return {&item, std::move(keys), 0, nullptr}; }
Field Flags(unsigned flags) { return {nullptr, {}, flags, nullptr}; }
Field Default(Json value, unsigned flags = 0) { return {nullptr, {}, flags, std::move(value)}; }
Field Filled(Json value) { return Default(std::move(value), Field::kZeroIsDefaulted); }
Field Sibling(std::string key, unsigned flags = 0) { return {nullptr, {}, flags, nullptr, std::move(key)}; }

Schemas::Schemas() {
  unknown.other = {&unknown, {}, Field::kEmptyCounts, nullptr};
  BuildCommon();
  BuildContainer();
  BuildVolumes();
  BuildPod();
  BuildWorkload();
  BuildService();
}

void Schemas::BuildCommon() {
  strings.other = Flags(Field::kEmptyCounts);
  quantities.other = Flags(Field::kQuantity);
  plain.other = Of(plain);
  plain.fields["readOnly"] = Flags(Field::kZeroIsAbsent);
  plain.fields["matchLabels"] = Of(strings);
  plain.fields["labelSelector"] = Of(label_selector);
  plain.fields["namespaceSelector"] = Of(label_selector);
  meta.fields["labels"] = Of(strings, Field::kShared);
  meta.fields["annotations"] = Of(strings, Field::kShared);
  label_selector = plain;
  label_selector.atomic = true;
  reference.atomic = true;
  field_ref.atomic = true;
  field_ref.fields["apiVersion"] = Filled("v1");
  resource_field_ref.atomic = true;
  resource_field_ref.fields["divisor"] = Default("0", Field::kQuantity);
}

void Schemas::BuildContainer() {
  http_get.fields["path"] = Filled("/");
  http_get.fields["scheme"] = Filled("HTTP");
  http_get.fields["httpHeaders"] = Of(plain);
  handler.all_are_choices = true;
  handler.fields["httpGet"] = Of(http_get);
  for (const char* name : {"postStart", "preStop"}) lifecycle.fields[name] = Of(handler);
  probe.choices = {"exec", "httpGet", "tcpSocket", "grpc"};
  probe.fields["httpGet"] = Of(http_get);
  probe.fields["grpc"].schema = &plain;
  probe.fields["initialDelaySeconds"] = Flags(Field::kZeroIsAbsent);
  probe.fields["timeoutSeconds"] = Filled(1);
  probe.fields["periodSeconds"] = Filled(10);
  probe.fields["successThreshold"] = Filled(1);
  probe.fields["failureThreshold"] = Filled(3);

  env_source.all_are_choices = true;
  env_source.other = Of(reference);
  env_source.fields["fieldRef"] = Of(field_ref);
  env_source.fields["resourceFieldRef"] = Of(resource_field_ref);
  file_key_ref = reference;
  file_key_ref.fields["optional"] = Default(false);
  env_source.fields["fileKeyRef"] = Of(file_key_ref);
  env.choices = {"value", "valueFrom"};
  env.fields["valueFrom"] = Of(env_source);
  port.fields["protocol"] = Filled("TCP");
  port.fields["hostPort"] = Flags(Field::kZeroIsAbsent);
  volume_mount.fields["readOnly"] = Flags(Field::kZeroIsAbsent);
  for (const char* name : {"limits", "requests"}) resources.fields[name] = Of(quantities);
  resources.fields["claims"] = KeyedList(plain, {"name"});
  profile.dependent = "localhostProfile";
  profile.dependent_on_type = "Localhost";
  for (const char* name : {"seccompProfile", "appArmorProfile"}) security.fields[name] = Of(profile);

  container.fields["ports"] = KeyedList(port, {"containerPort", "protocol"});
  container.fields["env"] = KeyedList(env, {"name"});
  container.fields["envFrom"] = Of(plain);
  container.fields["volumeMounts"] = KeyedList(volume_mount, {"mountPath"});
  container.fields["volumeDevices"] = KeyedList(plain, {"devicePath"});
  container.fields["resources"] = Of(resources);
  container.fields["securityContext"] = Of(security);
  container.fields["lifecycle"] = Of(lifecycle);
  for (const char* name : {"livenessProbe", "readinessProbe", "startupProbe"}) container.fields[name] = Of(probe);
  for (const char* name : {"stdin", "stdinOnce", "tty"}) container.fields[name] = Flags(Field::kZeroIsAbsent);
  container.fields["terminationMessagePath"] = Filled("/dev/termination-log");
  container.fields["terminationMessagePolicy"] = Filled("File");
  container.fields["imagePullPolicy"] = Flags(Field::kZeroIsDefaulted);

  host_port = port;
  host_port.fields["hostPort"] = Sibling("containerPort", Field::kZeroIsAbsent);
  host_container = container;
  host_container.fields["ports"] = KeyedList(host_port, {"containerPort", "protocol"});
}

void Schemas::BuildVolumes() {
  claim_spec.fields["selector"] = Of(label_selector);
  claim_spec.fields["resources"] = Of(resources);
  claim_spec.fields["storageClassName"] = Flags(Field::kEmptyCounts);  // "" means no class
  claim_spec.fields["volumeAttributesClassName"] = Flags(Field::kEmptyCounts);
  claim_spec.fields["volumeMode"] = Default("Filesystem");
  claim_status.fields["phase"] = Filled("Pending");
  claim.fields["status"] = Of(claim_status);
  claim.fields["metadata"] = Of(meta, Field::kShared);
  claim.fields["spec"] = Of(claim_spec);
  claim.fields["apiVersion"] = Default("v1");
  claim.fields["kind"] = Default("PersistentVolumeClaim");

  downward_item.fields["fieldRef"] = Of(field_ref);
  downward_item.fields["resourceFieldRef"] = Of(resource_field_ref);
  downward.fields["items"] = Of(downward_item);
  downward.fields["defaultMode"] = Default(420);
  projection.other = Of(plain);
  projection.fields["downwardAPI"] = Of(downward);
  projection.fields["serviceAccountToken"] = Of(token);
  token.fields["expirationSeconds"] = Default(3600);
  files.other = Of(plain);
  files.fields["defaultMode"] = Default(420);
  files.fields["sources"] = Of(projection);
  empty_dir.fields["sizeLimit"] = Flags(Field::kQuantity);
  host_path.fields["type"] = Default("");
  csi.fields["volumeAttributes"] = Of(strings);
  csi.fields["fsType"] = Flags(Field::kEmptyCounts);
  ephemeral.fields["volumeClaimTemplate"] = Of(claim);
  iscsi = rbd = azure_disk = scale_io = plain;
  iscsi.fields["iscsiInterface"] = Filled("default");
  rbd.fields["pool"] = Filled("rbd");
  rbd.fields["user"] = Filled("admin");
  rbd.fields["keyring"] = Filled("/etc/ceph/keyring");
  azure_disk.fields["cachingMode"] = Default("ReadWrite");
  azure_disk.fields["kind"] = Default("Shared");
  azure_disk.fields["fsType"] = Default("ext4");
  scale_io.fields["storageMode"] = Filled("ThinProvisioned");
  scale_io.fields["fsType"] = Filled("xfs");
  volume.all_are_choices = true;
  volume.default_choice = "emptyDir";
  volume.other = Of(plain, Field::kPresenceCounts);
  for (const char* name : {"configMap", "secret", "projected"}) volume.fields[name] = Of(files);
  volume.fields["downwardAPI"] = Of(downward);
  volume.fields["emptyDir"] = Of(empty_dir);
  volume.fields["hostPath"] = Of(host_path);
  volume.fields["csi"] = Of(csi);
  volume.fields["ephemeral"] = Of(ephemeral);
  volume.fields["iscsi"] = Of(iscsi);
  volume.fields["rbd"] = Of(rbd);
  volume.fields["azureDisk"] = Of(azure_disk);
  volume.fields["scaleIO"] = Of(scale_io);
  for (auto& [name, source] : volume.fields) source.flags |= Field::kPresenceCounts;
}

void Schemas::BuildPod() {
  for (const char* name : {"containers", "initContainers", "ephemeralContainers"}) {
    pod.fields[name] = KeyedList(container, {"name"});
  }
  pod.fields["volumes"] = KeyedList(volume, {"name"});
  pod.fields["hostAliases"] = KeyedList(plain, {"ip"});
  pod.fields["topologySpreadConstraints"] = KeyedList(plain, {"topologyKey", "whenUnsatisfiable"});
  for (const char* name : {"imagePullSecrets", "resourceClaims", "schedulingGates"}) {
    pod.fields[name] = KeyedList(plain, {"name"});
  }
  for (const char* name : {"tolerations", "readinessGates", "affinity", "dnsConfig"}) pod.fields[name] = Of(plain);
  pod.fields["nodeSelector"] = Of(strings, Field::kShared);
  pod.fields["overhead"] = Of(quantities);
  pod.fields["resources"] = Of(resources);
  pod.fields["securityContext"] = Of(security);
  for (const char* name : {"hostNetwork", "hostPID", "hostIPC"}) pod.fields[name] = Flags(Field::kZeroIsAbsent);
  pod.fields["dnsPolicy"] = Filled("ClusterFirst");
  pod.fields["restartPolicy"] = Filled("Always");
  pod.fields["schedulerName"] = Filled("default-scheduler");
  pod.fields["terminationGracePeriodSeconds"] = Default(30);
  pod.fields["runtimeClassName"] = Flags(Field::kEmptyCounts);
  pod.fields["enableServiceLinks"] = Default(true);
  // The schema of pods with hostNetwork. The ports of their containers are ports of the node.
  host_pod = pod;
  host_pod.fields["containers"] = host_pod.fields["initContainers"] = KeyedList(host_container, {"name"});
  pod.variant_key = "hostNetwork";
  pod.variant = &host_pod;
  pod_template.fields["metadata"] = Of(meta, Field::kShared);
  pod_template.fields["spec"] = Of(pod);
}

void Schemas::BuildWorkload() {
  strategy.fields["type"] = Filled("RollingUpdate");
  strategy.dependent = "rollingUpdate";
  strategy.dependent_on_type = "RollingUpdate";
  update_strategy = strategy;
  rolling_deployment = rolling_stateful_set = plain;
  for (const char* name : {"maxSurge", "maxUnavailable"}) rolling_deployment.fields[name] = Default("25%");
  rolling_stateful_set.fields["partition"] = Default(0);
  rolling_stateful_set.fields["maxUnavailable"] = Default(1);
  strategy.fields["rollingUpdate"] = Of(rolling_deployment);
  update_strategy.fields["rollingUpdate"] = Of(rolling_stateful_set);
  for (const char* name : {"whenDeleted", "whenScaled"}) retention.fields[name] = Filled("Retain");

  spec.fields["replicas"] = Flags(Field::kNeverRemoved);
  spec.fields["selector"] = Of(label_selector);
  spec.fields["template"] = Of(pod_template);
  spec.fields["strategy"] = Of(strategy);
  spec.fields["updateStrategy"] = Of(update_strategy);
  // A serviceName of "" counts as absent, because Go programs write "" if the StatefulSet has no Service. If the
  // StatefulSet has a Service, the operator sets the field when it creates the StatefulSet.
  spec.fields["serviceName"] = Flags(Field::kZeroIsDefaulted);
  spec.fields["ordinals"] = Of(plain, Field::kPresenceCounts);
  for (const char* name : {"minReadySeconds", "paused"}) spec.fields[name] = Flags(Field::kZeroIsAbsent);
  spec.fields["progressDeadlineSeconds"] = Default(600);
  spec.fields["revisionHistoryLimit"] = Default(10);
  spec.fields["podManagementPolicy"] = Filled("OrderedReady");
  spec.fields["volumeClaimTemplates"] = KeyedList(claim, {"metadata.name"});
  spec.fields["persistentVolumeClaimRetentionPolicy"] = Of(retention);
  workload.fields["metadata"] = Of(meta, Field::kShared);
  workload.fields["spec"] = Of(spec);
}

void Schemas::BuildService() {
  selected = strings;
  selected.atomic = true;
  service_port = plain;
  service_port.fields["protocol"] = Filled("TCP");
  service_port.fields["targetPort"] = Sibling("port");
  service_port.fields["nodePort"] = Flags(Field::kZeroIsAbsent | Field::kNeverRemoved);
  client_ip.fields["timeoutSeconds"] = Default(10800);
  affinity_config.fields["clientIP"] = Of(client_ip);

  service_spec = plain;
  service_spec.fields["ports"] = Of(service_port);
  service_spec.fields["selector"] = Of(selected);
  service_spec.fields["type"] = Filled("ClusterIP");
  service_spec.fields["sessionAffinity"] = Filled("None");
  service_spec.fields["sessionAffinityConfig"] = Of(affinity_config);
  for (const char* name : {"internalTrafficPolicy", "externalTrafficPolicy"}) {
    service_spec.fields[name] = Filled("Cluster");
  }
  service_spec.fields["allocateLoadBalancerNodePorts"] = Default(true);
  service_spec.fields["publishNotReadyAddresses"] = Flags(Field::kZeroIsAbsent);
  service_spec.fields["healthCheckNodePort"] =
      Flags(Field::kZeroIsAbsent | Field::kZeroIsDefaulted | Field::kNeverRemoved);
  // The apiserver chooses these values and keeps them.
  for (const char* name : {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"}) {
    service_spec.fields[name] = Flags(Field::kZeroIsDefaulted | Field::kNeverRemoved);
  }
  service.fields["metadata"] = Of(meta, Field::kShared);
  service.fields["spec"] = Of(service_spec);
}

const Schemas& All() {
  static const Schemas& schemas = *new Schemas;
  return schemas;
}

}  // namespace

const Schema& Field::SchemaOrUnknown() const { return schema == nullptr ? UnknownSchema() : *schema; }

const Schema& Schema::For(const Json& object) const {
  if (variant == nullptr || !object.is_object()) return *this;
  const auto key = object.find(variant_key);
  return key != object.end() && *key == true ? *variant : *this;
}

bool Schema::IsChoice(std::string_view key) const {
  if (all_are_choices) return key != "name";
  return std::find(choices.begin(), choices.end(), key) != choices.end();
}

bool Schema::IsOfOtherType(const Json& object) const {
  const auto type = object.find("type");
  return !dependent.empty() && type != object.end() && type->is_string() && *type != "" && *type != dependent_on_type;
}

const Schema& WorkloadSchema() { return All().workload; }
const Schema& ServiceSchema() { return All().service; }
const Schema& UnknownSchema() { return All().unknown; }

bool EmptyObjectCounts(std::string_view key) {
  // An empty object at these keys has a meaning:
  // - Most of the keys are members of a union, such as the source of a volume.
  // - An empty selector selects everything, and an absent selector nothing.
  // - The seLinuxOptions of a container replace those of the pod, even if they are empty.
  static constexpr std::array<std::string_view, 14> kKeys = {
      "emptyDir",         "downwardAPI",   "projected", "ephemeral", "exec",          "httpGet",
      "tcpSocket",        "grpc",          "sleep",     "selector",  "labelSelector", "namespaceSelector",
      "nodepoolSelector", "seLinuxOptions"};
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

}  // namespace yad
