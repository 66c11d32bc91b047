#!/usr/bin/env python3
"""Tables of what ptxas makes of PTX: instructions by class and loop depth, registers, per kernel (`sluice mix
--table`).

  bench/silicon/ptxas_mix.py --tools DIR -o TABLE.csv --arch 70,80,90 FILE.ptx...

DIR holds NVIDIA's ptxas and cuobjdump. With --ptxas FILE code is that of another, newer ptxas; its file gets the header
that DIR's cuobjdump knows, and instructions that it does not know (VIADD, VIMNMX) count as integer. A row per kernel,
GPU and loop depth; the loop depth of an instruction is the number of loops (spans of a backward branch) that contain
it. What follows the last exit, padding, does not count.
"""
import argparse
import collections
import csv
import os
import re
import subprocess
import sys
import tempfile

CLASSES = ("fp32 fp64 fp16 tensor imad int mov setp sfu cvt ldg stg lds sts ldl stl ldc atom tex shfl bar branch "
           "sync s2r uniform other").split()
TABLE = {
    "fp32": "FADD FMUL FFMA FMNMX FSEL FSET FSWZADD FCHK FADD32I FMUL32I FFMA32I",
    "fp64": "DADD DMUL DFMA DMNMX",
    "fp16": "HADD2 HMUL2 HFMA2 HMNMX2 HSET2 HADD2_32I HFMA2_MMA",
    "tensor": "HMMA IMMA DMMA BMMA HGMMA IGMMA QGMMA MOVM",
    "int": "INT IADD3 LEA LOP3 SHF IMNMX SEL PRMT BMSK SGXT IABS POPC FLO BREV IDP IDP4A VABSDIFF VABSDIFF4 VIADD "
           "VIMNMX ISCADD SHL SHR LOP I2IP IADD32I IADD R2P P2R VIADDMNMX REDUX",
    "mov": "MOV CS2R MOV32I",
    "setp": "ISETP FSETP DSETP PLOP3 PSETP HSETP2 CSETP",
    "sfu": "MUFU",
    "cvt": "F2I F2F I2F FRND I2I F2FP I2FP",
    "ldg": "LDG LD LDGSTS", "stg": "STG ST", "lds": "LDS LDSM", "sts": "STS", "ldl": "LDL", "stl": "STL", "ldc": "LDC",
    "atom": "ATOM ATOMG ATOMS RED REDG", "tex": "TEX TLD TLD4 TXD TXQ TMML TLDS TEXS SULD SUST",
    "shfl": "SHFL VOTE MATCH", "bar": "BAR", "branch": "BRA BRX BRXU JMP JMX CALL RET EXIT",
    "sync": "BSSY BSYNC BMOV BREAK WARPSYNC NOP YIELD DEPBAR LDGDEPBAR MEMBAR CCTL ERRBAR NANOSLEEP BPT KILL LEPC",
    "s2r": "S2R S2UR B2R R2B",
}
CLASS = {op: c for c, ops in TABLE.items() for op in ops.split()}


def class_of(op, args=""):
    base = op.split(".")[0]
    if base == "HFMA2" and "RZ, RZ" in args: return "mov"  # a constant by the FMA pipe
    if base == "IMAD":
        m = op.split(".")[1:]
        if m[:1] == ["MOV"]: return "mov"
        if m[:1] in (["IADD"], ["SHL"], ["X"]): return "int"  # by the FMA pipe
        return "imad"
    if base in CLASS: return CLASS[base]
    if base.startswith("U") or base in ("R2UR", "VOTEU"): return "uniform"
    return "other"


def width(op):
    m = re.search(r"\.(128|64|U16|S16|U8|S8|16|8)\b", op)
    return {"128": 128, "64": 64}.get(m.group(1), 16 if "16" in m.group(1) else 8) if m else 32


def functions(sass, gaps=False):
    name, code = None, []
    for line in sass.splitlines():
        m = re.match(r"\s*Function : (\S+)", line)
        if m:
            if name: yield name, code
            name, code = m.group(1), []
        m = re.match(r"\s*/\*([0-9a-f]{4,})\*/\s+(?:(@!?U?P[T0-9]+)\s+)?([A-Z][A-Z0-9_.]+)\s*(.*?);", line)
        if m:
            at = int(m.group(1), 16)
            while code and code[-1][0] + 16 < at and gaps: code.append((code[-1][0] + 16, None, "INT", ""))
            code.append((at, m.group(2), m.group(3), m.group(4)))
    if name: yield name, code


