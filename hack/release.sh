#!/usr/bin/env bash
# Writes everything that a release consists of to build/dist (docs/releasing.md).
#
#   ARCHES="amd64 arm64"    architectures of the programs and of the image; default: amd64
#   HOMEPAGE                address of the project, for the chart, the Krew manifest and the provenance
#   DOWNLOADS               address of the folder with the archives; default: HOMEPAGE/releases/download/VERSION
#   IMAGE_REPOSITORY        name of the image without its tag, for the chart and the manifests; default: the chart's
#
# SOURCE_DATE_EPOCH (default: the time of the last commit) is the time of everything. Equal sources and packages then give
# equal files.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export LC_ALL=C
umask 022

say() { echo "release: $*" >&2; }

version=$(sed -n 's/^project(.* VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
ARCHES=${ARCHES:-amd64}
HOMEPAGE=${HOMEPAGE:-https://example.com/yurtappdaemon-operator}
DOWNLOADS=${DOWNLOADS:-$HOMEPAGE/releases/download/v$version}
IMAGE_REPOSITORY=${IMAGE_REPOSITORY:-}
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
NAME=yurtappdaemon-operator
dist=$PWD/build/dist
case $HOMEPAGE in https://example.com/*) say "HOMEPAGE is not set, so the addresses in the files are examples" ;; esac
changed=false
if [ -n "$(git status --porcelain)" ]; then
  changed=true
  say "WARNING: this checkout has changes that are not committed; the provenance reports it"
fi

work=$(mktemp -d)
image=''
leave() {
  local code=$?
  trap - EXIT
  [ -z "$image" ] || buildah rmi --force "$image" >/dev/null 2>&1 || true
  rm -rf "$work"
  exit $code
}
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
rm -rf "$dist"
mkdir -p "$dist"

# --- programs ----------------------------------------------------------------------------------------------------------
for arch in $ARCHES; do hack/release-programs.sh "$arch"; done

# --- Krew manifest: the template up to "platforms:", then the platform once for each architecture ----------------------
{
  sed -e '/^#/d' -e '/^  platforms:/q' plugin/krew/yad.yaml
  for arch in $ARCHES; do
    archive=kubectl-yad-linux-$arch.tar.gz
    sed -e '1,/^  platforms:/d' plugin/krew/yad.yaml |
      sed "s|@ARCH@|$arch|; s|@URI@|$DOWNLOADS/$archive|; s|@SHA256@|$(sha256sum <"$dist/$archive" | cut -d' ' -f1)|"
  done
} | sed "s|@VERSION@|v$version|; s|@HOMEPAGE@|$HOMEPAGE|" >"$dist/yad.yaml"

# --- chart -------------------------------------------------------------------------------------------------------------
hack/assets.sh helm
helm=$(hack/assets.sh dir)/helm
chart=$work/chart/$NAME
mkdir -p "$work/chart" "$work/packed"
cp -a charts/$NAME "$chart"
printf 'home: %s\nsources: [%s]\n' "$HOMEPAGE" "$HOMEPAGE" >>"$chart/Chart.yaml"
cp LICENSE "$chart/"
if [ -n "$IMAGE_REPOSITORY" ]; then
  sed -i "s|^  repository: $NAME$|  repository: $IMAGE_REPOSITORY|" "$chart/values.yaml"
  platforms=$(printf 'linux/%s\n' $ARCHES | paste -sd, | sed 's/,/, /g')
  sed -i "s#^annotations:#&\n  artifacthub.io/images: |\n    - {name: operator, image: \"$IMAGE_REPOSITORY:v$version\", platforms: [$platforms]}#" "$chart/Chart.yaml"
fi
"$helm" lint --quiet "$chart"
"$helm" package "$chart" --version "$version" --app-version "$version" --destination "$work/packed" >/dev/null
# helm writes the current time into the archive, so the archive is packed again with a fixed time.
mkdir "$work/unpacked"
tar -xzmf "$work/packed/$NAME-$version.tgz" -C "$work/unpacked"
hack/pack.sh "$work/unpacked" $NAME | gzip -9 -n >"$dist/$NAME-$version.tgz"

# --- manifests for kubectl ---------------------------------------------------------------------------------------------
# manifest VALUE...: prints the chart with its namespace, as it is installed by default. Omits labels that only Helm
# reads, because they would mark an object as a part of a release.
manifest() {
  printf 'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: yurtappdaemon-system\n'
  "$helm" template yad "$dist/$NAME-$version.tgz" --namespace yurtappdaemon-system --skip-tests "$@" |
    sed '/^ *helm\.sh\/chart:/d; /^ *app\.kubernetes\.io\/managed-by: Helm$/d'
}
manifest >"$dist/install.yaml"
manifest --set watchNamespace=yurtappdaemon-system >"$dist/install-namespaced.yaml"

# --- image -------------------------------------------------------------------------------------------------------------
. hack/image-base.sh
if prepare_image_base "$work" >"$work/unable"; then
  image=${IMAGE_REPOSITORY:-localhost/$NAME}:v$version
  lend_ccache
  mkdir -p "$work/oci"
  for arch in $ARCHES; do
    arguments=(--build-arg BASE="$BASE" "${LENT_CCACHE[@]}")
    if [ "$arch" != "$(dpkg --print-architecture)" ]; then
      # The stage "build" of the Dockerfile would run foreign programs, so a folder replaces it.
      run_in_image_base "$work" hack/image-root-arm64.sh /work/arm64/root-of-image >"$work/log" 2>&1 || { tail -n 40 "$work/log" >&2; exit 1; }
      arguments=(--platform "linux/$arch" --build-context build="$work/arm64" --build-arg BASE=scratch)
    fi
    hack/image.sh "$image" "${arguments[@]}" >"$work/log" 2>&1 || { tail -n 40 "$work/log" >&2; exit 1; }
    buildah push --quiet "$image" "oci:$work/oci/$arch:$image"
    buildah rmi --force "$image" >/dev/null
    hack/pack.sh "$work/oci/$arch" . >"$dist/$NAME-image-linux-$arch.oci.tar"
    cp build/image/sbom.spdx.json "$dist/$NAME-image-linux-$arch.spdx.json"
  done
  # shellcheck disable=SC2086  # word splitting is intended
  hack/oci-index.sh "$work/oci" $ARCHES
  hack/pack.sh "$work/oci/index" . >"$dist/$NAME-image.oci.tar"
else
  say "SKIPPED: the image, because $(cat "$work/unable")"
fi

# --- samples, changes, checksums and provenance -----------------------------------------------------------------------
{ cat docs/samples/nodepools.yaml && echo --- && cat docs/samples/deployment.yaml; } >"$dist/samples.yaml"
cp CHANGELOG.md LICENSE "$dist/"
subjects=$(cd "$dist" && sha256sum -- * | jq -R 'split("  ") | {name: .[1], digest: {sha256: .[0]}}' | jq -s .)
packages=$(jq -s '[.[].packages[].externalRefs[]?.referenceLocator] | unique | map({uri: .})' "$dist"/*.spdx.json)
jq -n --arg homepage "$HOMEPAGE" --arg version "v$version" --arg commit "$(git rev-parse HEAD)" --arg arches "$ARCHES" \
  --arg downloads "$DOWNLOADS" --arg repository "$IMAGE_REPOSITORY" --arg epoch "$SOURCE_DATE_EPOCH" \
  --arg compiler "$(g++ --version | head -n 1)" --argjson changed $changed \
  --argjson subjects "$subjects" --argjson packages "$packages" '
  {
    _type: "https://in-toto.io/Statement/v1", subject: $subjects, predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: "\($homepage)/blob/\($version)/docs/releasing.md",
        externalParameters: {command: "make release", ARCHES: $arches, HOMEPAGE: $homepage, DOWNLOADS: $downloads,
          IMAGE_REPOSITORY: $repository},
        internalParameters: {SOURCE_DATE_EPOCH: $epoch, compiler: $compiler, uncommittedChanges: $changed},
        resolvedDependencies: ([{uri: "git+\($homepage)", digest: {gitCommit: $commit}}] + $packages)
      },
      runDetails: {builder: {id: "\($homepage)/blob/\($version)/hack/release.sh"}}
    }
  }' >"$dist/provenance.intoto.json"
(cd "$dist" && sha256sum -- * >"$work/SHA256SUMS" && mv "$work/SHA256SUMS" .)
say "v$version is in build/dist: $(find "$dist" -type f | wc -l) files, $(du -sh "$dist" | cut -f1)"
