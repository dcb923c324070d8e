#!/usr/bin/env bash
# Combines the images of several architectures in one OCI layout, so that a registry can serve them under one name.
#
#   hack/oci-index.sh FOLDER ARCH...    reads the layouts FOLDER/ARCH, each with one image, and writes FOLDER/index
set -euo pipefail
export LC_ALL=C

folder=${1:?FOLDER is missing}
shift
index=$folder/index
mkdir -p "$index/blobs/sha256"
cp "$folder/$1/oci-layout" "$index/"
for arch in "$@"; do
  cp "$folder/$arch"/blobs/sha256/* "$index/blobs/sha256/"
  jq --arg arch "$arch" '.manifests[0] | {mediaType, digest, size, platform: {architecture: $arch, os: "linux"}}' "$folder/$arch/index.json"
done | jq -cjs '{schemaVersion: 2, mediaType: "application/vnd.oci.image.index.v1+json", manifests: .}' >"$folder/index.json"
digest=$(sha256sum <"$folder/index.json" | cut -d' ' -f1)
jq -cj --arg digest "sha256:$digest" --argjson size "$(stat -c %s "$folder/index.json")" '
  .manifests |= [{mediaType: "application/vnd.oci.image.index.v1+json", digest: $digest, size: $size, annotations: .[0].annotations}]
  ' "$folder/$1/index.json" >"$index/index.json"
mv "$folder/index.json" "$index/blobs/sha256/$digest"
