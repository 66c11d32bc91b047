"""Tables: a pandas DataFrame, or where pandas is not installed, columns of NumPy."""
from __future__ import annotations

from typing import Any, Dict, Iterator, List, Mapping, Sequence

import numpy as np

from ._manual import ManualCollection


class Table(Mapping[str, "np.ndarray[Any, Any]"], metaclass=ManualCollection):
    """Columns of equal length by name, as NumPy arrays; what a function returns where pandas is not installed.

    attrs  attrs["units"] has the unit of each column that has one, attrs["meanings"] a line about it
    """

    def __init__(self, columns: Mapping[str, Sequence[Any]]) -> None:
        self._columns: Dict[str, "np.ndarray[Any, Any]"] = {k: _array(v) for k, v in columns.items()}
        self.attrs: Dict[str, Any] = {}

    @property
    def columns(self) -> List[str]:
        """Names of the columns, in order."""
        return list(self._columns)

    @property
    def rows(self) -> List[Dict[str, Any]]:
        """The rows as dictionaries."""
        n = len(next(iter(self._columns.values()))) if self._columns else 0
        return [{k: v[i] for k, v in self._columns.items()} for i in range(n)]

    def __getitem__(self, column: str) -> "np.ndarray[Any, Any]":
        return self._columns[column]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        """Number of columns, as of a mapping."""
        return len(self._columns)

    def __repr__(self) -> str:
        shown = [[k, *(_text(x) for x in v[:40])] for k, v in list(self._columns.items())[:12]]
        widths = [max(map(len, c)) for c in shown]
        lines = ["  ".join(x.rjust(w) for x, w in zip(row, widths)) for row in zip(*shown)]
        return "\n".join(lines + [f"[{len(self.rows)} rows x {len(self)} columns]"])


def _text(v: Any) -> str:
    return f"{v:.6g}" if isinstance(v, float) else str(v)


def _array(values: Sequence[Any]) -> "np.ndarray[Any, Any]":
    numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values)
    if numbers and len(values):
        return np.array(values)
    out = np.empty(len(values), dtype=object)
    for i, v in enumerate(values):
        out[i] = v
    return out


def frame(columns: Mapping[str, Sequence[Any]], units: Mapping[str, str], meanings: Mapping[str, str]) -> Any:
    """A DataFrame, or without pandas a Table, with attrs["units"] and attrs["meanings"] of its columns."""
    try:
        import pandas
    except ImportError:
        table: Any = Table(columns)
    else:
        table = pandas.DataFrame(dict(columns))
    table.attrs["units"] = {k: units[k] for k in columns if units.get(k)}
    table.attrs["meanings"] = {k: meanings[k] for k in columns if meanings.get(k)}
    return table


def frame_of_rows(rows: Sequence[Mapping[str, Any]], units: Mapping[str, str], meanings: Mapping[str, str]) -> Any:
    """The same from rows; a key that a row lacks is None."""
    names = list(dict.fromkeys(k for row in rows for k in row))
    return frame({k: [row.get(k) for row in rows] for k in names}, units, meanings)
