#!/usr/bin/env bash
# Checks what hack/release.sh has written to build/dist: sums, archives, manifests, image, SBOMs and provenance. Then
# installs the manifests on a real control plane, with only the programs and samples of the release. This part is
# skipped without the programs of hack/assets.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export LC_ALL=C

say() { echo "release_test: $*" >&2; }
faults=0
fault() { say "FAILED: $*"; faults=$((faults + 1)); }
# same WHAT WANTED FOUND: reports a failure if the two values differ.
same() { [ "$2" = "$3" ] || fault "$1 should be '$2', and is '$3'"; }

dist=$PWD/build/dist
[ -e "$dist/SHA256SUMS" ] || { say "build/dist has no release: make release"; exit 1; }
NAME=yurtappdaemon-operator
version=$(sed -n 's/^project(.* VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
work=$(mktemp -d "${TMPDIR:-/tmp}/yurtappdaemon-release.XXXXXX")
operator=''
leave() {
  local code=$?
  trap - EXIT
  [ -z "$operator" ] || { kill "$operator" && wait "$operator"; } 2>/dev/null || true
  [ ! -e "$work/cluster" ] || hack/cluster.sh stop "$work/cluster" >/dev/null 2>&1 || true
  rm -rf "$work"
  exit $code
}
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
sum() { sha256sum <"$1" | cut -d' ' -f1; }

# --- sums and provenance -----------------------------------------------------------------------------------------------
(cd "$dist" && sha256sum --check --quiet --strict SHA256SUMS) || fault "SHA256SUMS does not match"
same "the files in SHA256SUMS" "$(cd "$dist" && find . -type f ! -name SHA256SUMS | sed 's|^\./||' | sort | xargs)" \
  "$(cut -c67- "$dist/SHA256SUMS" | sort | xargs)"
provenance=$dist/provenance.intoto.json
same "the type of the provenance" "https://in-toto.io/Statement/v1 https://slsa.dev/provenance/v1" \
  "$(jq -r '"\(._type) \(.predicateType)"' "$provenance")"
same "the sums in the provenance" "$(grep -v ' provenance\.' "$dist/SHA256SUMS")" \
  "$(jq -r '.subject[] | "\(.digest.sha256)  \(.name)"' "$provenance")"
[[ $(jq -r '.predicate.buildDefinition.resolvedDependencies[0].digest.gitCommit' "$provenance") =~ ^[0-9a-f]{40}$ ]] ||
  fault "the provenance has no commit"

# --- programs ----------------------------------------------------------------------------------------------------------
machine=$(dpkg --print-architecture 2>/dev/null || echo amd64)
declare -A emulator=([amd64]=qemu-x86_64-static [arm64]=qemu-aarch64-static)
for archive in "$dist"/*-linux-*.tar.gz; do
  base=$(basename "$archive" .tar.gz)
  program=${base%-linux-*} arch=${base##*-}
  folder=$work/$arch/$program
  mkdir -p "$folder"
  tar -xzf "$archive" -C "$folder" || fault "$base.tar.gz cannot be extracted"
  same "owners and modes in $base.tar.gz" "" \
    "$(tar --numeric-owner -tvzf "$archive" | grep -vE '^(-rw-r--r--|-rwxr-xr-x|drwxr-xr-x) 0/0 ' || true)"
  same "the libraries that $base loads" "" "$(readelf --dynamic "$folder/$program" | grep NEEDED || true)"
  if readelf --program-headers "$folder/$program" | grep -q INTERP; then fault "$base needs a dynamic loader"; fi
  [ -s "$folder/LICENSE" ] || fault "$base.tar.gz has no LICENSE"

  sbom=$dist/$base.spdx.json
  same "the program in $base.spdx.json" "SPDX-2.3 $version $(sum "$folder/$program")" "$(jq -r '
    "\(.spdxVersion) \(.packages[0].versionInfo) \(.files[0].checksums[] | select(.algorithm == "SHA256") | .checksumValue)"' "$sbom")"
  same "the licenses in $base.tar.gz" "$(cd "$folder/licenses" && printf 'licenses/%s\n' *)" \
    "$(jq -r '.packages[].copyrightText | select(startswith("see ")) | .[4:]' "$sbom" | sort)"
  # The cross-compiler has installed the glibc of the other architecture.
  glibc=libc6-dev
  [ "$arch" = "$machine" ] || glibc+=-$arch-cross
  for package in $glibc libssl-dev libsimdjson-dev libyaml-cpp-dev; do
    jq -e --arg id "SPDXRef-Package-$package" \
      'any(.relationships[]; .relationshipType == "STATIC_LINK" and .relatedSpdxElement == $id)' "$sbom" >/dev/null ||
      fault "$base.spdx.json does not list $package, which is linked"
  done

  runner=()
  if [ "$arch" != "$machine" ]; then
    command -v "${emulator[$arch]}" >/dev/null || { say "SKIPPED: running $base, because ${emulator[$arch]} is not installed"; continue; }
    runner=("${emulator[$arch]}")
  fi
  # The environment is empty, because the program must not depend on it.
  run() { env -i HOME="$work" "${runner[@]}" "$folder/$program" "$@" 2>&1; }
  if [ "$program" = kubectl-yad ]; then answer=$(run version); else answer=$(run --version); fi
  [[ $answer == *"v$version"* ]] || fault "$base prints another version: $answer"
done

# --- Krew manifest -----------------------------------------------------------------------------------------------------
krew=$dist/yad.yaml
same "the version in yad.yaml" "\"v$version\"" "$(sed -n 's/^  version: //p' "$krew")"
if grep -q '@' <(sed '/exec kubectl/d' "$krew"); then fault "yad.yaml has a placeholder: $(grep @ "$krew")"; fi
same "the archives in yad.yaml" "$(cd "$dist" && printf '%s\n' kubectl-yad-linux-*.tar.gz)" \
  "$(sed -n 's|^ *uri: ".*/\(.*\)"|\1|p' "$krew")"
same "the sums in yad.yaml" "$(for file in "$dist"/kubectl-yad-linux-*.tar.gz; do sum "$file"; done)" \
  "$(sed -n 's|^ *sha256: "\(.*\)"|\1|p' "$krew")"

# --- image -------------------------------------------------------------------------------------------------------------
images=("$dist/$NAME"-image-linux-*.oci.tar)
[ -e "${images[0]}" ] || { images=() && say "SKIPPED: the image, because the release has none"; }
# The settings and files of the first image. The images of other architectures must have the same.
common=''
for image in "${images[@]}"; do
  base=$(basename "$image" .oci.tar)
  arch=${base##*-}
  oci=$work/$arch/oci root=$work/$arch/root
  mkdir -p "$oci" "$root"
  tar -xf "$image" -C "$oci"
  blob() { echo "$oci/blobs/sha256/${1#sha256:}"; }
  for file in "$oci"/blobs/sha256/*; do same "the sum of a blob" "$(basename "$file")" "$(sum "$file")"; done
  manifest=$(blob "$(jq -r '.manifests[0].digest' "$oci/index.json")")
  config=$(blob "$(jq -r .config.digest "$manifest")")
  same "the configuration of $base" "[\"/usr/bin/$NAME\"] 65532:65532 linux/$arch v$version" \
    "$(jq -r '"\(.config.Entrypoint | tojson) \(.config.User) \(.os)/\(.architecture) \(.config.Labels["org.opencontainers.image.version"])"' "$config")"
  for layer in $(jq -r '.layers[].digest' "$manifest"); do tar -xf "$(blob "$layer")" -C "$root"; done
  same "the SBOM in $base" "$(sum "$dist/$base.spdx.json")" "$(sum "$root/usr/share/doc/$NAME/sbom.spdx.json")"
  these="$(jq -cS '.config' "$config")
$(cd "$root" && find etc usr/share/zoneinfo -type f ! -name ca-certificates.crt | sort | xargs sha256sum)
$(sort "$root/etc/ssl/certs/ca-certificates.crt" | sha256sum)" # Debian's own script puts the CAs into another order.
  [ -n "$common" ] || common=$these
  same "settings, CAs, time zones and accounts of $base" "$common" "$these"
  if [ "$arch" != "$machine" ]; then
    command -v "${emulator[$arch]}" >/dev/null ||
      { say "SKIPPED: running the program of $base, because ${emulator[$arch]} is not installed"; continue; }
    answer=$("${emulator[$arch]}" -L "$root" "$root/usr/bin/$NAME" --version 2>&1 || true)
    same "the answer to --version of $base" "$NAME v$version" "$answer"
    "${emulator[$arch]}" -L "$root" "$root/usr/bin/$NAME" --help >"$work/log" 2>&1 || fault "--help of $base: $(cat "$work/log")"
  fi
done

# The archive of all architectures has an index, which lists the images of the other archives.
if [ ${#images[@]} != 0 ]; then
  oci=$work/index/oci
  mkdir -p "$oci"
  tar -xf "$dist/$NAME-image.oci.tar" -C "$oci"
  for file in "$oci"/blobs/sha256/*; do same "the sum of a blob" "$(basename "$file")" "$(sum "$file")"; done
  index=$oci/blobs/$(jq -r '.manifests[0].digest | sub(":"; "/")' "$oci/index.json")
  same "the images in $NAME-image.oci.tar" \
    "$(for image in "${images[@]}"; do tar -xOf "$image" ./index.json | jq -r '.manifests[0].digest'; done)" \
    "$(jq -r '.manifests | sort_by(.platform.architecture)[].digest' "$index")"
  for digest in $(jq -r '.manifests[].digest' "$index"); do
    for blob in $(jq -r '.config.digest, .layers[].digest' "$oci/blobs/${digest/:/\/}"); do
      [ -e "$oci/blobs/${blob/:/\/}" ] || fault "$NAME-image.oci.tar has no blob $blob"
    done
  done
fi

# --- chart and manifests -----------------------------------------------------------------------------------------------
assets=$(hack/assets.sh dir)
"$assets/helm" lint --quiet "$dist/$NAME-$version.tgz" || fault "helm lint failed"
same "the chart's version" "$version $version" "$("$assets/helm" show chart "$dist/$NAME-$version.tgz" |
  sed -n 's/^\(version\|appVersion\): //p' | xargs)"
kinds() { sed -n 's/^kind: //p' "$1" | sort | uniq -c | awk '{ print $2 "=" $1 }' | xargs; }
same "the objects of install.yaml" "ClusterRole=5 ClusterRoleBinding=2 CustomResourceDefinition=2 Deployment=1 \
MutatingWebhookConfiguration=1 Namespace=1 PodDisruptionBudget=1 Role=1 RoleBinding=1 Secret=1 Service=2 ServiceAccount=1 \
ValidatingWebhookConfiguration=1" "$(kinds "$dist/install.yaml")"
for file in install install-namespaced; do
  grep -qE "^ +image: .*$NAME:v$version$" "$dist/$file.yaml" || fault "$file.yaml does not have the image with its version"
  if grep -nE 'helm\.sh/chart|managed-by: Helm' "$dist/$file.yaml"; then fault "$file.yaml has labels of Helm"; fi
done
grep -q -- --namespace=yurtappdaemon-system "$dist/install-namespaced.yaml" ||
  fault "install-namespaced.yaml watches all namespaces"

# --- on a control plane ------------------------------------------------------------------------------------------------
complete=1
for program in etcd kube-apiserver kube-controller-manager kube-scheduler kwok kubectl; do
  [ -x "$assets/$program" ] || complete=''
done
if [ -n "$complete" ] && [ "$faults" = 0 ]; then
  hack/cluster.sh start "$work/cluster" >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; exit 1; }
  export KUBECONFIG=$work/cluster/kubeconfig
  kubectl() { "$assets/kubectl" "$@"; }
  for file in install-namespaced install; do
    kubectl apply --dry-run=client -f "$dist/$file.yaml" >/dev/null || fault "the dry run of $file.yaml failed"
    kubectl apply --server-side -f "$dist/$file.yaml" >"$work/log" 2>&1 || fault "$file.yaml: $(cat "$work/log")"
    [ $file = install ] || kubectl delete -f "$dist/$file.yaml" >"$work/log" 2>&1 || fault "delete: $(cat "$work/log")"
  done
  # No containers run, so the archive's operator runs on this machine in place of the Deployment's pods, without the
  # webhook.
  kubectl delete mutatingwebhookconfiguration,validatingwebhookconfiguration --all >/dev/null
  # start PROGRAM...: starts an operator. stop: ends it.
  start() {
    "$@" --kubeconfig="$KUBECONFIG" --leader-elect=false --metrics-bind-address=0 --health-probe-bind-address=0 \
      >>"$work/operator.log" 2>&1 &
    operator=$!
  }
  stop() {
    kill "$operator"
    wait "$operator" || fault "the operator exited with code $?"
    operator=''
  }
  # soon COMMAND...: repeats the command until it succeeds. Fails after a minute.
  soon() {
    local deadline=$((SECONDS + 60))
    until "$@"; do
      [ $SECONDS -lt $deadline ] || return 1
      sleep 0.2
    done
  }
  deployments_are() { [ "$(kubectl get deployments -o name | wc -l)" = "$1" ]; }
  workloads() { kubectl get deployments -o jsonpath='{range .items[*]}{.metadata.name} {.metadata.uid} {.metadata.generation}{"\n"}{end}'; }
  available() { [ "$(kubectl get deployments -o jsonpath='{.items[*].status.availableReplicas}' | wc -w)" = "$pools" ]; }
  images() { kubectl get deployments -o jsonpath='{.items[*].spec.template.spec.containers[0].image}'; }
  begun() { [[ $(images) == *nginx:1.28* ]]; }
  # The previous version does not write the condition Complete.
  reported() { [ -n "$(kubectl get yurtappdaemon "$name" -o jsonpath='{.status.conditions[?(@.type=="Complete")].status}')" ]; }

  before=$(hack/old-release.sh path)
  if [ -x "$before" ]; then start "$before"; else
    say "SKIPPED: the objects of the previous version, because its operator is missing (hack/old-release.sh)"
    start "$work/$machine/$NAME/$NAME"
  fi
  kubectl apply -f "$dist/samples.yaml" >/dev/null
  plugin=$work/$machine/kubectl-yad/kubectl-yad
  name=$(kubectl get yurtappdaemons -o jsonpath='{.items[0].metadata.name}')
  pools=$(kubectl get nodepools -o name | wc -l)
  soon deployments_are "$pools" || true
  for pool in $(kubectl get nodepools -o jsonpath='{.items[*].metadata.name}'); do
    printf '{apiVersion: v1, kind: Node, metadata: {name: node-%s, labels: {apps.openyurt.io/nodepool: %s}}}\n---\n' "$pool" "$pool"
  done | kubectl apply -f - >/dev/null
  soon available || fault "the Deployments are not available: $(kubectl get deployments,nodes,pods)"
  same "the Deployments that the operator has created" "$pools" "$(kubectl get deployments -o name | wc -l)"
  if [ -x "$before" ]; then
    # The upgrade happens during a rollout that stops at its first pool, because no node fits the new pods.
    kubectl patch yurtappdaemon "$name" --type=merge -p '{"spec": {
      "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"progressDeadlineSeconds": 600}},
      "workloadTemplate": {"deploymentTemplate": {"spec": {"template": {"spec": {"nodeSelector": {"no-such": "node"}, "containers": [{"name": "web", "image": "nginx:1.28"}]}}}}}}}' >/dev/null
    soon begun || fault "the previous version starts no rollout"
    stop
    held_over=$(workloads)
    same "the pools that the version before has updated" 1 "$(images | tr ' ' '\n' | grep -c 1.28)"
    start "$work/$machine/$NAME/$NAME"
    soon reported || fault "the operator does not report condition Complete after the upgrade"
    sleep 2
    same "names, uids and generations of the Deployments after the upgrade" "$held_over" "$(workloads)"
  fi
  [ -x "$before" ] || kubectl wait --for=condition=Complete "yurtappdaemon/$name" --timeout=1m >"$work/log" 2>&1 ||
    fault "the rollout of the samples: $(cat "$work/log")"
  "$plugin" pools "$name" >"$work/pools" 2>&1 || fault "kubectl yad pools: $(cat "$work/pools")"
  same "the pools that kubectl yad shows" "$pools" "$(grep -c "$name-" "$work/pools")"

  # Repeats the test in an emulator with the operator for the other architecture.
  for arch in arm64; do
    program=$work/$arch/$NAME/$NAME
    if [ "$arch" = "$machine" ] || [ ! -e "$program" ]; then continue; fi
    command -v "${emulator[$arch]}" >/dev/null ||
      { say "SKIPPED: the operator for $arch, because ${emulator[$arch]} is not installed"; continue; }
    stop
    kubectl delete "$(kubectl get deployments -o name | head -n 1)" >/dev/null
    start "${emulator[$arch]}" "$program"
    soon deployments_are "$pools" || fault "the operator for $arch does not recreate a Deployment"
  done
  [ $faults = 0 ] || tail -n 20 "$work/operator.log" >&2
else
  say "SKIPPED: the installation, because $([ -n "$complete" ] && echo "of the failures above" || echo "the control plane is not installed (make assets)")"
fi

[ $faults = 0 ] || exit 1
say "the release has no errors"
