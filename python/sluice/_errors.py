"""Errors of the package: what the command or the library said, in parts."""
from __future__ import annotations

import re
from typing import Dict, Optional, Sequence, Tuple, Type

from ._manual import Manual

_PLACE = re.compile(r"(?P<file>[^\s:'][^:\n]*):(?P<line>\d+)(?::(?P<column>\d+))?: (?P<text>.*)", re.S)
_FAULT = re.compile(r"kernel [^\n]*?, (?P<file>[^\s:,]+):(?P<line>\d+)(?P<column>)[:,]")
_HINT = re.compile(r"[;,] (?P<hint>(?:did you mean|say|use|try|it is|install|lists?|--)[^\n]*)")


class Error(Exception, metaclass=Manual):
    """Anything that Sluice refuses or that goes wrong in a simulation.

    message  the whole message, file, line and column included
    file     the input that is wrong: a study, PTX, a configuration; None where no file is
    line     in that file, from 1; None if unknown
    column   in that line, from 1; None if unknown
    hint     what to do instead ("did you mean 'bucl'?"), None where there is no proposal
    code     exit code of the command (docs/reference/exit-codes.md)
    command  the words of the command; empty where the library was called in this process
    output   what the program printed before the error
    """

    def __init__(self, message: str, code: int = 1, command: Sequence[str] = (), output: str = "") -> None:
        self.message = message
        self.code = code
        self.command: Tuple[str, ...] = tuple(command)
        self.output = output
        place = _FAULT.match(message) or _PLACE.match(message)
        self.file: Optional[str] = place["file"] if place else None
        self.line: Optional[int] = int(place["line"]) if place else None
        self.column: Optional[int] = int(place["column"]) if place and place["column"] else None
        hint = _HINT.search(message)
        self.hint: Optional[str] = hint["hint"] if hint else None
        super().__init__(message)


class InputError(Error, ValueError):
    """An unknown option, scheme, knob, GPU or counter; a file that cannot be read or parsed (code 2)."""


class UnsupportedError(Error):
    """A PTX form or a CUDA call that Sluice does not support (code 3)."""


class ProgramError(Error):
    """The simulated program's fault: an access out of bounds, a trap; or it ended with a code of its own (code 4)."""


class StuckError(Error):
    """A kernel makes no progress (code 5)."""


class NotReachedError(Error):
    """The program launched nothing on Sluice's runtime, or left no record (code 6)."""


class InternalError(Error):
    """An invariant of Sluice broke: a bug (code 70)."""


class MissingError(Error, ImportError):
    """A program or Python package that this call needs is not installed; the hint says which."""


class StrayWarning(UserWarning, metaclass=Manual):
    """Reads out of bounds gave zeroes; the result is there (code 7)."""


class FailedRunsWarning(UserWarning, metaclass=Manual):
    """Runs of a study failed; the others are there."""


_BY_CODE: Dict[int, Type[Error]] = {
    2: InputError,
    3: UnsupportedError,
    4: ProgramError,
    5: StuckError,
    6: NotReachedError,
    70: InternalError,
}


def error_of(code: int, messages: str, command: Sequence[str], output: str = "") -> Error:
    """The error for an exit code and what was printed on standard error."""
    said = [m for m in re.split(r"^sluice: ", messages, flags=re.M)[1:] if not m.startswith(("warning:", "check:"))]
    if said:
        return _BY_CODE.get(code, Error)(said[0].rstrip(), code, command, output)
    text = messages.strip() or output.strip()[-2000:]
    return ProgramError(f"the program ended with code {code}" + (f": {text}" if text else ""), code, command, output)
