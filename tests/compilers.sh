#!/bin/bash
# The build. An old build folder serves after sources have moved. clang builds without a warning or a word too many, and
# its build gives the same bytes.
#   tests/compilers.sh BUILD
set -u
build=$1
cd "$(dirname "$0")/.." || exit 2
report() { if [ "$2" = 0 ]; then echo "ok $1"; else echo "not ok $1"; bad=1; fi; }
bad=0
dir=$(mktemp -d)
old=$build/old
trap 'rm -rf "$dir" "$old"' EXIT

# A copy of the build folder is complete: nothing is to be done. Files are links to the build's.
rm -rf "$old" && mkdir "$old" || exit 2
for f in "$build"/*; do case ${f##*/} in asan | clang | old | tests) ;; lists) cp -a "$f" "$old" ;; *) cp -al "$f" "$old" ;; esac; done
plan() { make --no-print-directory -n B="$old" V= ${CC:+CC="$CC"} all 2>&1; }
before=$(plan | grep -E '^(CC|LD|CUDA) ')
# A source of an object had another path, one more object was linked, and a test and a library have no source any more.
obj=$old/cudart-9/api_array
rm "$obj.d" && printf '%s: src/cudart/api_array.c src/gone.h\nsrc/gone.h:\n' "$obj.o" >"$obj.d"
sed -i 's#$# src/study/gone.o#' "$old/lists/exe"
mkdir -p "$old/tests" && touch "$old/tests/test_gone" "$old/tests/test_gone.d" "$old/lib/libgone.so"
after=$(plan | grep -E '^(CC|LD|CUDA) |No rule' | sed "s#^LD .*/old/#LD old/#")
want="CC src/cudart/runtime/api_array.c for CUDA 9
LD old/lib/libcudart.so.9.0
LD old/lib/libcudart.so.9.1
LD old/lib/libcudart.so.9.2
LD old/sluice"
[ -z "$before" ] && [ "$(sort <<<"$after")" = "$want" ] && ! ls "$old"/*/*gone* 2>/dev/null
rc=$?
[ $rc = 0 ] || printf 'before:\n%s\nafter:\n%s\n' "$before" "$after"
report "an old build folder serves after sources have moved" $rc
rm -rf "$old"

clang=$(command -v clang-14 || command -v clang)
make --no-print-directory -j"$(nproc)" B="$build/clang" CC="$clang" WERROR=1 V= lib cli >"$build/clang.log" 2>&1
rc=$?
[ $rc = 0 ] || grep -E 'error|warning' "$build/clang.log" | head -n 20
report "clang builds without warnings" $rc
[ $rc = 0 ] || exit 1
loud=$(grep -vE '^(CC|LD|GEN) [^ ]{1,160}$' "$build/clang.log" | grep -v 'Nothing to be done')
[ -z "$loud" ] || printf '%s\n' "$loud" | head -n 5
report "the build prints one short line a file" "$([ -z "$loud" ]; echo $?)"
# The CUDA runtime of the ordinary build serves both; LD_LIBRARY_PATH decides which libsluice it loads.
ptx=tests/cli/saxpy.ptx launch=tests/cli/saxpy.yaml
"$build/sluice" run --quiet --json "$dir/gcc.json" "$ptx" --launch "$launch" >/dev/null &&
  "$build/clang/sluice" run --quiet --json "$dir/clang.json" "$ptx" --launch "$launch" >/dev/null &&
  cmp "$dir/gcc.json" "$dir/clang.json"
report "gcc and clang builds give the same record" $?
exit $bad
