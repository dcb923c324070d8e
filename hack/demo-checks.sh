#!/usr/bin/env bash
# Functions that check the state of the cluster, for hack/demo.sh, which sources this file. A check succeeds if its
# statement is true now.
# shellcheck shell=bash

# pods_run DEPLOYMENT-OR-STATEFULSET DAEMON PODS IMAGE POOL...: succeeds if the daemon has exactly one workload in each of
# these pools and no workload in other pools, all pods are Ready with that image, and each pod runs on a node of its own
# pool.
pods_run() {
  local kind=$1 daemon=$2 pods=$3 image=$4
  shift 4
  kubectl get "$kind,pods,nodes" -o json | jq -e --arg daemon "$daemon" --arg image "$image" --argjson pods "$pods" '
    ($ARGS.positional | sort) as $pools
    | ([.items[] | select(.kind == "Node") | {key: .metadata.name, value: .metadata.labels["apps.openyurt.io/nodepool"]}]
       | from_entries) as $pool_of
    | [.items[] | select(any(.metadata.ownerReferences[]?; .kind == "YurtAppDaemon" and .name == $daemon))] as $workloads
    | [.items[] | select(.kind == "Pod" and .metadata.labels.app == $daemon)] as $running
    | ($workloads | map(.metadata.labels["apps.openyurt.io/pool-name"]) | sort) == $pools
      and all($workloads[]; .status.observedGeneration == .metadata.generation and .spec.replicas == $pods
                            and .status.readyReplicas == $pods and .status.updatedReplicas == $pods and .status.replicas == $pods)
      and ($running | length) == $pods * ($pools | length)
      and all($running[]; any(.status.conditions[]?; .type == "Ready" and .status == "True")
                          and .spec.containers[0].image == $image
                          and $pool_of[.spec.nodeName] == .metadata.labels["apps.openyurt.io/pool-name"])
  ' --args "$@"
}

