#!/usr/bin/env python3
"""Original programs and the workloads that stand for them, side by side: workloads/originals.tsv.

  workloads/beside.py --stored [PAPER...]
  workloads/beside.py BUILD FOLDER RECORDS [PAPER...]

--stored takes the baselines from the stored results (results/README.md) and runs nothing; what is not stored keeps its
number. The other form runs the original programs in FOLDER (docs/how-to/papers.md) and the workloads of BUILD, both at size medium and in the
baseline of each paper's machine, and writes what the papers say of their programs beside what both do. Records are kept
in the folder RECORDS: a second call runs what is not there. workloads/published.tsv has the papers' numbers.
"""

import csv
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent
MACHINES = {"sharing": "sharing-aware"}  # others have the paper's name
PAPERS = ("bucl", "tsc", "medic", "decoupled-l1d", "sharing")
DEGREES = ("1", "2", "3_10", "11_20", "21_up")


def total(record, path):
    """A list or table in the records of all launches, summed."""
    found = None
    for kernel in record["kernels"]:
        value = kernel
        for key in path.split("."):
            value = value.get(key) if value else None
        if value is None:
            continue
        if isinstance(value, dict):
            found = {k: v + (found or {}).get(k, 0) for k, v in value.items()}
        else:
            found = [a + b for a, b in zip(value, found or [0] * len(value))]
    return found


def percent(part, whole):
    return 100 * part / whole if whole else None


def reuse_by_degree(record):
    fetched, reused = [0] * 5, [0] * 5
    for kernel in record["kernels"]:
        for i, d in enumerate((kernel.get("loads") or {}).get("by_degree", [])):
            fetched[i] += d["lines_fetched"]
            reused[i] += d["lines_reused"]
    if not fetched[0] or not fetched[4] or not reused[0]:
        return None
    return 100 * (reused[4] / fetched[4]) / (reused[0] / fetched[0])


def missing_loads(record):
    loads = hits = 0
    for kernel in record["kernels"]:
        for d in (kernel.get("loads") or {}).get("by_degree", []):
            loads += d["loads"]
            hits += d["all_hit_loads"]
    return percent(loads - hits, loads)


def measures(paper, record):
    """Name and value of what the page shows for a paper."""
    t = record["totals"]
    loads = [t["loads.degree_" + d] for d in DEGREES]
    timed = [k for k in record["kernels"] if k["mode"] == "timing"]
    m = {"thread instructions": sum(k["thread_insts"] for k in timed)}
    l1 = {"L1 hits": percent(t["l1d.read.hits"], t["l1d.read.accesses"])}
    l2 = {"L2 hits": percent(t["l2.read.hits"], t["l2.read.accesses"])}
    if paper == "bucl":
        m |= l1 | l2
        m["over 2"] = percent(sum(loads[2:]), sum(loads))
        m["degree 21-32"] = percent(loads[4], sum(loads))
        m["reuse 21-32"] = reuse_by_degree(record)
    elif paper == "tsc":
        used, reused = total(record, "loads.lines_by_quarters_used"), total(record, "loads.lines_by_quarters_reused")
        m |= l1
        m["one quarter used"] = percent(used[0], sum(used)) if used else None
        m["one quarter reused"] = percent(reused[1], sum(reused[1:])) if reused else None
        m["loads that miss"] = missing_loads(record)
    elif paper == "medic":
        m |= l2
        for kind in ("all-hit", "mostly-hit", "balanced", "mostly-miss", "all-miss"):
            m[kind] = percent(t.get("character.warps." + kind.replace("-", "_"), 0), 1)
        m["penalty"] = t.get("character.divergence_penalty.mean")
        m["queueing"] = t["l2.queue_delay.mean"]
    elif paper == "decoupled-l1d":
        lines = total(record, "loads.reuse.asked.lines_by_reuses")
        near = total(record, "loads.reuse.asked.by_distance")
        m |= l1
        m["referenced once"] = percent(lines[0], sum(lines)) if lines else None
        m["referenced 4 times"] = percent(sum(lines[3:]), sum(lines)) if lines else None
        m["distance under 128"] = percent(sum(near[:8]), sum(near)) if near else None
    else:
        m["by CTAs"] = percent(t.get("character.blocks.shared_by_ctas", 0), 1)
        m["distance under 5"] = percent(t.get("character.blocks.shared_below_distance_5", 0), 1)
        m["by SMs"] = percent(t.get("character.blocks.shared_by_sms", 0), 1)
        m["SMs"] = t.get("character.sharers_per_shared_block")
        m["first L2 misses"] = percent(t.get("character.l2_misses.first", 0), 1)
        m["longest CTA"] = t.get("character.ctas.longest_over_mean")
    return m


def run(build, record, gpu, options, command, cwd):
    if record.exists():
        return json.loads(record.read_text())
    part = record.with_suffix(".part")
    words = [build / "sluice", "run", "--quiet", "--gpu", gpu, "--characterise", "--json", part, *options, "--",
             *command]
    done = subprocess.run([str(w) for w in words], cwd=cwd, capture_output=True, text=True)
    if not part.exists():
        print(f"beside.py: {record.stem}: {(done.stdout + done.stderr).strip()[-200:]}", file=sys.stderr)
        return None
    part.rename(record)
    return json.loads(record.read_text())


