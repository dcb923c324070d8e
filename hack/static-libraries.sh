#!/usr/bin/env bash
# Builds the static libraries that Debian does not package, from Debian's sources of the installed versions, and prints
# their folder. The programs of a release are linked with them (docs/releasing.md). They stay in the user's cache folder.
#
#   hack/static-libraries.sh [COMPILER]     default: g++
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { echo "static-libraries: $*" >&2; }

compiler=${1:-g++}
CACHE=${XDG_CACHE_HOME:-${HOME:?HOME is not set, and the libraries live in a cache folder below it}/.cache}/yurtappdaemon-operator
# package=version of each source package.
mapfile -t sources < <(dpkg-query -W -f '${source:Package}=${source:Version}\n' \
  libsimdjson-dev libhowardhinnant-date-dev prometheus-cpp-dev | sort)
[ ${#sources[@]} = 3 ] || { say "libsimdjson-dev, libhowardhinnant-date-dev and prometheus-cpp-dev must be installed"; exit 1; }
key=$({ printf '%s\n' "${sources[@]}"; $compiler -dumpfullversion -dumpmachine; cat "${BASH_SOURCE[0]}"; } | sha256sum | cut -c1-12)
folder=$CACHE/static/$($compiler -dumpmachine)-$key
if [ -e "$folder/libsimdjson.a" ]; then
  echo "$folder"
  exit 0
fi

say "building ${sources[*]} (once; they stay in the cache folder)"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Most machines have no deb-src lines. So a separate sources.list has these lines for the mirrors of this machine.
apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
  sort -u | sed 's/^/deb-src /' >"$work/sources.list"
[ -s "$work/sources.list" ] || { say "apt has no mirror of Debian: run apt-get update"; exit 1; }
mkdir -p "$work/lists/partial"
apt=(apt-get -qq -o Dir::State::Lists="$work/lists" -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=-
  -o APT::Sandbox::User="$(id -un)" -o Dir::Cache::srcpkgcache='' -o Dir::Cache::pkgcache='')
"${apt[@]}" update >&2
(cd "$work" && "${apt[@]}" source --download-only "${sources[@]}" >&2)
# apt has compared the checksums of the sources with the signed lists.
for description in "$work"/*.dsc; do
  dpkg-source --no-check -x "$description" "$work/$(basename "${description%%_*}")" >/dev/null
done

# archive NAME SOURCE_FOLDER FLAG... -- SOURCE...: compiles the sources into libNAME.a. The definitions must be the same
# as in the packages' own builds, because the classes in the headers depend on them.
archive() {
  local name=$1 flags=() file
  cd "$work/$2"
  shift 2
  while [ "$1" != -- ]; do flags+=("$1") && shift; done
  shift
  for file in "$@"; do
    $compiler -std=c++20 -O2 -ffunction-sections -fdata-sections "-ffile-prefix-map=$work=." "${flags[@]}" \
      -c "$file" -o "$work/$name-$(basename "$file").o"
  done
  ar rcsD "$work/lib$name.a" "$work/$name"-*.o
}
archive date-tz howardhinnant-date -Iinclude -DUSE_OS_TZDB=1 -DONLY_C_LOCALE=1 -DHAS_STRING_VIEW=1 -- src/tz.cpp
# shellcheck disable=SC2046
archive prometheus-cpp-core prometheus-cpp/core -Iinclude -- $(cd "$work/prometheus-cpp/core" && find src -name '*.cc' | sort)
archive simdjson simdjson -Iinclude -Isrc -DSIMDJSON_THREADS_ENABLED=1 -- src/simdjson.cpp

mkdir -p "$folder"
# The check above looks for libsimdjson.a, so this file is moved last.
mv "$work"/libdate-tz.a "$work"/libprometheus-cpp-core.a "$folder"
mv "$work/libsimdjson.a" "$folder"
echo "$folder"
