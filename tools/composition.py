#!/usr/bin/env python3
"""All five designs and their sensible combinations on all workloads of all five papers, one configuration.

  tools/composition.py BUILD [--size small|medium] [--jobs N] [--work DIR] [--write PAGE] [WORKLOAD...]

Simulations that DIR (default BUILD/composition) already holds are not repeated, so a run that was interrupted goes on
where it stopped; results of another build of the simulator are not reused. tools/composition.sh BUILD
writes docs/notes/composition.md.
"""
import argparse
import concurrent.futures
import hashlib
import json
import math
import os
import pathlib
import subprocess
import sys
import time

GPU = "medic"  # the banked, write-through L2 that MeDiC needs; SMs and L1s are fermi's, as in all five papers
DESIGNS = ["bucl", "tsc+", "decoupled-l1d", "medic", "sharing"]
COMBINATIONS = [
    "tsc+,bucl", "tsc+,medic", "tsc+,sharing", "bucl,medic", "bucl,sharing", "medic,sharing", "decoupled-l1d,bucl",
    "decoupled-l1d,medic", "decoupled-l1d,sharing", "tsc+,bucl,medic", "bucl,medic,sharing", "decoupled-l1d,bucl,medic",
    "tsc+,bucl,medic,sharing", "decoupled-l1d,bucl,medic,sharing",
]
ON_FILL = "on-fill"  # the baseline with an L1 that allocates on the fill, as sharing-aware management makes it
SCHEMES = ["baseline", ON_FILL] + DESIGNS + COMBINATIONS
KEYS = ["cycles", "ipc", "l1d.read.hit_rate", "l2.hit_rate", "dram.bytes", "thread_insts"]
NEAR = 0.005  # differences that count as none


def identity(build):
    h = hashlib.sha256()
    for f in ("sluice", "lib/libsluice.so"):
        h.update((build / f).read_bytes())
    return h.hexdigest()[:16]


def simulate(build, work, name, size, scheme):
    out = work / f"{name}.{scheme.replace(',', '_')}.json"
    if out.exists():
        return json.loads(out.read_text())
    record = out.with_suffix(".record")
    start = os.times()
    machine = ["--set", "l1d.allocate=on-fill"] if scheme == ON_FILL else ["--scheme", scheme]
    done = subprocess.run([build / "sluice", "run", "-q", "--gpu", GPU, *machine, "--json", record, "--",
                           build / "workloads" / name, "--size", size], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        sys.exit(f"{name} under {scheme}: exit code {done.returncode}\n{done.stdout.decode(errors='replace')[-2000:]}")
    r = json.loads(record.read_text())
    record.unlink()
    kept = {k: r["totals"][k] for k in KEYS} | {"joule": r["energy"]["whole_uj"] * 1e-6}
    part = out.with_suffix(".part")
    part.write_text(json.dumps(kept))
    part.rename(out)
    return kept


def geomean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else 0.0


def short(scheme):
    return scheme.replace(",", " + ")


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head)] + ["| " + " | ".join(r) + " |" for r in rows])


def parts_of(scheme):
    return scheme.split(",")


