#!/bin/sh
# Regenerate the pages that come from tables.
#   tools/gen-docs.sh BUILD
set -eu
cd "$(dirname "$0")/.."
for page in knobs counters schemes scheme-pairs energies invariants; do
  "$1/sluice" docs $page >"docs/$page.md.new"
  mv "docs/$page.md.new" "docs/$page.md"
done
tools/programs.py >docs/programs.md.new
mv docs/programs.md.new docs/programs.md
