#!/usr/bin/env bash
# Assembles the image's file system for arm64 in a Debian of another architecture.
#
#   hack/image-root-arm64.sh ROOT
#
# hack/release.sh calls it in the Debian that the image is based on. Cross-compiles the program with the libraries of
# hack/arm64-root.sh, which also go into the image. Does not run programs for arm64. SOURCE_DATE_EPOCH is the time of
# every file.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

: "${1:?ROOT is missing: give the folder for the file system}"
BUILD=build/image-base-arm64
SYSROOT=$(hack/arm64-root.sh)
export BUILD SYSROOT
cmake --preset static -B $BUILD --toolchain hack/arm64.cmake -DCMAKE_SYSROOT="$SYSROOT"
cmake --build $BUILD -j "${JOBS:-$(nproc)}" --target yurtappdaemon-operator
hack/image-root.sh "$1"
