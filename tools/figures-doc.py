#!/usr/bin/env python3
"""Write docs/notes/figures.md from the folders of `sluice paper`: figure by figure what reproduces, what does not, and why.

    tools/figures-doc.py paper-bucl paper-tsc ... > docs/notes/figures.md
"""
import json
import pathlib
import sys

HEAD = """# The papers' figures

`sluice paper all --size small` made the runs of these tables, `tools/figures-doc.py` the tables ([how to](../how-to/papers.md)). The last column is the
`reason` of the figure's file. *Direction* counts published numbers whose sign (gain or loss over what they compare with) ours shares; *within* is the
median difference of ours from the published numbers in their unit. Small inputs fit caches better than the papers' do, which favours the baseline.
"""


ORDER = ["contradicted", "direction", "reproduced", "not-comparable"]


def sign(v):
    return (v > 0.5) - (v < -0.5)


def row(f):
    rows = [p for p in f["published"] if "ours" in p]
    gains = [p for p in rows if "improvement" in p["metric"] or "reduction" in p["metric"] or "speedup" in p["metric"] or "gain" in p["metric"]]
    same = sum(sign(p["ours"]) == sign(p["published"]) for p in gains)
    diffs = sorted(abs(p["ours"] - p["published"]) for p in rows)
    state = {"whole": "drawn", "partial": "drawn in part", "absent": "**not drawn**"}[f["state"]]
    if f["missing"]:
        state += ": " + f["missing"][0].replace("|", "/") + (f" and {len(f['missing']) - 1} more" if len(f["missing"]) > 1 else "")
    direction = f"{same} of {len(gains)}" if gains else "–"
    within = f"{diffs[len(diffs) // 2]:.1f}" if diffs else "–"
    return f"| {f['where']} | {f['title']} | {state} | {direction} | {within} | {f['reason']} |"


def main():
    print(HEAD)
    for folder in map(pathlib.Path, sys.argv[1:]):
        figures = json.loads((folder / "figures.json").read_text())
        data = json.loads((folder / "data.json").read_text())
        print(f"## {data['paper']} ({data['size']} inputs, {len(data['runs'])} runs)\n")
        print("| where | what | state | direction | within | what reproduces, what does not, and why |")
        print("|---|---|---|---|---|---|")
        for f in figures:
            print(row(f))
        rows = [c for c in data["claims"] if "ours" in c]
        if rows:
            print("\n| where | metric | scheme | over | published | ours | interval | unit | verdict | reason |")
            print("|---|---|---|---|---|---|---|---|---|---|")
        for c in sorted(rows, key=lambda c: ORDER.index(c["verdict"])):
            low, high = (f"{c[k]:.1f}" if k in c else "" for k in ("low", "high"))
            print(f"| {c['where']} | {c['metric']} | {c['scheme']} | {c['group']} | {c['published']:g} | {c['ours']:.4g} "
                  f"| {low}..{high} | {c['unit']} | {c['verdict']} | {c['reason']} |")
        print()


main()
