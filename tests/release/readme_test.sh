#!/usr/bin/env bash
# Runs the commands of README's section "Install" on a real control plane, in a folder with only the files of
# build/dist.
# Without the programs of hack/assets.sh, it reports that it was skipped.
#
# Differences from a user's cluster:
# - skopeo copies the image to a folder and not to a registry.
# - No containers run. The operator of the release runs on this machine, with the arguments and the token of the
#   Deployment's pods, and the Service of the webhook points to it. helm test needs a container, and is skipped.
# - The ports are free ports of this machine.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

say() { echo "readme_test: $*" >&2; }
fail() { say "FAILED: $*"; exit 1; }

dist=$PWD/build/dist
[ -e "$dist/SHA256SUMS" ] || fail "build/dist has no release: make release"
checkout=$PWD
assets=$(hack/assets.sh dir)
for program in etcd kube-apiserver kube-controller-manager kube-scheduler kwok kubectl helm; do
  [ -x "$assets/$program" ] || { say "SKIPPED: $assets has no $program (make assets)"; exit 0; }
done
work=$(mktemp -d "${TMPDIR:-/tmp}/yurtappdaemon-readme.XXXXXX")
operator=''
leave() {
  local code=$?
  trap - EXIT
  [ -z "$operator" ] || { kill "$operator" && wait "$operator"; } 2>/dev/null || true
  [ ! -e "$work/cluster" ] || "$checkout/hack/cluster.sh" stop "$work/cluster" >/dev/null 2>&1 || true
  rm -rf "$work"
  exit $code
}
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

hack/cluster.sh start "$work/cluster" >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; exit 1; }
export KUBECONFIG=$work/cluster/kubeconfig PATH=$assets:$PATH
for node in cloud site; do
  echo "{apiVersion: v1, kind: Node, metadata: {name: $node, labels: {kubernetes.io/os: linux}}}" | kubectl apply -f - >/dev/null
done

# --- the commands ------------------------------------------------------------------------------------------------------
sed -n '/^## Install/,/^## /s/^    //p' README.md | sed -e ':join' -e '/\\$/{N;s/ *\\\n */ /;b join' -e '}' >"$work/commands"
# line BEGIN: prints the command that begins with BEGIN.
line() { grep "^$1" "$work/commands" || fail "README has no command that begins with '$1'"; }
# run COMMAND: runs COMMAND in a folder that has only the files of the release.
run() {
  say "$1"
  (cd "$dist" && bash -euc "$1") >"$work/log" 2>&1 || fail "$(cat "$work/log")"
}
known=$(line 'skopeo copy' && line 'helm install' && line 'helm test' && line 'kubectl label' &&
  line 'kubectl apply' && line 'kubectl wait')
[ "$known" = "$(cat "$work/commands")" ] || fail "the commands in README differ from those in this test: $(cat "$work/commands")"

upload=$(line 'skopeo copy')
if ! command -v skopeo >/dev/null; then
  say "SKIPPED: the upload of the image, because skopeo is not installed"
elif [ -e "$dist/yurtappdaemon-operator-image.oci.tar" ]; then
  run "${upload/docker:\/\/REGISTRY\/yurtappdaemon-operator/oci:$work/registry}"
fi

read -r health metrics webhook < <(perl -MIO::Socket::INET -e '
  my @held = map { IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 1) } 1..3;
  print join(" ", map { $_->sockport } @held), "\n"')
run "$(line 'helm install' | sed 's|REGISTRY|registry.local|') \
  --set health.port=$health,metrics.port=$metrics,webhook.port=$webhook,webhook.servicePort=$webhook"
namespace=$(line 'helm install' | grep -oP -- '--namespace \K[^ ]+')
name=yad-yurtappdaemon-operator
kubectl patch service $name-webhook --namespace "$namespace" --type=merge \
  -p '{"spec": {"type": "ExternalName", "externalName": "localhost", "clusterIP": null, "clusterIPs": null}}' >/dev/null
kubectl config view --raw -o json | jq --arg token "$(kubectl create token $name --namespace "$namespace")" \
  --arg namespace "$namespace" '.users[].user = {token: $token} | .contexts[].context.namespace = $namespace' >"$work/kubeconfig"
mapfile -t arguments < <(kubectl get deployment $name --namespace "$namespace" -o json |
  jq -r '.spec.template.spec.containers[0].args[]')
tar -xzf "$dist/yurtappdaemon-operator-linux-$(dpkg --print-architecture).tar.gz" -C "$work"
KUBECONFIG=$work/kubeconfig "$work/yurtappdaemon-operator" "${arguments[@]}" >"$work/operator.log" 2>&1 &
operator=$!
for ((i = 0; i < 300; i++)); do
  if curl -sf "http://127.0.0.1:$health/readyz" >/dev/null; then break; fi
  sleep 0.2
done

run "$(line 'kubectl label' | sed 's/ NODE / site /')"
run "$(line 'kubectl apply')"
run "$(line 'kubectl wait')"
[ "$(kubectl get deployments -o name | wc -l)" = 3 ] || fail "there is not a Deployment in each of the 3 pools: $(kubectl get deployments)"
kubectl wait --for=condition=Available deployment -l apps.openyurt.io/pool-name=hangzhou --timeout=1m >"$work/log" 2>&1 ||
  fail "the pods of hangzhou are not available: $(cat "$work/log")"
say "README's commands create a working example"
