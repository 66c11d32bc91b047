# What the attacks share. An attack sources this, then calls `report` for each thing that must hold and ends with
# `finish`:
#   . "$(dirname "$0")/common.sh"
# It then stands in an empty folder of its own, removed at the end; BUILD, ROOT, SLUICE and `sluice` are set.
# shellcheck shell=bash
set -u
BUILD=$(realpath "$1")
# shellcheck disable=SC2034 # for attacks that need it
ROOT=$(realpath "$(dirname "$0")/../..")
SLUICE=$BUILD/sluice
export LC_ALL=C.UTF-8
unset SLUICE_DATA SLUICE_DIR
dir=$(mktemp -d)
# A signal may reach a job of the shell before it has become its command, while it has the shell's own traps.
mine() { [ "$BASHPID" = $$ ]; }
trap 'mine && rm -rf "$dir"' EXIT
cd "$dir" || exit 2
bad=0 round=0
sluice() { "$SLUICE" "$@"; }
# shellcheck disable=SC2034
report() { # NAME STATUS
  if [ "$2" = 0 ]; then echo "ok $1"; else echo "not ok $1"; bad=1; fi
}
finish() { exit $bad; }
# What must end within seconds: 20 of processor time, as the machine may be busy. 137 or 124: it did not.
soon() { (ulimit -t 20 && exec timeout 600 "$@"); }
# `while again; do`: true once, then until HOURS are over. SEED is 1 in the first round (or what the environment says)
# and fresh in each further one; an attack prints it with what failed.
again() {
  round=$((round + 1))
  if [ $round = 1 ]; then
    SEED=${SEED:-1} started=$SECONDS
    return 0
  fi
  [ -n "${HOURS:-}" ] || return 1
  awk -v h="$HOURS" -v s=$((SECONDS - started)) 'BEGIN {exit !(s < h * 3600)}' || return 1
  SEED=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
}
# Counts of a long run, one line at most a minute.
count() { # TEXT
  [ -n "${HOURS:-}" ] && [ $((SECONDS - ${counted:-0})) -ge 60 ] || return 0
  counted=$SECONDS
  echo "$(basename "$0"): $1"
}
