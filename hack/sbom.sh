#!/usr/bin/env bash
# Prints an SBOM (SPDX 2.3, JSON) for one of our programs and the Debian packages that are distributed with it.
#
#   hack/sbom.sh NAME COPYRIGHTS RELATIONS FILES
#
#   NAME         name of the archive or image, and of our package in the SBOM
#   COPYRIGHTS   start of the path of a copyright file in the archive or image; the name of a Debian package follows it
#   RELATIONS    file with lines "RELATIONSHIP PACKAGE". The relationship is CONTAINS, STATIC_LINK (a library of the package
#                is part of the program) or BUILD_DEPENDENCY_OF (only templates and inline functions are part of it)
#   FILES        file with lines of tab-separated PATH, SHA-1, SHA-256 and PACKAGE (empty for our own files)
#
# ROOT is a folder with packages of another architecture. Packages that are not installed there are looked up on this
# machine. SOURCE_DATE_EPOCH is the time of the SBOM.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export LC_ALL=C

[ $# = 4 ] || { sed -n '4s/^# *//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
name=$1 copyrights=$2 relations=$3 files=$4
version=$(sed -n 's/^project(.* VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
distribution=$(. /etc/os-release && echo "$ID-$VERSION_ID")

# If a package has several relationships, the first relationship is used.
packages=$(
  while read -r relationship package; do
    format="$relationship"'\t${Package}\t${Version}\t${Architecture}\t${source:Package}\t${Maintainer}\n'
    dpkg-query --admindir="${ROOT:-}/var/lib/dpkg" -W -f "$format" "$package" 2>/dev/null || dpkg-query -W -f "$format" "$package"
  done <"$relations" | jq -R 'split("\t") | {relationship: .[0], name: .[1], version: .[2], architecture: .[3], source: .[4],
    maintainer: .[5]}' | jq -s 'group_by(.name) | map(.[0])'
)
files=$(jq -R 'split("\t") | {path: .[0], sha1: .[1], sha256: .[2], package: .[3]}' "$files" | jq -s .)

jq -n --arg name "$name" --arg version "$version" --arg distribution "$distribution" --arg copyrights "$copyrights" \
  --arg created "$(date -u -d "@${SOURCE_DATE_EPOCH:-0}" +%FT%TZ)" --argjson packages "$packages" --argjson files "$files" '
  def id: "SPDXRef-" + gsub("[^A-Za-z0-9.-]"; "-");
  ("Package-" + $name | id) as $ours
  | {
      spdxVersion: "SPDX-2.3", dataLicense: "CC0-1.0", SPDXID: "SPDXRef-DOCUMENT",
      name: "\($name)-\($version)",
      documentNamespace: "https://spdx.org/spdxdocs/\($name)-\($version)-\($files[0].sha256)-\($created)",
      creationInfo: {created: $created, creators: ["Tool: hack/sbom.sh"]},
      documentDescribes: [$ours],
      packages: ([{
          SPDXID: $ours, name: $name, versionInfo: $version, downloadLocation: "NOASSERTION", filesAnalyzed: false,
          licenseConcluded: "Apache-2.0", licenseDeclared: "Apache-2.0", copyrightText: "NOASSERTION",
          primaryPackagePurpose: "APPLICATION"
        }] + ($packages | map({
          SPDXID: ("Package-" + .name | id), name, versionInfo: .version, downloadLocation: "NOASSERTION",
          filesAnalyzed: false, licenseConcluded: "NOASSERTION", licenseDeclared: "NOASSERTION",
          copyrightText: "see \($copyrights)\(.name)",
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
            if .relationship == "BUILD_DEPENDENCY_OF"
            then {spdxElementId: $its, relationshipType: "BUILD_DEPENDENCY_OF", relatedSpdxElement: $ours}
            else {spdxElementId: $ours, relationshipType: .relationship, relatedSpdxElement: $its} end))
        + ($files | map({
            spdxElementId: ("File" + .path | id), relationshipType: "GENERATED_FROM",
            relatedSpdxElement: (if .package == "" then $ours else "Package-" + .package | id end)})))
    }'