def page(names, suites, runs, size, note):
    speed = {s: {n: runs[n][s]["ipc"] / runs[n]["baseline"]["ipc"] for n in names} for s in SCHEMES}
    joule = {s: {n: runs[n][s]["joule"] / runs[n]["baseline"]["joule"] for n in names} for s in SCHEMES}
    dram = {s: {n: runs[n][s]["dram.bytes"] / max(1, runs[n]["baseline"]["dram.bytes"]) for n in names} for s in SCHEMES}
    best = {n: max([s for s in SCHEMES if s != ON_FILL], key=lambda s: (round(speed[s][n], 3), -len(parts_of(s)), -SCHEMES.index(s))) for n in names}
    out = [f"## Size {size}: {len(names)} workloads, {len(SCHEMES)} machines", note, ""]
    out.append("### Means\n\nGeometric means over the baseline: IPC over the workloads of each paper and over all of them, energy "
               "(leakage, refresh and the\nschemes' tables included), DRAM traffic; workloads that gain or lose more than 0.5 %; "
               "workloads on which it is the best of all\n(ties go to the smaller combination).\n")
    rows = []
    for s in SCHEMES:
        of = {p: [speed[s][n] for n in names if p in suites[n]] for p in PAPERS}
        mean = [f"{geomean(of[p]):.3f}" if of[p] else "-" for p in PAPERS]
        rows.append([short(s) if s != ON_FILL else "baseline, L1 allocates on the fill"] + mean + [f"**{geomean(list(speed[s].values())):.3f}**", f"{geomean(list(joule[s].values())):.3f}",
                     f"{geomean([max(v, 1e-9) for v in dram[s].values()]):.3f}", str(sum(v > 1 + NEAR for v in speed[s].values())),
                     str(sum(v < 1 - NEAR for v in speed[s].values())), str(sum(b == s for b in best.values()))])
    out.append(table(["machine"] + PAPERS + ["all", "energy", "DRAM", "gain", "lose", "best"], rows))
    out.append("\n### What composes\n\nA combination beside the best of its parts alone, workload by workload. It *adds* where it "
               "is faster than every part, *harms*\nwhere it is slower than the best part, by more than 0.5 %. `product` is what the parts' "
               "own speedups would give if they were\nindependent.\n")
    rows = []
    for s in COMBINATIONS:
        alone = {n: max(speed[p][n] for p in parts_of(s)) for n in names}
        product = geomean([math.prod(speed[p][n] for p in parts_of(s)) for n in names])
        adds = [n for n in names if speed[s][n] > alone[n] * (1 + NEAR)]
        harms = [n for n in names if speed[s][n] < alone[n] * (1 - NEAR)]
        top = max(names, key=lambda n: speed[s][n] / alone[n])
        low = min(names, key=lambda n: speed[s][n] / alone[n])
        rows.append([short(s), f"{geomean(list(speed[s].values())):.3f}", f"{geomean(list(alone.values())):.3f}", f"{product:.3f}",
                     str(len(adds)), str(len(harms)), f"{top} {speed[s][top] / alone[top]:.2f}", f"{low} {speed[s][low] / alone[low]:.2f}"])
    out.append(table(["combination", "IPC", "best part, each workload", "product", "adds", "harms", "most", "least"], rows))
    out.append("\n### Workload by workload\n\nIPC over the baseline's; the best machine of each.\n")
    rows = []
    for n in names:
        cells = [f"{speed[s][n]:.3f}" for s in DESIGNS + [ON_FILL]]
        rows.append([n] + cells + [short(best[n]), f"{speed[best[n]][n]:.3f}", f"{joule[best[n]][n]:.3f}"])
    out.append(table(["workload"] + DESIGNS + ["on-fill alone", "best machine", "IPC", "its energy"], rows))
    return "\n".join(out) + "\n"


PAPERS = ["bucl", "tsc", "medic", "decoupled-l1d", "sharing"]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build", type=pathlib.Path)
    p.add_argument("--size", default="small", choices=["small", "medium", "large"])
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--work", type=pathlib.Path)
    p.add_argument("--write", type=pathlib.Path, help="the page whose part for this size is replaced (default: print it)")
    p.add_argument("workload", nargs="*")
    a = p.parse_intermixed_args()
    build = a.build.resolve()
    known = {w["name"]: set(w["suites"]) for w in json.loads((build / "share/sluice/workloads.json").read_text())}
    names = sorted(a.workload or known)
    for n in names:
        if n not in known:
            sys.exit(f"no workload {n}; there are {', '.join(sorted(known))}")
    work = (a.work or build / "composition") / f"{a.size}-{identity(build)}"
    work.mkdir(parents=True, exist_ok=True)
    todo = [(n, s) for n in names for s in SCHEMES]
    began, runs, done = time.time(), {n: {} for n in names}, 0
    told = began
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        jobs = {pool.submit(simulate, build, work, n, a.size, s): (n, s) for n, s in todo}
        try:
            for f in concurrent.futures.as_completed(jobs):
                n, s = jobs[f]
                runs[n][s] = f.result()
                done += 1
                if sys.stderr.isatty() and time.time() - told > 2:
                    told = time.time()
                    left = (told - began) * (len(todo) - done) / done
                    print(f"\r\033[K{done} of {len(todo)} simulations, about {left:.0f} s left", end="", file=sys.stderr, flush=True)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    user = os.times().children_user
    clock = work / "took.json"  # what is read back from the folder took its time in an earlier run
    wall, processor = json.loads(clock.read_text()) if clock.exists() else (0, 0)
    wall, processor = wall + time.time() - began, processor + user
    clock.write_text(json.dumps([wall, processor]))
    took = f"{len(todo)} simulations, {a.jobs} at a time, took {wall:.0f} s ({processor:.0f} s of processor time)."
    text = page(names, known, runs, a.size, took)
    if a.write:
        begin, end = f"<!-- generated: {a.size} -->\n", f"<!-- end: {a.size} -->\n"
        old = a.write.read_text()
        if begin not in old or end not in old:
            sys.exit(f"{a.write} has no place for size {a.size}: a line {begin.strip()!r} and later a line {end.strip()!r}")
        a.write.write_text(old[: old.index(begin) + len(begin)] + text + old[old.index(end):])
    else:
        print(text)
    print(took, file=sys.stderr)


main()
