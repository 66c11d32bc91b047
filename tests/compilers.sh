#!/bin/bash
# The other compiler: clang builds without a warning or a word too many, and its build gives the same bytes.
#   tests/compilers.sh BUILD
set -u
build=$1
cd "$(dirname "$0")/.." || exit 2
report() { if [ "$2" = 0 ]; then echo "ok $1"; else echo "not ok $1"; bad=1; fi; }
bad=0
clang=$(command -v clang-14 || command -v clang)
make --no-print-directory -j"$(nproc)" B="$build/clang" CC="$clang" WERROR=1 V= lib cli >"$build/clang.log" 2>&1
rc=$?
[ $rc = 0 ] || grep -E 'error|warning' "$build/clang.log" | head -n 20
report "clang builds without warnings" $rc
[ $rc = 0 ] || exit 1
loud=$(grep -vE '^(CC|LD|GEN) [^ ]{1,160}$' "$build/clang.log" | grep -v 'Nothing to be done')
[ -z "$loud" ] || printf '%s\n' "$loud" | head -n 5
report "the build prints one short line a file" "$([ -z "$loud" ]; echo $?)"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# The CUDA runtime of the ordinary build serves both; LD_LIBRARY_PATH decides which libsluice it loads.
ptx=tests/cli/saxpy.ptx launch=tests/cli/saxpy.yaml
"$build/sluice" run --quiet --json "$dir/gcc.json" "$ptx" --launch "$launch" >/dev/null &&
  "$build/clang/sluice" run --quiet --json "$dir/clang.json" "$ptx" --launch "$launch" >/dev/null &&
  cmp "$dir/gcc.json" "$dir/clang.json"
report "gcc and clang builds give the same record" $?
exit $bad
