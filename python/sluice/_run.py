"""sluice.run, sluice.compare and the lists of what there is."""
from __future__ import annotations

import json
import os
import pathlib
import tempfile
import warnings
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from . import _command, _kernel, _scheme
from ._errors import InputError, StrayWarning
from ._result import Comparison, Result
from ._table import frame_of_rows

Program = Union[str, "os.PathLike[str]", Sequence[Union[str, "os.PathLike[str]"]]]
Word = Union[int, float, str]


def _program_words(program: Program, arguments: Sequence[Word], size: Optional[str]) -> List[str]:
    words = [os.fspath(program)] if isinstance(program, (str, os.PathLike)) else [os.fspath(p) for p in program]
    return [*words, *map(str, arguments), *(["--size", size] if size else [])]


def _machine_words(gpu: Optional[_command.Path], scheme: Optional[str], set: Optional[Mapping[str, Any]]) -> List[str]:
    words = _command.option_words({"gpu": gpu, "scheme": scheme})
    for key, value in (set or {}).items():
        words += ["--set", f"{key}={str(value).lower() if isinstance(value, bool) else value}"]
    return words


def _summary_at(output: str) -> int:
    """Where the command's tables begin in what program and command printed."""
    return 0 if output.startswith("sluice: ") and "\nsluice: " not in output else output.rfind("\nsluice: ") + 1


def run(
    program: Program,
    *arguments: Word,
    gpu: Optional[_command.Path] = None,
    scheme: _scheme.Selection = None,
    size: Optional[str] = None,
    set: Optional[Mapping[str, Any]] = None,
    cwd: Optional[_command.Path] = None,
    progress: bool = True,
    **options: _command.Option,
) -> Result:
    """Simulate one program under one scheme, as `sluice run` does.

    program    a bundled one by name (`sluice.workloads()`), a path of any CUDA program, a trace (.slt), or a .ptx or .cu
               file with launch="FILE.yaml"; a sequence is a program with its first arguments
    arguments  of the program
    gpu        a name of `sluice.gpus()` or a configuration file; None: fermi, the papers' GTX480
    scheme     as after `--scheme`: "bucl", "swl=4+rrip"; a Scheme class; None: baseline
    size       "small", "medium" or "large", of a bundled program
    set        knobs of the machine by name, in the units of `sluice.knobs()`: {"l1d.sets": 64}
    cwd        folder in which the program runs
    progress   show a line of progress, on terminals and in notebooks, after two seconds
    options    of `sluice run --help`, with _ for -: timing_kernels="0:3", characterise=True, mode="functional"

    Returns a Result; .output has what the program printed. Raises an Error of a class that says what went wrong; Ctrl-C
    stops the simulation first. Warns with StrayWarning where reads out of bounds gave zeroes.

    With a Scheme class the program is recorded in functional mode and the trace simulated in this process. The counters are
    those of an execution, but for a program whose result depends on the order of its warps (docs/how-to/traces.md).
    """
    if _scheme.used(scheme):
        with _Recorded(_program_words(program, arguments, size), cwd, progress) as recorded:
            return recorded.run(gpu, scheme, set, options, progress)
    scheme = _scheme.text_of(scheme)
    words = [*_machine_words(gpu, scheme, set), *_command.option_words(options)]
    with tempfile.TemporaryDirectory(prefix="sluice-") as folder:
        record = os.path.join(folder, "record.json")
        command = ["run", *words, "--json", record, "--", *_program_words(program, arguments, size)]
        ended = _command.checked(command, cwd, progress, good=(0, 7))
        text = pathlib.Path(record).read_bytes()
    if ended.code == 7:
        told = [line for line in ended.messages.splitlines() if line.startswith("sluice: warning:")]
        warnings.warn("\n".join(told) or "reads out of bounds gave zeroes", StrayWarning, stacklevel=2)
    at = _summary_at(ended.output)
    shown = ["sluice", "run", *words, "--", *_program_words(program, arguments, size)]
    return Result(text, shown, ended.output[:at], ended.output[at:])


