#!/usr/bin/env bash
# Checks the relative links of all Markdown pages: the file and the heading exist. Prints each problem as FILE:LINE, and
# exits with 1 if there is a problem. Does not need a network, because it skips addresses with a scheme.
#
#   hack/links.sh            check
#   hack/links.sh targets    check, and print the files to which the pages link
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

git ls-files --cached --others --exclude-standard '*.md' | TARGETS=${1:-} perl -e '
  use strict; use warnings; use open qw(:std :encoding(UTF-8));
  my (%anchors, %targets, $problems);

  # prose(PATH, FUNCTION): calls the function with the number and text of each line that is not code.
  sub prose {
    my ($path, $each) = @_;
    open(my $file, "<", $path) or return;
    my $fenced = 0;
    while (my $line = <$file>) {
      $fenced = !$fenced, next if $line =~ /^\s*(```|~~~)/;
      next if $fenced || $line =~ /^(    |\t)(?!\s*([-*]|\d+\.) )/;
      $each->($., $line);
    }
  }

  # Returns the anchors that GitHub and the site (mkdocs.yml) give to the headings of a page.
  sub anchors_of {
    my ($path) = @_;
    return $anchors{$path} if $anchors{$path};
    my (%found, %count);
    prose($path, sub {
      return unless $_[1] =~ /^#{1,6} +(.*?)\s*#*$/;
      my $text = lc $1;
      $text =~ s/\[([^\]]*)\]\([^)]*\)/$1/g;
      $text =~ s/[^\w\- ]//g;
      $text =~ tr/ /-/;
      my $again = $count{$text}++;
      $found{$again ? "$text-$again" : $text} = 1;
    });
    return $anchors{$path} = \%found;
  }

  sub check {
    my ($page, $number, $link) = @_;
    return if $link =~ /^[a-z][a-z0-9+.-]*:/;
    my ($path, $anchor) = split(/#/, $link, 2);
    my $target = $page;
    if ($path ne "") {
      $target = ($page =~ m{^(.*/)} ? $1 : "") . $path;
      1 while $target =~ s{(^|/)\./}{$1} || $target =~ s{(^|/)(?!\.\./)[^/]+/\.\./}{$1};
    }
    my $problem = $target =~ m{^(\.\./|/)} ? "is outside of the repository"
      : !-e $target ? "does not exist"
      : -d $target ? "is a folder: link a file"
      : defined $anchor && $target =~ /\.md$/ && !anchors_of($target)->{$anchor} ? "has no heading #$anchor" : undef;
    $targets{$target} = 1;
    return unless $problem;
    print STDERR "$page:$number: $link    <- $target $problem\n";
    $problems++;
  }

  chomp(my @pages = <STDIN>);
  for my $page (@pages) {
    prose($page, sub {
      my ($number, $line) = @_;
      $line =~ s/`[^`]*`//g;
      check($page, $number, $1) while $line =~ /\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g;
      check($page, $number, $1) while $line =~ /^\[[^\]]+\]:\s+(\S+)/g;
    });
  }
  print map({ "$_\n" } sort keys %targets) if $ENV{TARGETS};
  exit($problems ? 1 : 0);'
