"""Simulations of bundled workloads, remembered: what tools/evaluate-l1.py and tools/evaluate-l2.py share.

A simulation that WORK (default BUILD/evaluation) holds is not repeated, so an evaluation that was interrupted goes on where
it stopped; results of another build of the simulator are not reused.
"""
import concurrent.futures
import hashlib
import json
import math
import pathlib
import subprocess
import sys


def identity(build):
    h = hashlib.sha256()
    for f in ("sluice", "lib/libsluice.so"):
        h.update((build / f).read_bytes())
    return h.hexdigest()[:16]


def kept(record):
    """The part of a record that the tables need: totals, energy, waits in front of the L2."""
    t = record["totals"]
    t["joule"] = record["energy"]["whole_uj"]
    t["dynamic_joule"] = record["energy"]["dynamic_uj"]
    t["dram_watt"] = record["energy"]["dram_watt"]
    t["l2_icnt_dram"] = t["energy.l2"] + t["energy.icnt"] + t["energy.dram"]
    t["l1_miss_rate"] = 1 - t["l1d.read.hit_rate"] - t["l1d.read.pending_rate"]
    t["mpki"] = 1000 * t["l2.misses"] / t["thread_insts"]
    waits = [0] * 12
    for k in record["kernels"]:
        for i, v in enumerate(k.get("warps_at_l2", {}).get("requests_by_log2_wait", [])):
            waits[i] += v
    t["long_waits"] = sum(waits[6:]) / max(1, sum(waits))  # 32 cycles and more
    return t


class Runs:
    def __init__(self, build, size, jobs=2, work=None, sets=(), characterise=False):
        self.build, self.size, self.sets, self.characterise = build.resolve(), size, list(sets), characterise
        self.work = (work or self.build / "evaluation") / f"{size}-{identity(self.build)}"
        self.work.mkdir(parents=True, exist_ok=True)
        self.pool = concurrent.futures.ThreadPoolExecutor(jobs)
        self.listed = json.loads((self.build / "share/sluice/workloads.json").read_text())

    def suite(self, paper):
        return [w["name"] for w in self.listed if paper in w["suites"]]

    def group(self, paper):
        return {w["name"]: w["groups"].get(paper, "") for w in self.listed if paper in w["suites"]}

    def one(self, gpu, name, scheme, sets=()):
        """NAME may go on with parameters of the workload: "srad_v2 --side 480"."""
        sets = list(sets) + self.sets
        program, *parameters = name.split()
        tag = "+".join([gpu, name, scheme, *sets] + (["characterise"] if self.characterise else [])).replace("/", "_")
        out = self.work / f"{tag}.json"
        if out.exists():
            return json.loads(out.read_text())
        record = out.with_suffix(".record")
        done = subprocess.run([self.build / "sluice", "run", "-q", "--gpu", gpu, "--scheme", scheme, "--json", record]
                              + (["--characterise"] if self.characterise else []) + [x for s in sets for x in ("--set", s)]
                              + ["--", self.build / "workloads" / program, "--size", self.size] + parameters,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            sys.exit(f"{name} under {scheme}: {done.stdout.decode(errors='replace')[-1000:]}")
        t = kept(json.loads(record.read_text()))
        record.unlink()
        part = out.with_suffix(".part")
        part.write_text(json.dumps(t))
        part.rename(out)
        return t

    def all(self, gpu, names, schemes, sets=()):
        jobs = {(n, s): self.pool.submit(self.one, gpu, n, s, sets) for n in names for s in schemes}
        try:
            return {k: f.result() for k, f in jobs.items()}
        finally:
            for f in jobs.values():
                f.cancel()


def mean(values, kind="geometric"):
    values = [v for v in values if v is not None]
    if not values:
        return float("nan")
    if kind == "harmonic":
        return len(values) / sum(1 / v for v in values)
    if kind == "arithmetic":
        return sum(values) / len(values)
    return math.exp(sum(math.log(v) for v in values) / len(values))


def show(head, rows):
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for r in rows:
        print("| " + " | ".join(r) + " |")
    print(flush=True)


def ratio(a, b, key):
    return a[key] / b[key] if b[key] > 0 and a[key] > 0 else None
