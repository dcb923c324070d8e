#!/usr/bin/env bash
# Builds the operator's image with the first of buildah, podman and docker that works here; writes its SBOM beside it.
#
#   hack/image.sh TAG [BUILDER'S ARGUMENT...]     for instance --platform linux/arm64, or --build-arg BASE=…
#
# SOURCE_DATE_EPOCH (default: the time of the last commit) is the time of everything in the image. With buildah and
# podman, equal sources and packages then give an equal image.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { echo "image: $*" >&2; }

[ $# -ge 1 ] || { sed -n '4s/^# *//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
tag=$1
shift

builder=''
for candidate in buildah podman docker; do
  # docker can't build if its daemon does not run.
  if command -v $candidate >/dev/null && $candidate info >/dev/null 2>&1; then
    builder=$candidate
    break
  fi
done
if [ -z "$builder" ]; then
  say "none of buildah, podman and docker works here. On Debian: apt-get install buildah"
  exit 1
fi

version=$(sed -n 's/^project(.* VERSION \([0-9.]*\) .*/v\1/p' CMakeLists.txt)
revision=$(git rev-parse HEAD 2>/dev/null || echo unknown)
[ -z "$(git status --porcelain 2>/dev/null)" ] || revision+=-dirty
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
arguments=(--tag "$tag" --file Dockerfile
  --build-arg SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" --build-arg CREATED="$(date -u -d "@$SOURCE_DATE_EPOCH" +%FT%TZ)"
  --build-arg VERSION="$version" --build-arg REVISION="$revision")
[ $builder = docker ] || arguments+=(--timestamp "$SOURCE_DATE_EPOCH")

say "building $tag with $builder"
$builder build "${arguments[@]}" "$@" .

sbom=/usr/share/doc/yurtappdaemon-operator/sbom.spdx.json
mkdir -p build/image
if [ $builder = buildah ]; then
  container=$(buildah from --pull-never "$tag")
  # Without root, a mount is visible only in buildah's own user namespace.
  read_it="cat \"\$(buildah mount $container)$sbom\""
  if [ "$(id -u)" = 0 ]; then sh -c "$read_it"; else buildah unshare sh -c "$read_it"; fi >build/image/sbom.spdx.json
  buildah rm "$container" >/dev/null
else
  container=$($builder create "$tag")
  $builder cp "$container:$sbom" build/image/sbom.spdx.json
  $builder rm "$container" >/dev/null
fi
say "$tag is built; build/image/sbom.spdx.json lists its contents"
