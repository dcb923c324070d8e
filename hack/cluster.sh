#!/usr/bin/env bash
# A real Kubernetes control plane on 127.0.0.1, without containers and without root: etcd, kube-apiserver (TLS, client
# certificates, RBAC), kube-controller-manager, kube-scheduler, and KWOK, which makes every Node and its pods Ready.
#
#   hack/cluster.sh start DIR [--no-controllers]   start, wait until ready; DIR/kubeconfig is the administrator's
#   hack/cluster.sh stop DIR                       stop every program that was started in DIR
#   hack/cluster.sh stop-apiserver DIR             stop only the apiserver, to test its clients
#   hack/cluster.sh start-apiserver DIR            start the same apiserver again, on the same port and data
#   hack/cluster.sh save-etcd DIR                  stop the apiserver and etcd, and keep a copy of etcd's data
#   hack/cluster.sh restore-etcd DIR               stop both, and replace the data by that copy
# DIR contains everything: certificates, data, logs (*.log) and process ids (*.pid). Several clusters can run in
# parallel. `start` creates DIR, or uses an empty folder, and adds the file .made-by-cluster.sh. No command changes a
# folder without that file.
#
#   --no-controllers           starts only etcd and the apiserver: no pods are created, and dependents of deleted owners
#                              stay
#   CLUSTER_APISERVER_FLAGS    further flags for the apiserver, separated by spaces
#   CLUSTER_READY_SECONDS      time limit of `start`
set -euo pipefail

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
READY_SECONDS=${CLUSTER_READY_SECONDS:-120}
ATTEMPTS=5
APISERVER_FLAGS=${CLUSTER_APISERVER_FLAGS:-}

MARKER=.made-by-cluster.sh

say() { echo "cluster: $*" >&2; }
usage() {
  sed -n '5,10s/^# *//p' "${BASH_SOURCE[0]}" >&2
  exit 2
}

# --- processes -------------------------------------------------------------------------------------------------------

# started_at PID: prints the start time of the process in the kernel's unit, or nothing if it has exited. The kernel
# reuses pids, but pid and start time together identify one process.
started_at() {
  local stat
  stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 0
  stat=${stat##*) }
  # A zombie (state Z) has exited, but its parent has not read its exit code yet.
  [ "${stat%% *}" = Z ] || echo "$stat" | cut -d' ' -f20
}

# alive NAME: succeeds if the process that DIR/NAME.pid identifies still runs.
alive() {
  local pid since
  read -r pid since 2>/dev/null <"$DIR/$1.pid" || return 1
  [ -n "$since" ] && [ "$(started_at "$pid")" = "$since" ]
}

# launch NAME ARGUMENT...: starts the program NAME in the background, without the caller's open files. It has its own
# session, so that Ctrl-C does not terminate it and `stop` can terminate the programs in order.
launch() {
  local name=$1 pid
  shift
  (
    for fd in /proc/self/fd/*; do
      fd=${fd##*/}
      [ "$fd" -le 2 ] || eval "exec $fd>&-" 2>/dev/null || true
    done
    exec setsid "$ASSETS/$name" "$@" </dev/null >>"$DIR/$name.log" 2>&1
  ) &
  pid=$!
  disown "$pid"
  echo "$pid $(started_at "$pid")" >"$DIR/$name.pid"
}

# end NAME: sends TERM, and KILL after two seconds: an apiserver with open watches can take a minute to exit.
end() {
  local pid since i
  if alive "$1"; then
    read -r pid since <"$DIR/$1.pid"
    kill -TERM "$pid" 2>/dev/null || true
    for ((i = 0; i < 100; i++)); do
      alive "$1" || break
      [ $i -ne 40 ] || kill -KILL "$pid" 2>/dev/null || true
      sleep 0.05
    done
  fi
  rm -f "$DIR/$1.pid"
}

