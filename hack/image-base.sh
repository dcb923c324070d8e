#!/usr/bin/env bash
# Functions for scripts that build the image; the scripts source this file. They make the base image, a Debian with the
# packages of hack/packages.sh, from apt's mirror, so that the build does not need a registry.
#
#   prepare_image_base WORK              makes the base image; WORK is the caller's folder for temporary files
#   lend_ccache                          sets LENT_CCACHE, the arguments with which a build uses this machine's ccache
#   run_in_image_base WORK COMMAND...    runs a command in that Debian, with this checkout as the current folder, WORK
#                                        as /work, and the folders of caches
#
# IMAGE_DEBIAN is the codename of the Debian; default: the Debian of the Dockerfile.
#
# prepare_image_base sets BASE, IMAGE_CACHE, CONTAINERS_STORAGE_CONF and BUILDAH_ISOLATION. If the machine can't build,
# it prints the reason and returns 1. The base image and buildah's storage stay in the user's cache folder. The lock on
# the storage is held until the caller exits. The caller removes its containers.

prepare_image_base() {
  local work=$1 program codename wanted targets mirror driver probe='' container
  for program in buildah debootstrap jq; do
    command -v $program >/dev/null || { echo "$program is not installed (hack/packages.sh image installs it)"; return 1; }
  done
  [ "$(id -u)" = 0 ] || { echo "debootstrap needs root to create the base image"; return 1; }
  codename=$(. /etc/os-release && echo "${ID:-} ${VERSION_CODENAME:-}")
  [ "${codename% *}" = debian ] || { echo "this machine does not run Debian, so it has no mirror for the base image"; return 1; }
  codename=${codename#* }
  targets=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
    awk -v name="$codename" 'index($2, name) == 1 && $3 == "main"')
  mirror=$(awk -v name="$codename" '$2 == name { print $1; exit }' <<<"$targets")
  [ -n "$mirror" ] || { echo "apt has no mirror of Debian $codename (apt-get update adds it)"; return 1; }
  # A mirror has all current releases of Debian.
  wanted=${IMAGE_DEBIAN:-$(sed -n 's/^ARG BASE=debian:\([a-z]*\)-slim$/\1/p' Dockerfile)}
  targets=$(sed "s/ $codename/ $wanted/" <<<"$targets")
  codename=$wanted

  IMAGE_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/yurtappdaemon-operator/image-test
  mkdir -p "$IMAGE_CACHE"
  exec 9>"$IMAGE_CACHE/lock"
  flock 9
  # Uses overlay if the kernel permits it, otherwise copies (vfs). chroot isolation does not need a container runtime.
  export CONTAINERS_STORAGE_CONF=$work/storage.conf BUILDAH_ISOLATION=chroot
  for driver in overlay vfs; do
    printf '[storage]\ndriver = "%s"\ngraphroot = "%s"\nrunroot = "%s"\n' \
      $driver "$IMAGE_CACHE/storage-$driver" "$work/run" >"$CONTAINERS_STORAGE_CONF"
    if probe=$(buildah from scratch 2>"$work/why") && buildah mount "$probe" >/dev/null 2>"$work/why"; then break; fi
    probe=''
  done
  [ -n "$probe" ] || { echo "buildah does not work on this machine: $(tail -n 1 "$work/why")"; return 1; }
  buildah rm "$probe" >/dev/null

  BASE=localhost/yurtappdaemon-operator-base:$codename-$(sha256sum hack/packages.sh | cut -c1-12)
  if buildah inspect --type image "$BASE" >/dev/null 2>&1; then return 0; fi
  echo "creating the base image of Debian $codename (once; it stays in the cache folder)" >&2
  if ! debootstrap --variant=minbase --include=ca-certificates "$codename" "$work/debian" "$mirror" >"$work/log" 2>&1; then
    tail -n 5 "$work/log"
    echo "debootstrap could not create the base image"
    return 1
  fi
  sed 's/^/deb /' <<<"$targets" >"$work/debian/etc/apt/sources.list"
  # Removes images that were made with an older hack/packages.sh.
  buildah images --format '{{.Name}}:{{.Tag}}' | grep -F "${BASE%-*}-" | xargs -r buildah rmi --force >/dev/null 2>&1 || true
  container=$(buildah from scratch)
  # The commands are joined with &&: set -e has no effect in a function whose result the caller tests.
  {
    buildah add -q "$container" "$work/debian" / &&
      buildah copy -q "$container" hack/packages.sh /packages.sh &&
      buildah run "$container" -- /packages.sh &&
      buildah run "$container" -- rm /packages.sh &&
      buildah commit -q "$container" "$BASE"
  } >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; exit 1; }
  buildah rm "$container" >/dev/null
  rm -rf "$work/debian"
}

lend_ccache() {
  LENT_CCACHE=()
  command -v ccache >/dev/null || return 0
  local cache
  cache=$(ccache --get-config cache_dir)
  mkdir -p "$cache"
  # LANG must be the same as on this machine, because ccache includes it in its keys.
  LENT_CCACHE=(--volume "$cache:/root/.cache/ccache" --build-arg LANG="${LANG:-}")
}

run_in_image_base() {
  local work=$1 container=yurtappdaemon-operator-base code=0
  shift
  buildah rm $container >/dev/null 2>&1 || true # from a run that was killed
  buildah from --pull-never --name $container "$BASE" >/dev/null
  mkdir -p "$IMAGE_CACHE/inside"
  buildah run --volume "$PWD:/src" --volume "$work:/work" --volume "$IMAGE_CACHE/inside:/cache" "${LENT_CCACHE[@]:0:2}" \
    --env XDG_CACHE_HOME=/cache --env CCACHE_DIR=/root/.cache/ccache --env "LANG=${LANG:-}" --env JOBS="${JOBS:-}" \
    --env SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" --workingdir /src $container -- "$@" || code=$?
  buildah rm $container >/dev/null
  return $code
}
