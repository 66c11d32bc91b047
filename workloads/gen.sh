#!/bin/sh
# gen.sh - the list and the page of the bundled workloads, from the header comment of each source.
#
#   workloads/gen.sh tsv            workloads/index.tsv
#   workloads/gen.sh json [BUILD]   the list that `sluice workloads` reads; programs are in BUILD/workloads
#   workloads/gen.sh md             docs/reference/workloads.md
#
# A header comment begins "NAME - what it does" and has the fields Program, Suites (suite=name in the paper), Groups
# (suite=class), Algorithm, Loads and Simplified; lines that continue a field are indented by two.
set -e
cd "$(dirname "$0")/.."
form=${1:-tsv} build=${2:-build}
case $form in tsv | json | md) ;; *) echo "usage: gen.sh tsv|json|md" >&2; exit 2 ;; esac

for f in workloads/*/*.cu; do cat "$f"; printf '\n@@END %s\n' "$f"; done | awk -v form="$form" -v build="$build" '
function flush_workload(path, n, i, parts) {
  split(path, parts, "/")
  if (name != parts[2]) { print path ": header comment names \"" name "\"" > "/dev/stderr"; bad = 1 }
  n = split("Program Suites Groups Algorithm Loads Simplified", keys, " ")
  for (i = 1; i <= n; i++) if (field[keys[i]] == "" ) { print path ": no field " keys[i] > "/dev/stderr"; bad = 1 }
  suites = field["Suites"]; if (suites == "none") suites = ""
  groups = field["Groups"]; if (groups == "none") groups = ""
  if (form == "tsv") tsv(); else if (form == "json") json(); else md()
}
function tsv(a, n, i, s) {
  n = split(suites, a, " "); s = ""
  for (i = 1; i <= n; i++) { sub(/=.*/, "", a[i]); s = s (i > 1 ? "," : "") a[i] }
  gsub(/ /, ",", suites); gsub(/ /, ",", groups)
  print name "\t" s "\t" suites "\t" groups "\t" about "\t--size small\t--size medium\t--size large\t" small_insts[name] "\t" small_seconds[name] "\t" insts[name] "\t" seconds[name]
}
function object(text, a, n, i, s, p) {
  n = split(text, a, " "); s = "{"
  for (i = 1; i <= n; i++) { p = index(a[i], "="); s = s (i > 1 ? ", " : "") "\"" substr(a[i], 1, p - 1) "\": \"" substr(a[i], p + 1) "\"" }
  return s "}"
}
function quoted(t) { gsub(/\\/, "\\\\", t); gsub(/"/, "\\\"", t); return "\"" t "\"" }
function json() {
  printf "%s  {\"name\": \"%s\", \"about\": \"%s\", \"program\": \"%s/workloads/%s\", \"args\": \"--size small\",\n   \"stands_for\": %s, \"algorithm\": %s, \"loads\": %s, \"simplified\": %s,\n   \"suites\": %s, \"groups\": %s%s}", count++ ? ",\n" : "[\n", name, about, build, name, quoted(field["Program"]), quoted(field["Algorithm"]), quoted(field["Loads"]), quoted(field["Simplified"]), object(suites), object(groups), \
    name in insts ? ",\n   \"warp_insts\": {\"small\": " small_insts[name] ", \"medium\": " insts[name] (large_insts[name] ? ", \"large\": " large_insts[name] : "") "}, \"seconds\": {\"small\": " small_seconds[name] ", \"medium\": " seconds[name] "}" : ""
}
function md() {
  classes[name] = groups
  row[++count] = "| [" name "](#" name ") | " about " | " pretty(suites) " | " pretty(groups) " |"
  text[count] = "## " name "\n" about " (" field["Program"] ").\n\n- **Algorithm:** " field["Algorithm"] "\n- **Loads:** " field["Loads"] "\n" (field["Simplified"] ~ /^nothing\.$/ ? "" : "- **Simplified:** " field["Simplified"] "\n")
}
# The table of measured.tsv against the classes of the header comments; a note of notes.tsv says what differs.
function measured(line, c, n, i, paper, class, mine, given, fits, note, key) {
  while ((getline line < "workloads/notes.tsv") > 0) { split(line, c, "\t"); note[c[1]] = c[2] }
  print "## Measured\n"
  print "At size medium, by `workloads/measure.sh`, each class on the machine of its paper. IPC and L1 hits are of `fermi`. Times are processor seconds"
  print "of one core in timing mode; `-` is not measured. The remark after a missed class names the cause; without a counter it is a conjecture.\n"
  print "| column | meaning | class |\n|---|---|---|"
  print "| over 2 | global load instructions with more than two accesses | over 10 %: un-coalesced (BUCL, `--gpu fermi`) |"
  print "| bypass | IPC with all loads bypassing the L1 over the baseline | over 1.02: cache-unfriendly; under 0.98: friendly; else insensitive (`--gpu decoupled-l1d`) |"
  print "| 32 B | IPC with lines of 32 B over 128 B | over 1: cache-line-negative; else positive (TSC, `--gpu fermi`) |"
  print "| warps | most frequent type of warps at the L2, and its share | that type (`--gpu medic`) |\n"
  print "| name | small: warp instructions, s | medium: warp instructions, s | large: warp instructions | IPC | L1 hits | over 2 | bypass | 32 B | warps | in the paper'"'"'s class |\n|---|---|---|---|---|---|---|---|---|---|---|"
  given = fits = 0
  while ((getline line < "workloads/measured.tsv") > 0) {
    split(line, c, "\t")
    if (c[1] == "name") continue
    mine["bucl"] = c[9] == "" ? "" : c[9] > 10 ? "un-coalesced" : "coherent"
    mine["decoupled-l1d"] = c[10] == "" ? "" : c[10] > 1.02 ? "cache-unfriendly" : c[10] < 0.98 ? "cache-friendly" : "cache-insensitive"
    mine["medic"] = c[12]
    mine["tsc"] = c[11] == "" ? "" : c[11] > 1 ? "cache-line-negative" : "cache-line-positive"
    n = split(classes[c[1]], pairs, " "); verdict = ""
    for (i = 1; i <= n; i++) {
      paper = pairs[i]; sub(/=.*/, "", paper); class = pairs[i]; sub(/^[^=]*=/, "", class)
      if (!(paper in mine) || mine[paper] == "") continue
      given++; if (mine[paper] == class) { fits++; text_ = "yes" } else text_ = "**no**, " mine[paper]
      verdict = verdict (verdict == "" ? "" : "; ") paper ": " text_
    }
    if (c[1] in note) verdict = verdict ". " note[c[1]]
    for (i = 2; i <= 14; i++) if (c[i] == "") c[i] = "-"
    printf "| %s | %s, %s | %s, %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", c[1], thousands(c[2]), c[3], thousands(c[4]), c[6], thousands(c[14]), c[7], c[8] (c[8] == "-" ? "" : " %"), c[9] (c[9] == "-" ? "" : " %"), c[10], c[11], c[12] (c[13] == "-" ? "" : ", " c[13] " %"), verdict
  }
  print "\n" fits " of the " given " classes that the papers give are reproduced.\n"
}
# originals.tsv (workloads/beside.py): what the papers say of their programs, the original programs, the workloads.
function number(x) { return x == "" ? "-" : x + 0 >= 1000 ? thousands(x) : x }
function apart(a, b) { return a != "" && b != "" && (a > b ? a - b : b - a) > 0.15 * (a > 0 ? a : -a) && ((a > b ? a - b : b - a) >= 1) }
function originals(line, c, k, i, n, q, key, paper, papers, about) {
  print "## Beside the originals\n"
  print "The original programs, and the workloads that stand for them, at size medium in the baseline of each paper\047s machine: *paper, original, workload* in"
  print "every cell, `-` where there is none, and the workload\047s bold where it is more than 15 % (and more than 1) from the original\047s. `data/originals/` has versions,"
  print "command lines and inputs; `workloads/beside.py --stored` makes the table from the [stored results](../../results/README.md). Papers count thread instructions of their own inputs, which are larger than medium.\n"
  split("bucl tsc medic decoupled-l1d sharing", papers, " ")
  about["bucl"] = "Percent: read hits in L1 and L2; loads with more than two accesses, and with 21 to 32; reuse of the lines that loads of degree 21 to 32 fetch, of that at degree 1 (Fig 5c)."
  about["tsc"] = "Percent: L1 hits; lines of which one quarter was used; of the reused lines, those of which one quarter was reused (Fig 1); loads with a miss (Fig 4)."
  about["medic"] = "Percent: L2 hits; warps by type (Table II). In L2 cycles: penalty of all-hit warps (Fig 7), queueing delay (Fig 8)."
  about["decoupled-l1d"] = "Percent: L1 hits; lines referenced once, and four times or more (Fig 3); reuses at a distance under 128 lines (Fig 11)."
  about["sharing"] = "Percent: blocks shared by CTAs; of these, at a distance under 5 CTAs (Fig 3); blocks shared by SMs (Fig 5); L2 misses that are a first access. SMs of a shared block; the longest CTA over the mean (Fig 8)."
  while ((getline line < "workloads/published.tsv") > 0) { split(line, c, "\t"); if (c[2] == "mean") said[c[1], c[3]] = c[4] }
  while ((getline line < "workloads/originals.tsv") > 0) {
    split(line, c, "\t")
    if (c[1] == "paper") continue
    if (!((c[1], c[4]) in seen_q)) { seen_q[c[1], c[4]] = 1; quantity[c[1], ++quantities[c[1]]] = c[4] }
    if (!((c[1], c[3]) in seen_p)) { seen_p[c[1], c[3]] = 1; program[c[1], ++programs[c[1]]] = c[3]; stands[c[1], c[3]] = c[2] }
    cell[c[1], c[3], c[4]] = number(c[5]) ", " number(c[6]) ", " (apart(c[6], c[7]) ? "**" number(c[7]) "**" : number(c[7]))
    if (c[6] != "" && c[7] != "") { pairs_n++; pairs_near += !apart(c[6], c[7]); sums[c[1], c[4]]++; theirs[c[1], c[4]] += c[6]; own[c[1], c[4]] += c[7] }
  }
  for (i = 1; i <= 5; i++) {
    paper = papers[i]
    if (!programs[paper]) continue
    line = "| " paper " |"; key = "|---|"
    for (q = 1; q <= quantities[paper]; q++) { line = line " " quantity[paper, q] " |"; key = key "---|" }
    print about[paper] "\n\n" line "\n" key
    for (k = 1; k <= programs[paper]; k++) {
      line = "| " program[paper, k] " (" stands[paper, program[paper, k]] ") |"
      for (q = 1; q <= quantities[paper]; q++) { n = cell[paper, program[paper, k], quantity[paper, q]]; line = line " " (n == "" ? "-, -, -" : n) " |" }
      print line
    }
    line = "| mean of those with both |"
    for (q = 1; q <= quantities[paper]; q++) { n = sums[paper, quantity[paper, q]]; line = line " " (q == 1 || !n ? "" : number(said[paper, quantity[paper, q]]) ", " short(theirs[paper, quantity[paper, q]] / n) ", " short(own[paper, quantity[paper, q]] / n)) " |" }
    print line "\n"
  }
  print pairs_near " of " pairs_n " numbers that both have are within 15 % of each other, or within 1.\n"
}
function short(x) { return sprintf(x >= 100 ? "%.0f" : "%.1f", x) }
function thousands(x, s) { s = ""; while (length(x) > 3) { s = "," substr(x, length(x) - 2) s; x = substr(x, 1, length(x) - 3) } return x s }
function pretty(t) { gsub(/=/, ": ", t); return words(t) }
function words(t, a, n, i, s) { # "bucl: KMN tsc: kmeans" -> with commas between pairs
  n = split(t, a, " "); s = ""
  for (i = 1; i <= n; i++) s = s a[i] (i < n ? (a[i] ~ /:$/ ? " " : ", ") : "")
  return s
}
/^@@END / { flush_workload($2); inside = 0; seen = 0; delete field; next }
/^\/\* / && !seen { seen = inside = 1; line = $0; sub(/^\/\* /, "", line); name = line; sub(/ - .*/, "", name); about = line; sub(/^[^ ]* - /, "", about); key = ""; next }
inside && /^ \*\// { inside = 0 }
inside && /^ \* [A-Z][a-z]*: / { key = $2; sub(/:$/, "", key); line = $0; sub(/^ \* [A-Z][a-z]*: */, "", line); field[key] = line; next }
inside && /^ \*   / && key != "" { line = $0; sub(/^ \* */, "", line); field[key] = field[key] " " line }
BEGIN {
  while ((getline line < "workloads/measured.tsv") > 0) {
    split(line, c, "\t")
    if (c[6] == "") continue
    small_insts[c[1]] = c[2]; small_seconds[c[1]] = c[3]; insts[c[1]] = c[4]; seconds[c[1]] = c[6]; large_insts[c[1]] = c[14]
  }
  close("workloads/measured.tsv")
  if (form == "tsv") print "name\tsuites\tabbreviations\tgroups\tabout\tsmall\tmedium\tlarge\tsmall_warp_insts\tsmall_seconds\tmedium_warp_insts\tmedium_seconds"
}
END {
  if (form == "json") print count ? "\n]" : "[]"
  if (form == "md") {
    print "# Workloads\n\nGenerated by `workloads/gen.sh md` from the header comments of `workloads/*/*.cu` and from\n`workloads/measured.tsv`.\n"
    print "Every program generates its input from `--seed`, runs, and compares its result with a CPU reference; the last line is\n`NAME PASS` or `NAME FAIL`, and the exit code says the same. `--size small|medium|large` selects the input;\n`--help` lists the parameters behind the sizes. Programs that work on graphs or sparse matrices read DIMACS and Matrix\nMarket files with `--input FILE`.\n"
    print "| name | what it does | name in the papers | class in the papers |\n|---|---|---|---|"
    for (i = 1; i <= count; i++) print row[i]
    print ""
    measured()
    originals()
    print "The [notes](../notes/workloads.md) list inputs whose choice followed a measurement.\n"
    for (i = 1; i <= count; i++) print text[i]
  }
  exit bad
}'
