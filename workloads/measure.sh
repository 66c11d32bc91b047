#!/bin/bash
# measure.sh - characterise the workloads on the baseline machine: workloads/measured.tsv, which docs/workloads.md shows.
#
#   workloads/measure.sh BUILD [NAME...]      all of them by default; a name's row is replaced
#
# Per workload, at size medium in timing mode: the baseline, every load bypassing the L1 (scheme ball), and lines of 32 B
# (line=32), as the papers' classes are defined; at size small the instruction count and the time.
set -eu
build=$(realpath "$1")
shift
cd "$(dirname "$0")/.."
table=${MEASURED:-workloads/measured.tsv}
[ $# -gt 0 ] || set -- $(ls -d workloads/*/ | sed 's#workloads/##; s#/##' | grep -v '^common$')
columns="name\tsmall_warp_insts\tsmall_seconds\twarp_insts\tthread_insts\tseconds\tipc\tl1_hit_percent\tloads_over_2_percent\tball_ipc_ratio\tline32_ipc_ratio"
[ -f "$table" ] || printf "$columns\n" >"$table"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# run NAME SIZE SCHEME: the record goes to $work/SCHEME.json, the processor time is printed; a FAIL ends the script.
run() {
  local TIMEFORMAT=%U
  { time "$build/sluice" run --quiet --scheme "$3" --json "$work/$3.json" -- "$build/workloads/$1" --size "$2" >"$work/out" 2>&1; } 2>&1 || {
    cat "$work/out" >&2
    echo "measure.sh: $1 --size $2 under $3 failed" >&2
    return 1
  }
}
total() { # SCHEME KEY
  sed -n '/"totals"/,$p' "$work/$1.json" | sed -n "s/^ *\"$2\": \([-0-9.e+]*\),\{0,1\}$/\1/p" | head -n 1
}
for name in "$@"; do
  small_seconds=$(run "$name" small baseline)
  small=$(total baseline warp_insts)
  seconds=$(run "$name" medium baseline)
  run "$name" medium ball >/dev/null
  run "$name" medium line=32 >/dev/null
  row=$(awk -v name="$name" -v small="$small" -v ss="$small_seconds" -v s="$seconds" -v w="$(total baseline warp_insts)" -v t="$(total baseline thread_insts)" \
    -v ipc="$(total baseline ipc)" -v hit="$(total baseline l1d.read.hit_rate)" -v d1="$(total baseline loads.degree_1)" -v d2="$(total baseline loads.degree_2)" \
    -v d3="$(total baseline loads.degree_3_10)" -v d4="$(total baseline loads.degree_11_20)" -v d5="$(total baseline loads.degree_21_up)" \
    -v ball="$(total ball ipc)" -v line="$(total line=32 ipc)" 'BEGIN {
      loads = d1 + d2 + d3 + d4 + d5
      printf "%s\t%d\t%.1f\t%d\t%d\t%.1f\t%.2f\t%.1f\t%.1f\t%.2f\t%.2f\n", name, small, ss, w, t, s, ipc, 100 * hit, loads ? 100 * (d3 + d4 + d5) / loads : 0, ball / ipc, line / ipc }')
  echo "$row"
  { head -n 1 "$table"; { tail -n +2 "$table" | grep -v "^$name	" || true; echo "$row"; } | sort; } >"$work/table"
  cp "$work/table" "$table"
done
