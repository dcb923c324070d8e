#!/usr/bin/env bash
# Provides the programs of a real control plane: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kwok,
# kubectl and helm. The script takes each program from $KUBEBUILDER_ASSETS, or from PATH if its version fits, or builds
# it with Go into the user's cache folder. The folder that `assets.sh dir` prints contains all of them, some as links.
#
#   hack/assets.sh        make the folder complete
#   hack/assets.sh helm   provide only helm
#   hack/assets.sh fetch  only download the sources of the programs that have to be built
#   hack/assets.sh dir    print the folder (it may still be incomplete)
#
# K8S_VERSION selects another Kubernetes: 1.30.14, or 1.30 for the patch version that is tested here. Different versions
# have different folders.
set -euo pipefail

K8S_VERSION=${K8S_VERSION:-1.34.4}
K8S_VERSION=${K8S_VERSION#v}
case $K8S_VERSION in
  1.30) K8S_VERSION=1.30.14 ;;
  1.34) K8S_VERSION=1.34.4 ;;
  1.36) K8S_VERSION=1.36.3 ;;
esac
# Kubernetes 1.34 requires this version of etcd, and this version of Helm requires the libraries of Kubernetes 1.34. So
# one module can build all of them, and the packages that they share are compiled once. KWOK requires the libraries of
# 1.33, but needs only one small change for the libraries of 1.34 (see `change_kwok`).
ETCD_VERSION=3.6.4
HELM_VERSION=3.19.5
KWOK_VERSION=0.7.0

K8S_MINOR=${K8S_VERSION#*.}
K8S_MINOR=${K8S_MINOR%%.*}
CACHE=${XDG_CACHE_HOME:-${HOME:?HOME is not set, and the assets live in a cache folder below it}/.cache}/yurtappdaemon-operator
DIR=$CACHE/assets/k8s-$K8S_VERSION-etcd-$ETCD_VERSION-kwok-$KWOK_VERSION-helm-$HELM_VERSION-for-1.$K8S_MINOR
PROGRAMS=(etcd kube-apiserver kube-controller-manager kube-scheduler kwok kubectl helm)

say() { echo "assets: $*" >&2; }
[[ $K8S_VERSION =~ ^1\.[0-9]+\.[0-9]+$ ]] || { say "K8S_VERSION=$K8S_VERSION is not a version such as 1.30.14"; exit 2; }

# reported_version PROGRAM PATH: prints the program's version as X.Y.Z; prints nothing if it does not report a version.
reported_version() {
  case $1 in
    kubectl) "$2" version --client 2>/dev/null | sed -n 's/^Client Version: v//p' ;;
    helm) "$2" version --short 2>/dev/null ;;
    *) "$2" --version 2>/dev/null ;;
  esac | grep -oE '[0-9]+\.[0-9]+\.[0-9]+[^ ]*' | head -n 1
}

at_least() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; }

# fits PROGRAM PATH: succeeds if the version of the program at PATH is suitable. Kubernetes' own programs must have the
# requested minor version. etcd must be at least 3.5.13: older versions do not support consistent reads from the watch
# cache and streaming lists.
fits() {
  local version
  version=$(reported_version "$1" "$2") || return 1
  [ -n "$version" ] || return 1
  case $1 in
    etcd) at_least 3.5.13 "$version" ;;
    kwok) at_least 0.6.0 "$version" ;;
    helm) at_least 3.14.0 "$version" && [ "${version%%.*}" = 3 ] ;;
    *) [[ $version == 1.$K8S_MINOR.+([0-9]) ]] ;;
  esac
}

# built_before PROGRAM: prints the path of the program in the assets of another Kubernetes version. Prints nothing for
# programs whose version depends on the version of Kubernetes.
built_before() {
  local file
  case $1 in etcd | kwok) ;; *) return 0 ;; esac
  for file in "$CACHE"/assets/k8s-*-etcd-$ETCD_VERSION-kwok-$KWOK_VERSION-*/"$1"; do
    if [ -x "$file" ] && [ ! -L "$file" ]; then echo "$file" && return; fi
  done
}

