#!/usr/bin/env bash
# Runs clang-tidy with the checks of .clang-tidy. Exits with 1 if a file has a problem.
#
#   hack/tidy.sh          over all C++: tens of minutes
#   hack/tidy.sh main     over the files that differ from the common ancestor with main; a header stands for its .cc file
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

command -v clang-tidy-16 >/dev/null || {
  echo "tidy: clang-tidy-16 is not installed: run hack/packages.sh tidy" >&2
  exit 1
}
build=build/tidy
cmake --preset release -B $build -DYAD_UNITY=OFF -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null

# Omits the files that the build generates. This script only configures the build, so they do not exist.
files=$(jq -r '.[].file' $build/compile_commands.json | sed "s|^$PWD/||" | grep -v "^$build/" | sort -u)
if [ $# -gt 0 ]; then
  ancestor=$(git merge-base "$1" HEAD)
  changed=$({
    git diff --name-only --diff-filter=d "$ancestor"
    git ls-files --others --exclude-standard
  } | sed -nE 's/\.(cc|h)$/.cc/p' | sort -u)
  files=$(comm -12 <(echo "$files") <(echo "$changed"))
fi
[ -n "$files" ] || exit 0
echo "tidy: $(wc -l <<<"$files") files" >&2
# Removes lines such as "9 warnings generated", which also count system headers. The problems are on standard output.
xargs -d '\n' -P "$(nproc)" -n 1 clang-tidy-16 --quiet -p $build <<<"$files" 2> >(grep -vE '^[0-9]+ warnings? .*generated\.$' >&2)
