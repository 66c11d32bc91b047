"""bench/run --scaling: what a warp instruction costs as SMs are added and as the work grows, timing beside functional
mode, memory.

Kernels of tests/calibration/calib.ptx whose length is a parameter, started through launch files. Host instructions come
from `perf stat` where the processor's counters can be read, else from callgrind, which takes fifty times as long: it
measures runs up to COUNTED warp instructions, CPU seconds (user + system, the least of three) all of them. Every run's
cost includes starting the process and building the machine. The kernel counts the memory of the process that starts a
run to it, so nothing below Python's own 14 MB shows.
"""
import csv
import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PTX = HERE.parent / "tests/calibration/calib.ptx"
FIELDS = ["date", "commit", "table", "kernel", "sms", "ctas", "mode", "warp_insts", "cycles", "cpu_s", "rss_kb",
          "program_kb", "host_insts"]
COUNTED = 1_000_000

# Launch files: parameter, buffers (element count in words), and warp instructions per unit of the parameter and warp.
KERNELS = {
    "alu_chain": (3, {}, "[out, {n}, 0.999, 1.0]"),
    "alu_ilp4": (6, {}, "[out, {n}, 0.999, 1.0]"),
    "gather_random": (9, {"table": 4096}, "[table, out, 4095, {n}]"),
    "uncoalesced": (10, {"table": 1 << 20}, "[table, out, 8, {n}, 1048575]"),
    "stream_copy": (0, {"in": 1 << 19, "copy": 1 << 19}, "[in, copy, 524288]"),  # grows by launches
}


