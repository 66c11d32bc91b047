#!/usr/bin/env python3
"""Write the pages of docs/papers, one for each paper, from the folders of `sluice paper all --stored -o DIR`.

    build/sluice paper all --stored -o DIR && tools/papers-doc.py DIR

A page has the readings of the machine if `build/sluice paper NAME --stored --sensitivity -o DIR/NAME` ran too.
The page has the claims table, the figures, the machine and the programs. Nothing in it is written by hand but the
reasons in reasons/NAME.yaml and figures/*.yaml, and the experiments in reasons/NAME.md, if there are any.
"""
import collections
import csv
import json
import pathlib
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAPERS = {  # name: title, machine, headline figure
    "bucl": ("BUCL", "bucl", "bucl-7"),
    "tsc": ("Tag-Split Cache", "tsc", "tsc-10b"),
    "medic": ("MeDiC", "medic", "medic-11"),
    "decoupled-l1d": ("Decoupled L1D", "decoupled-l1d", "decoupled-8"),
    "sharing": ("Sharing-aware management", "sharing-aware", "sharing-14"),
}
ORDER = ["contradicted", "direction", "reproduced", "not-comparable"]


def number(v):
    return "" if v is None else f"{v:.0f}" if abs(v) >= 1000 else f"{v:.3g}"


def value(c, key, end=""):
    """A number of a claim with its interval."""
    if key not in c:
        return ""
    low, high = c.get("low" + end), c.get("high" + end)
    return number(c[key]) + ("" if low is None and high is None else f" ({number(low)} to {number(high)})")


def cell(text):
    return str(text).replace("|", "/").replace("\n", " ")


def claims(data):
    rows = sorted(data["claims"], key=lambda c: ORDER.index(c["verdict"]))
    count = collections.Counter(c["verdict"] for c in rows)
    yield f"Of {len(rows)} published numbers " + ", ".join(f"{count[v]} {v}" for v in ORDER) + ".\n"
    yield "| where | what | published | originals (95 %) | workloads (95 %) | verdict | why |"
    yield "|---|---|---:|---:|---:|---|---|"
    for c in rows:
        what = f"{c['metric']}, {c['scheme']}, {c['group']} [{c['unit']}]"
        yield (f"| {c['where']} | {cell(what)} | {number(c['published'])} "
               f"| {value(c, 'originals', '_originals')} | {value(c, 'ours')} | {c['verdict']} | {cell(c['reason'])} |")


def ranked_cell(intervals, label, ratio):
    low, high = intervals.get(label, (None, None))
    return f"{label} {ratio:.3f}" + ("" if low is None else f" ({low:.3f} to {high:.3f})")


def order(data):
    """Schemes of the headline figure, the best first, in the paper and here; and how many pairs agree."""
    o = data["order"]
    *_, lines = o["text"].split("\n", 1)
    sides = [s for s in ("published", "workloads", "originals") if len(o.get(s, {})) > 1]
    ranked = {s: sorted(o[s].items(), key=lambda x: x[1] if o["lowest"] else -x[1]) for s in sides}
    yield (f"{o['mean']} of `{o['figure']}`, over {o['base']}, the best first"
           f"{', which is the lowest' if o['lowest'] else ''}; in brackets the 95 % interval over the "
           "programs. A pair whose interval, of the ratio of one scheme to the other, holds 1 is a tie.\n")
    yield "| | " + " | ".join(sides) + " |"
    yield "|---:|" + "---|" * len(sides)
    for i in range(max(len(r) for r in ranked.values())):
        cells = [ranked_cell(o["intervals"].get(s, {}), *r[i]) if i < len(r) else "" for s, r in ranked.items()]
        yield f"| {i + 1} | " + " | ".join(cells) + " |"
    yield ""
    for line in lines.strip().split("\n"):
        key, text = line.split(None, 1)
        if key == "and":
            yield f"- The paper also has {text}."
        elif text.startswith("of "):
            yield f"- {key.capitalize()}: {text}."


def share(rows, of, key):
    has = [c[key] for c in rows if of in c and key in c]
    return f"{sum(has)} of {len(has)}" if has else "-"


def shares(data):
    """The signs and the numbers near the published ones, on the workloads and on the originals."""
    rows = data["claims"]
    return [share(rows, of, key + end) for of, end in (("ours", ""), ("originals", "_originals"))
            for key in ("sign", "near")]


def overview(datas):
    yield "## Shares\n"
    yield ("Of the published changes those of the same sign here, and of all numbers those within 25 % of the change or"
           " value or with it in the interval; on the bundled workloads and on the original programs. "
           "`sluice paper all --stored` prints them.\n")
    yield "| paper | workloads: sign | workloads: near | originals: sign | originals: near |"
    yield "|---|---:|---:|---:|---:|"
    for name, data in datas.items():
        yield f"| [{name}]({name}.md) | " + " | ".join(shares(data)) + " |"


