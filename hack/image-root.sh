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
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$ROOT"/{etc/ssl/certs,usr/bin,usr/lib/ssl,usr/share,var/lib/dpkg/status.d} "$DOC"

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
# shellcheck disable=SC2086
copied=$(realpath $libraries | hack/package-of.sh && printf '%s\n' ca-certificates tzdata)
# These packages contribute templates and inline functions, although the image contains none of their files.
compiled=$(ninja -C build/release -t deps | sed -n 's/^ *\(\/usr\/\)/\1/p' | sort -u | xargs realpath | hack/package-of.sh)
for package in $copied; do
  dpkg-query -s "$package" >"$ROOT/var/lib/dpkg/status.d/${package%%:*}"
done
for package in $copied $compiled; do
  cp -L "/usr/share/doc/${package%%:*}/copyright" "$DOC/copyright.${package%%:*}"
done
cp LICENSE "$DOC/LICENSE"

{
  # shellcheck disable=SC2086  # one word is one package
  printf 'CONTAINS %s\n' $copied
  # shellcheck disable=SC2086
  printf 'BUILD_DEPENDENCY_OF %s\n' $compiled
} >"$work/relations"
for path in "/usr/bin/$NAME" $libraries; do
  printf '%s\t%s\t%s\t%s\n' "$path" "$(sha1sum <"$ROOT$path" | cut -d' ' -f1)" \
    "$(sha256sum <"$ROOT$path" | cut -d' ' -f1)" "$(realpath "$path" | hack/package-of.sh | cut -d: -f1)"
done >"$work/files"
hack/sbom.sh $NAME "/usr/share/doc/$NAME/copyright." "$work/relations" "$work/files" >"$DOC/sbom.spdx.json"

find "$ROOT" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