class _Recorded:
    """A program as a trace, for Python schemes; to be used in a with statement."""

    def __init__(self, program: Sequence[str], cwd: Optional[_command.Path], progress: bool) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="sluice-")
        self._program = program
        self._is_trace = len(program) == 1 and program[0].endswith((".slt", ".g", ".traceg"))
        self.path = os.path.abspath(program[0]) if self._is_trace else os.path.join(self._folder.name, "program.slt")
        self.output = ""
        if not self._is_trace:
            try:
                self.output = _command.checked(["record", "-o", self.path, "--", *program], cwd, progress).output
            except BaseException:
                self._folder.cleanup()
                raise

    def run(
        self,
        gpu: Optional[_command.Path],
        scheme: _scheme.Selection,
        set: Optional[Mapping[str, Any]],
        options: Mapping[str, _command.Option],
        progress: bool,
    ) -> Result:
        """Simulate it under a list of schemes, in this process."""
        wrong = [key for key in options if key not in ("lines", "characterise", "detail", "watchdog")]
        if wrong:
            raise InputError(f"a Python scheme does not go with {wrong[0]}=; use lines, characterise, detail or watchdog", 2)
        given: Dict[str, Any] = {"gpu": os.fspath(gpu) if gpu else None, "program": " ".join(self._program), **options, **(set or {})}
        words = [f"{k}={_kernel._word(v, k in options)}" for k, v in given.items() if v is not None]
        with _kernel._Session(words, scheme) as s:
            s.simulate("replay", self.path.encode(), wanted=progress)
            return Result(s.record(), output=self.output)

    def __enter__(self) -> "_Recorded":
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()


def compare(
    program: Program,
    *arguments: Word,
    schemes: Sequence[_scheme.Selection] = ("baseline", "bucl"),
    gpu: Optional[_command.Path] = None,
    size: Optional[str] = None,
    set: Optional[Mapping[str, Any]] = None,
    html: Optional[_command.Path] = None,
    jobs: Optional[int] = None,
    cwd: Optional[_command.Path] = None,
    progress: bool = True,
    **options: _command.Option,
) -> Comparison:
    """Simulate one program under several schemes, one simulation each, as `sluice compare` does.

    program    a bundled one by name, a path of a CUDA program, a trace; arguments are the program's, as for sluice.run
    schemes    lists as after `--scheme`, e.g. ("baseline", "swl=4", "swl=4+bucl"), or Scheme classes; the first is what others
               are divided by. With a Scheme class all are simulated in this process from one recording, without a report
    html       file for the HTML report, whose observations take some more time; None: no report
    jobs       simulations at a time; None: one per processor
    others     gpu, size, set, cwd and progress as for sluice.run; options are those of `sluice compare --help`

    Returns a Comparison. Raises as sluice.run.
    """
    if isinstance(schemes, str):
        schemes = schemes.split(",")
    if any(_scheme.used(s) for s in schemes):
        with _Recorded(_program_words(program, arguments, size), cwd, progress) as recorded:
            runs = [recorded.run(gpu, s, set, options, progress) for s in schemes]
        text = json.dumps({"runs": [r.record for r in runs]}, indent=1).encode() + b"\n"
        return Comparison(text, [_scheme.text_of(s) or "baseline" for s in schemes])
    names = [_scheme.text_of(s) or "baseline" for s in schemes]
    given: Dict[str, _command.Option] = {**options, "jobs": jobs, "html": html, "no_html": html is None}
    words = [*_machine_words(gpu, ",".join(names), set), *_command.option_words(given)]
    with tempfile.TemporaryDirectory(prefix="sluice-") as folder:
        document = os.path.join(folder, "runs.json")
        _command.checked(["compare", *words, "--json", document, "--", *_program_words(program, arguments, size)], cwd, progress)
        text = pathlib.Path(document).read_bytes()
    return Comparison(text, names, ["sluice", "compare", *words, "--", *_program_words(program, arguments, size)])


_LIST_UNITS = {"storage_bits": "bit", "SMs": "SM", "L1_bytes": "B", "L2_bytes": "B", "channels": "channel"}
_LIST_MEANINGS = {
    "storage_bits": "what the scheme adds to the baseline's GPU",
    "L1_bytes": "data of the L1 of an SM",
    "L2_bytes": "data of all slices of the L2",
    "channels": "memory channels",
}


def _list(*words: str) -> Any:
    rows = _command.listed(*words)
    return frame_of_rows([{k: v for k, v in row.items() if not isinstance(v, (dict, list))} for row in rows], _LIST_UNITS, _LIST_MEANINGS)


def counters() -> Any:
    """A DataFrame of all counters and derived values: counter, unit, meaning. Without pandas, a sluice.Table, as for the next ones."""
    return _list("stats")


def schemes() -> Any:
    """A DataFrame of all schemes: scheme, what_it_does, parameters, storage_bits (bits in the whole GPU), paper."""
    return _list("schemes")


def gpus() -> Any:
    """A DataFrame of the GPUs: gpu, SMs (how many), L1_bytes (of an SM), L2_bytes (of all slices), channels (of memory), what_it_is."""
    return _list("gpus")


def knobs(gpu: str = "fermi") -> Any:
    """A DataFrame of the knobs of `gpu`: knob, value, unit, allowed values, meaning."""
    return _list("knobs", "--gpu", gpu)


def workloads() -> Any:
    """A DataFrame of the bundled CUDA programs: name, about (what it computes), stands_for (the published program), algorithm, loads
    (how its warps read memory), simplified (what the published program does beyond it).
    """
    return _list("workloads")
