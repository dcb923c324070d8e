#!/usr/bin/env bash
# Builds the site of the documentation in build/site. A broken link, a missing heading or a page that mkdocs.yml does not
# list fails the build. The generator stays in the user's cache folder, in the versions of hack/docs-requirements.txt.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { echo "docs: $*" >&2; }

CACHE=${XDG_CACHE_HOME:-${HOME:?HOME is not set, and the generator lives in a cache folder below it}/.cache}/yurtappdaemon-operator
environment=$CACHE/docs-$(sha256sum hack/docs-requirements.txt | cut -c1-12)
if [ ! -x "$environment/bin/mkdocs" ]; then
  say "installing mkdocs-material from PyPI (once; it stays in the cache folder)"
  mkdir -p "$CACHE"
  rm -rf "$environment"
  python3 -m venv "$environment" || { say "python3 and its venv module are needed. On Debian: apt-get install python3-venv"; exit 1; }
  # The file lists everything, so pip must not choose a version by itself.
  "$environment/bin/pip" install --quiet --no-deps --requirement hack/docs-requirements.txt || {
    rm -rf "$environment"
    say "pip could not install hack/docs-requirements.txt (Python 3.10 or later is needed)"
    exit 1
  }
fi

# The pages link to each other and to some other files of this repository, so the site has the same folders.
rm -rf build/docs build/site
mkdir -p build/docs
targets=$(hack/links.sh targets)
{
  git ls-files --cached --others --exclude-standard '*.md'
  echo docs/site.css
  echo "$targets"
} | { grep -v '^\.github/' || true; } | sort -u | xargs cp --parents --target-directory build/docs

"$environment/bin/python" hack/api-reference.py >build/docs/docs/reference.md

export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
# Material would print on each build that it has a successor. With --quiet, --strict would see no warning.
NO_MKDOCS_2_WARNING=1 "$environment/bin/mkdocs" build --strict 2>&1 | sed '/^INFO /d' >&2
say "the site is in build/site: $(find build/site -name '*.html' | wc -l) pages"
