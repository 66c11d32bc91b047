#!/bin/bash
# Checks of the source: formatting (of JavaScript after make web-tools), cppcheck, shellcheck where present, dependency
# rules, generated pages, citations, words that the field does not use, unfinished markers.
#   tools/lint.sh [--build DIR]
# Prints "ok NAME" or "not ok NAME" per check; exits 1 when one failed.
set -u
cd "$(dirname "$0")/.." || exit 2
build=build
[ "${1:-}" = --build ] && build=$2
bad=0
report() { if [ "$2" = 0 ]; then echo "ok $1"; else echo "not ok $1"; bad=1; fi; }
mapfile -t sources < <(git ls-files 'src/*.c' 'src/*.h' 'src/*.inc' 'tests/unit/*.c' 'bench/*.c')

format=$(command -v clang-format-14 || command -v clang-format)
"$format" --dry-run -Werror "${sources[@]}" 2>&1 | grep -oE '^[^:]+:[0-9]+' | sort -u -t: -k1,1 | head -n 20
report clang-format "$(( ${PIPESTATUS[0]} != 0 ))"

if [ -x web/node_modules/.bin/prettier ]; then
  npm --silent --prefix web run lint
  report prettier $?
fi

# Suppressed: findings about X-macro headers parsed alone; type puns of lane vectors; and in the files named, paths that
# end in the parser's longjmp or arrays filled for the lanes of a mask, which cppcheck does not follow (gcc and the
# sanitizers do).
cppcheck --quiet --error-exitcode=1 --enable=warning,portability --inline-suppr --std=c11 -j "$(nproc)" -Isrc \
  -D__x86_64__ \
  --suppress=missingIncludeSystem --suppress=syntaxError --suppress=unknownMacro --suppress=internalAstError \
  --suppress=normalCheckLevelMaxBranches --suppress=preprocessorErrorDirective --suppress=comparePointers \
  --suppress=invalidPointerCast --suppress=compareBoolExpressionWithInt \
  --suppress='uninitvar:src/ptx/*' --suppress='arrayIndexOutOfBoundsCond:src/ptx/*' \
  --suppress=uninitvar:src/simt/ops/atom.c --suppress=uninitvar:src/simt/ops/tex.c \
  --template='{file}:{line}: {id}: {message}' $(printf '%s\n' "${sources[@]}" | grep '^src/.*\.c$')
report cppcheck $?

# Nothing builds the fuzz targets but those who run them.
if command -v clang-14 >/dev/null; then
  clang-14 -fsyntax-only -Wall -Wextra -Werror -Wno-unused-function -Wno-comment -D_GNU_SOURCE -Isrc \
    -I"$build/gen" fuzz/*.c
  report "fuzz targets compile" $?
fi

tools/rooms.py
[ $? = 0 ] || bad=1

if command -v shellcheck >/dev/null; then
  # shellcheck disable=SC2046
  shellcheck -S warning -e SC1007,SC2046 $(git ls-files | xargs grep -lE '^#!(/usr)?/bin/(env )?(ba)?sh' 2>/dev/null)
  report shellcheck $?
fi

for page in knobs counters schemes scheme-pairs hooks energies invariants; do
  if [ -x "$build/sluice" ]; then
    "$build/sluice" docs $page | diff -q - "docs/reference/$page.md" >/dev/null
    report "docs/reference/$page.md is current" $?
  fi
done

if [ -e "$build/lib/libsluice-core.so" ] && ${CC:-cc} -Isrc -o "$build/ptx-support" tools/ptx-support.c -L"$build/lib" \
  -lsluice-core -Wl,-rpath,"$(realpath "$build/lib")"; then
  "$build/ptx-support" | diff -q - docs/reference/ptx-support.md >/dev/null
  report "docs/reference/ptx-support.md is current" $?
fi

tools/citations.py || bad=1

tools/words.py || bad=1

if command -v mypy >/dev/null; then
  mypy --config-file python/mypy.ini --cache-dir "$build/mypy" python/sluice >"$build/mypy.log" ||
    { cat "$build/mypy.log"; false; }
  report "types of the Python package" $?
  flake8 --max-line-length 140 python tests/python/run
  report "flake8 of it" $?
fi

tools/programs.py | diff -q - docs/reference/programs.md >/dev/null
report "docs/reference/programs.md is current" $?

git grep -nIE '\b(TO''DO|FIX''ME|XX''X|HA''CK)\b' -- '*.c' '*.h' '*.def' '*.sh' '*.js' '*.cu' Makefile | head -n 5 |
  grep .
report "no unfinished markers" "$(( $? == 0 ))"

awk '{n[FILENAME] = FNR}
  END {for (f in n) if (n[f] > (f ~ /\.h$/ ? 300 : 800)) {print f ": " n[f] " lines"; bad = 1} exit bad}' \
  $(git ls-files 'src/*.c' 'src/*.h' 'src/*.inc' 'tests/unit/*.[ch]' 'bench/*.[ch]' 'workloads/*.h')
report "headers of at most 300 lines, other files of at most 800" $?

version=$(sed -n 's/^.define SLUICE_VERSION "\(.*\)"/\1/p' src/cli/frame/cli.h)
grep -qx "version: \"$version\"" CITATION.cff
report "CITATION.cff has the version" $?
tools/citation-file.py || bad=1

awk -v max=70 -v params=7 -f tools/functions.awk $(git ls-files '*.c' '*.h' '*.inc')
report "functions of at most 70 lines and 7 parameters" $?

# Tables (.def, room.mk), CUDA programs and the shell scripts of tests, which hold whole commands, may be wider; python/
# and workloads/ are not checked.
wide=$(git ls-files 'src/*.[ch]' 'src/*.inc' 'tests/*.[ch]' 'bench/*.[ch]' 'tools/*' '*.py' ':!workloads' ':!python' |
  xargs grep -nHE '^.{121,}' | cut -c1-160 | head -n 20)
[ -z "$wide" ] || echo "$wide"
report "lines of at most 120 columns" "$([ -z "$wide" ]; echo $?)"

wrong=$(for header in $(git ls-files 'src/*.h'); do
  guard=$(echo "${header#src/}" | tr 'a-z/.-' 'A-Z___')
  grep -q "^#ifndef $guard\$" "$header" || echo "$header: its guard is not $guard"
done)
[ -z "$wrong" ] || echo "$wrong"
report "guards of headers are their paths" "$([ -z "$wrong" ]; echo $?)"

# A search for a file-local function finds it: no name is defined in more than two files.
git grep -oE '^(static|STEP) [^=;{}()]*\<[a-z_0-9]+\(' -- 'src/*.c' 'src/*.h' 'src/*.inc' |
  sed -E 's/^([^:]+):.*[^a-z_0-9]([a-z_0-9]+)\($/\2 \1/' |
  grep -v '^__attribute__ ' | sort -u |
  awk '{n[$1]++; in_[$1] = in_[$1] " " $2} END {for (f in n) if (n[f] > 2) {print f ":" in_[f]; bad = 1} exit bad}'
report "names of file-local functions occur in at most two files" "${PIPESTATUS[4]}"
exit $bad
