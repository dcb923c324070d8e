#!/usr/bin/env bash
# Checks that hack/demo.sh and hack/cluster.sh change and delete only folders that they created. Needs no control plane.
set -euo pipefail
HACK=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../hack" && pwd)

say() { echo "script_folders_test: $*" >&2; }
faults=0
fault() { say "FAILED: $*"; faults=$((faults + 1)); }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache # empty: if a start is wrongly accepted, it finds no programs

# foreign: creates a folder that neither script has created. Its files have the names that both scripts use.
foreign() {
  rm -rf "$work/foreign"
  mkdir -p "$work/foreign"/{etcd,etcd.saved,pki}
  for file in kubeconfig settings etcd/member etcd.saved/member pki/ca.key etcd.pid kube-apiserver.log; do
    echo mine >"$work/foreign/$file"
  done
  chmod 755 "$work/foreign"
}
contents() { (cd "$work/foreign" && find . -printf '%p %m ' -type f -exec cat {} \; | sort); }

# refuses WORD COMMAND...: checks that COMMAND fails, prints WORD, and does not change the foreign folder.
refuses() {
  local word=$1 before answer
  shift
  foreign
  before=$(contents)
  if answer=$("$@" 2>&1); then
    fault "$* did not fail"
  elif [[ $answer != *"$word"* ]]; then
    fault "$* printed: $answer"
  fi
  [ "$(contents 2>&1)" = "$before" ] || fault "$* changed the folder"
}
refuses .made-by-demo.sh "$HACK/demo.sh" stop "$work/foreign"
refuses .made-by-cluster.sh "$HACK/cluster.sh" start "$work/foreign"
for command in stop stop-apiserver start-apiserver save-etcd restore-etcd; do
  refuses .made-by-cluster.sh "$HACK/cluster.sh" $command "$work/foreign"
done
refuses "no folder" "$HACK/demo.sh" stop "$work/nowhere"
refuses "not a folder" "$HACK/cluster.sh" start "$work/foreign/kubeconfig"

# The scripts must stop and delete what they created themselves.
mkdir "$work/own"
touch "$work/own/.made-by-cluster.sh" "$work/own/kubeconfig"
"$HACK/cluster.sh" stop "$work/own" || fault "cluster.sh does not stop the cluster in a folder that it created"
[ -e "$work/own/kubeconfig" ] || fault "cluster.sh stop deleted other files than process ids"
touch "$work/own/.made-by-demo.sh"
"$HACK/demo.sh" stop "$work/own" || fault "demo.sh does not stop the demo in a folder that it created"
[ ! -e "$work/own" ] || fault "demo.sh stop did not delete its folder"

[ $faults = 0 ] || exit 1
say "foreign folders are not changed"
