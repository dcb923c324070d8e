#!/usr/bin/env bash
# Builds the image from the unchanged Dockerfile, inspects it, and runs the program in it. Needs buildah, debootstrap
# and root; without them it prints a message and exits with 0.
#
# The base is a Debian that is built here from apt's mirror, without a registry. With the packages of hack/packages.sh,
# it stays in the user's cache folder.
#   IMAGE_DEBIAN              codename of another Debian than the Dockerfile's
#   IMAGE_TEST_RECOMPILE=1    only the first of the two builds uses the compiler's cache, so that every byte is compiled
#                             twice
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

say() { echo "image_test: $*" >&2; }
skip() { say "SKIPPED: $*"; exit 0; }
faults=0
fault() { say "FAILED: $*"; faults=$((faults + 1)); }
# same WHAT WANTED FOUND: reports a failure if the two values differ.
same() {
  [ "$2" != "$3" ] || return 0
  if [[ $2$3 == *$'\n'* ]]; then
    fault "$1: $(diff <(echo "$2") <(echo "$3") || true)"
  else
    fault "$1 should be '$2', and is '$3'"
  fi
}

work=$(mktemp -d "${TMPDIR:-/tmp}/yurtappdaemon-image.XXXXXX")
containers=() images=()
leave() {
  local code=$?
  trap - EXIT
  [ ${#containers[@]} = 0 ] || buildah rm "${containers[@]}" >/dev/null 2>&1 || true
  [ ${#images[@]} = 0 ] || buildah rmi --force "${images[@]}" >/dev/null 2>&1 || true
  rm -rf "$work"
  exit $code
}
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

. hack/image-base.sh
prepare_image_base "$work" >"$work/unable" || skip "$(cat "$work/unable")"

# --- two builds --------------------------------------------------------------------------------------------------------
export SOURCE_DATE_EPOCH=1700000000
lend_ccache
tag=localhost/yurtappdaemon-operator-test:$$
build() { # TAG ARGUMENT...
  local begin=$SECONDS
  images+=("$1")
  hack/image.sh "$@" --build-arg BASE="$BASE" >"$work/log" 2>&1 || { tail -n 40 "$work/log" >&2; exit 1; }
  say "$1 built in $((SECONDS - begin)) s"
}
build "$tag" "${LENT_CCACHE[@]}"
first=$(buildah inspect --type image --format '{{.FromImageID}}' "$tag")
[ -z "${IMAGE_TEST_RECOMPILE:-}" ] || LENT_CCACHE=()
build "$tag-again" "${LENT_CCACHE[@]}"
same "the digest of a second build" "$first" "$(buildah inspect --type image --format '{{.FromImageID}}' "$tag-again")"

# --- the image's configuration -----------------------------------------------------------------------------------------
version=v$(sed -n 's/^project(.* VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
buildah inspect --type image "$tag" | jq '.OCIv1.config' >"$work/config"
config() { jq -r "$1" "$work/config"; }
same "the user" 65532:65532 "$(config .User)"
same "the entry point" '["/usr/bin/yurtappdaemon-operator"]' "$(config '.Entrypoint | tojson')"
label() { config ".Labels[\"org.opencontainers.image.$1\"]"; }
same "the title" yurtappdaemon-operator "$(label title)"
same "the licenses" Apache-2.0 "$(label licenses)"
same "the version" "$version" "$(label version)"
same "the time of creation" 2023-11-14T22:13:20Z "$(label created)"
[[ $(label revision) =~ ^[0-9a-f]{40}(-dirty)?$|^unknown$ ]] || fault "label revision is not a commit: $(label revision)"

# --- the image's files -------------------------------------------------------------------------------------------------
container=$(buildah from --pull-never "$tag")
containers+=("$container")
root=$(buildah mount "$container")
inside() { (cd "$root" && find . "$@" | sed 's/^\.//' | sort); }
program=/usr/bin/yurtappdaemon-operator
same "the programs" "$program" "$(inside -type f -perm /111 -not -name '*.so*')"
same "what anybody may write to, or what runs as its owner" '' "$(inside -not -type l \( -perm /6000 -o -perm -o+w \))"
same "what does not belong to root" '' "$(inside -not -user 0)"
same "what was changed at another time" '' "$(inside -newermt @$SOURCE_DATE_EPOCH)"
zones=$root/usr/share/zoneinfo
for zone in Europe/Lisbon America/Argentina/Ushuaia Asia/Tokyo; do
  [ "$(head -c 4 "$zones/$zone" 2>/dev/null)" = TZif ] || fault "the image has no time zone $zone"
done
same "the zones that lead out of their folder" '' "$(find "$zones" -type l -lname '/*'; find -L "$zones" -type l)"
jq -e 'any(.packages[]; .name == "tzdata")' "$root/usr/share/doc/yurtappdaemon-operator/sbom.spdx.json" >/dev/null ||
  fault "the SBOM lacks tzdata"
if grep -qaE "/src/(operator|webhook)" "$root$program"; then fault "the program contains paths of its build"; fi
size=$(stat -c %s "$root$program")
[ "$size" -le 8000000 ] || fault "the program has $size bytes"
compressed=$(tar -C "$root" -c . | gzip | wc -c)
[ "$compressed" -le 40000000 ] || fault "the image has $compressed bytes when compressed"

# --- the program -------------------------------------------------------------------------------------------------------
# run ARGUMENT...: runs a program as the image's user, with its output in $work/out.
run() { buildah run "$container" -- "$@" >"$work/out" 2>&1; }
exit_code() { local code=0; run "$@" || code=$?; echo $code; }
same "the exit code of --version" 0 "$(exit_code $program --version)"
same "what --version says" "yurtappdaemon-operator $version" "$(cat "$work/out")"
same "the exit code of --help" 0 "$(exit_code $program --help)"
grep -q -- --kubeconfig "$work/out" || fault "--help does not print the flags: $(cat "$work/out")"
same "the exit code of a wrong flag" 2 "$(exit_code $program --nonsense)"
same "the exit code without a cluster" 1 "$(exit_code $program)"
for shell in sh bash /bin/sh; do
  if run $shell -c true; then fault "there is a shell: $shell"; fi
done

# --version needs little of the image. So this part tests the lookup of a host name, TLS, and the end on a signal.
mkdir -p "$root/tmp"
echo '127.0.0.1 localhost' >"$root/etc/hosts" # container runtimes write this file
cat >"$root/tmp/kubeconfig" <<'YAML'
apiVersion: v1
kind: Config
current-context: it
contexts: [{name: it, context: {cluster: it, user: it}}]
clusters: [{name: it, cluster: {server: "https://localhost:1"}}]
users: [{name: it, user: {token: none}}]
YAML
chroot --userspec=65532:65532 "$root" $program --kubeconfig=/tmp/kubeconfig --leader-elect=false \
  --metrics-bind-address=0 --health-probe-bind-address=0 >"$work/out" 2>&1 &
operator=$!
for ((i = 0; i < 300; i++)); do
  if grep -q 'connection refused' "$work/out"; then break; fi
  sleep 0.1
done
grep -q 'connection refused' "$work/out" || fault "the program does not connect to the closed port: $(tail -n 3 "$work/out")"
kill -TERM $operator
code=0
wait $operator || code=$?
same "the exit code after SIGTERM" 0 $code

# --- the image's SBOM --------------------------------------------------------------------------------------------------
sbom=$root/usr/share/doc/yurtappdaemon-operator/sbom.spdx.json
cmp -s "$sbom" build/image/sbom.spdx.json || fault "the SBOM beside the image differs from the SBOM in the image"
same "the SBOM's version and ours" "SPDX-2.3 $version" "$(jq -r '
  "\(.spdxVersion) v\(.packages[] | select(.SPDXID == $ARGS.named.ours) | .versionInfo)"' \
  --arg ours SPDXRef-Package-yurtappdaemon-operator "$sbom")"
inside -type f \( -path ".$program" -o -name '*.so*' \) | while read -r path; do
  echo "$(sha256sum <"$root$path" | cut -d' ' -f1) $path"
done >"$work/files"
same "the files in the SBOM" "$(cat "$work/files")" "$(jq -r '.files[]
  | "\(.checksums[] | select(.algorithm == "SHA256") | .checksumValue) \(.fileName[1:])"' "$sbom" | sort -k 2)"
same "the packages in the SBOM" "$(cd "$root/var/lib/dpkg/status.d" && sed -n 's/^Package: //p' ./* | sort)" \
  "$(jq -r '[.relationships[] | select(.relationshipType == "CONTAINS") | .relatedSpdxElement] as $contained
     | .packages[] | select([.SPDXID] | inside($contained)) | .name' "$sbom" | sort)"
same "the libraries without a package" "$program" "$(jq -r '.relationships[]
  | select(.relationshipType == "GENERATED_FROM" and .relatedSpdxElement == "SPDXRef-Package-yurtappdaemon-operator")
  | .spdxElementId as $id | input | .files[] | select(.SPDXID == $id) | .fileName[1:]' "$sbom" "$sbom")"
for header_only in 'libboost1\.[0-9]+-dev' nlohmann-json3-dev libspdlog-dev; do
  jq -e --arg name "$header_only" 'any(.packages[]; .name | test("^\($name)$"))' "$sbom" >/dev/null ||
    fault "the SBOM lacks $header_only, which is compiled in"
done

[ $faults = 0 ] || exit 1
say "the image has no errors: $compressed bytes compressed, the program $size"
