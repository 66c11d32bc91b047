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

say "2. k-means under four schemes, each column a whole simulation"
schemes=baseline,bucl,swl=2,swl=2+bucl
echo "\$ $shown/sluice compare --scheme $schemes --html $shown/kmeans.html -- $shown/workloads/kmeans --size small"
"$sluice" compare --scheme "$schemes" --html "$build/kmeans.html" -- "$build/workloads/kmeans" --size small

say "3. And the other bundled programs, baseline against BUCL"
for w in sssp spmv matmul; do
  [ -x "$build/workloads/$w" ] || continue
  "$sluice" compare --scheme baseline,bucl --html "$build/$w.html" -- "$build/workloads/$w" --size small
  echo
done

say "Next"
echo "  The reports, for a browser: $build/kmeans.html and, beside it, sssp.html, spmv.html, matmul.html"
echo "  The schemes:            $shown/sluice schemes"
echo "  The programs:           $shown/sluice workloads"
echo "  Against the reference:  $shown/sluice calibrate"