stop_all() {
  local name
  # Kills all programs immediately. They do not need a clean exit, and the apiserver would wait for its watches.
  for name in kwok kube-scheduler kube-controller-manager kube-apiserver etcd; do
    local pid since
    if alive "$name"; then
      read -r pid since <"$DIR/$name.pid"
      kill -KILL "$pid" 2>/dev/null || true
    fi
  done
  for name in kwok kube-scheduler kube-controller-manager kube-apiserver etcd; do end "$name"; done
}

# --- ports -----------------------------------------------------------------------------------------------------------

# free_ports COUNT: prints different free ports, which the kernel chooses. Uses Perl, a part of every Debian.
free_ports() {
  perl -MIO::Socket::INET -e '
my @held = map { IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => 0, Listen => 1) or die } 1..$ARGV[0];
print join(" ", map { $_->sockport } @held), "\n";' "$1"
}

# --- certificates ----------------------------------------------------------------------------------------------------

# certificate NAME SUBJECT EXTENSION: creates DIR/pki/NAME.{key,crt}, signed by the cluster's CA.
certificate() {
  local pki=$DIR/pki
  openssl ecparam -name prime256v1 -genkey -noout -out "$pki/$1.key" 2>>"$DIR/openssl.log"
  openssl req -new -key "$pki/$1.key" -subj "$2" -out "$pki/$1.csr" 2>>"$DIR/openssl.log"
  openssl x509 -req -in "$pki/$1.csr" -CA "$pki/ca.crt" -CAkey "$pki/ca.key" -set_serial "0x$(openssl rand -hex 8)" -days 365 \
    -extfile <(printf 'basicConstraints=CA:FALSE\nkeyUsage=digitalSignature\n%s\n' "$3") -out "$pki/$1.crt" 2>>"$DIR/openssl.log"
}

make_certificates() {
  local pki=$DIR/pki
  mkdir -p "$pki"
  openssl ecparam -name prime256v1 -genkey -noout -out "$pki/ca.key" 2>>"$DIR/openssl.log"
  openssl req -x509 -new -key "$pki/ca.key" -subj "/CN=test-cluster-ca" -days 365 -out "$pki/ca.crt" \
    -addext "keyUsage=critical,digitalSignature,keyCertSign" 2>>"$DIR/openssl.log"
  openssl genrsa -out "$pki/service-account.key" 2048 2>>"$DIR/openssl.log"
  certificate apiserver "/CN=kube-apiserver" \
    $'extendedKeyUsage=serverAuth\nsubjectAltName=DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,IP:127.0.0.1,IP:10.96.0.1'
  local client=extendedKeyUsage=clientAuth
  certificate admin "/O=system:masters/CN=admin" $client
  certificate kube-controller-manager "/CN=system:kube-controller-manager" $client
  certificate kube-scheduler "/CN=system:kube-scheduler" $client
  certificate kwok "/O=system:masters/CN=kwok" $client
}

# kubeconfig NAME FILE: writes a kubeconfig that contains its certificates, so that it does not depend on other files.
kubeconfig() {
  local pki=$DIR/pki
  (
    umask 077
    cat >"$2.tmp" <<YAML
apiVersion: v1
kind: Config
clusters:
- name: test
  cluster: {server: "https://127.0.0.1:$PORT", certificate-authority-data: $(base64 -w0 "$pki/ca.crt")}
users:
- name: $1
  user: {client-certificate-data: $(base64 -w0 "$pki/$1.crt"), client-key-data: $(base64 -w0 "$pki/$1.key")}
contexts:
- name: test
  context: {cluster: test, user: $1}
current-context: test
YAML
  )
  mv "$2.tmp" "$2"
}

# --- the programs ----------------------------------------------------------------------------------------------------

