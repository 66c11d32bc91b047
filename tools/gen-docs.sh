#!/bin/sh
# Regenerate the pages that come from tables.
#   tools/gen-docs.sh BUILD
set -eu
cd "$(dirname "$0")/.."
for page in knobs counters schemes scheme-pairs hooks energies invariants; do
  "$1/sluice" docs $page >"docs/reference/$page.md.new"
  mv "docs/reference/$page.md.new" "docs/reference/$page.md"
done
tools/programs.py >docs/reference/programs.md.new
mv docs/reference/programs.md.new docs/reference/programs.md
${CC:-cc} -Isrc -o "$1/ptx-support" tools/ptx-support.c -L"$1/lib" -lsluice-core -Wl,-rpath,"$(realpath "$1/lib")"
"$1/ptx-support" >docs/reference/ptx-support.md.new
mv docs/reference/ptx-support.md.new docs/reference/ptx-support.md
