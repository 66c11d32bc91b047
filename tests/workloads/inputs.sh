#!/bin/bash
# The workloads' readers and options: public formats are read, and what is wrong with an input is said with file and
# line.
#   tests/workloads/inputs.sh BUILD
set -u
build=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
# try NAME EXIT TEXT WORKLOAD ARGS...: this exit code, and this text in the output
try() {
  local name=$1 want=$2 text=$3 rc
  shift 3
  "$build/sluice" run --quiet --mode functional -- "$build/workloads/$1" "${@:2}" >out 2>&1
  rc=$?
  if [ $rc = "$want" ] && grep -qF -- "$text" out; then echo "ok $name"; else
    cat out
    echo "not ok $name (exit $rc, expected $want and '$text')"
    bad=1
  fi
}
printf 'c a comment\np sp 4 5\na 1 2 3\na 2 3 1\na 3 4 2\na 1 4 9\na 2 1 1\n' >g.gr
printf '%%%%MatrixMarket matrix coordinate real symmetric\n%% a comment\n3 3 4\n1 1 2.5\n2 1 -1\n3 2 4\n3 3 1\n' >m.mtx
printf '%%%%MatrixMarket matrix coordinate pattern general\n3 4 1\n1 4\n' >wide.mtx
printf 'p sp 4 5\na 1 9 3\n' >index.gr
printf 'p sp 4 5\na 1 2 3\n' >short.gr
printf 'p sp 4 1\na 1 2 3\na 2 3 3\n' >long.gr
printf 'hello\n' >text.gr
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 1\n1 x 2\n' >entry.mtx
printf '%%%%MatrixMarket matrix array real general\n' >array.mtx
for w in bfs sssp lonebfs mst; do try "$w reads DIMACS" 0 "$w PASS" $w --input g.gr; done
try "spmv reads Matrix Market" 0 "spmv PASS" spmv --input m.mtx
try "bfs reads Matrix Market" 0 "bfs PASS" bfs --input m.mtx
try "road map" 0 "sssp PASS" sssp --graph 1
try "uniform graph" 0 "mst PASS" mst --graph 2
try "seed" 0 "bfs PASS" bfs --seed 77
try "missing file" 2 "nofile: cannot open" bfs --input nofile
try "index out of range" 2 "index.gr:2: expected indices" sssp --input index.gr
try "too few entries" 2 "short.gr:3: expected more entries" sssp --input short.gr
try "too many entries" 2 "long.gr:3: expected no more entries" sssp --input long.gr
try "not a graph" 2 "text.gr:1: expected" mst --input text.gr
try "malformed entry" 2 "entry.mtx:3: expected 'ROW COLUMN VALUE'" spmv --input entry.mtx
try "dense matrix" 2 "array.mtx:1: expected" spmv --input array.mtx
try "graph from a wide matrix" 2 "square matrix" bfs --input wide.mtx
try "generated only" 2 "it cannot read" kmeans --input g.gr
try "unknown size" 2 "small, medium or large, not 'huge'" nw --size huge
try "unknown option" 2 "unknown option '--rowz=4'" spmv --rowz 4
try "not a number" 2 "takes a number from" spmv --rows abc
try "help" 0 "--points" kmeans --help
"$build/sluice" run --quiet --mode functional --set memory.size_mb=16 -- "$build/workloads/matmul" --n 4096 >out 2>&1
if [ $? = 1 ] && grep -q 'choose a smaller --size' out; then echo "ok too large for the memory"; else
  cat out
  echo "not ok too large for the memory"
  bad=1
fi
exit $bad
