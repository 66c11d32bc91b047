"""Results: of one simulation, and of several schemes side by side."""
from __future__ import annotations

import json
import os
import pathlib
import tempfile
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Union

from . import _command, _figure
from ._counters import Counters, meanings, units
from ._errors import InputError
from ._manual import Manual, ManualCollection
from ._table import frame, frame_of_rows

_HEAD = ("launch", "launches", "name", "mode", "grid", "block", "shared_bytes", "registers", "stream")
_HEAD_UNITS = {"grid": "CTA", "block": "thread", "shared_bytes": "B", "registers": "register"}
_HEAD_MEANINGS = {
    "launch": "number of the launch, from 0",
    "launches": "launches of this row",
    "grid": "CTAs of the grid in x, y and z",
    "block": "threads of a CTA in x, y and z",
    "shared_bytes": "shared memory of a CTA",
    "registers": "registers of a thread",
}


def _write_report(path: _command.Path, texts: Sequence[bytes]) -> None:
    with tempfile.TemporaryDirectory(prefix="sluice-") as folder:
        files = []
        for i, text in enumerate(texts):
            files.append(os.path.join(folder, f"{i}.json"))
            pathlib.Path(files[-1]).write_bytes(text)
        _command.checked(["report", "-o", os.fspath(path), *files])


class Result(metaclass=Manual):
    """One simulation.

    Its counters are attributes, summed over all launches: r.cycles (core cycles), r.ipc (instructions of threads per core
    cycle), r.l1d.read.hit_rate (1 is all); r["l1d.read.hit_rate"] is the same. `sluice.counters()` lists them with units.

    json     the record as `sluice run --json` writes it, to the byte (docs/reference/records.md)
    record   the same as a dictionary
    command  words of the command that gives this result; empty for a Kernel
    output   what the program printed
    summary  the tables that the command prints
    """

    def __init__(self, text: bytes, command: Sequence[str] = (), output: str = "", summary: str = "") -> None:
        self.json = text
        self.record: Dict[str, Any] = json.loads(text)
        self.command = tuple(command)
        self.output = output
        self.summary = summary
        if not isinstance(self.record.get("totals"), dict):
            raise InputError("the record has no `totals`: it is no result of sluice", 2)

    @property
    def program(self) -> str:
        """Program and arguments."""
        return str(self.record.get("program", ""))

    @property
    def gpu(self) -> str:
        """Name of the simulated GPU."""
        return str(self.record.get("gpu", ""))

    @property
    def scheme(self) -> str:
        """The list of schemes, "baseline" if none."""
        return str(self.record.get("scheme", ""))

    @property
    def mode(self) -> str:
        """"timing" or "functional" (without cycles and caches)."""
        return str(self.record.get("mode", ""))

    @property
    def config(self) -> Dict[str, Union[bool, int, float, str]]:
        """Every knob of the machine by name; `sluice.knobs()` has the units."""
        return dict(self.record.get("config", {}))

    @property
    def totals(self) -> Counters:
        """Counters of the whole run, by name or as attributes."""
        return Counters(self.record["totals"])

    @property
    def kernels(self) -> Any:
        """A DataFrame with a row per launch (or per group of folded launches) and a column per counter.

        attrs["units"] has the units, attrs["meanings"] what is counted. Without pandas, a sluice.Table.
        """
        rows = []
        for i, k in enumerate(self.record.get("kernels", [])):
            row = {"launch": k.get("launch", i), "launches": k.get("launches", 1)}
            row.update({h: tuple(k[h]) if isinstance(k[h], list) else k[h] for h in _HEAD if h in k and h not in row})
            row.update(Counters({c: v for c, v in k.items() if c not in _HEAD}).items())
            rows.append(row)
        return frame_of_rows(rows, {**units(), **_HEAD_UNITS}, {**meanings(), **_HEAD_MEANINGS})

    def figure(self) -> Any:
        """A matplotlib Figure as in the report: where the issue slots of each kernel go (% of slots), what its loads find
        in the L1 (% of loads), its share of the cycles. Shown by notebooks; `.savefig("x.pdf")` writes it.
        """
        return _figure.of_run(self)

    def report(self, path: _command.Path = "report.html") -> None:
        """Write the HTML report of this result; `path` is its file."""
        _write_report(path, [self.json])

    def save(self, path: _command.Path) -> None:
        """Write the record to the file `path`: `sluice report` and sluice.load read it."""
        pathlib.Path(path).write_bytes(self.json)

    def __getitem__(self, counter: str) -> Union[int, float]:
        return self.totals[counter]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "record":
            raise AttributeError(name)
        return getattr(self.totals, name)

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *{k.split(".")[0] for k in self.totals}]

    def __repr__(self) -> str:
        t = self.record["totals"]
        cycles = f"{t['cycles']:,} cycles, IPC {t.get('ipc', 0):.2f}" if self.mode == "timing" else "functional"
        return f"<sluice.Result: {self.program or 'kernel'} on {self.gpu}, {self.scheme}: {cycles}>"