def original(build, folder, records, paper, program):
    size = program["inputs"].get("medium")
    if size is None:
        return None
    size = size if isinstance(size, dict) else {"arguments": size}
    work = records / "work" / paper / program["like"] / "a" / "b" / "c"
    work.mkdir(parents=True, exist_ok=True)
    for name, source in (program.get("files") or {}).items():
        there = Path(os.path.normpath(work / name))
        there.parent.mkdir(parents=True, exist_ok=True)
        if not there.is_symlink():
            there.symlink_to(folder / "inputs" / source)
    words = shlex.split(str(size["arguments"]).replace("{inputs}", str(folder / "inputs")))
    options = ["--max-insts", size["max_insts"]] if "max_insts" in size else []
    options += ["--timing-kernels", size["launches"]] if "launches" in size else []
    gpu = MACHINES.get(paper, paper)
    command = [folder / size.get("program", program["program"]), *words]
    return run(build, records / f"{paper}.{program['like']}.orig.json", gpu, options, command, work)


def stored(paper, programs):
    """The baselines at size medium on the paper's machine, as records, by workload."""
    name = ROOT.parent / "results" / f"{paper}{programs}.jsonl.zst"
    lines = subprocess.run(["zstd", "-dc", name], check=True, capture_output=True, text=True).stdout.splitlines()[1:]
    found = {}
    for line in map(json.loads, lines):
        if (line["scheme"], line["size"], line["seed"], line["set"]) != ("baseline", "medium", 0, {}):
            continue
        if line["gpu"] != MACHINES.get(paper, paper):
            continue
        parts = {k: line[k] for k in ("loads", "warps_at_l2", "sharing") if k in line}
        timed = round(line["totals"]["ipc"] * line["totals"]["cycles"])
        found[line["workload"]] = {"totals": line["totals"],
                                   "kernels": [{"mode": "timing", "thread_insts": timed, **parts}]}
    return found


def characterised(record):
    """It has all quantities of the page; what has no value has none."""
    return bool(record) and any(k.startswith("character.") for k in record["totals"])


def known(paper, record):
    """What a record has of the page's quantities: those of --characterise only if it ran with it."""
    if not record:
        return {}
    has = characterised(record)
    of_character = {"SMs", "first L2 misses", "longest CTA", "penalty", "by CTAs", "by SMs", "distance under 5",
                    "all-hit", "mostly-hit", "balanced", "mostly-miss", "all-miss"}
    return {q: shown(v) for q, v in measures(paper, record).items() if has or q not in of_character}


def shown(value):
    return "" if value is None else f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def both_sides(paper, mapping, arguments):
    """Records of each program's original and workload; None where there is none."""
    if arguments[0] == "--stored":
        theirs, ours = stored(paper, ".originals"), stored(paper, "")
        return [(p, theirs.get(p["like"]), ours.get(p["like"])) for p in mapping["programs"]]
    build, folder, records = (Path(a).resolve() for a in arguments[:3])
    records.mkdir(parents=True, exist_ok=True)
    gpu = MACHINES.get(paper, paper)
    return [(p, original(build, folder, records, paper, p),
             run(build, records / f"{paper}.{p['like']}.ours.json", gpu, [],
                 [build / "workloads" / p["like"], "--size", "medium"], records)) for p in mapping["programs"]]


def rows_of(paper, arguments, published, before):
    mapping = yaml.safe_load((ROOT.parent / "data/originals" / f"{paper}.yaml").read_text())
    for p, theirs, ours in both_sides(paper, mapping, arguments):
        both = [known(paper, r) for r in (theirs, ours)]
        for quantity in max(both, key=len):
            said = published.get((paper, p["name"], quantity),
                                 p.get("insts", "") if quantity == "thread instructions" else "")
            kept = before.get((paper, p["like"], p["name"], quantity), {})
            yield [paper, p["like"], p["name"], quantity, str(said),
                   *(found.get(quantity) or ("" if characterised(record) else kept.get(side, ""))
                     for found, record, side in zip(both, (theirs, ours), ("original", "ours")))]


def main(arguments):
    if not arguments or (arguments[0] != "--stored" and len(arguments) < 3):
        print(__doc__)
        return 2
    only = arguments[1 if arguments[0] == "--stored" else 3:]
    published, before, rows = {}, {}, []
    with open(ROOT / "published.tsv") as f:
        for r in csv.DictReader(f, delimiter="\t"):
            published[r["paper"], r["program"], r["quantity"]] = r["value"]
    table = ROOT / "originals.tsv"
    if table.exists():
        with open(table) as f:
            before = {tuple(list(r.values())[:4]): r for r in csv.DictReader(f, delimiter="\t")}
    for paper in PAPERS:
        if only and paper not in only:
            rows += [list(r.values()) for r in before.values() if r["paper"] == paper]
        else:
            rows += rows_of(paper, arguments, published, before)
    with open(table, "w") as f:
        for r in [["paper", "workload", "program", "quantity", "published", "original", "ours"], *rows]:
            f.write("\t".join(r) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
