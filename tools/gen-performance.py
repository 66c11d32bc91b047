#!/usr/bin/env python3
"""Refill the generated parts of docs/explanation/performance.md from the last entries of bench/history.csv,
bench/scaling.csv and bench/schemes.csv.

  tools/gen-performance.py
"""
import csv
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent.parent


def rows(name):
    path = HERE / "bench" / name
    if not path.exists():
        return []
    with open(path, newline="") as f:
        return list(csv.DictReader(f))


def table(head, lines):
    return "\n".join(["| " + " | ".join(head) + " |",
                      "|" + "|".join("---:" if i else "---" for i in range(len(head))) + "|"]
                     + ["| " + " | ".join(map(str, r)) + " |" for r in lines])


def last(of, *key):
    """The last row of each key, in the order of first appearance."""
    out = {}
    for r in of:
        out[tuple(r[k] for k in key)] = r
    return list(out.values())


def per(r, what):
    if not r[what] or not float(r["warp_insts"]):
        return "-"
    v = float(r[what]) / float(r["warp_insts"])
    return f"{1e9 * v:.0f}" if what == "cpu_s" else f"{v:.0f}"


def speed():
    reference = {}
    with open(HERE / "tests/calibration/reference-speed.csv", newline="") as f:
        reference = {r["case"]: float(r["cpu_s"]) for r in csv.DictReader(f)}
    out = []
    for r in last([r for r in rows("history.csv") if r["mode"] == "timing"], "case"):
        s, n = max(float(r["cpu_s"]), 1e-3), int(r["warp_insts"])
        ratio = f"{reference[r['case']] / s:.0f}" if r["case"] in reference else ""
        out.append([f"`{r['case']}`", f"{n:,}", f"{s:.3f}", f"{n / s / 1e6:.2f}", ratio,
                    f"{int(r['rss_kb']) / 1024:.0f}"])
    return table(["case", "warp instructions", "CPU s", "million/s", "times the reference's speed", "MB"], out)


def start(data):
    out = [[r["date"], f"`{r['commit']}`", f"{float(r['host_insts']) / 1e6:.1f}", f"{1e3 * float(r['cpu_s']):.0f}"]
           for r in data if r["table"] == "start"]
    return table(["date", "commit", "million host instructions", "CPU ms"], out)


def groups(data):
    g = last([r for r in data if r["table"] == "groups"], "ctas")
    base = next((float(r["host_insts"]) for r in g if r["ctas"] == "none" and r["host_insts"]), 0)
    out = [[f"`{r['ctas']}`" if r["ctas"] != "none" else "none", f"{int(r['host_insts']):,}",
            f"{float(r['host_insts']) / base:.3f}"]
           for r in g if base and r["host_insts"]]
    return table(["option", "host instructions of `histogram_256`", "against none"], out)


def pairs(data, name):
    out, got = [], last([r for r in data if r["table"] == name], "kernel", "sms")
    for kernel in dict.fromkeys(r["kernel"] for r in got):
        few, many = ({r["sms"]: r for r in got if r["kernel"] == kernel}.get(n) for n in ("15", "128"))
        if not few or not many:
            continue
        counted = few["host_insts"] and many["host_insts"]
        insts = f"{float(many['host_insts']) / float(few['host_insts']):.2f}" if counted else "-"
        out.append([f"`{kernel}`", f"{int(few['warp_insts']):,}", per(few, "host_insts"), per(many, "host_insts"),
                    insts, per(few, "cpu_s"),
                    per(many, "cpu_s"), f"{float(many['cpu_s']) / float(few['cpu_s']):.2f}", int(few["cycles"]),
                    int(many["cycles"])])
    return table(["kernel", "warp instructions", "host instructions each, 15 SMs", "128 SMs", "ratio",
                  "ns each, 15 SMs", "128 SMs", "ratio",
                  "cycles, 15 SMs", "128 SMs"], out)


def growth(data):
    out = []
    for kernel in dict.fromkeys(r["kernel"] for r in data if r["table"] == "growth"):
        g = last([r for r in data if r["table"] == "growth" and r["kernel"] == kernel], "warp_insts")
        g = g[-3:]
        first = float(g[0]["cpu_s"]) / float(g[0]["warp_insts"])
        for r in g:
            ns = float(r["cpu_s"]) / float(r["warp_insts"])
            out.append([f"`{kernel}`", f"{int(r['warp_insts']):,}", f"{float(r['cpu_s']):.2f}", f"{1e9 * ns:.0f}",
                        f"{ns / first:.2f}",
                        f"{int(r['rss_kb']) / 1024:.0f}", f"{int(r['program_kb']) / 1024:.0f}"])
    return table(["kernel", "warp instructions", "CPU s", "ns each", "against the shortest", "MB",
                  "of them the program's buffers"], out)


def modes(data):
    out, got = [], last([r for r in data if r["table"] == "modes"], "kernel", "mode")
    for kernel in dict.fromkeys(r["kernel"] for r in got):
        m = {r["mode"]: r for r in got if r["kernel"] == kernel}
        if len(m) < 2:
            continue
        t, f = m["timing"], m["functional"]
        out.append([f"`{kernel}`", f"{int(t['warp_insts']):,}", per(t, "cpu_s"), per(f, "cpu_s"),
                    f"{float(t['cpu_s']) / max(float(f['cpu_s']), 1e-3):.1f}"])
    return table(["kernel", "warp instructions", "ns each, timing", "functional", "ratio"], out)


def schemes():
    """A row for each scheme; the verdict goes by the worst case: within 1.3 times the baseline, or what makes it
    more."""
    data = rows("schemes.csv")
    cases = list(dict.fromkeys(r["case"] for r in data))
    by = {(r["case"], r["scheme"]): r for r in data}
    out = []
    for s in dict.fromkeys(r["scheme"] for r in data):
        line, worst = [f"`{s}`"], None
        for c in cases:
            r = by.get((c, s))
            line += [f"{float(r['host_per_inst']):.0f}", f"{float(r['own_per_inst']):.0f}", f"{float(r['ratio']):.2f}",
                     f"{float(r['cycles']) / float(by[c, 'baseline']['cycles']):.2f}"] if r else [""] * 4
            if r and (worst is None or float(r["ratio"]) > float(worst["ratio"])):
                worst = r
        ratio, per_cycle = float(worst["ratio"]), float(worst["ratio_per_cycle"])
        line.append("within 1.3" if ratio <= 1.3 else f"above: more cycles, {per_cycle:.2f} for each"
                    if per_cycle <= 1.1 else
                    f"above: {per_cycle:.2f} for each cycle")
        out.append(line)
    head = ["scheme"]
    for c in cases:
        name = c.split(":")[0]
        head += [f"`{name}`: host instructions each", "in the scheme", "against the baseline",
                 "simulated cycles against it"]
    return table(head + ["verdict"], out)


def main():
    data = rows("scaling.csv")
    make = {"speed": speed, "start": lambda: start(data), "groups": lambda: groups(data),
            "idle": lambda: pairs(data, "idle"),
            "spread": lambda: pairs(data, "spread"), "growth": lambda: growth(data), "modes": lambda: modes(data),
            "schemes": schemes}
    path = HERE / "docs/explanation/performance.md"
    text = path.read_text()
    for name, f in make.items():
        text, n = re.subn(rf"(<!-- begin:{name} -->\n).*?(<!-- end:{name} -->)", lambda m: m[1] + f() + "\n" + m[2],
                          text, flags=re.S)
        if n != 1:
            raise SystemExit(f"docs/explanation/performance.md: {n} places for the table {name}")
    path.write_text(text)


main()