need_go() {
  command -v go >/dev/null || {
    say "no Go toolchain is on PATH, and ${missing[*]} have to be built."
    say "Install Go 1.24 or later (https://go.dev/doc/install), or set KUBEBUILDER_ASSETS to a folder with these programs."
    exit 1
  }
}

# module FOLDER PROGRAM...: makes FOLDER a Go module that requires the modules of these programs.
module() {
  local folder=$1 program name version mod staging
  shift
  rm -rf "$folder" && mkdir -p "$folder" && cd "$folder"
  go mod init assets >/dev/null 2>&1
  for program in "$@"; do
    read -r _ name version < <(package "$program")
    go mod edit -require "$name@$version"
  done
  [[ $* == *kube* ]] || return 0
  # Kubernetes' go.mod requires the staging modules in version v0.0.0, which exists only in its own tree. They are
  # published as v0.<minor>.<patch>.
  mod=$(go mod download -json "k8s.io/kubernetes@v$K8S_VERSION" | sed -n 's/.*"GoMod": "\(.*\)".*/\1/p')
  sed -n 's/^\t\(k8s\.io\/[a-z-]*\) v0\.0\.0$/\1/p' "$mod" | while read -r staging; do
    go mod edit -replace "$staging=$staging@v0.${K8S_VERSION#1.}"
  done
  if [[ $* == *kwok* ]]; then change_kwok; fi
}

# change_kwok: adds a constant, which the libraries of Kubernetes 1.34 lack, to a copy of KWOK's sources. Makes the
# module in the current folder use this copy.
change_kwok() {
  local sources
  sources=$(go mod download -json "sigs.k8s.io/kwok@v$KWOK_VERSION" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
  cp -r "$sources" kwok
  chmod -R u+w kwok
  sed -i 's|metav1.InitialEventsListBlueprintAnnotationKey|"kubernetes.io/initial-events-list-blueprint"|' \
    kwok/pkg/utils/informer/informer.go
  go mod edit -replace "sigs.k8s.io/kwok=./kwok"
}

# progress TOTAL: reads the output of "go build -v", and prints every 20 s how many packages are compiled. Prints all
# other lines unchanged.
progress() {
  local total=$1 count=0 begin=$SECONDS last=$SECONDS line left=''
  while IFS= read -r line; do
    if [[ $line == *[\ :]* ]]; then
      case $line in "go: downloading "*) ;; *) echo "$line" >&2 ;; esac
      continue
    fi
    count=$((count + 1))
    if [ $((SECONDS - last)) -ge 20 ]; then
      last=$SECONDS
      [ "$count" -ge "$total" ] || left=", about $(((SECONDS - begin) * (total - count) / count)) s left"
      say "  $count of $total packages compiled$left"
    fi
  done
}

# build GO_PACKAGE...: builds programs in the module of the current folder. Each program has the name of its package.
build() {
  local total
  total=$(go list -mod=mod -trimpath -deps -f '{{if .Stale}}{{.ImportPath}}{{end}}' "$@" 2>/dev/null | wc -l)
  mkdir -p programs
  { go build -v -mod=mod -trimpath -ldflags "$LDFLAGS" -o programs/ "$@" 2>&1 >&3 | progress "$total"; } 3>&1
}

# group PROGRAM: prints the group of a program. One command builds all programs of a group in one module.
group() {
  case $1-$K8S_MINOR in kube* | etcd-34 | helm-34 | kwok-34) echo kubernetes ;; *) echo "$1" ;; esac
}

# package PROGRAM: prints the program's package, its module and the module's version.
package() {
  case $1 in
    etcd) echo go.etcd.io/etcd/server/v3 go.etcd.io/etcd/server/v3 v$ETCD_VERSION ;;
    kwok) echo sigs.k8s.io/kwok/cmd/kwok sigs.k8s.io/kwok v$KWOK_VERSION ;;
    helm) echo helm.sh/helm/v3/cmd/helm helm.sh/helm/v3 v$HELM_VERSION ;;
    *) echo "k8s.io/kubernetes/cmd/$1" k8s.io/kubernetes "v$K8S_VERSION" ;;
  esac
}

