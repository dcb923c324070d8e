#!/usr/bin/env bash
# Builds the programs of a release for one architecture, and writes for each of them an archive and an SBOM to build/dist.
# hack/release.sh calls it.
#
#   hack/release-programs.sh ARCH    amd64 or arm64; SOURCE_DATE_EPOCH must be set
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export LC_ALL=C
umask 022

say() { echo "release: $*" >&2; }

arch=${1:?ARCH is missing: amd64 or arm64}
: "${SOURCE_DATE_EPOCH:?is not set}"
programs=(kubectl-yad yurtappdaemon-operator)
built=build/static-$arch
dist=build/dist
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p $dist

# --- build -------------------------------------------------------------------------------------------------------------
root=''
if [ "$arch" = "$(dpkg --print-architecture)" ]; then
  libraries=$(hack/static-libraries.sh)
  cross=()
else
  [ "$arch" = arm64 ] || { say "programs can be built for this machine's architecture and for arm64, not for $arch"; exit 2; }
  root=$(hack/arm64-root.sh)
  libraries=$(hack/static-libraries.sh aarch64-linux-gnu-g++)
  cross=(--toolchain hack/arm64.cmake -DCMAKE_SYSROOT="$root")
fi
say "building ${programs[*]} for $arch"
cmake --preset static -B $built -DYAD_STATIC_LIBRARIES="$libraries" "${cross[@]}" >"$work/log" 2>&1 &&
  cmake --build $built -j "${JOBS:-$(nproc)}" --target "${programs[@]}" >"$work/log" 2>&1 ||
  { tail -n 40 "$work/log" >&2; exit 1; }

# --- the Debian packages that are part of a program -------------------------------------------------------------------
# package_of: prints the packages of the files whose paths it reads. The cross-compiler's own files are in packages of
# this machine, all other files in packages of the sysroot.
package_of() {
  xargs -r realpath --canonicalize-missing | sort -u >"$work/paths"
  {
    [ -z "$root" ] || sed -n "s|^$root/|/|p" "$work/paths" | hack/package-of.sh "$root/var/lib/dpkg"
    grep -v "^${root:-//}/" "$work/paths" | hack/package-of.sh
  } | sort -u
}
# linked PROGRAM: prints the packages of the static libraries that are part of the program.
linked() {
  grep -oE '/[^ ()]+\.a\(' "$built/bin/$1.map" | tr -d '(' | sort -u >"$work/archives"
  grep -v "^$libraries/" "$work/archives" | package_of
  sed -n "s|^$libraries/||p" "$work/archives" | sed -e 's|^libsimdjson.a|libsimdjson-dev|' \
    -e 's|^libdate-tz.a|libhowardhinnant-date-dev|' -e 's|^libprometheus-cpp-core.a|prometheus-cpp-dev|'
}
headers=$(ninja -C $built -t deps | sed -n 's|^ *\(/.*\)|\1|p' | sort -u | package_of)

# Warns of old static libraries: a security fix of Debian reaches a program only when it is linked again.
if [ -z "$root" ]; then
  upgradable=$(apt-get --simulate --quiet upgrade 2>/dev/null | sed -n 's/^Inst \([^ ]*\) .*/\1/p' | sort)
  old=$(for program in "${programs[@]}"; do linked "$program"; done | cut -d: -f1 | sort -u | comm -12 - <(echo "$upgradable") | xargs)
  [ -z "$old" ] || say "WARNING: Debian has newer versions of libraries that are linked into the programs: $old (apt-get upgrade)"
fi

# --- archives and SBOMs ------------------------------------------------------------------------------------------------
for program in "${programs[@]}"; do
  folder=$work/$program
  mkdir -p "$folder/licenses"
  install -m 755 "$built/bin/$program" "$folder/$program"
  cp LICENSE "$folder/LICENSE"
  for package in $(linked "$program"); do echo "STATIC_LINK $package"; done >"$work/relations"
  for package in $headers; do echo "BUILD_DEPENDENCY_OF $package"; done >>"$work/relations"
  cut -d' ' -f2 "$work/relations" | cut -d: -f1 | sort -u | while read -r package; do
    copyright=$root/usr/share/doc/$package/copyright
    [ -e "$copyright" ] || copyright=/usr/share/doc/$package/copyright
    cp -L "$copyright" "$folder/licenses/$package"
  done
  printf '/%s\t%s\t%s\t\n' "$program" "$(sha1sum <"$folder/$program" | cut -d' ' -f1)" \
    "$(sha256sum <"$folder/$program" | cut -d' ' -f1)" >"$work/files"
  ROOT=$root hack/sbom.sh "$program" licenses/ "$work/relations" "$work/files" >"$dist/$program-linux-$arch.spdx.json"
  hack/pack.sh "$folder" "$program" LICENSE licenses | gzip -9 -n >"$dist/$program-linux-$arch.tar.gz"
done
