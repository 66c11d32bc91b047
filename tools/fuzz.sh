#!/bin/bash
# Fuzz the readers: fuzz/*.c with libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer.
#   tools/fuzz.sh [--minutes N] [--rounds N] [TARGET...]
# --minutes N  processor time of each target in a round (default 5)
# --rounds N   rounds over all targets (default 1; 0: until Ctrl-C)
# Builds in build/fuzz; corpora grow in build/fuzz/found/TARGET, so that a later call continues. A finding stays in
# build/fuzz/found as TARGET-crash-..., -timeout-... or -oom-..., and the exit code is 1. Processor time and
# executions of all calls are in build/fuzz/spent.csv; a table of them is printed.
set -u
cd "$(dirname "$0")/.." || exit 2
b=build/fuzz minutes=5 rounds=1
while [ $# -gt 0 ]; do
  case $1 in
  --minutes) minutes=${2:?}; shift 2 ;;
  --rounds) rounds=${2:?}; shift 2 ;;
  -h | --help) sed -n '2,/^set/{/^set/!s/^# \{0,1\}//p}' "$0"; exit 0 ;;
  -*) echo "fuzz: unknown option '$1'; see --help" >&2; exit 2 ;;
  *) break ;;
  esac
done
[ $# -gt 0 ] || set -- accel config csv db fatbin launch ptx record search slt study
for t in "$@"; do [ -f "fuzz/$t.c" ] || { echo "fuzz: no target '$t' in fuzz/" >&2; exit 2; }; done
if ! command -v clang-14 >/dev/null; then
  echo "fuzz: clang-14 is missing: apt-get install clang-14 libclang-rt-14-dev" >&2
  exit 2
fi
here=$PWD
mkdir -p "$b/found"

# Sources of a target that are not in the library.
own() {
  case $1 in
  db) ls src/results/db/[a-z]*.c ;;
  fatbin) ls src/cudart/image/{fatbin,cubin}.c ;;
  study) ls src/study/study_{file,suite,expand,schema,identity}.c src/base/yamltext.c ;;
  launch) echo src/base/yamltext.c ;;
  search) echo src/results/record_read.c ;;
  esac
}
flags=(-g -O1 -Wno-everything -D_GNU_SOURCE -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION -Isrc "-I$b/gen")
make --no-print-directory B="$b" CC="clang-14 -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION" \
  SANITIZE=fuzzer-no-link,address,undefined lib || exit 2
case " $* " in *" db "*) make --no-print-directory lib || exit 2 ;; esac
for t in "$@"; do
  [ "$b/$t" -nt "$b/lib/libsluice-core.so" ] && [ "$b/$t" -nt "fuzz/$t.c" ] && continue
  mapfile -t sources < <(own "$t")
  lib=$here/$b/lib
  [ "$t" = db ] && lib=$here/build/lib # it has counters of its own in place of the library's
  clang-14 "${flags[@]}" -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined "fuzz/$t.c" \
    "${sources[@]}" -L"$lib" -lsluice-core -Wl,-rpath,"$lib" -lyaml -ljansson -lsqlite3 -lzstd -llz4 -lelf \
    -lmd -lm -o "$b/$t" || exit 2
done

export SLUICE_DATA=$here/$b/share/sluice
export ASAN_OPTIONS=malloc_context_size=2:allocator_may_return_null=1
commit=$(git describe --always --dirty 2>/dev/null || echo unknown)
seconds=$((minutes * 60)) failed=0 stop=0
trap 'stop=1' INT TERM

# One target: until it has used its processor time; by the clock at most 20 times as long.
one() {
  local t=$1 at=$here/$b/found log=$here/$b/$1.log begin=$SECONDS cpu runs edges seed
  mkdir -p "$at/$t"
  if [ ! -f "$at/$t/.seeded" ]; then
    [ ! -f "fuzz/corpus/$t-found.tar.xz" ] || tar -C "$at/$t" -xf "fuzz/corpus/$t-found.tar.xz" || exit 2
    for seed in fuzz/corpus/"$t"/*.xz; do [ ! -f "$seed" ] || xz -dc "$seed" >"$at/$t/$(basename "$seed" .xz)"; done
    touch "$at/$t/.seeded"
  fi
  ( ulimit -t $((seconds + 5)); cd "$at" || exit 2
    exec "$here/$b/$t" -max_total_time=$((seconds * 20)) -timeout=60 -rss_limit_mb=4096 -print_final_stats=1 \
      -max_len=65536 -artifact_prefix="$t-" "$t" "$here/fuzz/corpus/$t" ) >"$log" 2>&1 &
  local pid=$!
  while kill -0 $pid 2>/dev/null; do
    [ $stop = 1 ] && kill -INT $pid 2>/dev/null
    # shellcheck disable=SC2207
    local s=($(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null))
    [ ${#s[@]} -gt 12 ] && cpu=$(((${s[11]} + ${s[12]}) / $(getconf CLK_TCK)))
    [ "${cpu:-0}" -ge $seconds ] && kill -INT $pid 2>/dev/null
    sleep 1
  done
  wait $pid 2>/dev/null
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p; s/^#\([0-9]*\)[^0-9].*/\1/p' "$log" | tail -n 1)
  edges=$(sed -n 's/.* cov: \([0-9]*\).*/\1/p' "$log" | tail -n 1)
  echo "$t,$commit,$((SECONDS - begin)),${cpu:-0},${runs:-0},${edges:-0}" >>"$b/spent.csv"
  echo "$t: ${cpu:-0} s of processor time in $((SECONDS - begin)) s, ${runs:-0} executions, ${edges:-0} edges"
  if ls "$at/$t"-* >/dev/null 2>&1 || [ "${runs:-0}" = 0 ]; then
    echo "fuzz: $t found: $(ls "$at/$t"-* 2>/dev/null || echo nothing, it did not start); the end of $log:" >&2
    tail -n 20 "$log" >&2
    failed=1
  fi
}
round=0
while [ $stop = 0 ] && { [ "$rounds" = 0 ] || [ $round -lt "$rounds" ]; }; do
  for t in "$@"; do [ $stop = 1 ] || one "$t"; done
  round=$((round + 1))
done
awk -F, '{cpu[$1] += $4; n[$1] += $5; if ($6 > e[$1]) e[$1] = $6; clock[$1] += $3}
  END {printf "%-8s %14s %10s %14s %8s\n", "target", "processor min", "min", "executions", "edges"
    for (t in cpu) printf "%-8s %14.1f %10.1f %14d %8d\n", t, cpu[t] / 60, clock[t] / 60, n[t], e[t] | "sort"}' \
  "$b/spent.csv"
exit $failed
