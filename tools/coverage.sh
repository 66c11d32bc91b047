#!/bin/bash
# Which lines of src/ the tests run, by clang's counters.
#   tools/coverage.sh [--keep] [GROUP...]      groups of tests/run; all that run our own build without an argument
# Builds in build/coverage, runs the groups and prints a table per folder, least covered files and the total. --keep
# adds to the counts of the last call. The browser, install, lint, compilers and sanitizer groups build their own or run
# no code of src/.
set -eu
cd "$(dirname "$0")/.."
build=$PWD/build/coverage
keep=0
[ "${1:-}" = --keep ] && keep=1 && shift
[ $# -gt 0 ] || set -- unit abi attack calibration cli cuda ends study threads trace tutorial workloads
command -v llvm-cov-14 >/dev/null || { echo "coverage: llvm-cov-14 is missing: apt-get install llvm-14" >&2; exit 2; }
make --no-print-directory COVERAGE=1 B="$build" -j"$(nproc)" all unit
[ $keep = 1 ] || rm -rf "$build/counts"
mkdir -p "$build/counts"
# Processes that run at a time share eight files; each adds its counts when it ends.
LLVM_PROFILE_FILE=$build/counts/%8m.profraw tests/run --build "$build" "$@" ||
  echo "coverage: some tests failed; counts follow" >&2
llvm-profdata-14 merge -sparse -o "$build/counts/all.profdata" "$build"/counts/*.profraw
mapfile -t objects < <(
  find "$build/lib" "$build/tests" -maxdepth 1 -type f \( -name '*.so*' -o -perm -u+x \) ! -name '*.d' \
    -printf '-object=%p\n'
)
llvm-cov-14 export -format=lcov -instr-profile="$build/counts/all.profdata" "$build/sluice" \
  "${objects[@]}" 2>/dev/null >"$build/counts/all.lcov"
python3 tools/coverage.py "$build/counts/all.lcov"
