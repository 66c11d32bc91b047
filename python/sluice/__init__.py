"""Sluice: run CUDA programs on a simulated GPU and see what their memory accesses cost.

One simulation; its counters are attributes, with units:

    r = sluice.run("kmeans", scheme="bucl", size="medium")
    r.cycles, r.ipc, r.l1d.read.hit_rate        # sums over all launches
    r.cycles.unit, r.cycles.meaning             # "core cycle", ...
    r.kernels                                   # a DataFrame, a row per launch; units in r.kernels.attrs["units"]
    r.figure().savefig("kmeans.pdf")

Schemes side by side, and sweeps:

    c = sluice.compare("kmeans", schemes=["baseline", "bucl", "swl=4"], size="small")
    c.table, c["bucl"].ipc, c.figure()
    s = sluice.study("l1.yaml")                 # continues where it stopped; Ctrl-C stops it
    s.query("ipc", rows="workload", columns="scheme", relative="none")
    sluice.open("l1.db").results

A kernel from a string of CUDA C or PTX, on NumPy arrays, in this process:

    k = sluice.Kernel('''extern "C" __global__ void twice(float *x) { x[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }''')
    r = k(4, 256, x)                            # 4 CTAs of 256 threads; x is changed in place

A scheme as a Python class, whose methods are the hooks of the machine:

    class Wide(sluice.Scheme): ...              # help(sluice.Scheme)
    sluice.run("kmeans", scheme=Wide, size="small")

What there is: sluice.workloads(), schemes(), gpus(), knobs() and counters(), the last two with units.

Errors are classes below sluice.Error, with the message in parts: .file, .line, .column, .hint. The command `sluice` does the
work of all but Kernel; the environment variable SLUICE says where it is, if not beside the package or on the PATH. pandas and
matplotlib are used where they are installed: without pandas a table is a sluice.Table of NumPy columns.
"""
from ._counters import Count, Counters, Rate
from ._database import Database, Study, study
from ._database import open_results as open
from ._errors import (
    Error,
    FailedRunsWarning,
    InputError,
    InternalError,
    MissingError,
    NotReachedError,
    ProgramError,
    StrayWarning,
    StuckError,
    UnsupportedError,
)
from ._kernel import Kernel, compile_cuda
from ._result import Comparison, Result, load
from ._run import compare, counters, gpus, knobs, run, schemes, workloads
from ._scheme import L1, L2, BypassBy, Counter, Param, Prefetch, Scheme, Store
from ._table import Table

__all__ = [
    "run", "compare", "study", "open", "load", "Kernel", "compile_cuda",
    "workloads", "schemes", "gpus", "knobs", "counters",
    "Result", "Comparison", "Study", "Database", "Counters", "Count", "Rate", "Table",
    "Scheme", "Param", "Counter", "L1", "L2", "BypassBy", "Prefetch", "Store",
    "Error", "InputError", "UnsupportedError", "ProgramError", "StuckError", "NotReachedError", "InternalError", "MissingError",
    "StrayWarning", "FailedRunsWarning",
]
