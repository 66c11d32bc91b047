"""Schemes in Python: a class whose methods are the hooks of the machine."""
from __future__ import annotations

import ast
import difflib
import enum
import inspect
import math
import re
import types
from typing import Any, Callable, ClassVar, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Type, Union

from ._errors import InputError, MissingError
from ._manual import Manual, ManualCollection, ManualEnum


class _Param(NamedTuple):
    name: str
    unit: str
    doc: str
    min: float
    max: float
    default: float
    integer: bool = False


class Param(_Param, metaclass=ManualCollection):
    """A parameter of a Scheme: `--scheme NAME:name=value`.

    name               as users write it
    unit               of its values: "access", "core cycle"; "" for a pure number
    doc                what it is, and the section of the paper
    min, max, default  the values it may have, and the one without a choice; in its unit
    integer            whether it is a whole number
    """

    __slots__ = ()


class _Counter(NamedTuple):
    name: str
    unit: str
    doc: str


class Counter(_Counter, metaclass=ManualCollection):
    """A counter of a Scheme; its value is in results as r["SCHEME.name"].

    name  as in results, without the scheme's name
    unit  of one: "load", "core cycle"
    doc   what it counts
    """

    __slots__ = ()


class L1(enum.IntEnum, metaclass=ManualEnum):
    """Outcomes of an access at the L1: accepted, refused (from NO_LINE on), or bypassed. Hooks get the numbers.

    HIT       the line is there
    PENDING   the line is being fetched; the access is merged into its MSHR
    MISS      the line is fetched
    PARTIAL   some chunks of the line are fetched
    NO_LINE   refused: no line can be reserved
    NO_MISSQ  refused: the miss queue is full
    NO_MSHR   refused: no MSHR is free
    NO_MERGE  refused: the merge list of the line's MSHR is full
    BYPASS    a scheme bypasses the L1
    """

    HIT = 0
    PENDING = 1
    MISS = 2
    PARTIAL = 3
    NO_LINE = 4
    NO_MISSQ = 5
    NO_MSHR = 6
    NO_MERGE = 7
    BYPASS = 8


class L2(enum.IntEnum, metaclass=ManualEnum):
    """Outcomes of an access at the L2. Hooks get the numbers.

    HIT       the data is there
    PENDING   merged with a line that is being fetched
    MISS      the line is fetched
    REFUSED   no line, MSHR or place in a queue is free; the access waits
    BYPASSED  DRAM answers, no line is allocated
    """

    HIT = 0
    PENDING = 1
    MISS = 2
    REFUSED = 3
    BYPASSED = 4


class Prefetch(enum.IntEnum, metaclass=ManualEnum):
    """What becomes of a line that a scheme requested with self.gpu.prefetch. Hooks get the numbers.

    USEFUL     fetched: the first demand load found its data
    LATE       fetched: a demand load found it still being fetched
    EVICTED    fetched, and replaced before a load read it
    LEFT       fetched, and invalidated before by a store, a fence or the end of the launch
    REDUNDANT  not fetched: it was there or being fetched
    NO_MSHR    not fetched: no MSHR was free
    NO_LINE    not fetched: no line could be replaced, or one was refused
    ENDED      not fetched: the SM had no warp left
    """

    USEFUL = 0
    LATE = 1
    EVICTED = 2
    LEFT = 3
    REDUNDANT = 4
    NO_MSHR = 5
    NO_LINE = 6
    ENDED = 7


class Store(enum.IntEnum, metaclass=ManualEnum):
    """What became of the line of a store at the L1, for on_store. Hooks get the numbers.

    MISSED   it was not in the L1, or still being fetched
    EVICTED  it was evicted, as global stores do without a scheme
    UPDATED  the copy was updated and stays: local stores, and what store_keeps let stay
    """

    MISSED = 0
    EVICTED = 1
    UPDATED = 2


class BypassBy(enum.IntEnum, metaclass=ManualEnum):
    """What made a load bypass the L1. Hooks get the numbers.

    INST    the instruction's cache operator
    LOAD    the hook bypass_load
    ACCESS  the hook bypass_access
    STALL   the hook on_stall
    CACHE   the cache: may_allocate or find_victim found no line for it
    """

    INST = 0
    LOAD = 1
    ACCESS = 2
    STALL = 3
    CACHE = 4


_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_FUNCTIONS: Dict[str, Callable[..., float]] = {"ceil": math.ceil, "log2": math.log2, "min": min, "max": max}
_OPERATORS: Dict[Type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
}
_known: Dict[str, Type["Scheme"]] = {}


