#!/usr/bin/env python3
"""A program's kernels as PTX and as the machine code that ptxas makes of it, both on `volta`: executed instructions by
class, and cycles.

  bench/sass/beside.py --tools DIR [--build DIR] -o TABLE.csv --ptx FILE.ptx [--tolerance X] [--most N] CASE...

DIR holds NVIDIA's ptxas and cuobjdump. A case is NAME=PROGRAM [ARGS] in one argument. Its launches are recorded,
executed as machine code by `sass`, whose memory afterwards must be the program's, and run as its trace. A row per case
and item: instructions, a class, cycles; `ptx` from PTX, `sass` of the trace, `exported` the PTX's own machine code as a
trace.
"""
import argparse
import collections
import csv
import glob
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "silicon")]
sys.dont_write_bytecode = True
import cubin  # noqa: E402
from ptxas_mix import CLASSES, class_of  # noqa: E402


def run(*command, **more):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, **more)


def must(*command, **more):
    r = run(*command, **more)
    if r.returncode: raise RuntimeError(f"{' '.join(map(str, command))[:300]}\n{r.stdout[-500:]}{r.stderr[-1500:]}")
    return r.stdout


def compile_tools(folder):
    cc = [os.environ.get("CC", "cc"), "-std=gnu17", "-D_GNU_SOURCE", "-O2"]
    must(*cc, *[f for f in sorted(HERE.glob("*.c")) if f.name != "record.c"], "-lm", "-o", folder / "sass")
    must(*cc, "-shared", "-fPIC", HERE / "record.c", "-ldl", "-o", folder / "record.so")


def kernel_file(ptx, tools, path):
    with open(path, "w") as out:
        for p in ptx:
            must(tools / "ptxas", "-arch=sm_70", p, "-o", str(path) + ".cubin")
            for k in cubin.kernels(str(path) + ".cubin", str(tools / "cuobjdump")): out.write(k + "\n\n")


def sass_classes(path):
    n = collections.Counter()
    for _, _, _, opcode, count in csv.reader(open(path)): n[class_of(opcode)] += int(count)
    return n


def listing(sluice, ptx, kernel):
    for p in ptx:
        lines = run(sluice, "mix", "--kernel", kernel, p).stdout.split("\n")
        code = [l.split() for l in lines if re.match(r"\s+\d+  ", l)]
        if code: return [c[2] for c in code]
    raise RuntimeError(f"{kernel} is not machine code")


def ptx_classes(sluice, ptx, folder, most):
    """Of the recording's export: an instruction's address says which of the listing it is."""
    n, codes = collections.Counter(), {}
    names = sorted(folder.glob("kernel-*.traceg"), key=lambda p: int(re.search(r"-(\d+)\.", p.name).group(1)))
    for path in names[:most]:
        at, kernel = collections.Counter(), None
        for line in open(path):
            if line.startswith("-kernel name"): kernel = line.split(" = ")[1].strip()
            elif re.match(r"\d+ [0-9a-f]+ [0-9a-f]{8} ", line): at[int(line.split(None, 2)[1], 16)] += 1
        code = codes.setdefault(kernel, listing(sluice, ptx, kernel))
        for pc, count in at.items(): n[code[(pc - min(at)) // 16]] += count
    return n


def totals(sluice, folder, what, *more):
    must(sluice, "run", "-q", "--gpu", "volta", "-j", folder / "run.json", *more, *what)
    return json.load(open(folder / "run.json"))["totals"]


def case(o, folder, name, command, tool_folder, kernels):
    sluice = o.build / "sluice"
    for d in ("launches", "trace"):
        (folder / d).mkdir()
    env = dict(os.environ, SASS_KERNELS=str(kernels), SASS_OUT=str(folder / "launches"), SASS_MOST=str(o.most),
               LD_PRELOAD=str(tool_folder / "record.so"))
    must(sluice, "run", "-q", "--mode", "functional", "--gpu", "volta", "--", *command, env=env)
    launches = sorted(glob.glob(str(folder / "launches/*.launch")))
    out = must(tool_folder / "sass", "--kernels", kernels, "--out", folder / "trace", "--mix", folder / "mix.csv",
               "--tolerance", o.tolerance, *launches)
    names = sorted({l.split(",")[1] for l in out.split()})
    must(sluice, "record", "-q", "--gpu", "volta", "-o", folder / "x.slt", "--", *command)
    must(sluice, "export", "-q", "--accel-sim", "-o", folder / "export", folder / "x.slt")
    ours, theirs = ptx_classes(sluice, o.ptx, folder / "export", o.most), sass_classes(folder / "mix.csv")
    rows = [["launches", len(launches), len(launches), ""],
            ["instructions", sum(ours.values()), sum(theirs.values()), ""]]
    rows += [[c, ours[c], theirs[c], ""] for c in CLASSES if ours[c] or theirs[c]]
    ptx = totals(sluice, folder, [folder / "x.slt"])
    sass = totals(sluice, folder, [folder / "trace/kernelslist.g"])
    through = totals(sluice, folder, [folder / "export/kernelslist.g"])
    warm = totals(sluice, folder, [folder / "x.slt"], "--set", "imc.lines=0")
    rows += [["cycles", ptx["cycles"], sass["cycles"], through["cycles"]],
             ["cycles without misses of constant operands", warm["cycles"], sass["cycles"], through["cycles"]]]
    for c in ("l1d.read.accesses", "l1d.read.misses", "l2.accesses", "dram.reads", "shared.bank_conflicts"):
        rows.append([c, ptx.get(c, 0), sass.get(c, 0), through.get(c, 0)])
    return [[name, " ".join(names)] + r for r in rows]


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--tools", required=True, type=pathlib.Path)
    a.add_argument("--build", default=HERE.parents[1] / "build", type=pathlib.Path)
    a.add_argument("-o", required=True)
    a.add_argument("--ptx", action="append", required=True)
    a.add_argument("--tolerance", default="0", help="relative difference of floats in memory that is allowed")
    a.add_argument("--most", default=100000, type=int, help="launches of a case that count")
    a.add_argument("cases", nargs="+")
    o = a.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as d, open(o.o, "w", newline="") as f:
        tools = pathlib.Path(d)
        compile_tools(tools)
        kernel_file(o.ptx, o.tools, tools / "kernels")
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["case", "kernels", "item", "ptx", "sass", "exported"])
        for text in o.cases:
            name, command = text.split("=", 1)
            with tempfile.TemporaryDirectory() as work:
                try:
                    out.writerows(case(o, pathlib.Path(work), name, shlex.split(command), tools, tools / "kernels"))
                except RuntimeError as e:
                    failed += 1
                    print(f"{name}: {e}", file=sys.stderr)
            f.flush()
    return failed > 0


if __name__ == "__main__": sys.exit(main())
