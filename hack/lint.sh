#!/usr/bin/env bash
# Makes the checks that a compiler does not make: includes between folders, the owners of libraries' headers, header
# guards, words of comments and pages, formatting, scripts, links between pages. Prints every problem as FILE:LINE.
# Exits with 1 if there is a problem.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export LC_ALL=C

problems=0
# problem LINES ADVICE: prints each line of LINES with the advice. Does nothing if LINES is empty.
problem() {
  [ -n "$1" ] || return 0
  local line
  while read -r line; do
    echo "$line    <- $2" >&2
    problems=$((problems + 1))
  done <<<"$1"
}

mapfile -t sources < <(find operator webhook plugin tests -name '*.cc' -o -name '*.h' 2>/dev/null | sort)
mapfile -t scripts < <(find hack tests .ci -type f \( -name '*.sh' -o -path .ci/run \) | sort)

# --- a folder includes itself and the folders below it, never upward (docs/architecture.md has the same table) --------
pure='operator/(base|api|workload)'
shared='operator/(base|api|workload|json|client|client/transport|client/auth|runtime|cluster|prometheus|notify)'
daemon='operator/yurtappdaemon'
declare -A may_include=(
  [operator/base]='operator/base'
  [operator/api]='operator/(base|api)'
  [operator/workload]="$pure"
  [operator/json]='operator/(base|api|json)'
  [operator/client/transport]='operator/(base|client/transport)'
  [operator/client]='operator/(base|api|json|client|client/transport)'
  [operator/client/auth]='operator/(base|api|json|client|client/transport|client/auth)'
  [operator/runtime]='operator/(base|api|json|client|client/transport|runtime)'
  [operator/cluster]='operator/(base|api|json|client|runtime|cluster)'
  [operator/prometheus]='operator/(base|api|json|client|client/transport|client/auth|runtime|prometheus)'
  [operator/notify]='operator/(base|api|json|client|client/transport|client/auth|runtime|notify)'
  [operator/nodepool]='operator/(base|api|json|client|runtime|cluster|nodepool)'
  [operator/capacity]='operator/(base|api|json|client|runtime|cluster|capacity)'
  [$daemon/observe]="($shared|$daemon/observe)"
  [$daemon/rollout]="($pure|$daemon/rollout)"
  [$daemon/plan]="($shared|$daemon/(observe|rollout|plan))"
  [$daemon/apply]="($shared|$daemon/(observe|rollout|plan|apply))"
  [$daemon/diagnose]="($shared|$daemon/(observe|rollout|plan|diagnose))"
  [$daemon/report]="($shared|$daemon/(observe|rollout|plan|diagnose|report))"
  [$daemon]="($shared|$daemon(/(observe|rollout|plan|apply|diagnose|report))?)"
  [webhook/certificates]="($shared|webhook/certificates)"
  [webhook/server]="($shared|webhook/(certificates|server))"
  [webhook/admission]="($shared|operator/capacity|$daemon/(observe|rollout|plan|diagnose|report)|webhook/(server|admission))"
  [webhook]="($shared|webhook(/(certificates|server|admission))?)"
  [plugin/view]="($shared|operator/capacity|$daemon/observe|plugin/view)"
  [plugin/manifest]="($shared|$daemon/(observe|rollout|plan)|plugin/(view|manifest))"
  [plugin/commands]="($shared|operator/capacity|$daemon/(observe|rollout|plan)|plugin/(view|manifest|commands))"
  [plugin/dashboard]="($shared|$daemon/(observe|rollout|plan|report)|plugin/(view|manifest|commands|dashboard))"
  [plugin]="($shared|plugin(/(view|manifest|commands|dashboard))?)"
)
for folder in "${!may_include[@]}"; do
  lines=$(grep -nHE '^ *# *include "' "$folder"/*.{cc,h} 2>/dev/null | grep -vE "include \"${may_include[$folder]}/[^/]*\"" || true)
  problem "$lines" "$folder may include only ${may_include[$folder]}"
done
while read -r folder; do
  [ "$folder" = operator ] || [ -n "${may_include[$folder]:-}" ] ||
    problem "$folder:1:" "a new folder: add to hack/lint.sh the folders that it may include"
done < <(printf '%s\n' "${sources[@]}" | grep -v '^tests/' | xargs -n 1 dirname | sort -u)

# --- no includes in a circle: X.h and X.cc together are one node ------------------------------------------------------
edges=$(grep -HoE '^#include "(operator|webhook|plugin)/[^"]+"' "${sources[@]}" |
  sed -E 's/^([^:]+)\.(h|cc):#include "(.*)\.h"/\1 \3/' | awk '$1 != $2' | sort -u)
# tsort prints the members of each cycle on separate lines, such as "tsort: operator/runtime/store".
lines=$(tsort <<<"$edges" 2>&1 >/dev/null | sed -n 's|^tsort: \([^ ]*/[^ ]*\)$|\1.h:1:|p' | sort -u || true)
problem "$lines" "includes form a cycle: move the shared declarations into a separate header"