def figures(data, drawn):
    sizes = {f["figure"]: f.get("size", data["size"]) for f in data["figures"]}
    yield "| figure | in the paper | what | inputs | drawn | notes |"
    yield "|---|---|---|---|---|---|"
    for f in drawn:
        state = {"whole": "yes", "partial": f"in part: {f['missing'][0] if f['missing'] else ''}",
                 "absent": "no"}[f["state"]]
        inputs = "" if f["state"] == "absent" else sizes[f["figure"]]
        title, reason = cell(f["title"]), cell(f["reason"])
        yield f"| `{f['figure']}` | {f['where']} | {title} | {inputs} | {cell(state)} | {reason} |"


def readings(file):
    """The readings of the machine beside what the paper says of its baseline."""
    rows = list(csv.DictReader(file.open()))
    quantities = list(dict.fromkeys((r["quantity"], r["where"], r["unit"], r["published"]) for r in rows))
    value = {(r["reading"], r["quantity"]): r for r in rows}
    yield f"The baseline alone at {rows[0]['size']} inputs; * agrees with the paper.\n"
    yield "| reading | " + " | ".join(f"{q} ({where}) [{unit}]" for q, where, unit, _ in quantities) + " |"
    yield "|---|" + "---:|" * len(quantities)
    yield "| published | " + " | ".join(number(float(v)) for *_, v in quantities) + " |"
    for reading in dict.fromkeys(r["reading"] for r in rows):
        cells = [value[reading, q] for q, *_ in quantities]
        yield f"| {reading} | " + " | ".join(
            "-" if c["ours"] == "nan" else number(float(c["ours"])) + " *" * int(c["agrees"]) for c in cells) + " |"


def programs(data):
    seen = {}
    for r in data["runs"]:
        seen.setdefault((r["group"], r["alias"]), r["workload"])
    yield "| in the paper | group | workload |"
    yield "|---|---|---|"
    for (group, alias), workload in sorted(seen.items()):
        yield f"| {alias} | {group} | `{workload}` |"


def page(name, folder):
    title, machine, headline = PAPERS[name]
    data = json.loads((folder / "data.json").read_text())
    drawn = json.loads((folder / "figures.json").read_text())
    state = {f["figure"]: f["state"] for f in drawn}
    out = [f"# {title}: published and simulated\n"]
    out.append(f"`sluice paper {name} --stored` prints these results in seconds and draws every figure. The rule of "
               f"the verdicts is in "
               "[the guide](../how-to/papers.md), `tools/papers-doc.py` writes this page.\n")
    out.append(f"- Results: {data['origin']}.")
    out.append(f"- Machine: [`configs/{machine}.yaml`](../../configs/{machine}.yaml), each value with its section or "
               f"table.")
    out.append(f"- Readings of what the paper leaves open: [`readings/{name}.yaml`](../../readings/{name}.yaml), "
               f"chosen by the baseline alone.\n")
    if state.get(headline) in ("whole", "partial"):
        shutil.copy(folder / f"{headline}.svg", ROOT / "docs" / "papers" / f"{headline}.svg")
        out.append(f"![{headline}]({headline}.svg)\n")
    parts = [("Claims", claims(data)), ("Order of schemes", order(data)), ("Figures", figures(data, drawn)),
             ("Programs", programs(data))]
    if (folder / "sensitivity.csv").exists():
        parts.insert(2, ("Readings of the machine", readings(folder / "sensitivity.csv")))
    experiments = ROOT / "reasons" / f"{name}.md"
    if experiments.exists():
        parts.insert(2, ("Experiments", [experiments.read_text().rstrip()]))
    for head, part in parts:
        out.append(f"## {head}\n")
        out.append("\n".join(part) + "\n")
    return "\n".join(out)


def main():
    base = pathlib.Path(sys.argv[1])
    (ROOT / "docs" / "papers").mkdir(exist_ok=True)
    for name in PAPERS:
        if (base / name / "figures.json").exists():
            (ROOT / "docs" / "papers" / f"{name}.md").write_text(page(name, base / name))
    datas = {n: json.loads((base / n / "data.json").read_text()) for n in PAPERS if (base / n / "data.json").exists()}
    readme = ROOT / "docs" / "papers" / "README.md"
    head = readme.read_text().split("## Shares")[0].rstrip()
    readme.write_text(head + "\n\n" + "\n".join(overview(datas)) + "\n")


main()
