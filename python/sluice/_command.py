"""The command `sluice` as a child process: where it is, how it is started, watched and stopped."""
from __future__ import annotations

import functools
import json
import os
import pathlib
import pty
import selectors
import shutil
import signal
import subprocess
import sys
import tty
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Union

from ._errors import MissingError, error_of
from ._progress import Progress

Path = Union[str, "os.PathLike[str]"]
Option = Union[None, bool, int, float, str, "os.PathLike[str]", Sequence[Union[int, float, str]]]


@functools.lru_cache(maxsize=None)
def _found(named: Optional[str]) -> str:
    here = pathlib.Path(__file__).resolve().parent
    beside = [here / "installed" / "sluice", here.parents[1] / "sluice"]  # of a wheel, of a build folder
    at = named or next((str(p) for p in beside if os.access(p, os.X_OK) and p.is_file()), None) or shutil.which("sluice")
    if not at:
        raise MissingError("the command 'sluice' is not installed; use the environment variable SLUICE to say where it is")
    return at


def command() -> str:
    """Path of the command that the package starts: $SLUICE, else the one beside the package, else of $PATH."""
    return _found(os.environ.get("SLUICE"))


def data_file(name: str) -> Optional[str]:
    """A file of the command's data folder, None if it is not there."""
    at = pathlib.Path(os.environ.get("SLUICE_DATA") or pathlib.Path(command()).resolve().parent / "share" / "sluice") / name
    return str(at) if at.exists() else None


class Ended(NamedTuple):
    """A child that has ended."""

    code: int  # of its exit; 128 + n for signal n
    output: str  # standard output
    messages: str  # standard error without progress


class _Messages:
    """Standard error of a child in parts: whole lines, and the line of progress that is drawn over and over."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._rest = b""
        self.lines: List[bytes] = []

    def feed(self, data: bytes) -> None:
        """More bytes; a progress line begins with a carriage return and has no end."""
        *whole, self._rest = (self._rest + data).split(b"\n")
        self.lines += [line.replace(b"\033[K", b"\r").split(b"\r")[-1] for line in whole]
        if b"\r" in self._rest and not self._rest.endswith((b"\r", b"\033", b"[")):
            self._progress.show(self._rest.replace(b"\033[K", b"\r").split(b"\r")[-1].decode(errors="replace"))

    def text(self) -> str:
        """All of it but progress."""
        rest = b"" if b"\r" in self._rest else self._rest
        return b"\n".join([*self.lines, rest]).decode(errors="replace")


def _stop(child: "subprocess.Popen[bytes]") -> None:
    """As Ctrl-C: the command stops its simulations and removes what is half-written."""
    if child.poll() is None:
        child.send_signal(signal.SIGINT)
    try:
        child.wait(20)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def _listen(child: "subprocess.Popen[bytes]", errors: int, messages: _Messages) -> bytes:
    assert child.stdout
    output = []
    with selectors.DefaultSelector() as s:
        s.register(child.stdout.fileno(), selectors.EVENT_READ)
        s.register(errors, selectors.EVENT_READ)
        while s.get_map():
            for key, _ in s.select():
                try:
                    data = os.read(key.fd, 65536)
                except OSError:  # a terminal whose other side is closed
                    data = b""
                if not data:
                    s.unregister(key.fd)
                elif key.fd == errors:
                    messages.feed(data)
                else:
                    output.append(data)
    return b"".join(output)


def call(words: Sequence[str], cwd: Optional[Path] = None, progress: bool = False) -> Ended:
    """Run the command with these words to its end. Ctrl-C stops it, and all that it started, before it is raised."""
    shown = Progress(progress)
    messages = _Messages(shown)
    if shown.on:  # progress is drawn on terminals only
        errors, theirs = pty.openpty()
        tty.setraw(theirs)
    else:
        errors, theirs = os.pipe()
    child = None
    try:
        child = subprocess.Popen(
            [command(), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=theirs,
            cwd=cwd,
            start_new_session=True,  # Ctrl-C reaches this process alone, which passes it on
        )
        os.close(theirs)
        theirs = -1
        output = _listen(child, errors, messages)
        code = child.wait()
    except BaseException:
        if child:
            _stop(child)
        raise
    finally:
        if child and child.stdout:
            child.stdout.close()
        if theirs >= 0:
            os.close(theirs)
        os.close(errors)
        shown.close()
    return Ended(code if code >= 0 else 128 - code, output.decode(errors="replace"), messages.text())


def checked(words: Sequence[str], cwd: Optional[Path] = None, progress: bool = False, good: Sequence[int] = (0,)) -> Ended:
    """The same; raises an Error if the exit code is not among `good`."""
    ended = call(words, cwd, progress)
    if ended.code == 130:
        raise KeyboardInterrupt
    if ended.code not in good:
        raise error_of(ended.code, ended.messages, ["sluice", *words], ended.output)
    return ended


@functools.lru_cache(maxsize=None)
def listed(*words: str) -> Any:
    """What a command prints as JSON."""
    return json.loads(checked([*words, "--json"]).output)


def main() -> None:
    """The command `sluice` of a wheel: becomes the program within it."""
    os.execv(command(), ["sluice", *sys.argv[1:]])


def option_words(options: Dict[str, Option]) -> List[str]:
    """{"timing_kernels": "0:3", "lines": True} as the words of the command line; None and False are left out."""
    words = []
    for key, value in options.items():
        name = "--" + key.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(name)
        elif isinstance(value, (list, tuple)):
            words += [w for v in value for w in (name, str(v))]
        else:
            words += [name, os.fspath(value) if isinstance(value, os.PathLike) else str(value)]
    return words
