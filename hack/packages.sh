#!/usr/bin/env bash
# Installs the Debian packages that building and testing need. Does nothing if all are installed.
#
#   hack/packages.sh          for everything except the test of the image and the fuzzers
#   hack/packages.sh image    for the test of the image
#   hack/packages.sh chart    prometheus, for the tests of the chart's alerts and of checks
#   hack/packages.sh browser  Chromium with its driver, for the test and the picture of the dashboard's page
#   hack/packages.sh clang    clang, for the tests under ASan and the fuzzers
#   hack/packages.sh tidy     clang-tidy
#   hack/packages.sh bench    optional programs of `make bench`
#   hack/packages.sh docs     for the site of the documentation
#   hack/packages.sh release  for `make release`
#   hack/packages.sh arm64    the compiler for arm64, and an emulator for a look at what it has made
set -euo pipefail

NEEDED=(
  g++ cmake ninja-build make pkg-config ccache mold git
  libcpprest-dev nlohmann-json3-dev libyaml-cpp-dev libspdlog-dev libfmt-dev libcli11-dev prometheus-cpp-dev
  libexpected-dev libboost-dev libssl-dev zlib1g-dev liblz4-dev libsimdjson-dev libutf8proc-dev
  libhowardhinnant-date-dev tzdata
  libgtest-dev libgmock-dev libbenchmark-dev
  jq lua5.1 curl openssl ca-certificates perl-base util-linux
)
case ${1:-} in
image) NEEDED=(buildah debootstrap jq ccache) ;;
chart) NEEDED=(prometheus) ;;
browser) NEEDED=(chromium chromium-driver python3-selenium) ;;
clang) NEEDED=(clang-16 libclang-rt-16-dev llvm-16) ;;
tidy) NEEDED=(clang-tidy-16) ;;
bench) NEEDED=(wrk) ;;
docs) NEEDED=(python3-venv) ;;
release) NEEDED=(dpkg-dev buildah debootstrap jq) ;;
arm64) NEEDED=(g++-aarch64-linux-gnu qemu-user-static) ;;
esac
# `make lint` also checks the formatting if this package is installed; newer releases of Debian have other versions.
WELCOME=(clang-format-16)

say() { echo "packages: $*" >&2; }

if ! command -v dpkg-query >/dev/null; then
  say "this system is not Debian or Ubuntu, so no package is installed. The build needs a C++20 compiler and the contents of these packages:"
  say "${NEEDED[*]}"
  exit 0
fi

# missing PACKAGE...: prints the packages that are not installed.
missing() {
  comm -23 <(printf '%s\n' "$@" | sort) \
    <(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null | sed -n 's/ installed$//p' | sort -u)
}

needed=$(missing "${NEEDED[@]}" | xargs)
[ -n "$needed" ] || exit 0

if [ "$(id -u)" = 0 ]; then
  as_root=(env)
elif sudo -n true 2>/dev/null; then
  as_root=(sudo -n env)
else
  say "not installed: $needed"
  say "this user may not install these packages. Run:"
  say "  sudo apt-get update && sudo apt-get install -y --no-install-recommends $needed"
  exit 1
fi

# Tests start their own Prometheus. Unless a policy-rc.d decides otherwise, the package must not start its server.
policy=/usr/sbin/policy-rc.d
if [ "${1:-}" = chart ] && [ ! -e $policy ]; then
  printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" install -m 755 /dev/stdin $policy
  trap '"${as_root[@]}" rm -f $policy' EXIT
fi

say "installing $needed"
"${as_root[@]}" apt-get update -q >&2
for package in $(missing "${WELCOME[@]}"); do
  if apt-cache show "$package" >/dev/null 2>&1; then needed+=" $package"; fi
done
# shellcheck disable=SC2086  # one word is one package
"${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $needed >&2
