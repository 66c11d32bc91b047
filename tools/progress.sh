#!/bin/bash
# Run a build and say how far it is, in one line of a terminal that is written over (elsewhere a line for every tenth).
#   tools/progress.sh MAKE [ARGUMENTS]
# What is no line of a file (`CC src/base/err.c`), a warning or an error, is printed as it is. With V=1 in the
# environment the build prints its whole commands.
set -u -o pipefail
[ "${V:-}" = 1 ] && exec "$@"
file='^(CC|LD|CUDA|GEN|NPM|WEB) [^ ]'
total=$("$@" -n 2>/dev/null | grep -cE "$file")
terminal=
[ -t 1 ] && terminal=1
width=${COLUMNS:-$(tput cols 2>/dev/null || echo 80)}
"$@" 2>&1 | {
  n=0 tenth=0
  while IFS= read -r line; do
    case $line in *"Nothing to be done for"*) continue ;; esac
    if [[ $line =~ $file ]]; then
      n=$((n + 1))
      text="building: $n of $total  $line"
      if [ -n "$terminal" ]; then printf '\r\033[K%s' "${text:0:width-1}"
      elif [ $((n * 10)) -ge $(((tenth + 1) * total)) ]; then
        tenth=$((n * 10 / total))
        echo "building: $n of $total files"
      fi
    else
      [ -n "$terminal" ] && printf '\r\033[K'
      printf '%s\n' "$line"
    fi
  done
  [ -n "$terminal" ] && printf '\r\033[K'
  exit 0
}
