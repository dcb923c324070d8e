#!/usr/bin/env bash
# Demonstrates the operator on a real control plane, and checks that each step has the expected result.
#
#   hack/demo.sh OPERATOR_BINARY    run all steps; exit with 0 only if each check succeeds
#   hack/demo.sh stop DIR           stop the programs that KEEP=1 left running in DIR
#
# KEEP=1 leaves everything running at the end, and prints how to use it.
set -euo pipefail

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
SAMPLES=docs/samples
RELEASE=yurtappdaemon-operator
NAMESPACE=yurtappdaemon-system
MARKER=.made-by-demo.sh # a file in the folder of a demo; "stop" deletes only folders with this file
PATIENCE=${DEMO_PATIENCE:-90} # the timeout of one check, in seconds; most checks succeed within two seconds

# --- output ------------------------------------------------------------------------------------------------------------

bold='' dim='' green='' red='' plain=''
if [ -t 1 ]; then bold=$'\e[1m' dim=$'\e[2m' green=$'\e[32m' red=$'\e[31m' plain=$'\e[0m'; fi

steps=0
step() { # TITLE [SENTENCE]
  steps=$((steps + 1))
  printf '\n%s%d. %s%s\n' "$bold" $steps "$1" "$plain"
  [ -z "${2:-}" ] || fold -s -w 110 <<<"$2" | sed 's/^/   /'
}

kubectl() {
  if [ "$1" = yad ]; then command kubectl "$@"; else command kubectl --cache-dir="$DIR/kubectl-cache" "$@"; fi
}

# Runs helm with its files in $DIR, so that it does not write into the folders of the user.
helm() { HELM_CACHE_HOME=$DIR/helm HELM_CONFIG_HOME=$DIR/helm HELM_DATA_HOME=$DIR/helm command helm "$@"; }