launch_etcd() {
  launch etcd --name=test --data-dir="$DIR/etcd" --unsafe-no-fsync --log-level=warn \
    --listen-client-urls="http://127.0.0.1:$ETCD_PORT" --advertise-client-urls="http://127.0.0.1:$ETCD_PORT" \
    --listen-peer-urls="http://127.0.0.1:$PEER_PORT" --initial-advertise-peer-urls="http://127.0.0.1:$PEER_PORT" \
    --initial-cluster="test=http://127.0.0.1:$PEER_PORT" --quota-backend-bytes=4294967296
}

launch_apiserver() {
  local pki=$DIR/pki
  launch kube-apiserver --etcd-servers="http://127.0.0.1:$ETCD_PORT" --bind-address=127.0.0.1 --secure-port="$PORT" \
    --advertise-address=127.0.0.1 --endpoint-reconciler-type=none --service-cluster-ip-range=10.96.0.0/16 \
    --tls-cert-file="$pki/apiserver.crt" --tls-private-key-file="$pki/apiserver.key" --client-ca-file="$pki/ca.crt" \
    --service-account-key-file="$pki/service-account.key" --service-account-signing-key-file="$pki/service-account.key" \
    --service-account-issuer=https://kubernetes.default.svc --authorization-mode=RBAC --allow-privileged=true \
    $APISERVER_FLAGS
}

launch_controllers() {
  local controllers=deployment-controller,replicaset-controller,statefulset-controller,daemonset-controller
  controllers+=,garbage-collector-controller,namespace-controller,serviceaccount-controller,serviceaccount-token-controller
  controllers+=,endpointslice-controller,node-lifecycle-controller,pod-garbage-collector-controller,job-controller
  controllers+=,horizontal-pod-autoscaler-controller,disruption-controller,clusterrole-aggregation-controller
  # KWOK's nodes send a heartbeat only every ten minutes. The default grace period would make them lost.
  launch kube-controller-manager --kubeconfig="$DIR/pki/kube-controller-manager.kubeconfig" --controllers="$controllers" \
    --service-account-private-key-file="$DIR/pki/service-account.key" --root-ca-file="$DIR/pki/ca.crt" \
    --use-service-account-credentials=true --leader-elect=false --bind-address=127.0.0.1 --secure-port="$CONTROLLERS_PORT" \
    --cert-dir="$DIR/pki" --kube-api-qps=500 --kube-api-burst=1000 --node-monitor-period=1s --node-monitor-grace-period=24h \
    --concurrent-deployment-syncs=10 --concurrent-replicaset-syncs=10 --concurrent-gc-syncs=20
  launch kube-scheduler --kubeconfig="$DIR/pki/kube-scheduler.kubeconfig" --leader-elect=false \
    --bind-address=127.0.0.1 --secure-port="$SCHEDULER_PORT" --cert-dir="$DIR/pki" --kube-api-qps=500 --kube-api-burst=1000
  # Without a configuration file, KWOK would read the user's ~/.kwok. The annotation kwok.x-k8s.io/status=custom lets
  # tests set the status of an object.
  launch kwok --kubeconfig="$DIR/pki/kwok.kubeconfig" --config="$DIR/kwok.yaml" --manage-all-nodes=true \
    --disregard-status-with-annotation-selector=kwok.x-k8s.io/status=custom \
    --cidr=10.244.0.0/16 --node-ip=127.0.0.1 --server-address="127.0.0.1:$KWOK_PORT" --v=WARN
}

# get PATH: sends a request to the apiserver as the administrator. Fails on an HTTP error.
get() {
  curl -sf --max-time 2 --cacert "$DIR/pki/ca.crt" --cert "$DIR/pki/admin.crt" --key "$DIR/pki/admin.key" \
    "https://127.0.0.1:$PORT$1"
}

