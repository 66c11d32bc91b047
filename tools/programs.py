#!/usr/bin/env python3
"""Prints docs/reference/programs.md from docs/reference/programs.csv; --sort puts the rows of the CSV into order first.

A row is one run of one program: suite, program, version (commit), compiler, GPU, input, mode, whether it ran
(yes: it ended as its own exit code says), the program's own check (passed, failed, none), seconds of processor time,
warp instructions, and the reason where it did not run or did not pass."""
import collections
import csv
import pathlib
import sys

COLUMNS = "suite,program,version,compiler,gpu,input,mode,runs,own_check,seconds,warp_insts,reason".split(",")
DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs/reference"
WORDS = {"runs": ("yes", "no"), "own_check": ("passed", "failed", "none", ""), "mode": ("timing", "functional")}


def key(row):
    return row["suite"].lower(), row["program"].lower(), row["mode"] != "timing", row["gpu"]


def read(path):
    with open(path, newline="", encoding="utf-8") as f:
        table = csv.DictReader(f)
        if table.fieldnames != COLUMNS:
            sys.exit(f"{path}:1: the columns must be {','.join(COLUMNS)}")
        rows = list(table)
    seen = set()
    for line, row in enumerate(rows, 2):
        if None in row or None in row.values():
            sys.exit(f"{path}:{line}: expected {len(COLUMNS)} fields")
        for column, words in WORDS.items():
            if row[column] not in words:
                sys.exit(f"{path}:{line}: {column} is '{row[column]}', expected one of {', '.join(words)}")
        if key(row) in seen:
            sys.exit(f"{path}:{line}: {row['program']} of {row['suite']} is there twice in {row['mode']} mode")
        seen.add(key(row))
    return rows


def write(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as f:
        table = csv.DictWriter(f, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def count(number):
    return f"{int(number):,}" if number else ""


def summary(suites):
    print("| suite | programs | run | in timing mode | own check passed | own check failed | no check |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    total = collections.Counter()
    for suite, rows in suites.items():
        c = collections.Counter()
        programs = collections.defaultdict(list)
        for row in rows:
            programs[row["program"]].append(row)
        for runs in programs.values():
            ran = [r for r in runs if r["runs"] == "yes"]
            c["programs"] += 1
            c["run"] += bool(ran)
            c["timing"] += any(r["mode"] == "timing" for r in ran)
            checks = {r["own_check"] for r in ran}
            c["failed" if "failed" in checks else "passed" if "passed" in checks else "none"] += bool(ran)
        total.update(c)
        print(f"| {suite} | {c['programs']} | {c['run']} | {c['timing']} | {c['passed']} | {c['failed']} | {c['none']} "
              f"|")
    print(f"| **all** | **{total['programs']}** | **{total['run']}** | {total['timing']} | {total['passed']} | "
          f"{total['failed']} | {total['none']} |")


def main():
    path = DOCS / "programs.csv"
    rows = read(path)
    if "--sort" in sys.argv[1:]:
        rows.sort(key=key)
        write(path, rows)
        return
    if rows != sorted(rows, key=key):
        sys.exit(f"{path}: not sorted by suite and program: run tools/programs.py --sort")
    suites = collections.OrderedDict()
    for row in rows:
        suites.setdefault(row["suite"], []).append(row)
    print("""# Programs that were run

Generated from `programs.csv` by `tools/programs.py` (`make docs`).

Each program is the one at the named commit, compiled unchanged unless its row says otherwise, and started by
`sluice run`. Inputs are small and generated, except where a suite brings its own. *Runs* means that the program ended
with exit code 0 (or the one in its row). *Own check* is the program's own comparison; "none" means that it has none.
Seconds are processor time of the whole run on a busy machine; for HeCBench and the CUDA samples, time on the clock.
HeCBench has host code at -O1 and, where nothing is linked on the device, PTX alone.
""")
    summary(suites)
    for suite, group in suites.items():
        print(f"\n## {suite}\n")
        print("| program | version | compiler | GPU | input | mode | runs | own check | seconds | warp instructions | "
              "reason |")
        print("|---|---|---|---|---|---|---|---|---:|---:|---|")
        for r in group:
            cells = [r["program"], r["version"], r["compiler"], r["gpu"], r["input"], r["mode"], r["runs"],
                     r["own_check"],
                     r["seconds"], count(r["warp_insts"]), r["reason"]]
            print("| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |")


main()
