#!/usr/bin/env bash
# Assembles the image's file system from build/release and this Debian:  hack/image-root.sh ROOT
#
# ROOT gets the operator, its shared libraries, the CAs for a kubeconfig without a CA of its own, the time zones of update
# windows, and a user. It also gets an SBOM (SPDX), dpkg's records of the packages, at the path that scanners read, and
# the copyright of all that is compiled or copied in. SOURCE_DATE_EPOCH is the time of every file.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export LC_ALL=C SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-0}

NAME=yurtappdaemon-operator
BUILT=build/release/bin/$NAME
ROOT=${1:?where to}
DOC=$ROOT/usr/share/doc/$NAME
umask 022
mkdir -p "$ROOT"/{etc/ssl/certs,usr/bin,usr/lib/ssl,usr/share,var/lib/dpkg/status.d} "$DOC"

# package_of PATH...: prints the packages that contain these files. dpkg may know a file by its name with or without
# /usr, and reports an error for the other name.
package_of() {
  local path
  for path in "$@"; do
    path=${path#/usr}
    printf '%s\n' "$path" "/usr$path"
  done | { xargs -r dpkg-query -S 2>/dev/null || true; } | sed -n 's/: .*//p' | tr -d ' ' | tr , '\n' | sort -u
}

# --- the program -------------------------------------------------------------------------------------------------------
install -m 755 $BUILT "$ROOT/usr/bin/$NAME"
libraries=$(ldd $BUILT | awk '$2 == "=>" && $3 ~ /^\// { print $3 } $1 ~ /^\// { print $1 }' | sort -u)
# shellcheck disable=SC2086  # one word is one path
cp -L --parents $libraries "$ROOT"
cp -L /etc/ssl/certs/ca-certificates.crt "$ROOT/etc/ssl/certs/"
ln -s /etc/ssl/certs/ca-certificates.crt "$ROOT/usr/lib/ssl/cert.pem"
# posix repeats the zones, and right has leap seconds. localtime and posixrules are settings of this machine, and the
# library would take them for zones.
cp -a /usr/share/zoneinfo "$ROOT/usr/share/"
rm -rf "$ROOT"/usr/share/zoneinfo/{posix,right,localtime,posixrules}
echo 'nonroot:x:65532:65532:nonroot:/:/nonexistent' >"$ROOT/etc/passwd"
echo 'nonroot:x:65532:' >"$ROOT/etc/group"
echo 'hosts: files dns' >"$ROOT/etc/nsswitch.conf"
cp -L /etc/os-release "$ROOT/etc/"

# --- the contents lists ------------------------------------------------------------------------------------------------
# shellcheck disable=SC2046,SC2086
copied=$(package_of $(realpath $libraries) && printf '%s\n' ca-certificates tzdata)
# These packages contribute templates and inline functions, although the image contains none of their files.
# shellcheck disable=SC2046
compiled=$(package_of $(ninja -C build/release -t deps | sed -n 's/^ *\(\/usr\/\)/\1/p' | sort -u | xargs realpath))
for package in $copied; do
  dpkg-query -s "$package" >"$ROOT/var/lib/dpkg/status.d/${package%%:*}"
done
for package in $copied $compiled; do
  cp -L "/usr/share/doc/${package%%:*}/copyright" "$DOC/copyright.${package%%:*}"
done
cp LICENSE "$DOC/LICENSE"

version=$(sed -n 's/^project(.* VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
distribution=$(. /etc/os-release && echo "$ID-$VERSION_ID")
packages() { # RELATIONSHIP PACKAGE...
  local relationship=$1
  shift
  dpkg-query -W -f '${Package}\t${Version}\t${Architecture}\t${source:Package}\t${Maintainer}\n' "$@" |
    jq -R --arg relationship "$relationship" 'split("\t") | {relationship: $relationship, name: .[0], version: .[1],
      architecture: .[2], source: .[3], maintainer: .[4]}'
}
files() {
  local path
  for path in "/usr/bin/$NAME" $libraries; do
    printf '%s\t%s\t%s\t%s\n' "$path" "$(sha1sum <"$ROOT$path" | cut -d' ' -f1)" \
      "$(sha256sum <"$ROOT$path" | cut -d' ' -f1)" "$(package_of "$(realpath "$path")" | cut -d: -f1)"
  done | jq -R 'split("\t") | {path: .[0], sha1: .[1], sha256: .[2], package: .[3]}'
}
# shellcheck disable=SC2086
inside=$({ packages CONTAINS $copied; packages BUILD_DEPENDENCY_OF $compiled; } | jq -s 'unique_by(.name)')
jq -n --arg name $NAME --arg version "$version" --arg distribution "$distribution" \
  --arg created "$(date -u -d "@$SOURCE_DATE_EPOCH" +%FT%TZ)" \
  --argjson packages "$inside" --argjson files "$(files | jq -s .)" '
  def id: "SPDXRef-" + gsub("[^A-Za-z0-9.-]"; "-");
  ("Package-" + $name | id) as $ours
  | {
      spdxVersion: "SPDX-2.3", dataLicense: "CC0-1.0", SPDXID: "SPDXRef-DOCUMENT",
      name: "\($name)-\($version)",
      documentNamespace: "https://spdx.org/spdxdocs/\($name)-\($version)-\($files[0].sha256)-\($created)",
      creationInfo: {created: $created, creators: ["Tool: hack/image-root.sh"]},
      documentDescribes: [$ours],
      packages: ([{
          SPDXID: $ours, name: $name, versionInfo: $version, downloadLocation: "NOASSERTION", filesAnalyzed: false,
          licenseConcluded: "Apache-2.0", licenseDeclared: "Apache-2.0", copyrightText: "NOASSERTION",
          primaryPackagePurpose: "APPLICATION"
        }] + ($packages | map({
          SPDXID: ("Package-" + .name | id), name, versionInfo: .version, downloadLocation: "NOASSERTION",
          filesAnalyzed: false, licenseConcluded: "NOASSERTION", licenseDeclared: "NOASSERTION",
          copyrightText: "see /usr/share/doc/\($name)/copyright.\(.name)",
          supplier: "Organization: \(.maintainer)",
          externalRefs: [{referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator:
            "pkg:deb/\($distribution | split("-")[0])/\(.name)@\(.version | @uri)?arch=\(.architecture)&distro=\($distribution)&upstream=\(.source | @uri)"}]
        }))),
      files: ($files | map({
          SPDXID: ("File" + .path | id), fileName: ("." + .path), fileTypes: ["BINARY"],
          checksums: [{algorithm: "SHA1", checksumValue: .sha1}, {algorithm: "SHA256", checksumValue: .sha256}],
          licenseConcluded: "NOASSERTION", copyrightText: "NOASSERTION"
        })),
      relationships: ([{spdxElementId: "SPDXRef-DOCUMENT", relationshipType: "DESCRIBES", relatedSpdxElement: $ours}]
        + ($packages | map(("Package-" + .name | id) as $its |
            if .relationship == "CONTAINS"
            then {spdxElementId: $ours, relationshipType: "CONTAINS", relatedSpdxElement: $its}
            else {spdxElementId: $its, relationshipType: "BUILD_DEPENDENCY_OF", relatedSpdxElement: $ours} end))
        + ($files | map({
            spdxElementId: ("File" + .path | id), relationshipType: "GENERATED_FROM",
            relatedSpdxElement: (if .package == "" then $ours else "Package-" + .package | id end)})))
    }' >"$DOC/sbom.spdx.json"

find "$ROOT" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
