#!/usr/bin/env bash
# Checks how kstatus and Argo CD's health check interpret the status of a YurtAppDaemon.
#
#   status_tools_test.sh [UNIT_TEST]
#
# Each row is a JSON object with the additional member "expected": {"kstatus": "Current", "argo": "Healthy"}. The rows
# come from samples.jsonl, from the files in the folder YAD_CONDITION_ROWS, and from UNIT_TEST
# (unit_yurtappdaemon_test), which writes such a folder.
# kstatus needs Go. Without Go, it is skipped, but in CI the test fails.
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ROOT=$(cd "$HERE/../.." && pwd)
UNIT_TEST=${1:-}

say() { echo "status_tools_test: $*" >&2; }
faults=0
fault() { say "FAILED: $*"; faults=$((faults + 1)); }

for program in jq lua5.1; do
  command -v $program >/dev/null || { say "$program is needed and not installed: run 'make packages'"; exit 1; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# --- the rows: FILE TAB OBJECT on one line each ------------------------------------------------------------------------
rows=$work/rows
while read -r line; do
  printf '%s\t%s\n' "sample $(jq -r .metadata.name <<<"$line")" "$line"
done <"$HERE/samples.jsonl" >"$rows"
folders=()
[ -z "${YAD_CONDITION_ROWS:-}" ] || folders+=("$YAD_CONDITION_ROWS")
if [ -n "$UNIT_TEST" ] && [ -f "$ROOT/tests/unit/yurtappdaemon/conditions_test.cc" ]; then
  mkdir "$work/conditions"
  folders+=("$work/conditions")
  YAD_CONDITION_ROWS=$work/conditions "$UNIT_TEST" --gtest_brief=1 --gtest_filter='*Condition*' >"$work/unit.log" 2>&1 ||
    fault "the unit test that writes the rows failed: $(tail -n 5 "$work/unit.log")"
fi
for folder in "${folders[@]}"; do
  found=0
  for file in "$folder"/*; do
    [ -f "$file" ] || continue
    printf '%s\t%s\n' "$(basename "$file")" "$(jq -c . "$file")" >>"$rows"
    found=$((found + 1))
  done
  [ $found -gt 0 ] || fault "there is no row in $folder"
done
cut -f 2- "$rows" | jq -c 'del(.expected)' >"$work/objects"
cut -f 1 "$rows" >"$work/names"

# compare TOOL FILE: checks the answers in FILE, which has one line with STATUS TAB MESSAGE for each row.
compare() {
  local tool=$1 name answer expected
  cut -f 2- "$rows" | jq -r --arg tool "$tool" '.expected[$tool] // "nothing"' >"$work/expected"
  if [ "$(wc -l <"$2")" != "$(wc -l <"$work/names")" ]; then
    fault "$tool returned $(wc -l <"$2") results for $(wc -l <"$work/names") rows"
    return
  fi
  while IFS=$'\t' read -r name expected answer message; do
    [ "$expected" = "$answer" ] || fault "$name: $tool returned $answer ($message) instead of $expected"
  done < <(paste "$work/names" "$work/expected" "$2")
}

# --- Argo CD -----------------------------------------------------------------------------------------------------------
# Runs the script as Argo CD does: in Lua 5.1 without the libraries string, math, io and debug.
lua_literal='def lua: if type == "object" then "{" + ([to_entries[] | "[\(.key | tojson)]=\(.value | lua)"] | join(",")) + "}"
  elif type == "array" then "{" + (map(lua) | join(",")) + "}" elif type == "null" then "nil" else tojson end; lua'
jq -r "$lua_literal" "$work/objects" >"$work/objects.lua"
cat >"$work/run.lua" <<'LUA'
local check = assert(loadfile(arg[1]))
for line in io.lines(arg[2]) do
  local known = {obj = assert(loadstring("return " .. line))()}
  for _, name in ipairs({"ipairs", "next", "pairs", "table", "tonumber", "tostring", "type"}) do known[name] = _G[name] end
  setfenv(check, known)
  local health = check()
  print(health.status .. "\t" .. (health.message or ""):gsub("%s", " "))
end
LUA
lua5.1 "$work/run.lua" "$ROOT/docs/gitops/health.lua" "$work/objects.lua" >"$work/argo" || fault "health.lua failed"
compare argo "$work/argo"

# The page must contain the unchanged script.
sed -n '/health.apps.openyurt.io_YurtAppDaemon: |$/,/^```$/p' "$ROOT/docs/gitops/argocd.md" | sed '1d;$d;s/^    //' >"$work/page.lua"
cmp -s "$work/page.lua" "$ROOT/docs/gitops/health.lua" ||
  fault "docs/gitops/argocd.md differs from health.lua: $(diff "$work/page.lua" "$ROOT/docs/gitops/health.lua" | head -n 5)"

# --- kstatus -----------------------------------------------------------------------------------------------------------
if kstatus=$("$ROOT/hack/kstatus.sh"); then
  "$kstatus" <"$work/objects" >"$work/kstatus" || fault "kstatus failed"
  compare kstatus "$work/kstatus"
elif [ -n "${CI:-}" ]; then
  fault "kstatus could not be built"
else
  say "SKIPPED: kstatus could not be built"
fi

[ $faults = 0 ] || exit 1
say "$(wc -l <"$rows") rows are as expected"