class Scheme(metaclass=Manual):
    """A cache-management scheme as a Python class: a prototype of a C scheme, with the same hooks and results.

    class Wide(sluice.Scheme):
        '''loads of many accesses bypass the L1'''
        name = "wide"
        params = [sluice.Param("limit", "access", "a load of more accesses is wide", 0, 32, 8, integer=True)]
        counters = [sluice.Counter("bypassed", "load", "wide loads that bypassed the L1")]
        storage = {"counter, 12 bits per SM": "12 * sms"}

        def bypass_load(self, e):
            if e.degree <= self.param.limit:
                return False
            self.count.bypassed += 1
            return True

    sluice.run("kmeans", scheme=Wide), or scheme="wide:limit=4+rrip" once the class is defined; sluice.compare and
    sluice.Kernel take it in the same way.

    Class attributes, all but the name optional; the first line of the docstring is the title:

    name         small letters, digits and -: what `--scheme` takes
    params       a list of Param
    counters     a list of Counter
    storage      what the scheme adds to the GPU: from an item to its bits in the whole GPU, a number or an expression of knobs and
                 parameters with + - * / ceil log2 min max
    positional   the parameter that `NAME=VALUE` sets
    epoch        core cycles between calls of on_epoch
    epoch_param  the parameter that holds them instead
    paper        its authors, title, conference and year
    idea         how it works, in a few sentences
    steady, yields_l1, every_cycle  as in src/gpu/slots/scheme.h

    Hooks are methods, called as docs/reference/hooks.md says, without the context and with an event as object: e.degree,
    e.line, e.sm, ... An event belongs to its call unless it is kept, which makes the next one a new object. Outcomes are the
    numbers of sluice.L1, L2, BypassBy, Prefetch and Store; a way that is none is 4294967295. `queues` returns (how many, accesses
    in each); `pick_queue` gets the lengths as a tuple; `on_space` gets bytes of registers and of shared
    memory as a tuple; `line_size` gets bytes and returns (bytes, further cycles), for
    kernels that Python launches: the programs of sluice.run come as traces, which have no values. A scheme that replaces the
    lines of the L1 (an organisation) is written in C. An exception in a hook ends the simulation.

    Within methods: self.param.NAME; self.count.NAME, which may be changed; self.knobs["l1d.sets"] (text); self.gpu with
    .cycle (core cycle), .random(n) (from 0 to below n), .subpart_fill_cycles(subpart), .sm_warps(sm), .sm_ready(sm),
    .sm_warp_age(sm, warp), .sm_insts(sm), .sm_warp_insts(sm), .sm_space(sm) (unused
    registers and shared memory, bytes), .grid_ctas(), .grid_x(), .sm_cta_limit(), .l1_set(sets, line, addr),
    .prefetch(event, addr) and .prefetch_l2(event, addr) (true: the queue had room): the services of src/gpu/slots/services.h.
    """

    name: ClassVar[str] = ""
    params: ClassVar[Sequence[Param]] = ()
    counters: ClassVar[Sequence[Counter]] = ()
    storage: ClassVar[Optional[Mapping[str, Union[int, float, str]]]] = None
    positional: ClassVar[Optional[str]] = None
    epoch: ClassVar[int] = 0
    epoch_param: ClassVar[Optional[str]] = None
    paper: ClassVar[str] = ""
    idea: ClassVar[str] = ""
    steady: ClassVar[bool] = False
    yields_l1: ClassVar[bool] = False
    every_cycle: ClassVar[bool] = False

    param: Any
    count: Any
    gpu: Any
    knobs: Dict[str, str]

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if cls.name:
            _known[cls.name] = cls

    def start(self) -> None:
        """Called once when the machine starts: make the state here. It is kept between launches."""


def title_of(cls: Type[Scheme]) -> str:
    """The first line of its docstring."""
    return (inspect.getdoc(cls) or cls.name).splitlines()[0].rstrip(".") if cls.__doc__ else cls.name


def module() -> Any:
    """The extension module; raises MissingError where it is not built."""
    try:
        from . import _schemes  # type: ignore[attr-defined]
    except ImportError as e:
        raise MissingError(f"Python schemes need the module that `make python` builds ({e})") from None
    return _schemes


def hooks_of(cls: Type[Scheme]) -> Dict[str, Any]:
    """The hooks that a class fills. Raises InputError where a method has nearly the name of one."""
    names = [row[0] for row in module().hooks()]
    for name, value in vars(cls).items():
        near = difflib.get_close_matches(name, names, 1, 0.85)
        if callable(value) and name not in names and near and not name.startswith("_"):
            raise InputError(f"scheme {cls.name}: no hook '{name}'; did you mean '{near[0]}'?", 2)
    return {name: getattr(cls, name) for name in names if callable(getattr(cls, name, None))}


# ---- storage ----


def _dotted(node: ast.AST) -> Optional[str]:
    if isinstance(node, ast.Name):
        return node.id
    base = _dotted(node.value) if isinstance(node, ast.Attribute) else None
    return f"{base}.{node.attr}" if base and isinstance(node, ast.Attribute) else None


