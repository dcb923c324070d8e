#!/usr/bin/env bash
# Makes a folder with Debian's newest libraries and headers for arm64, and prints its path. hack/arm64.cmake uses it as
# the sysroot of the cross-compiler. The folder is in the user's cache folder. It has its own dpkg database; the
# database of this machine does not change.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { echo "arm64-root: $*" >&2; }

command -v aarch64-linux-gnu-g++ >/dev/null || hack/packages.sh arm64
PACKAGES=(libc6-dev libssl-dev zlib1g-dev liblz4-dev libutf8proc-dev libyaml-cpp-dev libfmt-dev libspdlog-dev libsimdjson-dev
  libhowardhinnant-date-dev prometheus-cpp-dev nlohmann-json3-dev libcli11-dev libexpected-dev libboost-dev)
PACKAGES+=(libcpprest-dev libgtest-dev libgmock-dev)      # for the tests
PACKAGES+=(base-files ca-certificates tzdata)     # for the image
CACHE=${XDG_CACHE_HOME:-${HOME:?HOME is not set, and the folder lives in a cache folder below it}/.cache}/yurtappdaemon-operator
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$CACHE" "$work"/{lists/partial,archives/partial,root}
: >"$work/status"
apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
  sort -u | sed 's/^/deb [arch=arm64] /' >"$work/sources.list"
apt=(apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State::Lists="$work/lists" -o Dir::State::status="$work/status"
  -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=- -o APT::Sandbox::User="$(id -un)"
  -o Dir::Cache::archives="$work/archives" -o Dir::Cache::srcpkgcache='' -o Dir::Cache::pkgcache='')
"${apt[@]}" update >&2
# With an empty status, no package counts as installed, so apt also downloads all dependencies.
install=("${apt[@]}" install --yes --no-install-recommends "${PACKAGES[@]}")
root=$CACHE/arm64-root-$("${install[@]}" --print-uris | sort | sha256sum | cut -c1-12)
if [ -d "$root" ]; then
  echo "$root"
  exit 0
fi
say "unpacking Debian's libraries for arm64 (once; they stay in the cache folder)"
"${install[@]}" --download-only >&2
dpkg=$work/root/var/lib/dpkg
mkdir -p "$dpkg"/{info,updates}
echo 1 >"$dpkg/info/format"
for package in "$work"/archives/*.deb; do
  dpkg-deb --extract "$package" "$work/root"
  { dpkg-deb --field "$package" && printf 'Status: install ok installed\n\n'; } >>"$dpkg/status"
  name=$(dpkg-deb --field "$package" Package)
  # dpkg adds the architecture to the names of "Multi-Arch: same" packages.
  [ "$(dpkg-deb --field "$package" Multi-Arch)" != same ] || name+=:arm64
  dpkg-deb --fsys-tarfile "$package" | tar -t | sed -e 's|^\.||' -e 's|/$||' -e 's|^$|/.|' >"$dpkg/info/$name.list"
done
mv "$work/root" "$root"
echo "$root"
