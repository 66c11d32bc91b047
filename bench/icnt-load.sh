#!/bin/sh
# Build bench/icnt-load.c against libsluice and put its tables into docs/explanation/interconnect.md; --check only compares;
# --speed prints the cost of a step on this machine.
set -eu
cd "$(dirname "$0")/.."
build=build mode=write
while [ $# -gt 0 ]; do
  case $1 in
  --build) build=$2; shift 2 ;;
  --check) mode=check; shift ;;
  --speed) mode=speed; shift ;;
  *) echo "usage: bench/icnt-load.sh [--build DIR] [--check | --speed]" >&2; exit 2 ;;
  esac
done
mkdir -p "$build/bench"
${CC:-gcc} -std=gnu17 -D_GNU_SOURCE= -O2 -Wall -Wextra -Isrc bench/icnt-load.c -o "$build/bench/icnt-load" \
  -L"$build/lib" -Wl,-rpath,"$(cd "$build/lib" && pwd)" -Wl,--unresolved-symbols=ignore-in-shared-libs -lsluice-core -lm
if [ $mode = speed ]; then exec "$build/bench/icnt-load" speed; fi
new=$build/bench/interconnect.md
{
  sed '/<!-- begin: bench\/icnt-load.sh -->/q' docs/explanation/interconnect.md
  "$build/bench/icnt-load"
  echo
  sed -n '/<!-- end: bench\/icnt-load.sh -->/,$p' docs/explanation/interconnect.md
} > "$new"
if [ $mode = check ]; then exec diff -u docs/explanation/interconnect.md "$new"; fi
cp "$new" docs/explanation/interconnect.md
