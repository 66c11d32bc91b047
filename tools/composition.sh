#!/bin/sh
# Regenerate docs/notes/composition.md: all five designs and their combinations on all workloads of all five papers.
#   tools/composition.sh BUILD [--size small|medium] [--jobs N] [--work DIR] [WORKLOAD...]
# Interrupted, it goes on where it stopped; it says how long it took, in the page as well. See tools/composition.py.
set -eu
build=$1
shift
exec "$(dirname "$0")/composition.py" "$build" --write "$(dirname "$0")/../docs/notes/composition.md" "$@"
