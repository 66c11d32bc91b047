#!/bin/bash
# measure.sh - characterise the workloads on the baseline machine: workloads/measured.tsv, which docs/reference/workloads.md shows.
#
#   workloads/measure.sh BUILD [NAME...]      all of them by default; a name's row is replaced
#
# Per workload, at size medium in timing mode, as the papers define their classes: on fermi the baseline and lines of 32 B
# (line=32; Tag-Split Cache); on decoupled-l1d the baseline and every load bypassing the L1 (ball); on medic the types of warps. At
# size small the instruction count and the time; at size large the instruction count, in functional mode.
set -eu
build=$(realpath "$1")
shift
cd "$(dirname "$0")/.."
table=${MEASURED:-workloads/measured.tsv}
[ $# -gt 0 ] || set -- $(ls -d workloads/*/ | sed 's#workloads/##; s#/##' | grep -v '^common$')
columns="name\tsmall_warp_insts\tsmall_seconds\twarp_insts\tthread_insts\tseconds\tipc\tl1_hit_percent\tloads_over_2_percent\tball_ipc_ratio\tline32_ipc_ratio\twarp_type\twarp_type_percent\tlarge_warp_insts"
[ -f "$table" ] || printf "$columns\n" >"$table"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# run RECORD NAME SIZE OPTIONS...: the record goes to $work/RECORD.json, the processor time is printed; a FAIL ends the script.
run() {
  local TIMEFORMAT=%U record=$1 name=$2 size=$3
  shift 3
  { time "$build/sluice" run --quiet --json "$work/$record.json" "$@" -- "$build/workloads/$name" --size "$size" >"$work/out" 2>&1; } 2>&1 || {
    cat "$work/out" >&2
    echo "measure.sh: $name --size $size $* failed" >&2
    return 1
  }
}
total() { # RECORD KEY
  sed -n '/"totals"/,$p' "$work/$1.json" | sed -n "s/^ *\"$2\": \([-0-9.e+]*\),\{0,1\}$/\1/p" | head -n 1
}
for name in "$@"; do
  small_seconds=$(run small "$name" small)
  seconds=$(run baseline "$name" medium)
  run line "$name" medium --scheme line=32 >/dev/null
  run through "$name" medium --gpu decoupled-l1d >/dev/null
  run past "$name" medium --gpu decoupled-l1d --scheme ball >/dev/null
  run medic "$name" medium --gpu medic --characterise >/dev/null
  run large "$name" large --mode functional >/dev/null
  type=$(for t in all_hit mostly_hit balanced mostly_miss all_miss; do echo "$(total medic character.warps.$t) $t"; done | sort -g | tail -n 1)
  row=$(awk -v name="$name" -v small="$(total small warp_insts)" -v large="$(total large warp_insts)" -v type="$type" -v ss="$small_seconds" -v s="$seconds" -v w="$(total baseline warp_insts)" -v t="$(total baseline thread_insts)" \
    -v ipc="$(total baseline ipc)" -v hit="$(total baseline l1d.read.hit_rate)" -v d1="$(total baseline loads.degree_1)" -v d2="$(total baseline loads.degree_2)" \
    -v d3="$(total baseline loads.degree_3_10)" -v d4="$(total baseline loads.degree_11_20)" -v d5="$(total baseline loads.degree_21_up)" \
    -v ball="$(total past ipc)" -v through="$(total through ipc)" -v line="$(total line ipc)" 'BEGIN {
      split(type, warps, " "); gsub(/_/, "-", warps[2])
      loads = d1 + d2 + d3 + d4 + d5
      printf "%s\t%d\t%.1f\t%d\t%d\t%.1f\t%.2f\t%.1f\t%.1f\t%.2f\t%.2f\t%s\t%.0f\t%d\n", name, small, ss, w, t, s, ipc, 100 * hit, loads ? 100 * (d3 + d4 + d5) / loads : 0, ball / through, line / ipc, warps[2], 100 * warps[1], large }')
  echo "$row"
  { head -n 1 "$table"; { tail -n +2 "$table" | grep -v "^$name	" || true; echo "$row"; } | sort; } >"$work/table"
  cp "$work/table" "$table"
done