# show ARGUMENT...: prints a kubectl command line, runs it, and prints its output.
show() { run kubectl "$@"; }
# run PROGRAM ARGUMENT...: prints a command line, runs it, and prints its output.
run() {
  local argument line=$1
  for argument in "${@:2}"; do
    if [[ $argument == *[\ \"\{\*]* ]]; then line+=" '$argument'"; else line+=" $argument"; fi
  done
  printf '   %s$ %s%s\n' "$dim" "$line" "$plain"
  "$@" 2>&1 | sed 's/^/     /'
}

# seen WHAT COMMAND...: runs the command until it succeeds. Ends the demo if it does not succeed in time.
seen() {
  local what=$1 begin=$SECONDS
  shift
  until "$@" >"$DIR/last-check" 2>&1; do
    if [ -n "$OPERATOR_PID" ] && ! kill -0 "$OPERATOR_PID" 2>/dev/null; then
      give_up "$what: the operator has exited"
    fi
    [ $((SECONDS - begin)) -lt "$PATIENCE" ] || give_up "$what: the check did not succeed within $PATIENCE s"
    sleep 0.2
  done
  printf '   %s✔%s %s\n' "$green" "$plain" "$what"
}

give_up() {
  printf '\n   %s✘ %s%s\n' "$red" "$1" "$plain"
  {
    echo "--- the last output of the check"; cat "$DIR/last-check" || true
    echo "--- the cluster"
    kubectl get nodepools,yurtappdaemons,deployments,statefulsets,controllerrevisions,pods -o wide || true
    kubectl get yurtappdaemons -o yaml | sed -n '/^  status:/,$p' | head -n 120 || true
    echo "--- events"; kubectl get events --sort-by=.metadata.creationTimestamp | tail -n 20 || true
    echo "--- the end of the operator's log"; tail -n 40 "$DIR/operator.log" || true
  } 2>&1 | sed 's/^/     /'
  exit 1
}

. "$HERE/demo-checks.sh"

# --- actions -----------------------------------------------------------------------------------------------------------

# set_version IMAGE MEMORY: sets the image and the memory request in the spec of daemon web.
set_version() {
  show patch yurtappdaemon web --type=json -p '[
  {"op":"replace","path":"/spec/workloadTemplate/deploymentTemplate/spec/template/spec/containers/0/image","value":"'"$1"'"},
  {"op":"replace","path":"/spec/workloadTemplate/deploymentTemplate/spec/template/spec/containers/0/resources/requests/memory","value":"'"$2"'"}]'
}

# two_nodes POOL: creates two Nodes of the pool, as their machines would. KWOK then simulates their kubelets.
two_nodes() {
  local number
  for number in 1 2; do
    cat <<YAML
---
apiVersion: v1
kind: Node
metadata:
  name: $1-$number
  labels: {apps.openyurt.io/nodepool: $1, kubernetes.io/hostname: $1-$number, kubernetes.io/os: linux}
spec:
  taints: [{key: example.com/site, value: $1, effect: NoSchedule}]
status:
  capacity: {cpu: "4", memory: 8Gi, pods: "110"}
  allocatable: {cpu: "4", memory: 8Gi, pods: "110"}
YAML
  done | kubectl apply -f - >/dev/null
}

# free_ports COUNT: prints ports on which no process listens.
free_ports() {
  perl -MIO::Socket::INET -e 'my @held = map { IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 1) } 1..$ARGV[0];
    print join(" ", map { $_->sockport } @held), "\n"' "$1"
}

# Makes the webhook's Service point to this machine. The operator runs here, because no kubelet runs its pods.
lead_service_here() {
  kubectl patch service $RELEASE-webhook --namespace $NAMESPACE --type=merge \
    -p '{"spec":{"type":"ExternalName","externalName":"localhost","clusterIP":null,"clusterIPs":null}}' >/dev/null
}
# Starts the operator on this machine, with the arguments from its Deployment and a token of its ServiceAccount.
start_operator() {
  local arguments
  kubectl config view --raw -o json | jq --arg token "$(kubectl create token $RELEASE --namespace $NAMESPACE --duration=24h)" \
    --arg namespace $NAMESPACE '.users[].user = {token: $token} | .contexts[].context.namespace = $namespace' >"$DIR/operator.kubeconfig"
  mapfile -t arguments < <(kubectl get deployment $RELEASE --namespace $NAMESPACE -o json |
    jq -r '.spec.template.spec.containers[0].args[]')
  KUBECONFIG=$DIR/operator.kubeconfig setsid "$OPERATOR" "${arguments[@]}" </dev/null >>"$DIR/operator.log" 2>&1 &
  OPERATOR_PID=$!
  disown "$OPERATOR_PID"
  echo "$OPERATOR_PID $(cut -d' ' -f22 "/proc/$OPERATOR_PID/stat" 2>/dev/null)" >"$DIR/operator.pid"
}

# operator_lives: succeeds if the process in operator.pid still runs. A zombie does not count.
operator_lives() {
  local pid since
  read -r pid since 2>/dev/null <"$DIR/operator.pid" || return 1
  [ -n "$since" ] && [ "$(cut -d' ' -f22 "/proc/$pid/stat" 2>/dev/null)" = "$since" ] &&
    [ "$(cut -d' ' -f3 "/proc/$pid/stat" 2>/dev/null)" != Z ]
}

# stop_everything: stops the operator with SIGTERM, as Kubernetes does, then the control plane, and deletes the folder.
stop_everything() {
  local pid since i
  if operator_lives; then
    read -r pid since <"$DIR/operator.pid"
    kill -TERM "$pid" 2>/dev/null || true
    for ((i = 0; i < 100; i++)); do
      operator_lives || break
      sleep 0.1
    done
    if operator_lives; then kill -KILL "$pid" 2>/dev/null || true; fi
  fi
  [ ! -e "$DIR/.made-by-cluster.sh" ] || "$HERE/cluster.sh" stop "$DIR"
  rm -rf "$DIR"
}

leave() {
  local code=$?
  trap - EXIT
  if [ "${KEEP:-}" = 1 ] && [ -f "$DIR/kubeconfig" ]; then
    cat <<TEXT

${bold}Everything is still running.${plain}
   export KUBECONFIG=$KUBECONFIG
   export PATH=$ASSETS:$BUILT:\$PATH
   kubectl get yurtappdaemons,nodepools
   tail -f $DIR/operator.log
   curl http://127.0.0.1:${HEALTH_PORT:-}/readyz
To stop everything: $HERE/demo.sh stop $DIR
TEXT
  else
    stop_everything
  fi
  exit $code
}

if [ "${1:-}" = stop ] && [ $# -eq 2 ]; then
  [ -d "$2" ] || { echo "demo: there is no folder $2" >&2; exit 1; }
  DIR=$(cd "$2" && pwd)
  [ -e "$DIR/$MARKER" ] || { echo "demo: $DIR has no file $MARKER, so demo.sh did not create it and does not delete it" >&2; exit 1; }
  stop_everything
  exit 0
fi
if [ $# -ne 1 ] || [ ! -x "$1" ]; then
  sed -n '4,5s/^# *//p' "${BASH_SOURCE[0]}" >&2
  [ $# -ne 1 ] || echo "there is no program $1: run 'make build' first" >&2
  exit 2
fi
OPERATOR=$(realpath "$1")
BUILT=$(dirname "$OPERATOR")
cd "$HERE/.."
OPERATOR_PID=''
ASSETS=$("$HERE/assets.sh" dir)
export PATH=$ASSETS:$BUILT:$PATH  # kubectl-yad is in the folder of the operator
DIR=$(mktemp -d "${TMPDIR:-/tmp}/yurtappdaemon-demo.XXXXXX")
export KUBECONFIG=$DIR/kubeconfig
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# --- the steps ---------------------------------------------------------------------------------------------------------

step "A control plane" "etcd, kube-apiserver, the controllers and the scheduler, as in any cluster. KWOK simulates the nodes: \
their pods run no code, but all other programs are real."
"$HERE/cluster.sh" start "$DIR" >/dev/null
: >"$DIR/$MARKER"
show version

step "The operator" "helm installs CRDs, RBAC and webhooks. The operator creates the webhook's certificate itself."
read -r HEALTH_PORT METRICS_PORT WEBHOOK_PORT < <(free_ports 3)
run helm install $RELEASE charts/yurtappdaemon-operator --namespace $NAMESPACE --create-namespace \
  --set image.repository=yurtappdaemon-operator \
  --set health.port=$HEALTH_PORT,metrics.port=$METRICS_PORT,webhook.port=$WEBHOOK_PORT,webhook.servicePort=$WEBHOOK_PORT \
  --set nodePoolAutoscaler.enabled=true,checks.jobs=true
seen "both CRDs are served" established
lead_service_here
start_operator
seen "the operator reports that it is ready: the apiserver trusts its webhook" operator_ready

step "Three pools of edge nodes" "A NodePool represents one site. Its nodes have its label and its taint."
show apply -f "$SAMPLES/nodepools.yaml"
for pool in beijing hangzhou shanghai; do two_nodes $pool; done
for pool in beijing hangzhou shanghai; do seen "the nodes of $pool are Ready" node_is_ready $pool; done
for pool in beijing hangzhou shanghai; do seen "$pool counts its nodes" pool_counts $pool 2 0; done
show get nodepools
show get nodes -L apps.openyurt.io/nodepool

step "An invalid YurtAppDaemon is rejected" "Its selector does not match the labels of its template."
sed 's/matchLabels: {app: web}/matchLabels: {app: shop}/' $SAMPLES/deployment.yaml >"$DIR/mistake.yaml"
seen "the apiserver rejects it, and names the fields to fix" is_rejected "$DIR/mistake.yaml"
sed 's/^/     /' "$DIR/last-check"

step "A Deployment in every pool" "The operator creates a Deployment for each pool. Its pods run on the nodes of the pool, and \
tolerate its taint."
show apply -f "$SAMPLES/deployment.yaml"
seen "one Deployment in each of the three pools, two Ready pods each, on that pool's nodes" \
  pods_run deployments web 2 nginx:1.27 beijing hangzhou shanghai
seen "the status of the YurtAppDaemon reports 3 pools, 3 updated, 3 ready" status_says web 3
show get yurtappdaemon web
show get deployments -l app=web -L apps.openyurt.io/pool-name
show get pods -l app=web -o wide

step "A StatefulSet in every pool" "A second YurtAppDaemon creates a StatefulSet in each pool. A StatefulSet gives its pods stable names."
show apply -f "$SAMPLES/statefulset.yaml"
seen "one StatefulSet in each of the three pools, one Ready pod each, on that pool's nodes" \
  pods_run statefulsets cache 1 redis:7.4 beijing hangzhou shanghai
seen "the status of the YurtAppDaemon reports 3 pools, 3 updated, 3 ready" status_says cache 3
show get statefulsets,pods -l app=cache -L apps.openyurt.io/pool-name

step "A fourth pool" "A user creates a NodePool, and does not change a YurtAppDaemon."
kubectl create -f - >/dev/null <<YAML
apiVersion: apps.openyurt.io/v1beta1
kind: NodePool
metadata: {name: shenzhen, labels: {example.com/tier: shop}}
spec: {type: Edge, taints: [{key: example.com/site, value: shenzhen, effect: NoSchedule}]}
YAML
two_nodes shenzhen
show get nodepool shenzhen --show-labels
seen "shenzhen has its Deployment, and its pods are Ready" pods_run deployments web 2 nginx:1.27 beijing hangzhou shanghai shenzhen
seen "shenzhen has its StatefulSet, and its pods are Ready" pods_run statefulsets cache 1 redis:7.4 beijing hangzhou shanghai shenzhen
show get yurtappdaemons

step "A new image" "The template changes. The operator creates a revision, and updates every pool to it."
before=$(identity deployments web beijing)
show patch yurtappdaemon web --type=json \
  -p '[{"op":"replace","path":"/spec/workloadTemplate/deploymentTemplate/spec/template/spec/containers/0/image","value":"nginx:1.28"}]'
seen "every pod in every pool runs nginx:1.28 and is Ready" \
  pods_run deployments web 2 nginx:1.28 beijing hangzhou shanghai shenzhen
seen "the status reports the new revision in all pools" status_says web 4
seen "the operator keeps both revisions, so that the update can be undone" revisions_are web 2
seen "the Deployments are the same objects as before: updated, not replaced" \
  [ "$(identity deployments web beijing)" = "$before" ]
show get yurtappdaemon web -o wide
show get controllerrevisions -l apps.openyurt.io/yurtappdaemon-revision=true

step "A workload is changed by hand" "A user edits a workload of one pool, and deletes a workload of another pool."
broken=$(kubectl get deployments -l app=web,apps.openyurt.io/pool-name=hangzhou -o jsonpath='{.items[0].metadata.name}')
show set image "deployment/$broken" web=nginx:broken
seen "hangzhou's image is nginx:1.28 again" image_is deployments web hangzhou nginx:1.28
gone=$(kubectl get statefulsets -l app=cache,apps.openyurt.io/pool-name=shanghai -o jsonpath='{.items[0].metadata.name}')
before=$(identity statefulsets cache shanghai)
show delete "statefulset/$gone"
seen "shanghai has a new StatefulSet" recreated statefulsets cache shanghai "$before"
seen "all Deployments have their pods" pods_run deployments web 2 nginx:1.28 beijing hangzhou shanghai shenzhen
seen "all StatefulSets have their pods" pods_run statefulsets cache 1 redis:7.4 beijing hangzhou shanghai shenzhen

step "A pool is no longer selected" "A user removes the label of a NodePool. The operator removes only the workloads of this pool."
before="$(identity deployments web hangzhou) $(identity deployments web shanghai) $(identity deployments web shenzhen)"
show label nodepool beijing example.com/tier-
seen "beijing has no pods of web, and the other pools have their pods" pods_run deployments web 2 nginx:1.28 hangzhou shanghai shenzhen
seen "beijing has no pods of cache, and the other pools have their pods" pods_run statefulsets cache 1 redis:7.4 hangzhou shanghai shenzhen
seen "the other pools' Deployments are the same objects as before" [ "$before" = \
  "$(identity deployments web hangzhou) $(identity deployments web shanghai) $(identity deployments web shenzhen)" ]
seen "the status counts three pools" status_says web 3
show get yurtappdaemons

step "A bad version, and a site that is offline" "The operator now updates one site after the other, and rolls back \
when one fails. The new version requests more memory than any node has, and shenzhen has lost its connection."
cut_off shenzhen
seen "the pool counts its nodes as lost" pool_counts shenzhen 0 2
show patch yurtappdaemon web --type=merge -p '{"spec":{"updateStrategy":{"type":"RollingUpdate",
  "rollingUpdate":{"progressDeadlineSeconds":5,"onFailure":"Rollback"}}}}'
seen "the status reports that shenzhen is offline" offline_pools_are web 1
before=$(generation_of web shanghai)
set_version nginx:1.29 99Ti
seen "the rollout has stopped, and is rolled back" progress_is web False RolledBack
seen "hangzhou had the new version, and runs nginx:1.28 again" image_is deployments web hangzhou nginx:1.28
seen "shanghai was never updated" [ "$(generation_of web shanghai)" = "$before" ]
show get yurtappdaemon web -o wide
show yad history web
set_version nginx:1.29 32Mi
show yad status web
seen "the fixed version is rolled out, and does not wait for shenzhen" progress_is web True RolloutComplete
seen "shenzhen's Deployment was updated while the site was offline" image_is deployments web shenzhen nginx:1.29
back_on_line shenzhen
seen "the pool counts its nodes again" pool_counts shenzhen 2 0
seen "shenzhen is online again, and its pods run the new version" pods_run deployments web 2 nginx:1.29 hangzhou shanghai shenzhen
seen "the status counts three pools" status_says web 3
show yad pools web

step "A pool needs another node" "A spare node is in no pool. The operator leases it to hangzhou when a pod waits there, and \
releases it when it is idle."
show apply -f - <<'YAML'
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata: {name: spare-1, labels: {example.com/inventory: spare}}
  spec: {taints: [{key: example.com/spare, effect: NoSchedule}]}  # keeps other pods away
  status: {capacity: {cpu: "64", memory: 64Gi, pods: "100"}, allocatable: {cpu: "64", memory: 64Gi, pods: "100"}}
- apiVersion: capacity.openyurt.io/v1alpha1
  kind: NodePoolAutoscaler
  metadata: {name: hangzhou}
  spec:
    nodePool: hangzhou
    inventorySelector: {matchLabels: {example.com/inventory: spare}}
    scaleUp: {pendingSeconds: 1}
    scaleDown: {idleSeconds: 1}
- apiVersion: v1
  kind: Pod
  metadata: {name: night-report}
  spec:
    nodeSelector: {apps.openyurt.io/nodepool: hangzhou}
    tolerations: [{key: example.com/site, operator: Exists}, {key: example.com/spare, operator: Exists}]
    terminationGracePeriodSeconds: 0
    containers: [{name: report, image: "busybox:1.37", resources: {requests: {cpu: "48"}}}]
YAML
seen "the operator has found a node for the waiting pod" has_waited_for_node night-report
seen "the pod runs on spare-1, which has joined hangzhou" runs_on night-report spare-1
seen "the lease shows that the node is in use" lease_is spare-1 InUse
seen "hangzhou counts three nodes" pool_counts hangzhou 3 0
show yad capacity
show delete pod night-report
seen "the node is idle, and the operator releases it" lease_is spare-1 Releasing

step "A hold, an update window and a check" "The site of shanghai holds its pool. The site of shenzhen \
allows updates only from the next minute on. A Job in each pool tests the new version before the next pool gets it."
show yad hold shanghai --reason "stocktaking"
opens_soon shenzhen
show patch yurtappdaemon web --type=merge --patch-file=/dev/stdin <<'YAML'
spec:
  updateStrategy:
    rollingUpdate:
      checks:
      - name: smoke
        job: {spec: {template: {spec: {containers: [{name: smoke, image: "busybox:1.37", args: ["{{nodepool-name}}"]}]}}}}
YAML
set_version nginx:1.30 32Mi
seen "hangzhou is updated, and its check has passed" check_passed smoke hangzhou
seen "shanghai is held" waits_for web shanghai Hold
seen "shenzhen waits for its window" waits_for web shenzhen Window
show yad pools web -o wide
show yad windows web
seen "the window opens, and shenzhen is updated" image_is deployments web shenzhen nginx:1.30
seen "the check of shenzhen has passed" check_passed smoke shenzhen
seen "shanghai still has the old version" image_is deployments web shanghai nginx:1.29
show yad release shanghai
seen "shanghai is updated, and the rollout is complete" progress_is web True RolloutComplete
show patch yurtappdaemon web --type=merge --patch-file=/dev/stdin <<'YAML'
spec:
  updateStrategy:
    rollingUpdate:
      checks:
      - {name: accepted, timeoutSeconds: 3, condition: {type: example.com/Accepted}}
YAML
before=$(generation_of web shanghai)
set_version nginx:1.31 32Mi
seen "the check of the next version fails, and the rollout is rolled back" progress_is web False RolledBack
seen "hangzhou runs nginx:1.30 again" image_is deployments web hangzhou nginx:1.30
seen "shanghai was never updated to that version" [ "$(generation_of web shanghai)" = "$before" ]
show yad status web || true

step "The node is released" "The operator has checked twice, half a minute apart, that no pods remain on the node."
seen "spare-1 is not leased any more" lease_is spare-1 ""
seen "hangzhou counts two nodes" pool_counts hangzhou 2 0
show get nodepools

step "The YurtAppDaemons are deleted" "Their workloads and pods are deleted with them."
show delete yurtappdaemons web cache
seen "no Deployment, StatefulSet, ReplicaSet, ControllerRevision or pod is left" nothing_left
show get deployments,statefulsets,controllerrevisions,pods

if [ "${KEEP:-}" = 1 ]; then
  step "The samples again" "They stay, because KEEP=1 is set."
  show apply -f "$SAMPLES/deployment.yaml" -f "$SAMPLES/statefulset.yaml"
  seen "they run in three pools" status_says web 3
fi
printf '\n%sAll checks have succeeded. The demo took %d s.%s\n' "$bold$green" $SECONDS "$plain"
