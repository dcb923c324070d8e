#!/usr/bin/env bash
# Checks that the programs neither contain nor link cpprestsdk, which gets no security fixes
# (docs/decisions/0014-beast-transport.md).
#
#   tests/tools/linked_libraries_test.sh PROGRAM...
set -euo pipefail

faults=0
for program in "$@"; do
  if readelf --dynamic "$program" | grep -i 'NEEDED.*cpprest'; then
    echo "linked_libraries_test: $program links cpprestsdk's library" >&2
    faults=$((faults + 1))
  fi
  if readelf --symbols --wide "$program" | grep -m 3 -E '_ZN(K)?3web4http6client|_ZN4pplx'; then
    echo "linked_libraries_test: $program contains code of cpprestsdk" >&2
    faults=$((faults + 1))
  fi
done
[ $faults = 0 ] || exit 1
echo "linked_libraries_test: $# programs do not contain cpprestsdk"
