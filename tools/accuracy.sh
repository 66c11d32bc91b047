#!/bin/sh
# accuracy.sh - refill the table of docs/explanation/accuracy.md: cycles of every calibration case, with its error.
#
#   tools/accuracy.sh [BUILD]
set -e
cd "$(dirname "$0")/.."
build=${1:-build} tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
"$build/sluice" calibrate --csv "$tmp/all.csv" >"$tmp/out" || true
{
  echo '| case | fermi | lrr | ball |'
  echo '|---|---:|---:|---:|'
  awk -F, '
    $3 == "cycles" { if (!($2 in seen)) { seen[$2] = 1; order[++n] = $2 } ours[$1, $2] = $4; ref[$1, $2] = $5 }
    END {
      split("fermi lrr ball", table, " ")
      for (i = 1; i <= n; i++) {
        printf "| %s |", order[i]
        for (t = 1; t <= 3; t++) {
          o = ours[table[t], order[i]]; r = ref[table[t], order[i]]
          if (r == "") printf " |"
          else if (o == r) printf " %d |", o
          else printf " %d (%+.2f %%) |", o, (o / r - 1) * 100
        }
        print ""
      }
    }' "$tmp/all.csv"
  echo
  echo '| | mean error | worst | correlation |'
  echo '|---|--:|--:|--:|'
  sed -nE -e 's/^== (\w+):.*/\1/p' \
    -e 's/^cycles: mean abs error ([^,]*), worst ([^,]*), correlation (.*)/| \1 | \2 | \3 |/p' "$tmp/out" |
    sed -E 'N; s/^(\w+)\n/| \1 /'
} >"$tmp/table"
awk -v table="$tmp/table" '
  /<!-- begin:table -->/ { print; while ((getline line < table) > 0) print line; skip = 1 }
  /<!-- end:table -->/ { skip = 0 }
  !skip || /<!-- end:table -->/ { if (!/<!-- begin:table -->/) print }' docs/explanation/accuracy.md >"$tmp/page"
cp "$tmp/page" docs/explanation/accuracy.md