# --- a library's headers stay in the file that owns it ----------------------------------------------------------------
# owner LIBRARY HEADERS FILES: both are extended regular expressions.
owner() {
  local lines
  lines=$(grep -nHE "^ *# *include [<\"]($2)" "${sources[@]}" | grep -vE "^($3):" || true)
  problem "$lines" "$1 belongs to $3"
}
owner cpprestsdk 'cpprest/|pplx/' 'operator/client/transport/cpprest_(body|transport)\.(h|cc)'
owner yaml-cpp 'yaml-cpp/' 'operator/client/auth/kubeconfig\.cc|plugin/manifest/yaml_reader\.cc|tests/support/yaml\.cc'
owner Boost.Beast 'boost/(beast|asio)' 'operator/client/transport/(beast_transport|connection|dialer)\.cc|operator/runtime/(status_server\.cc|acceptor\.(h|cc))|plugin/dashboard/http_server\.cc|webhook/server/.*|tests/.*'
owner OpenSSL 'openssl/' 'operator/client/transport/(base64\.cc|connection\.cc|cpprest_transport\.cc|tls_client\.cc|pem\.(h|cc))|webhook/((certificates|server)/.*|admission/acceptance_cache\.cc)|tests/.*'
owner spdlog 'spdlog/' 'operator/base/log\.cc'
owner prometheus-cpp 'prometheus/' 'operator/base/metrics\.(h|cc)'
owner simdjson 'simdjson' 'operator/(json/(json_document|list_text)\.cc|runtime/json_bytes\.h)'
owner LZ4 'lz4' 'operator/json/packed_bytes\.cc'
owner CLI11 'CLI/' 'operator/options\.cc|plugin/commands/options\.cc'
owner utf8proc 'utf8proc' 'plugin/view/text\.cc'
owner date 'date/' 'operator/base/time_zone\.cc'
owner nlohmann_json 'nlohmann/json\.hpp' '(operator/(api|workload|json|client|runtime|cluster|prometheus|notify|nodepool|capacity|yurtappdaemon)|webhook|plugin|tests)/.*|operator/(main|options)\.cc'

# --- base, client and runtime do not name the product, except the program's name as an example or a default -----------
problem "$(grep -niE 'yurtappdaemon|openyurt' -r operator/{base,json,client,runtime} |
  grep -v '"yurtappdaemon-operator' || true)" \
  "base, client and runtime must not name the product: pass the name as a parameter"

# --- header guards: the path in capitals ------------------------------------------------------------------------------
for file in "${sources[@]}"; do
  [[ $file == *.h ]] || continue
  guard=$(tr 'a-z/.-' 'A-Z___' <<<"$file")_
  directives=$(grep -E '^#' "$file" || true)
  if [ "$(head -n 1 <<<"$directives")" != "#ifndef $guard" ] || [ "$(sed -n 2p <<<"$directives")" != "#define $guard" ]; then
    problem "$file:1:" "the header guard must be $guard"
  fi
done

