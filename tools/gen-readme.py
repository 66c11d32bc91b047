#!/usr/bin/env python3
"""Refill the generated parts of README.md: transcripts, accuracy and speed.

  tools/gen-readme.py [--build DIR] [run|compare|accuracy|speed ...]     all four without a name
"""
import argparse
import csv
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent.parent
SPEED_CASES = "alu_chain_full,copy,uncoalesced_8,gather_64k,matmul_tiled,matvec_rows,bfs"


def sh(argv):
    return subprocess.run(argv, capture_output=True, text=True, check=True, cwd=HERE).stdout


def transcript(build, args):
    out = sh([str(build / "sluice"), *args]).replace(str(build), "build").rstrip()
    shown = " ".join(args)
    return f"```console\n$ build/sluice {shown}\n{out}\n```"


def accuracy(build):
    out = sh([str(build / "sluice"), "calibrate"])
    rows = ["| table | mean abs error of cycles | worst (case) | correlation of log cycles |", "|---|---:|---:|---:|"]
    names = {"fermi": "baseline (`fermi`)", "lrr": "loose round-robin (`lrr`)",
             "ball": "all loads bypass the L1 (`ball`)"}
    for name, text in re.findall(r"== (\w+): (.*?)(?=\n== |\Z)", out, re.S):
        m = re.search(r"cycles: mean abs error ([\d.]+) %, worst ([\d.]+) % \((\w+)\), correlation ([\d.]+)", text)
        rows.append(f"| {names[name]} | {m[1]} % | {m[2]} % ({m[3]}) | {m[4]} |")
    return "\n".join(rows)


def speed():
    """From the last rows of bench/history.csv, with their dates and commits."""
    with open(HERE / "tests/calibration/reference-speed.csv", newline="") as f:
        reference = {r["case"]: float(r["cpu_s"]) for r in csv.DictReader(f)}
    with open(HERE / "bench/history.csv", newline="") as f:
        last = {(r["mode"], r["case"]): r for r in csv.DictReader(f)}
    rows = ["| case | warp instructions | times the reference's speed | functional mode | measured |",
            "|---|---:|---:|---:|---|"]
    for case in SPEED_CASES.split(","):
        timing, functional = last["timing", case], last["functional", case]
        ratio = [reference[case] / max(float(r["cpu_s"]), 1e-3) for r in (timing, functional)]
        rows.append(f"| {case} | {int(timing['warp_insts']):,} | {ratio[0]:.0f} | {ratio[1]:.0f} | {timing['date']}, "
                    f"{timing['commit']} |")
    return "\n".join(rows)


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--build", default=str(HERE / "build"))
    a.add_argument("sections", nargs="*")
    o = a.parse_args()
    build = pathlib.Path(o.build).resolve()
    make = {
        "run": lambda: transcript(build, ["run", "--", "bfs", "--size", "small"]),
        "compare": lambda: transcript(build, ["compare", "--scheme", "baseline,bucl,swl=4,tsc",
                                              "--", "kmeans", "--size", "small"]),
        "accuracy": lambda: accuracy(build),
        "speed": speed,
    }
    path = HERE / "README.md"
    for name in o.sections or make:
        body = make[name]()
        text = path.read_text()
        text = re.sub(rf"(<!-- begin:{name} -->\n).*?(<!-- end:{name} -->)", lambda m: m[1] + body + "\n" + m[2], text,
                      flags=re.S)
        path.write_text(text)


main()