def old_header(cubin, arch):
    """The header of CUDA 11 for a file of CUDA 13 (ELF's ABI version 8)."""
    with open(cubin, "rb") as f: b = bytearray(f.read())
    if b[8] == 8:
        b[7:9], b[20:24], b[48:52] = b"\x33\x07", b"\x76\0\0\0", bytes([arch, 5, arch, 0])
        with open(cubin, "wb") as f: f.write(b)


def registers(ptxas_output):
    return dict(re.findall(r"Compiling entry function '(\S+)'(?:.*\n)*?.*Used (\d+) registers", ptxas_output))


def target(op, args):
    m = re.search(r"0x([0-9a-f]+)", args) if op.startswith(("BRA", "CALL")) else None
    return int(m.group(1), 16) if m else None


def common(code):
    """Without the subroutines for rare operands (of a division, say), the calls of them, and what only the branch
    around such a call skips: it is hardly ever executed."""
    calls = [target(op, args) for _, _, op, args in code if op.startswith("CALL") and target(op, args) is not None]
    code = [c for c in code if not calls or c[0] < min(calls)]
    rare = []
    for at, g, op, args in code:
        t = target(op, args)
        if not (op.startswith("BRA") and g and t and t > at): continue
        inside = [c for c in code if at < c[0] < t]
        if len(inside) < 40 and any(c[2].startswith("CALL") for c in inside): rare.append((at, t))
    rare = [r for r in rare if not any(r[0] < q[0] and q[1] <= r[1] for q in rare)]
    return [c for c in code if not any(a < c[0] < t for a, t in rare)]


def without_repeated_votes(code):
    """Before 8.0 lanes of a loop that wait for others vote around YIELD, and again if some are missing: hardly ever."""
    again = [at for at, g, op, args in code if op == "BRA" and not g and target(op, args) is not None
             and target(op, args) < at and any(target(op, args) < c[0] < at and c[2] == "YIELD" for c in code)
             and at - target(op, args) < 0x90]
    return [c for c in code if c[0] not in again]


def kernel(code):
    """Counters by (depth, class) and (depth, width of access)."""
    code = without_repeated_votes(common(code))
    while code and (code[-1][2] == "NOP"
                    or (code[-1][2] == "BRA" and re.search(r"0x%x\b" % code[-1][0], code[-1][3]))): code.pop()
    loops = {}
    for at, g, op, args in code:
        h = target(op, args) if op.startswith("BRA") else None
        if h is not None and h <= at:
            loops[h] = max(loops.get(h, 0), at)
    n, w = collections.Counter(), collections.Counter()
    for at, g, op, args in code:
        if g == "@!PT" and not op.startswith(("SHFL", "LDC")): continue
        d = sum(h <= at <= e for h, e in loops.items())
        c = class_of(op, args)
        n[d, c] += 1
        if c in ("ldg", "stg", "lds", "sts", "ldl", "stl"): w[d, c + str(max(width(op), 32))] += 1
    return n, w


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--tools", required=True)
    a.add_argument("--ptxas", metavar="FILE")
    a.add_argument("-o", required=True)
    a.add_argument("--arch", default="70,80,90")
    a.add_argument("--nounroll", action="store_true", help="keep ptxas from unrolling loops")
    a.add_argument("files", nargs="+")
    o = a.parse_args()
    wide = [k + w for k in ("ldg", "stg", "lds", "sts") for w in ("64", "128")]
    with open(o.o, "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["file", "kernel", "sm", "registers", "depth"] + CLASSES + wide)
        for p in o.files:
            for arch in o.arch.split(","):
                with tempfile.TemporaryDirectory() as d:
                    cubin = d + "/x.cubin"
                    text = open(p).read()
                    if o.nounroll: text = re.sub(r"^(\$?[A-Za-z_$][\w$]*:)", r'\1\n.pragma "nounroll";', text,
                                                 flags=re.M)
                    with open(d + "/x.ptx", "w") as t: t.write(text)
                    ptxas = o.ptxas or o.tools + "/ptxas"
                    r = subprocess.run([ptxas, "-v", "-arch=sm_" + arch, d + "/x.ptx", "-o", cubin],
                                       capture_output=True, text=True)
                    if r.returncode:
                        print(p, arch, r.stderr[:200], file=sys.stderr)
                        continue
                    if o.ptxas: old_header(cubin, int(arch))
                    sass = subprocess.run([o.tools + "/cuobjdump", "-sass", cubin], capture_output=True,
                                          text=True).stdout
                regs = registers(r.stderr)
                for name, code in functions(sass, o.ptxas is not None):
                    if name not in regs: continue
                    n, w = kernel(code)
                    for depth in sorted({k[0] for k in n}):
                        out.writerow([os.path.basename(p), name, arch, regs[name], depth]
                                     + [n[depth, c] for c in CLASSES] + [w[depth, k] for k in wide])


if __name__ == "__main__": main()
