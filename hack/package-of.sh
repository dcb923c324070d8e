#!/usr/bin/env bash
# Reads paths of files, and prints the Debian packages that contain these files.
#
#   hack/package-of.sh [DATABASE] <PATHS    DATABASE: folder of dpkg's database; default: this machine's
set -euo pipefail
export LC_ALL=C

# dpkg may know a file by its path with or without /usr. The script tries both paths, and discards the error for the
# path that does not exist.
sed -E 's|^(/usr)?(/.*)|\2\n/usr\2|' |
  { xargs -r dpkg-query --admindir="${1:-/var/lib/dpkg}" -S 2>/dev/null || true; } |
  sed -n 's/: .*//p' | tr -d ' ' | tr , '\n' | sort -u
