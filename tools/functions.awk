# Functions of C sources that are too long: a definition starts at column 0, its body ends with a brace at column 0.
#   awk -v max=70 -f tools/functions.awk FILE...
# Prints FILE:LINE: N lines: SIGNATURE of each that has more than `max` lines; exits 1 when one has.
FNR == 1 { open = start = 0 }
{ code = $0; sub(/[ \t]*\/[*\/].*$/, "", code) }
!open && /^[A-Za-z_]/ && code !~ /;$/ { start = FNR; text = $0 }
!open && start && code ~ /= \{$/ { start = 0 }
!open && start && code ~ /\{$/ { open = 1 }
open && /^}/ {
  if (/^}$/ && text ~ /\(/ && FNR - start + 1 > max) {
    print FILENAME ":" start ": " FNR - start + 1 " lines: " text
    bad = 1
  }
  open = start = 0
}
END { exit bad }
