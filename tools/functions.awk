# Functions of C sources that are too long or take too many parameters: a definition starts at column 0, its body ends
# with a brace at column 0.
#   awk -v max=70 -v params=7 -f tools/functions.awk FILE...
# Prints FILE:LINE: what is too much: SIGNATURE of each; exits 1 when there is one.
# CUDA dictates the parameters of its own calls.
FNR == 1 { open = start = 0 }
{ code = $0; sub(/[ \t]*\/[*\/].*$/, "", code) }
!open && /^[A-Za-z_]/ && code !~ /;$/ { start = FNR; text = "" }
!open && start { text = text code }
!open && start && code ~ /= \{$/ { start = 0 }
!open && start && code ~ /\{$/ {
  open = 1
  n = count(text)
  if (n > params && text !~ /[ *](__cuda|cuda|cu)[A-Z][A-Za-z0-9_]*\(/) {
    print FILENAME ":" start ": " n " parameters: " text
    bad = 1
  }
}
open && /^}/ {
  if (/^}$/ && text ~ /\(/ && FNR - start + 1 > max) {
    print FILENAME ":" start ": " FNR - start + 1 " lines: " text
    bad = 1
  }
  open = start = 0
}
END { exit bad }

# The parameters between the last pair of outer parentheses: attributes and the head of a macro stand before it.
function count(s, i, c, depth, n) {
  for (i = 1; i <= length(s); i++) {
    c = substr(s, i, 1)
    if (c == "(" && depth++ == 0) n = 1
    else if (c == ")") depth--
    else if (c == "," && depth == 1) n++
  }
  return n
}