# status_says DAEMON POOLS: succeeds if the status of the daemon is for its newest spec, and counts POOLS pools, all
# updated and ready.
status_says() {
  kubectl get yurtappdaemon "$1" -o json | jq -e --argjson pools "$2" '
    .metadata.generation as $generation | .status
    | .observedGeneration == $generation and .desiredPools == $pools and .updatedPools == $pools and .readyPools == $pools
      and (.updateRevision // "") != "" and .currentRevision == .updateRevision
      and any(.conditions[]; .type == "Complete" and .status == "True" and .observedGeneration == $generation)
      and any(.conditions[]; .type == "Ready" and .status == "True")'
}

# identity KIND DAEMON POOL: prints the UID of the workload in that pool.
identity() {
  kubectl get "$1" -l "app=$2,apps.openyurt.io/pool-name=$3" -o jsonpath='{.items[*].metadata.uid}'
}

# revisions_are DAEMON COUNT: succeeds if the daemon owns COUNT ControllerRevisions, not counting those of StatefulSets.
revisions_are() {
  kubectl get controllerrevisions -o json | jq -e --arg daemon "$1" --argjson count "$2" '
    [.items[] | select(any(.metadata.ownerReferences[]?; .kind == "YurtAppDaemon" and .name == $daemon))] | length == $count'
}

image_is() { # KIND DAEMON POOL IMAGE
  [ "$(kubectl get "$1" -l "app=$2,apps.openyurt.io/pool-name=$3" \
    -o jsonpath='{.items[*].spec.template.spec.containers[0].image}')" = "$4" ]
}

generation_of() { # DAEMON POOL
  kubectl get deployments -l "app=$1,apps.openyurt.io/pool-name=$2" -o jsonpath='{.items[*].metadata.generation}'
}

# progress_is DAEMON STATUS REASON: succeeds if condition Progressing has these values for the newest spec.
progress_is() {
  kubectl get yurtappdaemon "$1" -o json | jq -e --arg status "$2" --arg reason "$3" '
    .metadata.generation as $generation
    | any(.status.conditions[]; .type == "Progressing" and .status == $status and .reason == $reason
                                and .observedGeneration == $generation)'
}

# waits_for DAEMON POOL REASON: succeeds if the update of the pool waits for this reason.
waits_for() {
  kubectl get yurtappdaemon "$1" -o json |
    jq -e --arg pool "$2" --arg reason "$3" 'any(.status.pools[]; .name == $pool and .waitingFor == $reason)'
}

# check_passed CHECK POOL: succeeds if the Job of the check is Complete in that pool.
check_passed() {
  kubectl get jobs -l "apps.openyurt.io/check=$1,apps.openyurt.io/pool-name=$2" -o json |
    jq -e '(.items | length) == 1 and any(.items[0].status.conditions[]?; .type == "Complete" and .status == "True")'
}

# opens_soon POOL: gives the pool an update window that opens at the start of a minute, 15 to 75 seconds from now.
opens_soon() {
  local opens
  opens=$(date -u -d "@$((($(date +%s) + 15) / 60 * 60 + 60))" +%H:%M)
  show annotate nodepool "$1" "apps.openyurt.io/update-windows=[{\"start\": \"$opens\", \"duration\": \"1h\"}]"
}

# cut_off POOL: makes the pool's nodes NotReady, as if the site's network had failed. back_on_line POOL: ends this.
# During this time, KWOK does not simulate their kubelets.
cut_off() {
  for node in "$1-1" "$1-2"; do
    show annotate node "$node" kwok.x-k8s.io/status=custom
    show patch node "$node" --subresource=status --type=strategic \
      -p '{"status":{"conditions":[{"type":"Ready","status":"Unknown","reason":"NodeStatusUnknown"}]}}'
  done
}
back_on_line() {
  for node in "$1-1" "$1-2"; do
    show patch node "$node" --subresource=status --type=strategic \
      -p '{"status":{"conditions":[{"type":"Ready","status":"True","reason":"KubeletReady"}]}}'
    show annotate node "$node" kwok.x-k8s.io/status-
  done
}
pool_counts() { # POOL READY NOT-READY
  [ "$(kubectl get nodepool "$1" -o jsonpath='{.status.readyNodeNum} {.status.unreadyNodeNum}')" = "$2 $3" ]
}
lease_is() { # NODE PHASE; "" for a node that is not leased
  [ "$(kubectl get node "$1" -o json | jq -r '.metadata.annotations["capacity.openyurt.io/lease"] // "{}" | fromjson.phase // ""')" = "$2" ]
}
runs_on() { # POD NODE
  [ "$(kubectl get pod "$1" -o jsonpath='{.spec.nodeName} {.status.phase}')" = "$2 Running" ]
}
# The Event stays when the pod runs, which may be a moment later.
has_waited_for_node() {
  kubectl get events --field-selector "involvedObject.name=$1,reason=WaitingForNode" -o name | grep .
}

offline_pools_are() { [ "$(kubectl get yurtappdaemon "$1" -o jsonpath='{.status.offlinePools}')" = "$2" ]; }

recreated() { # KIND DAEMON POOL OLD-UID
  local now
  now=$(identity "$1" "$2" "$3")
  [ -n "$now" ] && [ "$now" != "$4" ]
}

nothing_left() {
  local left
  left=$(kubectl get deployments,statefulsets,replicasets,controllerrevisions,pods -o name)
  echo "$left"
  [ -z "$left" ]
}

established() { kubectl wait --for=condition=Established --timeout=1s crd/yurtappdaemons.apps.openyurt.io crd/nodepools.apps.openyurt.io; }
node_is_ready() { kubectl wait --for=condition=Ready --timeout=1s node -l "apps.openyurt.io/nodepool=$1"; }
# is_rejected FILE: succeeds if the apiserver rejects the file, and the message has the invalid field.
is_rejected() {
  local output
  if output=$(kubectl apply -f "$1" 2>&1); then return 1; fi
  echo "$output"
  [[ $output == *'spec.workloadTemplate.deploymentTemplate.metadata.labels: Invalid value'* ]]
}
operator_ready() { curl -sf --max-time 2 "http://127.0.0.1:$HEALTH_PORT/readyz"; }