# --- comments and pages are plain English (CONTRIBUTING.md, "Words") --------------------------------------------------
# opens_badly(text, begins): returns whether a sentence of the text starts with a word that no sentence should start
# with. `begins` is true if the text starts with a sentence.
plain_english='
  function opens_badly(text, begins,   starts) {
    starts = "(Who|Whoever|Whose|What|Where|Whether|Of|That|Nor|Else) "
    return begins && text ~ ("^" starts) || text ~ ("[.:?!] " starts)
  }
  function has_bad_word(text) {
    text = tolower(text)
    gsub(/there is no |is no longer/, "", text)
    return text ~ /(^|[^a-z])(nobody|somebody|whoever|anew|seldom|mend(s|ed|ing)?|is no)([^a-z]|$)/
  }'

# The folders whose comments are checked.
plain_folders=(operator webhook plugin tests)
# A comment starts with "//" and a space, at the start of a line or after a space. A comment after code may be a phrase,
# so the start of its sentences is not checked.
lines=$(find "${plain_folders[@]}" -name '*.cc' -o -name '*.h' | sort | xargs awk "$plain_english"'
  FNR == 1 { inside = 0 }
  !match($0, /(^|[ \t])\/\/ /) { inside = 0; next }
  {
    text = substr($0, RSTART + RLENGTH)
    whole = $0 ~ /^[ \t]*\/\//
    if (whole && opens_badly(text, !inside) || has_bad_word(text)) print FILENAME ":" FNR ": " text
    inside = whole && text !~ /[.:?!]$/
  }')
problem "$lines" "a comment in words that CONTRIBUTING.md (Words) excludes"

# Checks the text of each page, without blocks of code, code in a line, and links. A table cell begins a sentence, and
# so does a list entry. Headings are not sentences, so their start is not checked.
lines=$(git ls-files --cached --others --exclude-standard '*.md' | xargs awk "$plain_english"'
  FNR == 1 { fenced = inside = 0 }
  /^ *(```|~~~)/ { fenced = !fenced; inside = 0; next }
  fenced || /^[ \t]*$/ || /^(    |\t)/ && !/^[ \t]*([-*]|[0-9]+\.) / { inside = 0; next }
  {
    text = $0
    gsub(/`[^`]*`/, "code", text)
    gsub(/\[[^]]*\]\([^)]*\)/, "link", text)
    gsub(/[*_]/, "", text)
    heading = text ~ /^#/
    begins = !inside || text ~ /^[ \t]*([->|]|[0-9]+\. )/ || $0 ~ /^[ \t]*\* /
    sub(/^[ \t>-]*([0-9]+\. )?/, "", text)
    bad = has_bad_word(text)
    cells = split(text, cell, / *\| */)
    for (i = 1; i <= cells && !heading; i++) bad = bad || opens_badly(cell[i], begins || i > 1)
    if (bad) print FILENAME ":" FNR ": " $0
    inside = !heading && text !~ /[.:?!]$/
  }')
problem "$lines" "a page in words that CONTRIBUTING.md (Words) excludes"

# --- formatting -------------------------------------------------------------------------------------------------------
if command -v clang-format-16 >/dev/null; then
  lines=$(clang-format-16 --dry-run "${sources[@]}" 2>&1 | grep -E '^[^ ].*: warning:' | cut -d: -f1 | sort | uniq -c |
    sed 's/^ *\([0-9]*\) \(.*\)/\2: \1 places/' || true)
  problem "$lines" "not formatted: make format"
else
  echo "lint: clang-format-16 is not installed, so formatting is not checked" >&2
fi

# --- scripts ----------------------------------------------------------------------------------------------------------
for file in "${scripts[@]}"; do
  bash -n "$file" || problem "$file:1:" "bash cannot parse it"
  [ -x "$file" ] || problem "$file:1:" "the script is not executable: chmod +x"
done

# --- the chart's copies: Helm does not read files outside the chart, and warns of links -------------------------------
chart=charts/yurtappdaemon-operator
diff -r crds $chart/files/crds >/dev/null ||
  problem "$chart/files/crds:1:" "differs from crds/: rm $chart/files/crds/*; cp crds/* $chart/files/crds/"