# until_true WHAT "NAME..." COMMAND...: repeats COMMAND until it succeeds. Returns 1 at the deadline, or when one of the
# programs NAME has exited.
until_true() {
  local what=$1 names=$2 deadline=$((SECONDS + READY_SECONDS)) name
  shift 2
  until "$@" >/dev/null 2>&1; do
    for name in $names; do
      if ! alive "$name"; then
        say "$name exited during the wait for $what; the end of $DIR/$name.log:"
        tail -n 15 "$DIR/$name.log" >&2
        return 1
      fi
    done
    if [ $SECONDS -ge $deadline ]; then
      for name in $names; do
        say "the wait for $what timed out after $READY_SECONDS s; the end of $DIR/$name.log:"
        tail -n 15 "$DIR/$name.log" >&2
      done
      return 1
    fi
    sleep 0.05
  done
}

# port_taken NAME...: succeeds if one of the programs has exited because another process uses its port.
port_taken() {
  local name
  for name in "$@"; do
    if ! alive "$name" && grep -q 'address already in use' "$DIR/$name.log"; then return 0; fi
  done
  return 1
}

controllers_ready() {
  # The ServiceAccount exists after the controllers have started. The scheduler and KWOK have health endpoints.
  get /api/v1/namespaces/default/serviceaccounts/default && curl -sfk --max-time 2 "https://127.0.0.1:$SCHEDULER_PORT/healthz" &&
    curl -sf --max-time 2 "http://127.0.0.1:$KWOK_PORT/healthz"
}

save_settings() {
  cat >"$DIR/settings" <<SH
PORT=$PORT ETCD_PORT=$ETCD_PORT PEER_PORT=$PEER_PORT CONTROLLERS_PORT=$CONTROLLERS_PORT SCHEDULER_PORT=$SCHEDULER_PORT KWOK_PORT=$KWOK_PORT
APISERVER_FLAGS=$(printf %q "$APISERVER_FLAGS")
SH
}

# try_start: returns 0 when the cluster is ready, 75 if one of the ports is taken, and 1 for other failures.
try_start() {
  read -r PORT ETCD_PORT PEER_PORT CONTROLLERS_PORT SCHEDULER_PORT KWOK_PORT < <(free_ports 6)
  save_settings
  local name
  for name in admin kube-controller-manager kube-scheduler kwok; do kubeconfig $name "$DIR/pki/$name.kubeconfig"; done
  launch_etcd
  launch_apiserver
  if ! until_true "a ready API" "etcd kube-apiserver" get /readyz; then
    if port_taken etcd kube-apiserver; then return 75; fi
    return 1
  fi
  [ "$CONTROLLERS" = yes ] || return 0
  # KWOK leaves the status of nodes and pods with this annotation to the tests and the demo.
  cat >"$DIR/kwok.yaml" <<YAML
kind: KwokConfiguration
apiVersion: config.kwok.x-k8s.io/v1alpha1
options:
  disregardStatusWithAnnotationSelector: kwok.x-k8s.io/status=custom
YAML
  launch_controllers
  if ! until_true "ready controllers" "kube-controller-manager kube-scheduler kwok" controllers_ready; then
    if port_taken kube-controller-manager kube-scheduler kwok; then return 75; fi
    return 1
  fi
}

# may_start: succeeds if DIR does not exist, is empty, or is the folder of an earlier start.
may_start() {
  [ -e "$DIR" ] || return 0
  [ -d "$DIR" ] || { say "$DIR is not a folder"; return 1; }
  [ ! -e "$DIR/$MARKER" ] || return 0
  [ -n "$(ls -A "$DIR")" ] || return 0
  say "$DIR is not empty and has no file $MARKER, so cluster.sh did not create it: give a new folder"
  return 1
}

