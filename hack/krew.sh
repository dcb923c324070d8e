#!/usr/bin/env bash
# Packs kubectl-yad for a release, with the shared libraries that it needs, and prints its Krew manifest.
#
#   hack/krew.sh HOMEPAGE DOWNLOADS >yad.yaml     for instance hack/krew.sh https://github.com/me/it \
#                                                   https://github.com/me/it/releases/download/v0.1.0
#
# The archive stays in build/krew. SOURCE_DATE_EPOCH (default: the last commit) is the time of everything in it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export LC_ALL=C

[ $# = 2 ] || { sed -n '4,5s/^# *//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
homepage=$1 downloads=$2

built=build/release/bin/kubectl-yad
[ -x $built ] || { echo "krew: $built is missing: make build" >&2; exit 1; }
version=$(sed -n 's/^project(.* VERSION \([0-9.]*\) .*/v\1/p' CMakeLists.txt)
archive=kubectl-yad-$version-linux-amd64.tar.gz
root=build/krew/root
rm -rf build/krew
mkdir -p $root/lib

strip -o $root/kubectl-yad $built
# The archive does not contain glibc's own libraries: they belong to the machine's kernel, resolver and loader. The
# others are in lib, where the program's run path ($ORIGIN/lib) finds them. Time zones are the machine's too, because its
# administrators update them.
ldd $built | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' |
  grep -vE '/(libc|libm|libpthread|libdl|librt|libresolv)\.so' |
  while read -r library; do install -m 644 "$(realpath "$library")" "$root/lib/$(basename "$library")"; done
strip --strip-unneeded $root/lib/*
cp LICENSE $root/LICENSE

tar --create --sort=name --owner=0 --group=0 --numeric-owner --directory $root \
  --mtime="@${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}" . | gzip -n >"build/krew/$archive"
sum=$(sha256sum <"build/krew/$archive" | cut -d' ' -f1)
echo "krew: build/krew/$archive, $(du -h "build/krew/$archive" | cut -f1)" >&2
sed -e '/^#/d' -e "s|@VERSION@|$version|; s|@HOMEPAGE@|$homepage|; s|@URI@|$downloads/$archive|; s|@SHA256@|$sum|" \
  plugin/krew/yad.yaml
