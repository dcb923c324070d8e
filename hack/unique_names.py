#!/usr/bin/env python3
"""Checks that a name in an anonymous namespace occurs only in one file of a library.

Several files of a library are compiled as one (YAD_UNITY in CMakeLists.txt). The compiler finds two definitions of one
name, but not a function that became an overload of another file's function. Aliases may repeat, because the compiler
compares them. Prints each problem as FILE: TEXT, and exits with 1 if there is a problem.
"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TYPE = re.compile(r"(?:template .*> *)?(?:struct|class|enum class|enum) (?:[A-Z_]+\(.*?\) )?(\w+)")
CONSTANT = re.compile(r"[\w:<>,*& ()]*?[ *&](k[A-Z]\w*)(?:\[.*?\])?\s*(?:=|\{|;)")
FUNCTION = re.compile(r"[ *&>](\w+)\(")


def names(text):
    """Returns the names that the anonymous namespaces of a file define."""
    found = set()
    inside = False
    for line in text.splitlines():
        if line == "namespace {":
            inside = True
        elif line == "}  // namespace":
            inside = False
        elif inside and re.match(r"[A-Za-z\[]", line) and not line.startswith(("using ", "namespace ")):
            match = TYPE.match(line) or CONSTANT.match(line) or FUNCTION.search(line)
            if match:
                found.add(match.group(1))
    return found


def main():
    libraries = [path for path in (ROOT / "operator").iterdir() if path.is_dir()] + [ROOT / "webhook", ROOT / "plugin"]
    # The second HTTP client (cpprest_*) is a separate library.
    sources = lambda library: [p for p in sorted(library.rglob("*.cc")) if not p.name.startswith("cpprest_")]
    failed = False
    for library in sorted(libraries):
        files = collections.defaultdict(list)
        for path in sources(library):
            for name in names(path.read_text()):
                files[name].append(path.relative_to(ROOT))
        for name, places in sorted(files.items()):
            for place in places[1:]:
                print(f"{place}: {name} is also in {places[0]}: files of a library are compiled together, rename one")
                failed = True
    sys.exit(failed)


main()
