#!/bin/bash
# What `make demo` shows: bundled CUDA programs on the simulated GPU, under the baseline and under schemes.
#   tools/demo.sh BUILD
set -eu
build=$(realpath "$1")
sluice=$build/sluice
shown=${1%/}
say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[ -t 1 ] || say() { printf '\n%s\n' "$*"; }

say "1. A CUDA program on a machine without a GPU: breadth-first search, nothing changed in it"
echo "\$ $shown/sluice run -- $shown/workloads/bfs --size small"
"$sluice" run -- "$build/workloads/bfs" --size small

say "2. k-means under three schemes, one simulation per row"
schemes=baseline,bucl,swl=4,tsc
echo "\$ $shown/sluice compare --scheme $schemes --html $shown/kmeans.html -- $shown/workloads/kmeans --size small"
"$sluice" compare --scheme "$schemes" --html "$build/kmeans.html" -- "$build/workloads/kmeans" --size small

say "3. Where bypassing pays and where it does not, baseline against BUCL"
echo "  bfs and particlefilter at medium: scattered loads that exceed the L1, for which BUCL is made. Small inputs fit the L1"
echo "  and would show a loss. matmul: loads of one or two lines, which BUCL leaves alone."
demo() { "$sluice" compare --scheme baseline,bucl --html "$build/$1.html" -- "$build/workloads/$1" --size "$2"; }
for w in "bfs medium" "particlefilter medium" "matmul small"; do
  [ -x "$build/workloads/${w% *}" ] || continue
  # shellcheck disable=SC2086
  demo $w
  echo
done

say "Next"
echo "  The reports, for a browser: $build/kmeans.html and, beside it, bfs.html, particlefilter.html, matmul.html"
echo "  The schemes:            $shown/sluice schemes"
echo "  The programs:           $shown/sluice workloads"
echo "  Against the reference:  $shown/sluice calibrate"
