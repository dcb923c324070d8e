#!/usr/bin/env bash
# Prints the path of kstatus (tests/tools/kstatus). Builds it with Go if it is not in the user's cache folder. Exits
# with 3 if Go is needed and missing.
set -euo pipefail

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")/../tests/tools/kstatus" && pwd)
CACHE=${XDG_CACHE_HOME:-${HOME:?HOME is not set, and kstatus lives in a cache folder below it}/.cache}/yurtappdaemon-operator
# The file name has the library's version and a digest of the source. So if one of them changes, the script builds
# again.
version=$(sed -n 's/^.*sigs.k8s.io\/cli-utils v//p' "$HERE/go.mod")
digest=$(cat "$HERE"/{go.mod,go.sum,main.go} | sha256sum | cut -c1-12)
program=$CACHE/tools/kstatus-$version-$digest

if [ ! -x "$program" ]; then
  command -v go >/dev/null || { echo "kstatus: no Go toolchain is on PATH: install Go 1.24 or later" >&2; exit 3; }
  mkdir -p "$CACHE/tools"
  exec 9>"$CACHE/tools/lock"
  flock 9
  if [ ! -x "$program" ]; then
    echo "kstatus: building $version (once; it stays in the cache folder)" >&2
    (cd "$HERE" && go build -mod=readonly -trimpath -ldflags "-s -w" -o "$program.tmp" .)
    mv "$program.tmp" "$program"
  fi
fi
echo "$program"
