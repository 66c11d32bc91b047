"""Kernels from a string of PTX or CUDA C, simulated in this process by libsluice."""
from __future__ import annotations

import os
import pathlib
import subprocess
import tempfile
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Type, Union

import numpy as np

from . import _command, _figure, _scheme
from ._errors import Error, InputError, InternalError, MissingError, ProgramError, StuckError, UnsupportedError
from ._manual import Manual
from ._progress import Progress
from ._result import Result

Size = Union[int, Sequence[int]]
Argument = Union["np.ndarray[Any, Any]", "np.generic", bool, int, float, bytes]

_SHOWN_AFTER = 20  # looks, about ten a second
_TYPES: Dict[str, str] = {"f16": "float16", "f32": "float32", "f64": "float64"}


def _library() -> Tuple[Any, Any]:
    try:
        from . import _libsluice  # type: ignore[attr-defined]
    except ImportError as e:
        raise MissingError(
            f"kernels need the module that `make python` builds and cffi's backend ({e}); install python3-cffi-backend (Debian)"
            " or cffi (PyPI)"
        ) from None
    return _libsluice.ffi, _libsluice.lib


class _Watch:
    """Looks at a launch from time to time: shows progress, and lets Ctrl-C through."""

    def __init__(self, wanted: bool, schemes: bool) -> None:
        self.progress = Progress(wanted)
        self.schemes = schemes
        self.raised: Optional[BaseException] = None
        self.looks = 0

    def look(self, ffi: Any, p: Any) -> int:
        """Called by the library; 1 ends the launch."""
        if self.schemes and _scheme.module().has_failed():
            return 1
        self.looks += 1
        if self.looks > _SHOWN_AFTER and self.progress.on:
            name = _figure._plain(ffi.string(p.kernel).decode())
            self.progress.bar(f"launch {p.launch + 1}, {name}: {p.ended:,} of {p.blocks:,} CTAs", p.ended / max(1, p.blocks))
        return 0


_watched: List[Any] = []


def _watch_with(ffi: Any) -> None:
    """Define the function that the library calls, once."""
    if _watched:
        return

    def failed(exception: Type[BaseException], value: BaseException, traceback: Any) -> None:
        ffi.from_handle(traceback.tb_frame.f_locals["context"]).raised = value

    def sluice_python_watcher(context: Any, progress: Any) -> int:
        watch: _Watch = ffi.from_handle(context)
        return watch.look(ffi, progress)

    ffi.def_extern(name="sluice_python_watcher", error=1, onerror=failed)(sluice_python_watcher)
    _watched.append(ffi)


def _error(ffi: Any, e: Any) -> Error:
    status, message = e.status, ffi.string(e.message).decode(errors="replace")
    kinds: Dict[int, Tuple[Type[Error], int]] = {
        1: (InputError, 2),
        2: (InputError, 2),
        3: (UnsupportedError, 3),
        4: (ProgramError, 4),
        5: (StuckError, 5),
        6: (InternalError, 70),
    }
    kind, code = kinds.get(status, (Error, 1))
    return kind(message, code)


