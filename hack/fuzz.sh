#!/usr/bin/env bash
# Runs the fuzzers that have been built, each for FUZZ_SECONDS (default: 10) on one core. Prints each failure with the
# command that reproduces it, and then exits with 1.
#
#   hack/fuzz.sh [NAME...]    without a name: all fuzzers
#
# Runs with the same FUZZ_SEED try the same inputs. Without FUZZ_SEED, each run tries other inputs.
# A fuzzer starts with the seeds in tests/fuzz/corpus/NAME and the inputs of earlier runs in build/fuzz/corpus/NAME.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The symbolizer adds the names of functions to stack traces.
export ASAN_SYMBOLIZER_PATH=${ASAN_SYMBOLIZER_PATH:-/usr/bin/llvm-symbolizer-16}
seconds=${FUZZ_SECONDS:-10}
seed=${FUZZ_SEED:-0} # 0: random
programs=build/test/bin
work=build/fuzz
if [ $# = 0 ]; then
  for program in "$programs"/*_fuzz; do
    name=$(basename "$program")
    set -- "$@" "${name%_fuzz}"
  done
fi

# LeakSanitizer runs once, at the end. After each input, it would report memory that other threads will soon free.
options=(-detect_leaks=0 -timeout=60 -rss_limit_mb=2048 -close_fd_mask=1 -print_final_stats=1)

run() {
  local name=$1 log=$work/log/$1 artifacts=$work/artifacts/$1/
  local program=$programs/${name}_fuzz
  mkdir -p "$work/corpus/$name" "$work/log" "$artifacts"
  if "$program" "${options[@]}" -seed="$seed" -max_total_time="$seconds" -artifact_prefix="$artifacts" \
    "$work/corpus/$name" "tests/fuzz/corpus/$name" >"$log" 2>&1; then
    printf 'fuzz: %-12s %8s runs, %6s a second, nothing found\n' "$name" \
      "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" "$(sed -n 's/^stat::average_exec_per_sec: *//p' "$log")"
    return 0
  fi
  local artifact
  artifact=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
  tail -n 60 "$log" >&2
  echo "fuzz: $name FAILED, log $log" >&2
  [ -z "$artifact" ] || echo "fuzz: reproduce it with: $program ${options[*]} $artifact" >&2
  return 1
}

status=0
running=0
for name in "$@"; do
  run "$name" &
  running=$((running + 1))
  if [ "$running" -ge "$(nproc)" ]; then
    wait -n || status=1
    running=$((running - 1))
  fi
done
while [ "$running" -gt 0 ]; do
  wait -n || status=1
  running=$((running - 1))
done
exit $status