# packages PROGRAM...: prints the packages of these programs.
packages() {
  local program
  for program in "$@"; do package "$program" | cut -d ' ' -f 1; done
}

# Without its last line, `helm template` and `helm lint` would assume Kubernetes 1.20.
LDFLAGS="-s -w
  -X k8s.io/component-base/version.gitVersion=v$K8S_VERSION
  -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=$K8S_MINOR
  -X sigs.k8s.io/kwok/pkg/consts.Version=v$KWOK_VERSION
  -X helm.sh/helm/v3/internal/version.version=v$HELM_VERSION
  -X helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=1 -X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=$K8S_MINOR"

# fetch_group PROGRAM...: downloads the sources of these programs, which must belong to one group.
fetch_group() (
  module "$CACHE/build/$(group "$1")" "$@"
  # shellcheck disable=SC2046  # word splitting is intended
  go list -mod=mod -deps $(packages "$@") >/dev/null
)

# build_group PROGRAM...: builds these programs, which must belong to one group, and moves them into the folder of the
# assets.
build_group() {
  local work program built
  work=$CACHE/build/$(group "$1")
  say "building $* (once; they stay in the cache folder)"
  (
    module "$work" "$@"
    # shellcheck disable=SC2046  # word splitting is intended
    build $(packages "$@")
  )
  for program in "$@"; do
    built=$work/programs/$program
    [ -e "$built" ] || built=$work/programs/server # etcd is the package "server"
    mv "$built" "$DIR/$program"
  done
  rm -rf "$work"
}

shopt -s extglob
case ${1:-all} in
  dir) echo "$DIR"; exit 0 ;;
  all | fetch) ;;
  helm) PROGRAMS=(helm) ;;
  *) say "unknown argument '$1': give no argument, 'helm', 'fetch' or 'dir'"; exit 2 ;;
esac

# If only Helm is needed and present, the script does not take the lock. Another process may hold the lock for minutes
# while it builds the control plane.
if [ "${1:-all}" = helm ] && [ -x "$DIR/helm" ]; then exit 0; fi
mkdir -p "$DIR"
exec 9>"$CACHE/assets.lock"
flock 9
missing=()
for program in "${PROGRAMS[@]}"; do
  [ -L "$DIR/$program" ] && [ ! -x "$DIR/$program" ] && rm "$DIR/$program"
  given=${KUBEBUILDER_ASSETS:-}
  if [ -n "$given" ] && [ -x "$given/$program" ] && [ "$given" != "$DIR" ]; then
    ln -sfn "$given/$program" "$DIR/$program"
  elif [ ! -x "$DIR/$program" ]; then
    found=$(command -v "$program" || true)
    before=$(built_before "$program")
    if [ -n "$before" ]; then
      ln -f "$before" "$DIR/$program"
    elif [ -n "$found" ] && fits "$program" "$found"; then
      say "taking $program from $found"
      ln -sfn "$found" "$DIR/$program"
    else
      missing+=("$program")
    fi
  fi
done
[ ${#missing[@]} = 0 ] || need_go
declare -A groups=()
for program in "${missing[@]}"; do groups[$(group "$program")]+=" $program"; done
# Builds Kubernetes first: it is the largest, so the user sees its progress immediately.
for name in kubernetes kwok helm etcd; do
  # shellcheck disable=SC2206  # word splitting is intended
  programs=(${groups[$name]:-})
  if [ ${#programs[@]} = 0 ]; then continue; fi
  if [ "${1:-all}" = fetch ]; then fetch_group "${programs[@]}"; else build_group "${programs[@]}"; fi
done
[ "${1:-all}" = fetch ] || say "${PROGRAMS[*]} are in $DIR"