def compile_cuda(source: str, name: str = "kernel.cu", options: Sequence[str] = ()) -> str:
    """CUDA C as PTX, compiled by Debian's clang through sluice-cc; no NVIDIA software is needed.

    source   the text
    name     of its file in messages
    options  of sluice-cc: "-arch=sm_70", "-O1", "-DN=4"

    Raises InputError with the compiler's messages, and line and column of the first; MissingError without a compiler.
    """
    compiler = _command.data_file("sluice-cc")
    if not compiler:
        raise MissingError("CUDA C needs sluice-cc in Sluice's data folder, which is not there; use PTX, or install sluice whole")
    with tempfile.TemporaryDirectory(prefix="sluice-") as folder:
        path, out = os.path.join(folder, name), os.path.join(folder, "out.ptx")
        pathlib.Path(path).write_text(source)
        r = subprocess.run([compiler, "--ptx", *options, path, "-o", out], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        said = r.stderr.replace(folder + os.sep, "")
        if r.returncode:
            first = next((line for line in said.splitlines() if "error:" in line), "")
            first = first.replace("fatal error: ", "").replace("error: ", "")
            raise InputError(first + "\n" + said if first else said or f"{name} does not compile", 2)
        return pathlib.Path(out).read_text().replace(folder + os.sep, "")


class _Session:
    """One simulated GPU of the library; to be used in a with statement."""

    def __init__(self, options: Sequence[str], scheme: _scheme.Selection = None) -> None:
        self.ffi, self.lib = _library()
        self.schemes = _scheme.Defined(scheme)
        options = [*options, f"scheme={_scheme.text_of(scheme)}"] if scheme else options
        texts = [self.ffi.new("char[]", o.encode()) for o in options]
        out = self.ffi.new("struct sluice_session **")
        self.e = self.ffi.new("struct sluice_error *")
        self.s = self.ffi.NULL
        self.schemes.__enter__()
        try:
            self.do("sluice_open", self.ffi.new("char *[]", [*texts, self.ffi.NULL]), out, session=False)
        except BaseException:
            self.schemes.__exit__()
            raise
        self.s = out[0]

    def do(self, function: str, *arguments: Any, session: bool = True) -> None:
        """Call a function of the library; raises its error."""
        self._checked(getattr(self.lib, function)(*([self.s] if session else []), *arguments, self.e))

    def simulate(self, function: str, *arguments: Any, wanted: bool) -> None:
        """Launch or replay, with progress where it is wanted; raises its error, or the first exception of a Python scheme."""
        watch = _Watch(wanted, bool(self.schemes.classes))
        handle = self.ffi.new_handle(watch)
        _watch_with(self.ffi)
        self.do("sluice_watch", self.lib.sluice_python_watcher, handle)
        try:
            if self.schemes.classes:  # a call that keeps the interpreter's lock, for the hooks
                words = [a if isinstance(a, bytes) else int(self.ffi.cast("intptr_t", a)) for a in (self.s, *arguments, self.e)]
                self._checked(getattr(_scheme.module(), function)(*words))
            else:
                self.do("sluice_" + function, *arguments)
        except Error:
            if watch.raised:
                raise watch.raised from None
            raise
        finally:
            watch.progress.close()

    def _checked(self, status: int) -> None:
        """Raise the error behind a status."""
        raised = _scheme.failure() if self.schemes.classes else None
        if raised:
            raise raised
        if status:
            raise _error(self.ffi, self.e)

    def load(self, ptx: str, name: str) -> Any:
        """A module from PTX."""
        out = self.ffi.new("struct sluice_module **")
        self.do("sluice_load", ptx.encode(), name.encode(), out)
        return out[0]

    def names(self, module: Any) -> List[str]:
        """The kernels of a module."""
        names: List[str] = []
        while True:
            text = self.lib.sluice_kernel_name(self.s, module, len(names))
            if not text:
                return names
            names.append(self.ffi.string(text).decode())

    def parameters(self, kernel: Any) -> List[Tuple[str, int]]:
        """Type and bytes of each parameter of a kernel."""
        found: List[Tuple[str, int]] = []
        p = self.ffi.new("struct sluice_parameter *", {"size": self.ffi.sizeof("struct sluice_parameter")})
        while not self.lib.sluice_find_parameter(self.s, kernel, len(found), p, self.ffi.NULL):
            found.append((self.ffi.string(p.type).decode(), p.bytes))
        return found

    def record(self) -> bytes:
        """The record of all launches so far."""
        out = self.ffi.new("const char **")
        self.do("sluice_record", out)
        return bytes(self.ffi.string(out[0]))

    def __enter__(self) -> "_Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.lib.sluice_close(self.s)
        self.schemes.__exit__()


def _three(size: Size, what: str) -> List[int]:
    numbers = [int(size)] if isinstance(size, (int, np.integer)) else [int(n) for n in size]
    if not 1 <= len(numbers) <= 3 or min(numbers) < 1 or max(numbers) > 0xFFFFFFFF:
        raise InputError(f"{what} is one to three numbers from 1 on, not {size!r}", 2)
    return numbers + [1] * (3 - len(numbers))


def _scalar_bytes(value: Any, kind: str, size: int, which: str) -> bytes:
    """A number in the form of a parameter."""
    if isinstance(value, bytes):
        data = value
    elif isinstance(value, np.generic) and not (kind.startswith("f") and value.dtype.kind in "iub"):
        if kind.startswith("f") != (value.dtype.kind == "f") and not kind.startswith("b"):
            raise InputError(f"{which} is of type {kind}, not {value.dtype}; use numpy.{_TYPES.get(kind, f'int{8 * size}')}", 2)
        data = value.tobytes()
    elif kind in _TYPES:
        data = np.array(value, _TYPES[kind]).tobytes()
    elif isinstance(value, (int, np.integer)):
        if size > 8 or not -(1 << 8 * size - 1) <= int(value) < 1 << 8 * size:
            raise InputError(f"{which} has {size} bytes, too few or of the wrong kind for {value}", 2)
        data = (int(value) % (1 << 8 * size)).to_bytes(size, "little")
    else:
        raise InputError(f"{which} is of type {kind} ({size} bytes), not {type(value).__name__}; use an int or a NumPy scalar", 2)
    if len(data) != size:
        raise InputError(f"{which} is of type {kind} with {size} bytes, not {len(data)}; use numpy.{_TYPES.get(kind, f'int{8 * size}')}", 2)
    return data


class Kernel(metaclass=Manual):
    """A CUDA kernel from source, which runs on NumPy arrays in a simulated GPU.

    k = sluice.Kernel(source, scheme="bucl")
    result = k(grid, block, a, b, 3)      # arrays are changed in place; result.cycles, result.l1d.read.hit_rate, ...

    source   PTX or CUDA C as text, or the path of a .ptx or .cu file
    name     of the kernel; needed if the source has several. Of CUDA C without its types: "saxpy"
    gpu      a name of `sluice.gpus()` or a configuration file; None: fermi
    scheme   as after `--scheme`, or a Scheme class; None: baseline
    set      knobs of the machine by name, in the units of `sluice.knobs()`: {"l1d.sets": 64}
    options  further options of the library (include/sluice.h): mode="functional", memory="warn", watchdog=100000 (cycles),
             lines=True, characterise=True
    compile  options of the compiler for CUDA C: ["-arch=sm_70"]

    ptx    the PTX that runs
    names  the kernels of the source, as in the PTX; name is the one that runs

    Each call has a machine of its own with cold caches, so that the same call gives the same counters. Raises InputError
    (with line and column in the source) where the source has an error, and MissingError without a compiler for CUDA C.
    """

    def __init__(
        self,
        source: _command.Path,
        name: Optional[str] = None,
        *,
        gpu: Optional[_command.Path] = None,
        scheme: _scheme.Selection = None,
        set: Optional[Mapping[str, Any]] = None,
        compile: Sequence[str] = (),
        **options: Union[bool, int, str],
    ) -> None:
        text, file = _read(source)
        is_ptx = ".entry" in text and ".version" in text
        self.ptx = text if is_ptx else compile_cuda(text, file or "kernel.cu", compile)
        self._file = (file or "kernel.ptx") if is_ptx else str(pathlib.Path(file or "kernel.cu").with_suffix(".ptx"))
        given: Dict[str, Any] = {"gpu": gpu, **options, **(set or {})}
        self._options = [f"{k}={_word(v, k in options)}" for k, v in given.items() if v is not None]
        self._scheme = scheme
        with _Session(self._options, scheme) as s:
            names = s.names(s.load(self.ptx, self._file))
        self.names: Tuple[str, ...] = tuple(names)
        self.name: str = self._pick(name)

    def _pick(self, name: Optional[str]) -> str:
        plain = {_figure._plain(n): n for n in self.names}
        if name is None:
            if len(self.names) == 1:
                return self.names[0]
            raise InputError(f"the source has {len(self.names)} kernels ({', '.join(plain)}); say which with name=", 2)
        found = name if name in self.names else plain.get(name)
        if found is None:
            raise InputError(f"no kernel '{name}' in the source; it is one of {', '.join(plain)}", 2)
        return found

    def __call__(self, grid: Size, block: Size, *arguments: Argument, shared: int = 0, progress: bool = True) -> Result:
        """Run the kernel to its end.

        grid       CTAs in x, y and z: a number or up to three
        block      threads of a CTA in x, y and z
        arguments  an array for a pointer: copied to the GPU before and back after, in order, whatever its type and shape (it
                   must be contiguous; one that occurs twice is one allocation); a read-only array is not copied back. Python
                   and NumPy numbers for others; bytes for a struct
        shared     dynamic shared memory of a CTA, in bytes
        progress   show a line of progress, on terminals and in notebooks, after two seconds

        Returns the Result, with the counters of this launch. After an Error the arrays are as before. Ctrl-C stops the
        simulation.
        """
        with _Session(["program=" + _figure._plain(self.name), *self._options], self._scheme) as s:
            ffi = s.ffi
            out = ffi.new("struct sluice_kernel **")
            s.do("sluice_find_kernel", s.load(self.ptx, self._file), self.name.encode(), out)
            held, places = self._place(s, s.parameters(out[0]), arguments)
            launch = ffi.new("struct sluice_launch *")
            launch.size = ffi.sizeof("struct sluice_launch")
            launch.grid, launch.block, launch.shared_bytes = _three(grid, "grid"), _three(block, "block"), shared
            launch.argument_count = len(held)
            pointers = ffi.new("void *[]", [ffi.cast("void *", h) for h in held])
            launch.arguments = pointers
            s.simulate("launch", out[0], launch, wanted=progress)
            for address, array in places.values():
                if array.flags.writeable and array.nbytes:
                    s.do("sluice_read", ffi.from_buffer(array), address, array.nbytes)
            return Result(s.record())

    def _place(self, s: _Session, parameters: Sequence[Tuple[str, int]], arguments: Sequence[Argument]) -> Tuple[List[Any], Dict[int, Any]]:
        """Arrays into the GPU's memory, arguments into buffers: those, and address and array of each allocation."""
        ffi, held = s.ffi, []
        places: Dict[int, Any] = {}
        if len(arguments) != len(parameters):
            raise InputError(f"kernel {_figure._plain(self.name)} takes {len(parameters)} arguments, not {len(arguments)}", 2)
        for i, (value, (kind, size)) in enumerate(zip(arguments, parameters)):
            which = f"argument {i + 1} of {_figure._plain(self.name)}"
            if isinstance(value, np.ndarray):
                data = self._allocate(s, value, kind, size, which, places).to_bytes(8, "little")
            else:
                data = _scalar_bytes(value, kind, size, which)
            held.append(ffi.new("char[]", data))
        return held, places

    def _allocate(self, s: _Session, array: "np.ndarray[Any, Any]", kind: str, size: int, which: str, places: Dict[int, Any]) -> int:
        if size != 8 or kind.startswith("f"):
            raise InputError(f"{which} is of type {kind} ({size} bytes), no pointer; use a number, not an array", 2)
        if not array.flags.c_contiguous and not array.flags.f_contiguous:
            raise InputError(f"{which} is no contiguous array; use numpy.ascontiguousarray", 2)
        if array.dtype.hasobject:
            raise InputError(f"{which} is an array of Python objects; use numbers", 2)
        if id(array) not in places:
            out = s.ffi.new("uint64_t *")
            s.do("sluice_alloc", max(1, array.nbytes), which.encode(), out)
            places[id(array)] = (out[0], array)
            if array.nbytes:
                s.do("sluice_write", out[0], s.ffi.from_buffer(array), array.nbytes)
        address: int = places[id(array)][0]
        return address

    def __repr__(self) -> str:
        return f"<sluice.Kernel {_figure._plain(self.name)}: {' '.join(self._options) or 'fermi, baseline'}>"


def _word(value: Any, yes_or_no: bool) -> str:
    if isinstance(value, bool):
        return ("yes" if value else "no") if yes_or_no else ("true" if value else "false")
    return str(value)


def _read(source: _command.Path) -> Tuple[str, Optional[str]]:
    """The text of a source, and the name of its file."""
    if isinstance(source, str) and ("\n" in source or not source.endswith((".ptx", ".cu"))):
        return source, None
    try:
        return pathlib.Path(source).read_text(), pathlib.Path(source).name
    except OSError as e:
        raise InputError(f"{os.fspath(source)}: {e.strerror}", 2) from None