class Comparison(Mapping[str, Result], metaclass=ManualCollection):
    """One program under several schemes; a mapping from the list of schemes to its Result, in the order of the call.

    c["bucl"].ipc is the IPC under BUCL, c.base the Result that others are divided by (the first).

    json     the document of `sluice compare --json`, to the byte
    command  words of the command that gives this comparison; empty with a Scheme class
    """

    def __init__(self, text: bytes, schemes: Sequence[str], command: Sequence[str] = ()) -> None:
        self.json = text
        self.command = tuple(command)
        runs = json.loads(text)["runs"]
        self._runs = {s: Result(json.dumps(r, indent=1).encode() + b"\n", command) for s, r in zip(schemes, runs)}

    @property
    def base(self) -> Result:
        """The Result under the first list of schemes, by which the others are divided."""
        return next(iter(self._runs.values()))

    @property
    def table(self) -> Any:
        """A DataFrame, a row per list of schemes: cycles (core cycles), ipc, and fractions of the first row's (ipc_norm,
        traffic of interconnect, DRAM and energy) or of all accesses (hit rates, bypasses). Without pandas, a sluice.Table.
        """
        rows = []
        for name, r in self._runs.items():
            loads = r["l1d.read.accesses"] + r["l1d.read.bypasses"]
            rows.append(
                {
                    "scheme": name,
                    "cycles": r["cycles"],
                    "ipc": r["ipc"],
                    "ipc_norm": _part(r["ipc"], self.base["ipc"]),
                    "l1_hits": _part(r["l1d.read.hits"], r["l1d.read.accesses"]),
                    "l1_bypass": _part(r["l1d.read.bypasses"], loads),
                    "l1_refusals": r["l1d.read.rejections"],
                    "l2_hits": _part(r["l2.hits"], r["l2.accesses"]),
                    "icnt_traffic": self._traffic(r, "icnt.flits_up", "icnt.flits_down"),
                    "dram_traffic": self._traffic(r, "dram.reads", "dram.writes"),
                    "energy": self._traffic(r, "energy.total"),
                }
            )
        return frame({k: [row[k] for row in rows] for k in rows[0]}, _TABLE_UNITS, _TABLE_MEANINGS)

    def _traffic(self, r: Result, *keys: str) -> float:
        return _part(sum(r[k] for k in keys), sum(self.base[k] for k in keys))

    def figure(self) -> Any:
        """A matplotlib Figure as in the report: IPC normalised to the first scheme, where issue slots go (% of slots),
        traffic and energy normalised. Shown by notebooks; `.savefig("x.pdf")` writes it.
        """
        return _figure.of_comparison(self)

    def report(self, path: _command.Path = "report.html") -> None:
        """Write the HTML report of these results; `path` is its file."""
        _write_report(path, [self.json])

    def save(self, path: _command.Path) -> None:
        """Write the document to the file `path`: `sluice report` and sluice.load read it."""
        pathlib.Path(path).write_bytes(self.json)

    def __getitem__(self, scheme: str) -> Result:
        return self._runs[scheme]

    def __iter__(self) -> Iterator[str]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    def __repr__(self) -> str:
        ipc = ", ".join(f"{s} {_part(r['ipc'], self.base['ipc']):.3f}" for s, r in self._runs.items())
        return f"<sluice.Comparison: {self.base.program} on {self.base.gpu}, IPC: {ipc}>"

    def _repr_html_(self) -> Optional[str]:
        html = getattr(self.table, "to_html", None)
        return str(html(index=False, float_format="%.3f")) if html else None


_TABLE_UNITS = {"cycles": "core cycle", "ipc": "instruction/cycle"}
_TABLE_MEANINGS = {
    "scheme": "list of schemes",
    "cycles": "core cycles of all launches",
    "ipc": "instructions of threads per core cycle",
    "ipc_norm": "ipc divided by that of the first row",
    "l1_hits": "hits of loads in the L1, as a fraction of its load accesses",
    "l1_bypass": "accesses of loads that bypass the L1, as a fraction of all",
    "l1_refusals": "cycles in which the L1 refused a load",
    "l2_hits": "hits in the L2, as a fraction of its accesses",
    "icnt_traffic": "flits between L1 and L2, divided by those of the first row",
    "dram_traffic": "read and write commands of the DRAM, divided by those of the first row",
    "energy": "dynamic energy, divided by that of the first row",
}


def _part(a: Union[int, float], b: Union[int, float]) -> float:
    return a / b if b else float("nan")


def load(path: _command.Path) -> Union[Result, Comparison]:
    """The Result in a file of `sluice run --json`, or the Comparison in one of `sluice compare --json`, at `path`.

    Raises InputError with file, line and column where the file is no JSON, and OSError where it cannot be read.
    """
    text = pathlib.Path(path).read_bytes()
    try:
        document = json.loads(text)
    except json.JSONDecodeError as e:
        raise InputError(f"{os.fspath(path)}:{e.lineno}:{e.colno}: {e.msg}", 2) from None
    runs = document.get("runs") if isinstance(document, dict) else None
    if isinstance(runs, list):
        return Comparison(text, [r.get("scheme", str(i)) for i, r in enumerate(runs)])
    if not isinstance(document, dict) or "totals" not in document:
        raise InputError(f"{os.fspath(path)}: not a result of sluice (no `totals`, no `runs`)", 2)
    return Result(text)
