#!/usr/bin/env bash
# Installs axe-core, which finds problems for users of screen readers and keyboards. The test of the dashboard's page
# uses it. The file stays in the user's cache folder; hack/axe-requirements.txt has its version.
#
#   hack/axe.sh         downloads axe.min.js from PyPI, unless the cache folder has it
#   hack/axe.sh path    prints the path of axe.min.js; fails if the cache folder does not have it
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

CACHE=${XDG_CACHE_HOME:-${HOME:?HOME is not set, and axe-core stays in a cache folder below it}/.cache}/yurtappdaemon-operator
FOLDER=$CACHE/axe-$(sha256sum hack/axe-requirements.txt | cut -c1-12)

case ${1:-} in
path)
  [ -f "$FOLDER/axe.min.js" ]
  echo "$FOLDER/axe.min.js"
  ;;
'')
  [ ! -f "$FOLDER/axe.min.js" ] || exit 0
  echo "axe: installing axe-core from PyPI (once; it stays in the cache folder)" >&2
  mkdir -p "$CACHE"
  new=$(mktemp -d "$CACHE/axe-new-XXXXXX")
  trap 'rm -rf "$new"' EXIT
  python3 -m pip download --quiet --no-deps --only-binary :all: --require-hashes --dest "$new" \
    --requirement hack/axe-requirements.txt
  python3 -m zipfile --extract "$new"/*.whl "$new/wheel"
  mkdir -p "$FOLDER"
  mv "$new"/wheel/*/axe.min.js "$FOLDER/axe.min.js"
  ;;
*)
  echo "axe: unknown command $1" >&2
  exit 2
  ;;
esac
