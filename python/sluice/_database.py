"""Results files of studies as tables; studies."""
from __future__ import annotations

import json
import os
import pathlib
import re
import sqlite3
import urllib.parse
import warnings
from typing import Any, Dict, List, Optional, Sequence, Union

from . import _command
from ._counters import meanings, units
from ._errors import FailedRunsWarning, InputError
from ._manual import Manual
from ._result import Result
from ._table import frame, frame_of_rows

_UNITS = {"seconds": "s", "cpu_seconds": "s", "peak_kb": "kB", "start_cycle": "core cycle", "end_cycle": "core cycle", "shared_bytes": "B"}
_TABLES = (
    *("results", "studies", "plan", "runs", "knobs", "totals", "kernels", "overlaps", "scheme_counters", "counters"),
    *("histograms", "samples", "lines"),
)


class Database(metaclass=Manual):
    """A results file of studies (docs/reference/results-database.md), opened for reading; a study may be writing it.

    Tables are pandas DataFrames with units in attrs["units"] and meanings in attrs["meanings"]; without pandas, each is a
    sluice.Table.

    path  of the file
    """

    def __init__(self, path: _command.Path) -> None:
        self.path = os.path.abspath(os.fspath(path))
        if not os.path.isfile(self.path):
            raise InputError(f"{os.fspath(path)}: no such file", 2)
        self._connection = sqlite3.connect(f"file:{urllib.parse.quote(self.path)}?mode=ro", uri=True)
        try:
            (kind,) = self._connection.execute("PRAGMA application_id").fetchone()
        except sqlite3.DatabaseError as e:
            raise InputError(f"{os.fspath(path)}: {e}", 2) from None
        if kind != int.from_bytes(b"SLUC", "big"):
            raise InputError(f"{os.fspath(path)}: no results file of sluice", 2)

    def sql(self, statement: str, parameters: Sequence[Any] = ()) -> Any:
        """The rows of the SELECT `statement` with `parameters` for its ?; columns that are named after counters have their units."""
        cursor = self._connection.execute(statement, parameters)
        names = [d[0] for d in cursor.description]
        rows = cursor.fetchall()
        columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
        return frame(columns, {**units(), **_UNITS}, meanings())

    def table(self, name: str) -> Any:
        """The table `name` of the file: "results", "runs", "kernels", "samples", "lines", "histograms" and others."""
        if name not in _TABLES:
            raise InputError(f"no table '{name}'; it is one of {', '.join(_TABLES)}", 2)
        return self.sql(f'SELECT * FROM "{name}"')

    @property
    def results(self) -> Any:
        """All planned runs: study, workload, gpu, scheme, parameters, status, and a column for each counter (of the run)."""
        return self.table("results")

    @property
    def kernels(self) -> Any:
        """Launches: program, gpu and scheme of the run, then name, grid and block of the launch, and its counters."""
        return self.sql("SELECT r.program, r.gpu, r.scheme, k.* FROM kernels k JOIN runs r ON r.id = k.run_id ORDER BY k.id")

    @property
    def failed(self) -> Any:
        """Runs that failed: what, why, and the command that reproduces each."""
        return self.sql("SELECT id AS run, program, gpu, scheme, exit_code, error, command FROM runs WHERE status = 'failed'")

    @property
    def studies(self) -> List[str]:
        """Names of the studies in the file."""
        return [row[0] for row in self._connection.execute("SELECT name FROM studies ORDER BY id")]

    def query(self, *metrics: str, where: Union[str, Sequence[str]] = (), **options: _command.Option) -> Any:
        """A table as of `sluice query`: db.query("ipc", rows="workload", columns="scheme", relative="none").

        metrics  counters and derived values; none: ipc
        where    "scheme=bucl", or several conditions
        options  of `sluice query --help`: rows, columns, relative, groups, best, mean, study
        """
        given: Dict[str, _command.Option] = {**options, "where": [where] if isinstance(where, str) else list(where)}
        words = ["query", self.path, *metrics, *_command.option_words(given), "--format", "json"]
        return frame_of_rows(json.loads(_command.checked(words).output), {**units(), **_UNITS}, meanings())

    def record(self, run: int) -> Result:
        """The whole record of the run of this number (`run` of the table "results", `id` of "runs")."""
        statement = f"SELECT program, record({int(run)}) AS record FROM runs WHERE id = {int(run)}"
        rows = json.loads(_command.checked(["query", self.path, "--sql", statement, "--format", "json"]).output)
        if not rows or not rows[0]["record"]:
            raise InputError(f"{self.path}: no record of run {run}", 2)
        record = rows[0]["record"]
        return Result((record if isinstance(record, str) else json.dumps(record)).encode())

    def check(self) -> None:
        """Check the file's trees, references and checksums; raises an Error that says what is wrong."""
        _command.checked(["db", "check", self.path])

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> "Database":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        (n,) = self._connection.execute("SELECT count(*) FROM runs").fetchone()
        return f"<sluice.{type(self).__name__} {self.path}: {n} runs of {', '.join(self.studies)}>"


class Study(Database):
    """A study that has been executed: its results file, and what of it is there.

    name      of the study, as in the table "results"
    done      how many of its runs have a result
    failures  how many of its runs failed; .failed lists them
    summary   what the command prints at the end
    """

    def __init__(self, path: _command.Path, name: str, done: int, failures: int, summary: str) -> None:
        super().__init__(path)
        self.name = name
        self.done = done
        self.failures = failures
        self.summary = summary


def open_results(path: _command.Path) -> Database:
    """Open the results file of studies at `path` for reading: .results, .kernels and .query(...) give DataFrames with units.

    Raises InputError if it is no results file.
    """
    return Database(path)


_ENDED = re.compile(r"^study (?P<name>.*): (?P<done>\d+) of \d+ runs done.*, (?P<failed>\d+) failed, .*; results in (?P<path>.*)$", re.M)


def study(
    file: _command.Path,
    *,
    jobs: Optional[int] = None,
    results: Optional[_command.Path] = None,
    html: Optional[_command.Path] = None,
    retry_failed: bool = False,
    yes: bool = False,
    progress: bool = True,
    **options: _command.Option,
) -> Study:
    """Execute the runs of a study file that its results file lacks, as `sluice study` does.

    file          the study (docs/how-to/studies.md)
    jobs          simulations at a time; None: one per processor
    results       results file in place of the study's
    html          file for the HTML report; None: no report
    retry_failed  run again what failed
    yes           start a thousand runs or more
    progress      show how many runs are done and how long the others will take, on terminals and in notebooks
    options       of `sluice study --help`: engine="slurm"

    Returns a Study, whose .results is a DataFrame. Warns with FailedRunsWarning if runs failed. Raises InputError with file,
    line, column and hint where the study is wrong. Ctrl-C stops the simulations; the same call continues.
    """
    given: Dict[str, _command.Option] = {**options, "jobs": jobs, "results": results, "html": html, "no_html": html is None}
    given.update(retry_failed=retry_failed, yes=yes)
    ended = _command.checked(["study", *_command.option_words(given), os.fspath(file)], None, progress, good=(0, 1))
    said = _ENDED.search(ended.output)
    if not said:
        text = ended.messages.strip() or ended.output.strip() or "the study printed nothing"
        raise InputError(text, 1, ["sluice", "study", os.fspath(file)])
    done = Study(pathlib.Path(said["path"]), said["name"], int(said["done"]), int(said["failed"]), ended.output)
    if done.failures:
        warnings.warn(f"{done.failures} runs failed; .failed of the study lists them", FailedRunsWarning, stacklevel=2)
    return done