version=$(sed -n 's/^project(.* VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
grep -q "^appVersion: $version$" $chart/Chart.yaml || problem "$chart/Chart.yaml:1:" "appVersion must be CMakeLists.txt's: $version"

# --- the figures match their text files, and names are unique ---------------------------------------------------------
if command -v python3 >/dev/null; then
  hack/figures.py check || problems=$((problems + 1))
  hack/unique_names.py || problems=$((problems + 1))
else
  echo "lint: python3 is not installed, so figures and names are not checked" >&2
fi

# --- the links of the pages are valid, and the site (mkdocs.yml) has each page ----------------------------------------
hack/links.sh || problems=$((problems + 1))
while read -r page; do
  grep -qE "^ *- ([^:]+: )?$page$" mkdocs.yml || problem "mkdocs.yml:1:" "nav has no line for $page"
done < <(git ls-files --cached --others --exclude-standard '*.md' | grep -vE '^(\.github/|docs/decisions/0)')

# --- kubectl does not accept flags before the name of a plugin --------------------------------------------------------
problem "$(git grep -nE "kubectl +-[^|;]* yad +(status|pools|history|undo|pause|resume|restart|approve|windows|diff)" -- \
  .github charts docs README.md operator plugin webhook || true)" \
  "kubectl rejects flags before the name of a plugin: write kubectl yad COMMAND NAME -n NAMESPACE"

# --- docs/decisions/README.md lists every decision --------------------------------------------------------------------
for file in docs/decisions/[0-9]*.md; do
  name=$(basename "$file")
  grep -qF "[${name:0:4}]($name)" docs/decisions/README.md || problem "docs/decisions/README.md:1:" "has no line for $name"
done

# --- the tests in the documentation exist -----------------------------------------------------------------------------
tests=$(find tests -name '*_test.cc' -exec cat {} + | tr -d '\n' | grep -oE 'TEST(_F|_P)?\([A-Za-z0-9]+, *[A-Za-z0-9]+\)' |
  sed -E 's/.*\(([A-Za-z0-9]+), *([A-Za-z0-9]+)\)/\1.\2/')
for name in $(grep -rhoE '`[A-Za-z0-9]+Test\.[A-Za-z0-9]+`' docs | tr -d '`' | sort -u); do
  grep -qxF "$name" <<<"$tests" || problem "docs:1: $name" "the documentation has a test that does not exist"
done

# --- the chart's README.md and values.schema.json have the descriptions of values.yaml --------------------------------
hack/chart-docs.sh check || problems=$((problems + 1))

# --- docs/running.md and docs/conditions.md describe every metric, and every CamelCase reason and condition -----------
guides=(docs/running.md docs/conditions.md)
named=$(
  find operator webhook -name '*.cc' -exec cat {} + | tr '\n' ' ' |
    grep -oE '(metrics::Get(Counter|Gauge|Histogram)|Single)\( *"[a-z_]+"' | grep -oE '[a-z_]+"$'
  # Lists the CamelCase strings in the code. pod_facts.cc has only strings of Kubernetes. The reasons that the operator
  # reports are in pod_facts.h.
  grep -roE '"[A-Z][a-zA-Z]*[a-z][A-Z][a-zA-Z]*"' operator/{capacity,cluster,nodepool,yurtappdaemon} |
    grep -v '^[^:]*/pod_facts.cc:' | cut -d: -f2 | cut -c2- |
    grep -vE '^(StatefulSet|ReplicaSet|ReplicaFailure|NewReplicaSetAvailable|CustomResourceDefinition|NamespaceTerminating)"' |
    grep -vE '^(ValidatingWebhookConfiguration|SelfSubjectAccessReview|DoesNotExist|NotIn|InUse)"' |
    grep -vE '^(NetworkUnavailable|MemoryPressure|DiskPressure|NoExecute|NoSchedule|PreferNoSchedule)"'
)
for name in $(tr -d '"' <<<"$named" | sort -u); do
  grep -qw -- "$name" "${guides[@]}" || problem "${guides[*]}:1:" "do not describe $name"
done

# --- long files are reported, but are not problems --------------------------------------------------------------------
for file in "${sources[@]}" "${scripts[@]}"; do
  length=$(wc -l <"$file")
  [ "$length" -le 500 ] || echo "lint: $file has $length lines, more than 500: consider splitting it" >&2
done

if [ $problems -gt 0 ]; then
  echo "lint: $problems problems" >&2
  exit 1
fi
echo "lint: ${#sources[@]} C++ files and ${#scripts[@]} scripts have no problems"
