#!/usr/bin/env python3
"""The tables of docs/notes/l2-schemes.md: MeDiC and sharing-aware management on the workloads of their papers.

  tools/evaluate-l2.py BUILD [--size small|medium|large] [--jobs N] [--work DIR] [--set KEY=VALUE]... [--without SCHEME]... [TABLE...]

TABLE: types (MeDiC Table II, Fig 3, 7, 8), banks (Fig 9), medic (Fig 11-16), best (Rand and PCAL at their best), sharing
(sharing-aware Fig 3, 5, 8, 14-16), rows (the same on grids with at least two rows of CTAs for every SM), kepler. All of them
without one. Every simulation runs with --characterise, which changes no counter; best does not, as it searches.
"""
import argparse
import pathlib
import sys

from evaluation import Runs, mean, ratio, show

MEDIC = ["baseline", "eaf", "wip", "wms", "wbyp", "l2-pcal", "rand=10", "rand=30", "pc-byp", "medic", "medic-reuse"]
SHARING = ["baseline", "bcs", "bcs+sharing-cache", "sharing-cta=8", "sharing-cta=8:adpt=1", "sharing-cta=16", "sharing-cta=16:adpt=1",
           "sharing-cta=x", "sharing-cta=x:adpt=1", "sharing-cache", "sharing-cache:strict=1", "sharing", "sharing:l2_dead=1"]
# The programs with grids of two dimensions, at the smallest input that has 30 rows of CTAs: two for each SM. Where a row
# of the data is a multiple of what all channels interleave (6 x 256 B), so that whole columns lie on one channel, the
# next larger one.
ROWS = ["cp --side 256", "gaussian --n 120", "hotspot --side 400", "lud --n 496", "matmul --n 480", "mrigridding --side 240",
        "neuralnet --images 30", "ray --width 256 --height 240", "srad_v2 --side 480", "stencil --side 120"]
BEST = ["baseline", "rand-best", "l2-pcal-best", "pc-byp", "medic"]
BANKS = [("2 banks, 2 ports", []), ("4 banks", ["l2.banks=4"]), ("8 banks", ["l2.banks=8"]), ("4 ports", ["l2.ports=4"]),
         ("4 banks, 4 ports", ["l2.banks=4", "l2.ports=4"])]


