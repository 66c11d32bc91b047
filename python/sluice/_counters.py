"""Counters of a result as attributes, with unit and meaning."""
from __future__ import annotations

import difflib
import functools
from typing import Any, Dict, Iterator, List, Mapping, Tuple, Union

from . import _command
from ._manual import Manual, ManualCollection


@functools.lru_cache(maxsize=None)
def described() -> Dict[str, Tuple[str, str]]:
    """Unit and meaning of each counter, as `sluice stats` has them."""
    return {row["counter"]: (row["unit"], row["meaning"]) for row in _command.listed("stats")}


def units() -> Dict[str, str]:
    """Unit of each counter."""
    return {k: unit for k, (unit, _) in described().items()}


def meanings() -> Dict[str, str]:
    """Meaning of each counter."""
    return {k: meaning for k, (_, meaning) in described().items()}


class _Named:
    _key: str
    _of: "Counters"

    @property
    def unit(self) -> str:
        """Unit of one, "" if it has none: "core cycle", "B", "uJ"."""
        return described().get(self._key, ("", ""))[0]

    @property
    def meaning(self) -> str:
        """What it counts, in a line."""
        return described().get(self._key, ("", ""))[1]

    def __getattr__(self, name: str) -> Any:  # a counter may be the name of a group, too: l1d.read.rejections.mshr
        if name.startswith("_"):
            raise AttributeError(name)
        return self._of.below(self._key, name)


class Count(_Named, int, metaclass=Manual):
    """A counter: an int with `unit` and `meaning`, and below it the counters of its group: r.l1d.read.rejections.mshr."""


class Rate(_Named, float, metaclass=Manual):
    """A rate (1 is all) or a mean: a float with `unit` and `meaning`."""


def _value(of: "Counters", key: str, number: Union[int, float]) -> Union[Count, Rate]:
    value: Union[Count, Rate] = Count(number) if isinstance(number, int) else Rate(number)
    value._key, value._of = key, of
    return value


class Counters(Mapping[str, Union[int, float]], metaclass=ManualCollection):
    """Counters by name: c["l1d.read.hit_rate"], or as attributes: c.l1d.read.hit_rate. `sluice stats` lists them all
    with their units; a value has them as well: c.cycles.unit, c.cycles.meaning. A scheme's own counters are named after
    it: c["bucl.NAME"].
    """

    def __init__(self, record: Mapping[str, Any], prefix: str = "") -> None:
        self._prefix = prefix
        self._all: Dict[str, Union[int, float]] = {
            k: v for k, v in record.items() if isinstance(v, (int, float)) and not isinstance(v, bool)
        }
        self._all.update(record.get("scheme_counters") or {})

    def below(self, key: str, name: str) -> Any:
        """The counter or group `name` of the group `key`; "" is the whole."""
        full = f"{key}.{name}" if key else name
        if full in self._all:
            return _value(self, full, self._all[full])
        if any(k.startswith(full + ".") for k in self._all):
            return Counters(self._all, full)
        near = difflib.get_close_matches(full, self._all, 1)
        raise AttributeError(f"no counter '{full}'" + (f", did you mean '{near[0]}'?" if near else ""))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self.below(self._prefix, name)

    def __getitem__(self, key: str) -> Union[int, float]:
        try:
            value: Union[int, float] = self.below(self._prefix, key)
        except AttributeError as e:
            raise KeyError(str(e)) from None
        if not isinstance(value, (int, float)):
            raise KeyError(f"'{key}' is a group of counters")
        return value

    def _keys(self) -> List[str]:
        n = len(self._prefix) + 1 if self._prefix else 0
        return [k[n:] for k in self._all if not n or k.startswith(self._prefix + ".")]

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys())

    def __len__(self) -> int:
        return len(self._keys())

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *{k.split(".")[0] for k in self._keys()}]

    def __repr__(self) -> str:
        return f"<{len(self)} counters{' of ' + self._prefix if self._prefix else ''}>"