def bits(expression: Union[int, float, str], lookup: Callable[[str], float]) -> float:
    """Value of an expression of `storage`."""

    def value(node: ast.AST) -> float:
        name = _dotted(node)
        if name is not None:
            return lookup(name)
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return float(node.value)
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS and not node.keywords:
            return _FUNCTIONS[node.func.id](*map(value, node.args))
        raise InputError(f"storage: '{expression}' is no expression of numbers, knobs and parameters; use + - * / ceil log2 min max", 2)

    return value(ast.parse(str(expression), mode="eval").body)


def _storage_rows(cls: Type[Scheme], knobs: Mapping[str, str], values: Sequence[float]) -> List[Tuple[str, float]]:
    given = {p.name: v for p, v in zip(cls.params, values)}

    def lookup(name: str) -> float:
        if name in given:
            return float(given[name])
        if name not in knobs:
            raise InputError(f"storage of {cls.name}: no knob and no parameter '{name}'; `sluice knobs` lists them", 2)
        return float({"true": 1, "false": 0}.get(knobs[name], knobs[name]))

    return [(item, bits(e, lookup)) for item, e in (cls.storage or {}).items()]


# ---- use ----


def check(cls: Type[Scheme]) -> None:
    """Raises InputError where the declaration of a class is wrong."""
    if not _NAME.fullmatch(cls.name):
        raise InputError(f"{cls.__name__}: a scheme needs a name of lower-case letters, digits and single '-': name = \"wide\"", 2)
    names = [p.name for p in cls.params]
    for what, named in (("positional", cls.positional), ("epoch_param", cls.epoch_param)):
        if named is not None and named not in names:
            raise InputError(f"scheme {cls.name}: {what} '{named}' is none of its parameters ({', '.join(names)})", 2)
    for p in cls.params:
        if not p.min <= p.default <= p.max:
            raise InputError(f"scheme {cls.name}: the default of {p.name}, {p.default}, is not from {p.min} to {p.max}", 2)


def _define(cls: Type[Scheme]) -> int:
    check(cls)
    filled = hooks_of(cls)
    if "on_epoch" in filled and not cls.epoch and not cls.epoch_param:
        raise InputError(f"scheme {cls.name} has on_epoch but no epoch; say epoch = CYCLES", 2)

    def build(gpu: Any, counts: Any, values: Sequence[float], knobs: Dict[str, str]) -> Scheme:
        new = cls()
        new.gpu, new.count, new.knobs = gpu, counts, knobs
        new.param = types.SimpleNamespace(**{p.name: v for p, v in zip(cls.params, values)})
        new.start()
        return new

    def storage(knobs: Mapping[str, str], values: Sequence[float]) -> List[Tuple[str, float]]:
        return _storage_rows(cls, knobs, values)

    texts = (cls.name, title_of(cls), cls.paper or "none", cls.idea or title_of(cls), cls.positional, cls.epoch_param)
    params = [(p.name, p.unit, p.doc, float(p.min), float(p.max), float(p.default), p.integer) for p in cls.params]
    counters = [(c.name, c.unit, c.doc, False) for c in cls.counters]
    flags = (cls.steady, cls.yields_l1, cls.every_cycle)
    number: int = module().define(texts, params, counters, filled, flags, cls.epoch or 1, build, storage if cls.storage else None)
    return number


Selection = Union[None, str, Type[Scheme]]


def text_of(scheme: Selection) -> Optional[str]:
    """What stands after `--scheme`."""
    return scheme.name if isinstance(scheme, type) else scheme


def used(scheme: Selection) -> List[Type[Scheme]]:
    """The Python classes that a list of schemes names."""
    if isinstance(scheme, type):
        _known[scheme.name] = scheme
        return [scheme]
    names = [re.match(r"[^=:/]*", part) for part in re.split(r"[+,]", scheme or "")]
    return [_known[m[0]] for m in names if m and m[0] in _known]


class Defined:
    """The Python classes of a list of schemes, known to this thread's library within a with statement."""

    def __init__(self, scheme: Selection) -> None:
        self.classes = used(scheme)
        self._numbers: List[int] = []

    def __enter__(self) -> "Defined":
        for cls in self.classes:
            try:
                self._numbers.append(_define(cls))
            except ValueError as e:
                self.__exit__()
                _known.pop(cls.name, None)  # the name may be that of a C scheme
                raise e if isinstance(e, InputError) else InputError(str(e), 2) from None
        return self

    def __exit__(self, *_: object) -> None:
        while self._numbers:
            module().undefine(self._numbers.pop())


def failure() -> Optional[BaseException]:
    """The first exception of a hook since the last call."""
    found: Optional[BaseException] = module().failure()
    return found
