#!/usr/bin/env bash
# Assembles the image's file system from build/release and this Debian.
#
#   hack/image-root.sh ROOT
#
# The script adds to ROOT:
# - the operator, its shared libraries, the time zones of update windows, and a user
# - CA certificates, for kubeconfigs without a CA
# - for scanners, an SBOM (SPDX), and dpkg's records of the packages at their usual paths
# - the copyright files of everything that is compiled or copied in
#
# Variables:
#   BUILD                folder of the build; default: build/release
#   SYSROOT              root of Debian packages for another architecture (hack/arm64-root.sh); all files except those
#                        of BUILD come from it, and none of its programs run
#   SOURCE_DATE_EPOCH    time of every file
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export LC_ALL=C SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-0}

NAME=yurtappdaemon-operator
BUILD=${BUILD:-build/release}
BUILT=$BUILD/bin/$NAME
SYSROOT=${SYSROOT:-}
mkdir -p "${1:?ROOT is missing: give the folder for the file system}"
ROOT=$(cd "$1" && pwd)
DOC=$ROOT/usr/share/doc/$NAME
umask 022
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$ROOT"/{etc/ssl/certs,usr/bin,usr/lib/ssl,usr/share,var/lib/dpkg/status.d} "$DOC"

# --- the program -------------------------------------------------------------------------------------------------------
install -m 755 $BUILT "$ROOT/usr/bin/$NAME"
# loaded PROGRAM: prints the paths in SYSROOT of the program's loader and of the shared libraries that it loads.
loaded() {
  local name path
  readelf --program-headers --dynamic --wide "$1" |
    sed -nE 's/.*(Shared library: |program interpreter: )\[?([^]]*)\]/\2/p' | while read -r name; do
    for path in "/usr/lib/aarch64-linux-gnu/${name##*/}" "/lib/aarch64-linux-gnu/${name##*/}"; do
      if [ -e "$SYSROOT$path" ]; then break; fi
    done
    # A program contains the whole path of its loader, and only the file names of its libraries.
    [ "${name#/}" = "$name" ] || path=$name
    grep -q "/${name##*/}\$" "$work/loaded" && continue
    echo "$path" >>"$work/loaded"
    loaded "$SYSROOT$path"
  done
}
if [ -n "$SYSROOT" ]; then
  : >"$work/loaded"
  loaded "$BUILT"
  libraries=$(sort -u "$work/loaded")
  # Debian generates this file when it installs ca-certificates. In SYSROOT, the package was only unpacked.
  cat "$SYSROOT"/usr/share/ca-certificates/mozilla/*.crt >"$ROOT/etc/ssl/certs/ca-certificates.crt"
else
  libraries=$(ldd "$BUILT" | awk '$2 == "=>" && $3 ~ /^\// { print $3 } $1 ~ /^\// { print $1 }' | sort -u)
  cp -L /etc/ssl/certs/ca-certificates.crt "$ROOT/etc/ssl/certs/"
fi
# shellcheck disable=SC2086  # word splitting is intended
(cd "$SYSROOT/" && printf '.%s\n' $libraries | xargs cp -L --parents -t "$ROOT")
ln -s /etc/ssl/certs/ca-certificates.crt "$ROOT/usr/lib/ssl/cert.pem"
# Removes files that are not zones: posix repeats the zones, right has leap seconds, and localtime and posixrules are
# settings of this machine.
cp -a "$SYSROOT/usr/share/zoneinfo" "$ROOT/usr/share/"
rm -rf "$ROOT"/usr/share/zoneinfo/{posix,right,localtime,posixrules}
echo 'nonroot:x:65532:65532:nonroot:/:/nonexistent' >"$ROOT/etc/passwd"
echo 'nonroot:x:65532:' >"$ROOT/etc/group"
echo 'hosts: files dns' >"$ROOT/etc/nsswitch.conf"
cp -L "$SYSROOT/etc/os-release" "$ROOT/etc/"

# --- the contents lists ------------------------------------------------------------------------------------------------
DPKG=$SYSROOT/var/lib/dpkg
# in_sysroot PATH...: resolves symbolic links, because dpkg's database in SYSROOT has only the real paths.
in_sysroot() { (cd "$SYSROOT/" && realpath "${@/#/.}" | sed "s|^$SYSROOT/|/|"); }
# shellcheck disable=SC2086
copied=$(in_sysroot $libraries | hack/package-of.sh "$DPKG" && printf '%s\n' ca-certificates tzdata)
# Packages of headers: their templates and inline functions are part of the program. The cross-compiler's own headers
# are in packages of this machine, the others in packages of SYSROOT.
ninja -C "$BUILD" -t deps | sed -n 's|^ *\(/.*\)|\1|p' | sort -u | xargs realpath >"$work/headers"
compiled=$({
  sed -n "s|^$SYSROOT/usr/|/usr/|p" "$work/headers" | hack/package-of.sh "$DPKG"
  if [ -n "$SYSROOT" ]; then grep '^/usr/' "$work/headers" | hack/package-of.sh; fi
} | sort -u)
for package in $copied; do
  dpkg-query --admindir="$DPKG" -s "$package" >"$ROOT/var/lib/dpkg/status.d/${package%%:*}"
done
for package in $copied $compiled; do
  copyright=/usr/share/doc/${package%%:*}/copyright
  [ ! -e "$SYSROOT$copyright" ] || copyright=$SYSROOT$copyright
  cp -L "$copyright" "$DOC/copyright.${package%%:*}"
done
cp LICENSE "$DOC/LICENSE"

{
  # shellcheck disable=SC2086  # word splitting is intended
  printf 'CONTAINS %s\n' $copied
  # shellcheck disable=SC2086
  printf 'BUILD_DEPENDENCY_OF %s\n' $compiled
} >"$work/relations"
for path in "/usr/bin/$NAME" $libraries; do
  printf '%s\t%s\t%s\t%s\n' "$path" "$(sha1sum <"$ROOT$path" | cut -d' ' -f1)" \
    "$(sha256sum <"$ROOT$path" | cut -d' ' -f1)" "$(in_sysroot "$path" | hack/package-of.sh "$DPKG" | cut -d: -f1)"
done >"$work/files"
ROOT=$SYSROOT hack/sbom.sh $NAME "/usr/share/doc/$NAME/copyright." "$work/relations" "$work/files" >"$DOC/sbom.spdx.json"

find "$ROOT" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
