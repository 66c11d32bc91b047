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
  print "of one core in timing mode. The remark after a missed class names the cause; without a counter it is a conjecture.\n"
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
    mine["bucl"] = c[9] > 10 ? "un-coalesced" : "coherent"
    mine["decoupled-l1d"] = c[10] > 1.02 ? "cache-unfriendly" : c[10] < 0.98 ? "cache-friendly" : "cache-insensitive"
    mine["medic"] = c[12]
    mine["tsc"] = c[11] > 1 ? "cache-line-negative" : "cache-line-positive"
    n = split(classes[c[1]], pairs, " "); verdict = ""
    for (i = 1; i <= n; i++) {
      paper = pairs[i]; sub(/=.*/, "", paper); class = pairs[i]; sub(/^[^=]*=/, "", class)
      if (!(paper in mine)) continue
      given++; if (mine[paper] == class) { fits++; text_ = "yes" } else text_ = "**no**, " mine[paper]
      verdict = verdict (verdict == "" ? "" : "; ") paper ": " text_
    }
    if (c[1] in note) verdict = verdict ". " note[c[1]]
    printf "| %s | %s, %s | %s, %s | %s | %s | %s %% | %s %% | %s | %s | %s, %s %% | %s |\n", c[1], thousands(c[2]), c[3], thousands(c[4]), c[6], thousands(c[14]), c[7], c[8], c[9], c[10], c[11], c[12], c[13], verdict
  }
  print "\n" fits " of the " given " classes that the papers give are reproduced.\n"
}
# originals.tsv: original programs beside the workloads in the baseline of a machine; what differs by more than 15 % is named.
function share(a, b) { return a == "" ? "-" : a " %, " b " %" }
function apart(name, a, b) { return a != "" && (a > b ? a - b : b - a) > 0.15 * a && (a > b ? a - b : b - a) >= 1 ? name : "" }
function originals(line, c, far, what, n, sum, own) {
  print "## Beside the originals\n"
  print "The original programs of BUCL and the workloads at size medium, in the baseline of `--gpu bucl`: original, workload. `data/originals/bucl.yaml` has the"
  print "versions and command lines. \"Paper\" is the count of thread instructions of Table I; in brackets is that of the original on the input that the"
  print "paper names or its count suggests. \"Over 2\" is the share of loads with more than two accesses. What differs by more than 15 % is in the last column.\n"
  print "| workload | original, its input | thread instructions: paper | original, workload | L1 hits | L2 hits | over 2 | differs |\n|---|---|---:|---:|---:|---:|---:|---|"
  while ((getline line < "workloads/originals.tsv") > 0) {
    split(line, c, "\t")
    if (c[1] == "name") continue
    far = apart("L1 hits", c[9], c[10]); what = apart("L2 hits", c[11], c[12]); far = far (far != "" && what != "" ? ", " : "") what
    if (classes[c[1]] ~ /bucl=un-coalesced/) { n++; sum += c[9]; own += c[10] }
    what = apart("loads over 2", c[13], c[14]); far = far (far != "" && what != "" ? ", " : "") what
    printf "| %s (%s) | %s, %s | %s%s | %s, %s | %s | %s | %s | %s |\n", c[1], c[2], c[3], c[4], thousands(c[5]), c[6] == "" ? "" : " (" thousands(c[6]) ")", thousands(c[7]), thousands(c[8]), share(c[9], c[10]), share(c[11], c[12]), share(c[13], c[14]), far == "" ? "-" : far
  }
  printf "\nMean L1 hit rate of the un-coalesced %d: paper 18 %%, originals %.1f %%, workloads %.1f %%. The original `kmeans` reads points through a\n", n, sum / n, own / n
  print "texture: all of its global loads have degree 32; the paper has 50 %.\n"
}
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