start() {
  may_start || exit 1
  ASSETS=$("$HERE/assets.sh" dir)
  local needed=(etcd kube-apiserver) name attempt rc
  [ "$CONTROLLERS" = no ] || needed+=(kube-controller-manager kube-scheduler kwok)
  for name in "${needed[@]}"; do
    [ -x "$ASSETS/$name" ] || { say "$name is not in $ASSETS: run 'make assets' first"; exit 3; }
  done
  for name in openssl curl perl setsid; do
    command -v $name >/dev/null || { say "$name is needed and not installed: run 'make packages'"; exit 3; }
  done
  mkdir -p "$DIR"
  DIR=$(cd "$DIR" && pwd)
  : >"$DIR/$MARKER"
  for name in etcd kube-apiserver; do
    if alive $name; then
      say "a cluster runs in $DIR already; stop it first: $HERE/cluster.sh stop $DIR"
      exit 1
    fi
  done
  rm -rf "$DIR/etcd" "$DIR/pki" "$DIR/kubeconfig" "$DIR"/*.log "$DIR"/*.pid
  chmod 700 "$DIR"
  # If the start fails or is interrupted, all programs are stopped.
  trap 'stop_all' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  make_certificates || { say "openssl failed:"; tail -n 15 "$DIR/openssl.log" >&2; exit 1; }
  for ((attempt = 1; attempt <= ATTEMPTS; attempt++)); do
    rc=0
    try_start || rc=$?
    [ $rc -eq 75 ] && [ $attempt -lt $ATTEMPTS ] || break
    say "another program took a port; retrying with other ports"
    stop_all
    rm -rf "$DIR/etcd" "$DIR"/etcd.log "$DIR"/k*.log
  done
  [ $rc -eq 0 ] || exit 1
  # The kubeconfig is written last, so that it exists only if the cluster is ready.
  kubeconfig admin "$DIR/kubeconfig"
  trap - EXIT INT TERM
  cat <<TEXT
A Kubernetes control plane is ready on https://127.0.0.1:$PORT
  export KUBECONFIG=$DIR/kubeconfig
  export PATH=$ASSETS:\$PATH
  kubectl get --raw /version
logs: $DIR/*.log
stop: $HERE/cluster.sh stop $DIR
TEXT
}

existing() {
  [ -d "$DIR" ] || { say "there is no folder $DIR"; exit 1; }
  DIR=$(cd "$DIR" && pwd)
  [ -e "$DIR/$MARKER" ] || { say "$DIR has no file $MARKER, so cluster.sh did not create it and does not change it"; exit 1; }
}

[ $# -ge 2 ] || usage
COMMAND=$1 DIR=$2 CONTROLLERS=yes
shift 2
for argument in "$@"; do
  case $COMMAND:$argument in
    start:--no-controllers) CONTROLLERS=no ;;
    *) usage ;;
  esac
done
case $COMMAND in
  start) start ;;
  stop)
    [ -d "$DIR" ] || exit 0
    existing
    stop_all
    ;;
  stop-apiserver)
    existing
    end kube-apiserver
    ;;
  start-apiserver)
    existing
    [ -f "$DIR/settings" ] || { say "no cluster was started in $DIR"; exit 1; }
    . "$DIR/settings"
    ASSETS=$("$HERE/assets.sh" dir)
    if alive kube-apiserver; then exit 0; fi
    alive etcd || launch_etcd
    # The kernel may have given the apiserver's port to a connection of another process. The connection usually ends
    # soon, so try again.
    for ((attempt = 1; attempt <= ATTEMPTS; attempt++)); do
      mv "$DIR/kube-apiserver.log" "$DIR/kube-apiserver.previous.log"
      launch_apiserver
      if until_true "a ready API" kube-apiserver get /readyz; then exit 0; fi
      port_taken kube-apiserver || break
      sleep 1
    done
    end kube-apiserver
    exit 1
    ;;
  save-etcd | restore-etcd)
    existing
    end kube-apiserver
    end etcd
    from=$DIR/etcd to=$DIR/etcd.saved
    [ "$COMMAND" = save-etcd ] || { from=$DIR/etcd.saved to=$DIR/etcd; }
    [ -d "$from" ] || { say "there is no $from"; exit 1; }
    rm -rf "$to"
    cp -r "$from" "$to"
    ;;
  *) usage ;;
esac
