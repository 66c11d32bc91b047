#!/usr/bin/env python3
"""Check or repeat the fit of src/model/energy.def to the reference's energies.

  tools/energy_fit.py BUILD [--fit] [--all] [CASE...]

Runs the calibration cases (--all: the two slow ones as well) and prints, for each component, Sluice's value over the
reference's in the cases where it is at least 5 % of the whole, and the same for the sum. Exits with 1 if a sum is off
by more than 10 %, or if a component is off by more than 15 % in such a case. With --fit it prints fitted picojoules
instead: non-negative least squares on errors relative to the component's energy, or to 5 % of the whole where it is
less than that.
"""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

SLOW = {"chase_l2", "chase_dram"}  # a minute each, and nothing but idle SMs

root = pathlib.Path(__file__).resolve().parent.parent
FRONT = ("icache", "ibuffer", "scheduler", "pipeline")
PARTS = ("regfile", "exec", "l1d", "shared", "l2", "mem_ctrl", "icnt", "dram", "idle_core")


def nnls(rows, want):
    """Non-negative least squares by coordinate descent on the normal equations."""
    n = len(rows[0])
    scale = [sum(r[j] ** 2 for r in rows) ** 0.5 or 1 for j in range(n)]
    rows = [[r[j] / scale[j] for j in range(n)] for r in rows]
    gram = [[sum(r[i] * r[j] for r in rows) for j in range(n)] for i in range(n)]
    rhs = [sum(r[i] * w for r, w in zip(rows, want)) for i in range(n)]
    x = [0.0] * n
    for _ in range(20000):
        for i in range(n):
            if gram[i][i]:
                x[i] = max(0.0, x[i] + (rhs[i] - sum(gram[i][j] * x[j] for j in range(n))) / gram[i][i])
    return [a / b for a, b in zip(x, scale)]


FEATURES = {  # what a component's energy is fitted to, by our counters; sums by "+"
    "icache": ["l1i.accesses", "warp_insts"],
    "ibuffer": ["warp_insts"],
    "scheduler": ["warp_insts"],
    "regfile": ["registers.written", "others", "idle", "l1d.read.accesses", "shared.accesses", "shared.bank_conflicts"],
    "pipeline": ["warp_insts"],
    "exec": ["insts.simple", "insts.integer_multiply", "insts.integer_division", "insts.float32_add",
             "insts.float32_multiply", "insts.float64", "insts.special", "idle"],
    "l1d": ["l1d.read.hits+l1d.local_read.hits", "l1d.read.misses+l1d.local_read.misses", "l1d.read.pending_hits",
            "l1d.write.accesses+l1d.local_write.accesses"],
    "shared": ["shared.accesses", "shared.bank_conflicts"],
    "l2": ["l2.read.hits", "l2.write.accesses", "l2.accesses"],
    "mem_ctrl": ["cycles", "dram.reads+dram.writes", "l1d.read.accesses"],
    "icnt": ["icnt.flits_up+icnt.flits_down"],
    "dram": ["demand", "write", "dram.activates"],
    "idle_core": ["sm.empty_cycles"],
}


def value(t, feature):
    fetches = min(t["dram.reads"], 2 * (t["l2.write.accesses"] - t["l2.write.hits"]))
    if feature == "demand":
        return t["dram.reads"] - fetches
    if feature == "write":
        return t["dram.writes"] + fetches
    if feature == "idle":  # lanes without work
        return 32 * t["warp_insts"] - t["thread_insts"]
    if feature == "others":  # operands that are no registers, three an instruction
        return max(0, 3 * t["warp_insts"] - t["registers.read"])
    return sum(t[k] for k in feature.split("+"))


def run(build, case):
    with tempfile.TemporaryDirectory() as d:
        out = pathlib.Path(d) / "out.json"
        subprocess.run([build / "sluice", "run", "-q", "--json", out, "--", root / "tests/calibration/calib", case],
                       check=True, stdout=subprocess.DEVNULL)
        return json.loads(out.read_text())["totals"]


def main():
    args = [a for a in sys.argv[1:] if a not in ("--fit", "--all")]
    build = pathlib.Path(args[0]).resolve()
    with open(root / "tests/calibration/reference-energy.csv", newline="") as f:
        ref = {r["case"]: {k[:-3]: float(v) for k, v in r.items() if k.endswith("_uj")} for r in csv.DictReader(f)}
    cases = args[1:] or [c for c in ref if c not in SLOW or "--all" in sys.argv]
    ours = {c: run(build, c) for c in cases}
    whole = {c: sum(ref[c].values()) for c in cases}
    if "--fit" in sys.argv:
        for part, features in FEATURES.items():
            weight = {c: 1 / max(ref[c][part], 0.05 * whole[c]) for c in cases}
            x = nnls([[value(ours[c], k) * weight[c] for k in features] for c in cases],
                     [ref[c][part] * weight[c] for c in cases])
            print(part, ", ".join(f"{k} {v * 1e6:.4g} pJ" for k, v in zip(features, x)))
        return 0
    bad = 0
    for part in ("front",) + PARTS:
        got = {c: ours[c]["energy." + part] for c in cases}
        want = {c: sum(ref[c][k] for k in FRONT) if part == "front" else ref[c][part] for c in cases}
        ratio = {c: got[c] / want[c] for c in cases if want[c] >= 0.05 * whole[c]}
        far = {c: r for c, r in ratio.items() if abs(r - 1) > 0.15}
        bad += bool(far)
        print(f"{'not ok' if far else 'ok'} {part}: within 15 % in {len(ratio) - len(far)} of {len(ratio)} cases where "
              f"it matters"
              + "".join(f"; {c} {r:.2f}" for c, r in far.items()))
    for c in cases:
        r = ours[c]["energy.total"] / whole[c]
        ok = abs(r - 1) <= 0.10
        bad += not ok
        print(f"{'ok' if ok else 'not ok'} {c}: sum {r:.3f} of the reference's")
    return bad != 0


sys.exit(main())
