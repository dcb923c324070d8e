#!/usr/bin/env bash
# Prints a tar archive that is the same on every machine: order, owners, modes and times are fixed.
#
#   hack/pack.sh FOLDER MEMBER...    the members are in FOLDER; SOURCE_DATE_EPOCH must be set
set -euo pipefail

folder=${1:?FOLDER is missing}
shift
tar --create --directory "$folder" --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
  --mtime="@${SOURCE_DATE_EPOCH:?is not set}" "$@"
