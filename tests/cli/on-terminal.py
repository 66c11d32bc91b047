#!/usr/bin/env python3
"""Run a command on a terminal of a given width and print what it shows there.

  tests/cli/on-terminal.py COLUMNS [--longest] COMMAND...

With --longest only the command's words and whether a line is longer than the terminal is wide. Exits as the command
does.
"""
import fcntl
import os
import pty
import select
import struct
import sys
import termios

columns, argv = int(sys.argv[1]), sys.argv[2:]
longest = argv[0] == "--longest"
if longest:
    argv = argv[1:]
fd, held = pty.openpty()
pid = os.fork()
if not pid:
    os.login_tty(held)
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    os.environ.update(NO_COLOR="1", TERM="xterm")
    os.environ.pop("COLUMNS", None)
    if "SET_COLUMNS" in os.environ:
        os.environ["COLUMNS"] = os.environ["SET_COLUMNS"]
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # progress is not what is looked at
    os.execvp(argv[0], argv)
out, ended = b"", False
while True:
    # `held` stays open: a loaded kernel may report the close before the last bytes. What was written between a wait in
    # vain and the end of the command is still to be read.
    if not select.select([fd], [], [], 0.1)[0]:
        if ended:
            break
        ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        continue
    try:
        more = os.read(fd, 65536)
    except OSError:
        break
    if not more:
        break
    out += more
_, status = os.waitpid(pid, 0)
text = out.decode().replace("\r\n", "\n")
if longest:
    name = " ".join([os.path.basename(argv[0]), *argv[1:]])
    width = max(map(len, text.split("\n")))
    print(f"{columns}: {name}:", "fits" if 0 < width <= columns else f"{width} columns")
else:
    sys.stdout.write(text)
sys.exit(os.waitstatus_to_exitcode(status))
