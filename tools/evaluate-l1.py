#!/usr/bin/env python3
"""The tables of docs/notes/l1-schemes.md: BUCL, the Tag-Split Cache and the decoupled L1D on the workloads of their papers.

  tools/evaluate-l1.py BUILD [--size small|medium|large] [--jobs N] [--work DIR] [--set KEY=VALUE]... [TABLE...]

TABLE: bucl (Fig 7 to 9, Table III), tsc (Fig 10 to 12), decoupled-l1d (Fig 8, 9, Table 1, on its paper's machine),
decoupled-fermi (the same on fermi). All of them without one. IPC over the baseline's; the best schemes are searched over a
few values, the paper's own among them.
"""
import argparse
import pathlib
import sys

from evaluation import Runs, mean, show

LIMITS = [3, 5, 7, 8, 12, 20, 32]
DISTANCES = [4, 8, 16, 32, 64]
# name of the column: the schemes of which the fastest is taken, and what is printed of its name
BUCL = {"mrpb": ["mrpb"], "swl-best": [f"swl={n}" for n in LIMITS], "bucl-prf=5000": ["bucl-prf=5000"],
        "bucl-prf=10000": ["bucl-prf=10000"], "bucl": ["bucl"], "swl-best+bucl": [f"swl={n}+bucl" for n in LIMITS]}
TSC = {s: [s] for s in ("mrpb", "lamar", "dsc=2", "dsc=4", "tsc", "tsc+")}
DECOUPLED = {"ball": ["ball"], "mrpb": ["mrpb"], "pdp-best": [f"pdp={n}" for n in DISTANCES], "decoupled-l1d": ["decoupled-l1d"],
             "decoupled-l1d:duel=0": ["decoupled-l1d:duel=0"]}


def chosen(scheme):
    return scheme.split("=")[1].split("+")[0]


def table(runs, paper, gpu, columns, sets=()):
    group = runs.group(paper)
    names = sorted(group, key=lambda n: (group[n], n))
    flat = [s for c in columns.values() for s in c]
    r = runs.all(gpu, names, ["baseline"] + flat, sets)
    ipc = {k: v["ipc"] for k, v in r.items()}
    best = {(n, c): max(columns[c], key=lambda s: ipc[n, s]) for n in names for c in columns}
    gain = {k: ipc[k[0], s] / ipc[k[0], "baseline"] for k, s in best.items()}
    rows = [[n, group[n], f"{ipc[n, 'baseline']:.2f}"]
            + [f"{gain[n, c]:.3f}" + (f" ({chosen(best[n, c])})" if len(columns[c]) > 1 else "") for c in columns] for n in names]
    groups = sorted(set(group.values())) + ["all"]
    for g in groups:
        within = [n for n in names if g in (group[n], "all")]
        rows.append(["geometric mean", f"{g} ({len(within)})", ""] + [f"{mean([gain[n, c] for n in within]):.3f}" for c in columns])
    print(f"{paper} on {gpu}, size {runs.size}: IPC over the baseline's\n")
    show(["workload", "group", "baseline IPC"] + [c + (" (value)" if len(columns[c]) > 1 else "") for c in columns], rows)

    def at(n, c, key):
        return r[n, "baseline" if c == "baseline" else best[n, c]][key]

    print("L1 hit rates of loads (%; hits over lookups, and with what bypassed as misses), L1 refusals, traffic between L1 and L2, DRAM traffic, energy: means, the last four over the baseline's\n")
    rows = []
    for g in groups:
        within = [n for n in names if g in (group[n], "all")]
        for c in ["baseline"] + list(columns):
            def over(key):
                pairs = [(at(n, c, key), at(n, "baseline", key)) for n in within]
                return f"{mean([a / b for a, b in pairs if a > 0 and b > 0]):.3f}"
            rows.append([g, c, f"{100 * mean([at(n, c, 'l1d.read.hit_rate') for n in within], 'arithmetic'):.1f}",
                         f"{100 * mean([hits_of_all(r[n, 'baseline' if c == 'baseline' else best[n, c]]) for n in within], 'arithmetic'):.1f}",
                         over("l1d.read.rejections"), over("icnt.flits_down"), over("dram.bytes"), over("joule")])
    show(["group", "scheme", "hits", "hits of all", "refusals", "flits down", "DRAM bytes", "energy"], rows)
    return r, best


def hits_of_all(t):
    n = t["l1d.read.hits"] + t["l1d.read.pending_hits"] + t["l1d.read.misses"] + t["l1d.read.bypasses"]
    return t["l1d.read.hits"] / n if n else 0


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build", type=pathlib.Path)
    p.add_argument("--size", default="medium", choices=["small", "medium", "large"])
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--work", type=pathlib.Path)
    p.add_argument("--set", action="append", default=[])
    p.add_argument("--without", default="", help="columns to leave out, separated by commas")
    p.add_argument("table", nargs="*")
    a = p.parse_intermixed_args()
    tables = {"bucl": ("bucl", "fermi", BUCL), "tsc": ("tsc", "fermi", TSC), "decoupled-l1d": ("decoupled-l1d", "decoupled-l1d", DECOUPLED),
              "decoupled-fermi": ("decoupled-l1d", "fermi", DECOUPLED)}
    for t in a.table or tables:
        if t not in tables:
            sys.exit(f"no table {t}; there are {', '.join(tables)}")
    runs = Runs(a.build, a.size, a.jobs, a.work, a.set)
    for t in a.table or tables:
        paper, gpu, columns = tables[t]
        table(runs, paper, gpu, {c: s for c, s in columns.items() if c not in a.without.split(",")})


main()
