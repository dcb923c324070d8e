#!/usr/bin/env bash
# Provides an old version of the operator, with which the upgrade test starts a rollout. This version lacks the
# conditions Complete, Reconciling and Stalled. The script builds the binary once, from this repository's history, into
# the user's cache folder.
#
#   hack/old-release.sh         build the binary if it is missing
#   hack/old-release.sh path    print its path (it may still be missing)
set -euo pipefail

COMMIT=8e8ed61d9fa2a79eb9a9b67c055a6a984f00b87e
CACHE=${XDG_CACHE_HOME:-${HOME:?HOME is not set, and the binary lives in a cache folder below it}/.cache}/yurtappdaemon-operator
BINARY=$CACHE/releases/$COMMIT/yurtappdaemon-operator
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { echo "old-release: $*" >&2; }

if [ "${1:-}" = path ]; then
  echo "$BINARY"
  exit 0
fi
[ ! -x "$BINARY" ] || exit 0
if ! git -C "$ROOT" cat-file -e "$COMMIT^{commit}" 2>/dev/null; then
  say "commit $COMMIT is not in this clone: the upgrade test is skipped. A clone with the whole history has it."
  exit 0
fi
mkdir -p "$CACHE/releases"
exec 9>"$CACHE/releases/lock"
flock 9
[ ! -x "$BINARY" ] || exit 0
source=$(mktemp -d)
trap 'rm -rf "$source"' EXIT
say "building the operator of commit ${COMMIT:0:7} (once; it stays in the cache folder)"
git -C "$ROOT" archive "$COMMIT" | tar -x -C "$source"
# Builds without optimization, because speed does not matter here. Disables warnings, because that version was written
# for GCC, and clang has other warnings.
compiler=$(command -v clang++-16 || command -v g++)
cmake -S "$source" --preset release -DBUILD_TESTING=OFF -DCMAKE_CXX_COMPILER="$compiler" \
  -DCMAKE_CXX_FLAGS=-w -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O0 -DNDEBUG" >/dev/null
cmake --build "$source/build/release" -j "$(nproc)" --target yurtappdaemon-operator >"$source/log" 2>&1 || {
  tail -n 40 "$source/log" >&2
  exit 1
}
mkdir -p "$(dirname "$BINARY")"
cp "$source/build/release/bin/yurtappdaemon-operator" "$BINARY.new"
mv "$BINARY.new" "$BINARY"
