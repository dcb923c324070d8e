#!/usr/bin/env bash
# Writes the descriptions of the values in values.yaml into the chart's README.md and values.schema.json.
#
#   hack/chart-docs.sh          write both files
#   hack/chart-docs.sh check    only print each problem as FILE:LINE, and exit with 1 if there is a problem
#
# The format of values.yaml:
# - "# == TITLE" begins a section.
# - "# -- TEXT" and the comment lines after it describe the value below.
# - A value without a description is part of the default of the value above it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../charts/yurtappdaemon-operator"
export LC_ALL=C.UTF-8

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Writes one line of JSON for each described value: section, path, description, default, and whether it is a group.
perl -e '
  use strict; use warnings;
  my ($section, $text, @path, @values);
  sub quoted { my $s = shift; $s =~ s/(["\\])/\\$1/g; qq("$s") }
  open(my $file, "<", "values.yaml") or die;
  while (<$file>) {
    chomp;
    if (/^# == (.+)$/) { $section = $1; next }
    if (/^ *# -- (.+)$/) { $text = $1; next }
    if (/^ *# (.+)$/) { $text .= " $1" if defined $text; next }
    next unless /^( *)(\w+):(?: (.*))?$/;
    my ($depth, $key, $value) = (length($1) / 2, $2, $3 // "");
    $#path = $depth - 1;
    if (defined $text) {
      $path[$depth] = {section => $section, path => join(".", map({$_->{key}} @path[0 .. $depth - 1]), $key), key => $key,
        text => $text, default => $value, line => $.};
      $_->{group} = 1 for @path[0 .. $depth - 1];
      push @values, $path[$depth];
    } else {
      my $above = $path[$depth - 1];
      die "values.yaml:$.: $key has no description, and no value above it has one\n" unless $depth && $above && $value ne "";
      $above->{default} = "{" . join(", ", substr($above->{default}, 1, -1) || (), "$key: $value") . "}" if $above->{default};
      $above->{default} ||= "{$key: $value}";
      $path[$depth] = undef;
    }
    undef $text;
  }
  for my $v (@values) {
    print "{", join(",", map({ quoted($_) . ":" . quoted($v->{$_}) } qw(section path text default)),
      "\"line\":$v->{line},\"group\":" . ($v->{group} ? "true" : "false")), "}\n";
  }' >"$work/values.jsonl"

# Compares the values in both files. The properties of a value that is not a group do not need a description.
problems=0
while IFS=$'\t' read -r file line path problem; do
  echo "charts/yurtappdaemon-operator/$file:$line: $path    <- $problem" >&2
  problems=1
done < <(jq -rs --slurpfile schema values.schema.json '
  def names($at; $groups): .properties // {} | to_entries[] | ($at + .key) as $path
    | $path, (.value | select($path | IN($groups[])) | names($path + "."; $groups));
  (map({key: .path, value: .line}) | from_entries) as $lines
  | [$schema[0] | names(""; [$lines | keys[]])] as $properties
  | [.[] | select(.group) | .path] as $groups
  | ($lines | keys[] | select(IN($properties[]) | not) | ["values.yaml", $lines[.], ., "values.schema.json has no such value"]),
    ([$schema[0] | names(""; $groups)][] | select($lines[.] == null) | ["values.schema.json", 1, ., "values.yaml describes no such value"])
  | @tsv' "$work/values.jsonl")

jq -s 'reduce .[] as $value ($schema[0]; ($value.path | split(".") | map("properties", .)) as $at
  | if getpath($at) == null then . else
      setpath($at; {title: $value.path, description: $value.text} + (getpath($at) | del(.title, .description))) end)' \
  --slurpfile schema values.schema.json "$work/values.jsonl" >"$work/values.schema.json"

{
  sed '/^<!-- values -->$/q' README.md
  jq -rs 'group_by(.section) | sort_by(.[0].line)[] | "\n### \(.[0].section)\n\n| value | default | meaning |\n|---|---|---|",
    (sort_by(.line)[] | select(.group | not)
     | "| `\(.path)` | `\(.default)` | \(.text | gsub("\\|"; "\\|") | gsub("<"; "\\<")) |")' "$work/values.jsonl"
} >"$work/README.md"

for file in README.md values.schema.json; do
  if [ "${1:-}" != check ]; then
    cp "$work/$file" $file
  elif ! cmp -s "$work/$file" $file; then
    echo "charts/yurtappdaemon-operator/$file:1: differs from values.yaml    <- run hack/chart-docs.sh" >&2
    problems=1
  fi
done
exit $problems
