#!/bin/sh
# Regenerate the pages that come from tables.
#   tools/gen-docs.sh BUILD
set -eu
cd "$(dirname "$0")/.."
for page in knobs counters schemes scheme-pairs energies invariants; do
  "$1/sluice" docs $page >"docs/reference/$page.md.new"
  mv "docs/reference/$page.md.new" "docs/reference/$page.md"
done
tools/programs.py >docs/reference/programs.md.new
mv docs/reference/programs.md.new docs/reference/programs.md