class Study:
    def __init__(self, a):
        self.memory = Runs(a.build, a.size, a.jobs, a.work, a.set, characterise=True)
        self.suite = {s: self.memory.suite(s) for s in ("medic", "sharing")}
        self.plain = Runs(a.build, a.size, a.jobs, a.work, a.set)
        self.runs = self.memory.all

    def types(self):
        names = self.suite["medic"]
        r = self.runs("medic", names, ["baseline"])
        print("Warps at the L2, MeDiC's Table II; its Fig 6 (kept), 7 and 8:\n")
        keys = ["all_hit", "mostly_hit", "balanced", "mostly_miss", "all_miss"]
        show(["workload", "AH", "MH", "BL", "MM", "AM", "accesses a warp", "kept", "L2 hits", "its misses: first access", "wait, mean", "32 cycles or more", "penalty, mean", "DRAM busy"],
             [[n] + [f"{100 * r[n, 'baseline']['character.warps.' + k]:.0f} %" for k in keys]
              + [f"{r[n, 'baseline']['l2.accesses'] / max(1, r[n, 'baseline']['character.warps']):.0f}",
                 f"{100 * r[n, 'baseline']['character.warps.type_kept']:.0f} %", f"{100 * r[n, 'baseline']['l2.hit_rate']:.0f} %",
                 f"{100 * r[n, 'baseline']['character.l2_misses.first']:.0f} %", f"{r[n, 'baseline']['l2.queue_delay.mean']:.1f}", f"{100 * r[n, 'baseline']['long_waits']:.0f} %",
                 f"{r[n, 'baseline']['character.divergence_penalty.mean']:.0f}", f"{100 * r[n, 'baseline']['dram.utilisation']:.0f} %"]
              for n in names])

    def banks(self):
        names = self.suite["medic"]
        base = self.runs("medic", names, ["baseline"])
        print("Banks and ports, MeDiC's Fig 9:\n")
        rows = []
        for label, sets in BANKS:
            r = self.runs("medic", names, ["baseline"], sets) if sets else base
            speed = {n: r[n, "baseline"]["ipc"] / base[n, "baseline"]["ipc"] for n in names}
            top = max(speed, key=speed.get)
            rows.append([label, f"{mean(speed.values()):.3f}", f"{top} {speed[top]:.3f}",
                         f"{mean([r[n, 'baseline']['l2.queue_delay.mean'] for n in names], 'arithmetic'):.1f}"])
        show(["per partition", "IPC", "most", "wait, mean"], rows)

    def medic(self):
        names = self.suite["medic"]
        r = self.runs("medic", names, MEDIC)
        group = self.memory.group("medic")
        names.sort(key=lambda n: (group[n], n))
        print(f"MeDiC, size {self.memory.size}, IPC over the baseline's:\n")
        show(["workload", "in the paper", "L2 hits", "DRAM busy"] + MEDIC[1:],
             [[n, group[n], f"{100 * r[n, 'baseline']['l2.hit_rate']:.0f} %", f"{100 * r[n, 'baseline']['dram.utilisation']:.0f} %"]
              + [f"{r[n, s]['ipc'] / r[n, 'baseline']['ipc']:.3f}" for s in MEDIC[1:]] for n in names])
        print("MeDiC, over the baseline: harmonic mean of IPC (Fig 11), IPC per joule (Fig 12), L2 miss rate (Fig 13), wait (Fig 14), "
              "row hits (Fig 15):\n")
        rows = []
        for s in MEDIC:
            speed = {n: r[n, s]["ipc"] / r[n, "baseline"]["ipc"] for n in names}
            moved = [n for n in names if abs(speed[n] - 1) > 0.005]
            rows.append([s, f"{mean(speed.values(), 'harmonic'):.3f}",
                         f"{mean([speed[n] * r[n, 'baseline']['joule'] / r[n, s]['joule'] for n in names]):.3f}",
                         f"{mean([1 - r[n, s]['l2.hits'] / r[n, s]['l2.accesses'] for n in names], 'arithmetic'):.3f}",
                         f"{mean([r[n, s]['l2.queue_delay.mean'] for n in names], 'arithmetic'):.1f}",
                         f"{mean([r[n, s]['dram.row_hit_rate'] for n in names], 'arithmetic'):.3f}",
                         ", ".join(f"{n} {speed[n]:.2f}" for n in sorted(moved, key=speed.get, reverse=True)) or "none"])
        show(["scheme", "IPC", "IPC/J", "L2 misses", "wait", "row hits", "workloads that move by 0.5 %"], rows)

    def best(self):
        names = self.suite["medic"]
        r = self.plain.all("medic", names, BEST)
        print(f"Rand and PCAL at their best for each workload, size {self.memory.size}, IPC over the baseline's:\n")
        rows = [[n] + [f"{r[n, s]['ipc'] / r[n, 'baseline']['ipc']:.3f}" for s in BEST[1:]] for n in names]
        show(["workload"] + BEST[1:], rows + [["harmonic mean"] + [
            f"{mean([r[n, s]['ipc'] / r[n, 'baseline']['ipc'] for n in names], 'harmonic'):.3f}" for s in BEST[1:]]])

    def rows(self):
        self.sharing(names=ROWS)

    def sharing(self, gpu="sharing-aware", names=None):
        names = names or self.suite["sharing"]
        r = self.runs(gpu, names, SHARING)
        print(f"Sharing-aware management on {gpu}, size {self.memory.size}, time over the baseline's:\n")
        show(["workload"] + SHARING[1:],
             [[n] + [f"{r[n, s]['cycles'] / r[n, 'baseline']['cycles']:.3f}" for s in SHARING[1:]] for n in names])
        print("Means over the baseline (Fig 14-16):\n")
        rows = []
        for s in SHARING:
            time = {n: r[n, s]["cycles"] / r[n, "baseline"]["cycles"] for n in names}
            rel = {k: mean([ratio(r[n, s], r[n, "baseline"], k) for n in names])
                   for k in ("l1_miss_rate", "mpki", "dram.bytes", "joule", "l2_icnt_dram", "character.sharers_per_block")}
            low, high = min(time, key=time.get), max(time, key=time.get)
            rows.append([s, f"{mean(time.values()):.3f}", f"{mean([r[n, s]['character.sharers_per_block'] for n in names], 'arithmetic'):.2f}",
                         f"{rel['l1_miss_rate']:.3f}", f"{rel['mpki']:.3f}", f"{rel['dram.bytes']:.3f}", f"{rel['joule']:.3f}",
                         f"{rel['l2_icnt_dram']:.3f}", f"{low} {time[low]:.2f}", f"{high} {time[high]:.2f}"])
        show(["scheme", "time", "SMs a block", "L1 misses", "L2 MPKI", "DRAM", "energy", "L2+icnt+DRAM", "fastest", "slowest"], rows)
        b = {n: r[n, "baseline"] for n in names}
        print("What is shared (Fig 3, 5, 8; sections III and VI-C), baseline:\n")
        show(["workload", "blocks shared by CTAs", "of them nearer than 5", "by SMs", "SMs each", "merged", "hits", "reused after 1000 cycles",
              "L2 misses: first access", "longest CTA over mean", "CTAs", "x of the grid matters"],
             [[n, f"{100 * b[n]['character.blocks.shared_by_ctas']:.0f} %", f"{100 * b[n]['character.blocks.shared_below_distance_5']:.0f} %",
               f"{100 * b[n]['character.blocks.shared_by_sms']:.0f} %", f"{b[n]['character.sharers_per_shared_block']:.1f}",
               f"{100 * b[n]['character.shared_loads.merged']:.0f} %", f"{100 * b[n]['character.shared_loads.hits']:.0f} %",
               f"{100 * b[n]['character.shared_loads.reused_late']:.0f} %", f"{100 * b[n]['character.l2_misses.first']:.0f} %",
               f"{b[n]['character.ctas.longest_over_mean']:.2f}",
               f"{b[n]['ctas'] / max(1, b[n]['kernels']):.0f}",
               "no" if r[n, "sharing-cta=x:adpt=1"]["cycles"] == b[n]["cycles"] else "yes"] for n in names])

    def kepler(self):
        self.sharing("sharing-aware-kepler")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build", type=pathlib.Path)
    p.add_argument("--size", default="small", choices=["small", "medium", "large"])
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--work", type=pathlib.Path, help="where results are remembered (default BUILD/evaluation)")
    p.add_argument("--set", action="append", default=[])
    p.add_argument("--without", action="append", default=[], metavar="SCHEME", help="leave this column out; may be repeated")
    p.add_argument("table", nargs="*")
    a = p.parse_intermixed_args()
    tables = ["types", "banks", "medic", "best", "sharing", "rows", "kepler"]
    for t in a.table or tables:
        if t not in tables:
            sys.exit(f"no table {t}; there are {', '.join(tables)}")
    for s in a.without:
        if s not in MEDIC + SHARING:
            sys.exit(f"no column {s}; there are {', '.join(MEDIC + SHARING)}")
    MEDIC[:], SHARING[:] = ([s for s in l if s not in a.without] for l in (MEDIC, SHARING))
    study = Study(a)
    for t in a.table or tables:
        getattr(study, t)()


main()
