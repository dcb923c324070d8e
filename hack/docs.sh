#!/usr/bin/env bash
# Builds the site of the documentation in build/site. Fails for a broken link, a missing heading, or a page that
# mkdocs.yml does not list.
# The generator stays in the user's cache folder, in the versions of hack/docs-requirements.txt.
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
  # The file lists all dependencies, so pip must not add others.
  "$environment/bin/pip" install --quiet --no-deps --requirement hack/docs-requirements.txt || {
    rm -rf "$environment"
    say "pip could not install hack/docs-requirements.txt (Python 3.10 or later is needed)"
    exit 1
  }
fi

# Copies the pages into the same folders as in the repository, so that their relative links work.
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
# NO_MKDOCS_2_WARNING hides an advertisement of Material. --quiet would also hide the warnings for --strict.
NO_MKDOCS_2_WARNING=1 "$environment/bin/mkdocs" build --strict 2>&1 | sed '/^INFO /d' >&2
say "the site is in build/site: $(find build/site -name '*.html' | wc -l) pages"