def launch_file(kernel, insts, ctas, threads):
    per, buffers, args = KERNELS[kernel]
    warps = ctas * threads // 32
    if per:
        n, repeat = max(1, insts // warps // per), 1
        buffers = dict(buffers, out=ctas * threads)
    else:
        n, repeat = 0, max(1, insts // 140_000)
    lines = [f"kernel: {kernel}", f"grid: {ctas}", f"block: {threads}", f"repeat: {repeat}", "buffers:"]
    lines += [f"  {b}: {{type: f32, count: {c}, init: iota}}" for b, c in buffers.items()]
    return "\n".join(lines + [f"args: {args.format(n=n)}", ""]), 4 * sum(buffers.values()) // 1024


def counters():
    """perf, if it can count instructions here, else valgrind, else nothing."""
    if shutil.which("perf"):
        p = subprocess.run(["perf", "stat", "-x,", "-e", "instructions:u", "true"], capture_output=True, text=True)
        if p.returncode == 0 and re.search(r"^\d+,", p.stderr, re.M):
            return "perf"
    return "callgrind" if shutil.which("valgrind") else None


def host_instructions(argv, tool):
    if tool == "perf":
        p = subprocess.run(["perf", "stat", "-x,", "-e", "instructions:u"] + argv, stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, text=True)
        return int(re.search(r"^(\d+),", p.stderr, re.M)[1])
    p = subprocess.run(["valgrind", "--tool=callgrind", "--trace-children=yes", "--callgrind-out-file=/dev/null"]
                       + argv,
                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    counts = re.findall(r"Collected : (\d+)", p.stderr)
    if p.returncode or not counts:
        sys.exit(f"bench/run: callgrind failed:\n{p.stderr}")
    return sum(map(int, counts))


def measure(sluice, tool, table, kernel, insts, sms, ctas, threads, mode="timing", repeat=3):
    text, program_kb = launch_file(kernel, insts, ctas, threads)
    with tempfile.TemporaryDirectory() as at:
        yaml, record = pathlib.Path(at, "launch.yaml"), pathlib.Path(at, "record.json")
        yaml.write_text(text)
        argv = [sluice, "run", "--quiet", "--mode", mode, "--set", f"sms={sms}", str(PTX), "--launch", str(yaml)]
        best = None
        for _ in range(repeat):
            p = subprocess.Popen(argv + ["--json", str(record)])
            _, status, use = os.wait4(p.pid, 0)
            p.returncode = os.waitstatus_to_exitcode(status)
            if p.returncode:
                sys.exit(f"bench/run: {' '.join(argv)} ended with {p.returncode}")
            cpu = use.ru_utime + use.ru_stime
            best = min(best, cpu) if best else cpu
        totals = json.loads(record.read_text())["totals"]
        n = int(totals["warp_insts"])
        counted = host_instructions(argv, tool) if tool and n <= (COUNTED if tool == "callgrind" else 1 << 62) else ""
    row = {"table": table, "kernel": kernel, "sms": sms, "ctas": ctas, "mode": mode, "warp_insts": n,
           "cycles": int(totals["cycles"]),
           "cpu_s": best, "rss_kb": use.ru_maxrss, "program_kb": program_kb, "host_insts": counted}
    per = f"{counted / n:>9.0f}" if counted else " " * 9
    print(f"{table:<8} {kernel:<14} {sms:>4} SMs {ctas:>4} CTAs {mode:<10} {n:>12,} {best:>8.2f} s "
          f"{1e9 * best / n:>7.1f} ns {per} insts"
          f" {(use.ru_maxrss - program_kb) / 1024:>6.1f} MB", flush=True)
    return row


def observe(sluice, calib, tool, table, name, options):
    """A whole `sluice run` of a calibration case, parent and program: its start, and what counter groups cost."""
    with tempfile.TemporaryDirectory() as at:
        record = str(pathlib.Path(at, "record.json"))
        argv = [sluice, "run", "--quiet", *(o.replace("@", at) for o in options), "--", calib, name]
        cpu = None
        for _ in range(5):
            p = subprocess.Popen(argv if table == "start" else argv[:2] + ["--json", record] + argv[2:],
                                 stdout=subprocess.DEVNULL)
            _, status, use = os.wait4(p.pid, 0)
            p.returncode = os.waitstatus_to_exitcode(status)
            if p.returncode:
                sys.exit(f"bench/run: {' '.join(argv)} ended with {p.returncode}")
            cpu = min(cpu, use.ru_utime + use.ru_stime) if cpu else use.ru_utime + use.ru_stime
        totals = json.loads(pathlib.Path(record).read_text())["totals"] if table != "start" else {"warp_insts": 0,
                                                                                                  "cycles": 0}
        counted = host_instructions(argv, tool) if tool else ""
    label = " ".join(o for o in options if o.startswith("--")) or "none"
    print(f"{table:<8} {name:<18} {label:<16} {cpu:>8.3f} s {counted if counted else 0:>14,} insts", flush=True)
    return {"table": table, "kernel": name, "sms": 15, "ctas": label, "mode": "timing",
            "warp_insts": totals["warp_insts"],
            "cycles": totals["cycles"], "cpu_s": cpu, "rss_kb": use.ru_maxrss, "program_kb": 0, "host_insts": counted}


GROUPS = [[], ["--detail"], ["--lines"], ["--characterise"], ["--profile"], ["--sample", "1000"], ["--energy"],
          ["--timeline", "@/t.json"]]


def rows_of(tables, sluice, calib, tool):
    if "start" in tables:
        yield observe(sluice, calib, tool, "start", "alu_chain_1warp", [])
    for options in GROUPS if "groups" in tables else ():
        yield observe(sluice, calib, tool, "groups", "histogram_256", options)
    for row in plan(tables):
        yield measure(sluice, tool, *row)


def plan(tables):
    """Rows to measure: table, kernel, warp instructions, SMs, CTAs, threads, mode, repeats."""
    sizes = {"alu_chain": 1_000_000, "gather_random": 150_000, "uncoalesced": 60_000, "stream_copy": 140_000}
    for table, ctas, threads in (("idle", 15, 1024),
                                 ("spread", 90, 256)):  # SMs with nothing to do; work on more of them
        for kernel in sizes if table in tables else ():
            for sms in (15, 128):
                yield table, kernel, sizes[kernel], sms, ctas, threads, "timing", 3
    for mode in ("timing", "functional") if "modes" in tables else ():
        for kernel in ("alu_chain", "alu_ilp4"):
            yield "modes", kernel, 10_000_000, 15, 90, 256, mode, 3
    for insts in (1_000_000, 10_000_000, 100_000_000) if "growth" in tables else ():
        for kernel in ("alu_chain", "gather_random", "stream_copy"):
            yield "growth", kernel, insts, 15, 90, 256, "timing", 1 if insts > 50_000_000 else 3


def run(build, tables, commit):
    sluice, tool = str(build / "sluice"), counters()
    print(f"host instructions by {tool}" if tool else
          "host instructions need perf (Debian package linux-perf) or valgrind (package valgrind): CPU seconds only")
    path, day = HERE / "scaling.csv", datetime.date.today().isoformat()
    for r in rows_of(tables, sluice, str(build / "share/sluice/calibration/calib"), tool):
        if commit is None:
            continue
        new = not path.exists()
        with open(path, "a", newline="") as f:
            w = csv.DictWriter(f, FIELDS)
            if new:
                w.writeheader()
            w.writerow({**r, "date": day, "commit": commit, "cpu_s": f"{r['cpu_s']:.3f}"})
