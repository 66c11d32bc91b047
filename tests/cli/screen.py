#!/usr/bin/env python3
"""Run a command on a terminal of a given size and print what a reader of its screen would find.

  tests/cli/screen.py ROWS COLUMNS [--interrupt TEXT] COMMAND...

Printed: how many rows were used (5 or more as one), whether all lines were narrower than the terminal and
none above its first row was touched, and what is left on the screen. With --interrupt, Ctrl-C is typed when TEXT is
first shown, and the exit code is printed.
"""
import fcntl
import os
import pty
import re
import struct
import sys
import termios

rows_there, columns, argv, text = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:], None
if argv[0] == "--interrupt":
    text, argv = argv[1].encode(), argv[2:]
pid, fd = pty.fork()
if not pid:
    fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("HHHH", rows_there, columns, 0, 0))
    os.execvp(argv[0], argv)
out, typed = b"", False
try:
    while True:
        out += os.read(fd, 65536)
        if text and not typed and text in out:
            os.write(fd, b"\x03")
            typed = True
except OSError:
    _, status = os.waitpid(pid, 0)
# What a terminal would show: rows, a cursor, carriage return, line feed, cursor up, erase to the end of the line.
rows, y, x, most, longest, above = [""], 0, 0, 0, 0, 0
for part in re.findall(r"\033\[K|\033\[A|\r|\n|[^\033\r\n]", out.decode()):
    if part == "\033[K":
        rows[y] = rows[y][:x]
    elif part == "\033[A":
        y -= 1
        above += y < len(rows) - rows_there or y < 0
    elif part == "\r":
        x = 0
    elif part == "\n":
        y += 1
        rows += [""] * (y + 1 - len(rows))
    else:
        rows[y] = rows[y][:x].ljust(x) + part + rows[y][x + 1:]
        x += 1
        most, longest = max(most, y), max(longest, x)
print("rows up to", "5 or more" if most >= 4 else most,
      f"within {columns} columns" if longest < columns else f"a line of {longest} columns",
      *[f"{above} rows above the screen"] * bool(above))
print("left:", *[r for r in rows if r.strip()], sep="\n")
if text:
    print("exit", os.waitstatus_to_exitcode(status))
