#!/usr/bin/env python3
"""Write a folder of Accel-Sim traces in the canonical form of its tracer: all address modes, spaces and modifiers.

  accel-canon.py FOLDER VERSION LINEINFO SEED

Versions: 1.2, 3, 4- (version 4 before it had immediates), 4, 5, 6. Canonical: base and stride where the lanes are
neighbours at equal distances, else base and deltas, also for bulk copies; register values not recorded; CTAs without
instructions left out.
"""
import os
import random
import sys

# name, destinations, sources, memory width
OPS = [("MOV", 1, 1, 0), ("IADD3.X", 1, 3, 0), ("FFMA.FTZ", 1, 3, 0), ("MUFU.RCP", 1, 1, 0), ("LDG.E.64.SYS", 1, 1, 8),
       ("LDG.E.U8", 1, 1, 1), ("STG.E.128", 0, 2, 16), ("LDS.U.32", 1, 1, 4), ("STS", 0, 2, 4),
       ("ATOMG.E.ADD.STRONG.GPU", 1, 2, 4),
       ("RED.E.ADD", 0, 2, 4), ("ATOMS.ADD", 1, 2, 4), ("LD.E", 1, 1, 4), ("LDL.64", 1, 1, 8), ("STL", 0, 2, 4),
       ("LDC.U8", 1, 1, 1),
       ("HMMA.884.F32.F32.STEP0", 1, 3, 0), ("BRA", 0, 0, 0), ("SHFL.IDX", 1, 2, 0), ("LDGSTS.E.BYPASS.128", 0, 2, 16),
       ("MEMBAR.SC.GPU", 0, 0, 0), ("ATOM.E.CAS", 1, 2, 4), ("ST.E.64", 0, 2, 8)]
HOPPER = [("HGMMA.64x128x16.F32", 1, 3, 0), ("UTMALDG.2D", 0, 2, 4), ("UBLKCP.S.G", 0, 2, 4), ("R2UR", 1, 1, 0)]
BULK = ("UTMALDG", "UBLKCP")
MASKS = [0xffffffff, 0xffff, 0x80000000, 0xf0f00, 0x0, 0x3, 0x1]
EXIT, BAR = ("EXIT", 0, 0, 0), ("BAR.SYNC.DEFER_BLOCKING", 0, 0, 0)


class Writer:
    def __init__(self, version, lineinfo, rng):
        self.name, self.v, self.lineinfo, self.rng = version, float(version.rstrip("-")), lineinfo, rng
        self.immediates = self.v >= 4 and version != "4-"

    def header(self, k, grid, block):
        h = (f"-kernel name = _Z{k}kernel\n-kernel id = {k}\n-grid dim = ({grid[0]},{grid[1]},{grid[2]})\n-block dim = "
             f"({block[0]},{block[1]},{block[2]})\n"
             f"-shmem = 1024\n-nregs = 32\n-binary version = {90 if self.v >= 6 else 70}\n-cuda stream id = {k % 2}\n"
             f"-shmem base_addr = 0x00007f5500000000\n-local mem base_addr = 0x00007f5501000000\n-nvbit version = "
             f"1.5.5\n-accelsim tracer version = {self.v:g}\n")
        if self.v >= 4:
            h += f"-enable lineinfo = {self.lineinfo}\n"
        cta = "threadblock_x threadblock_y threadblock_z warpid_tb " if self.v < 4 else ""
        columns = "[line_num] " if self.lineinfo else cta
        return h + (f"\n#traces format = {columns}PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width "
                    f"[adrrescompress?] [mem_addresses]{' immediate' if self.immediates else ''}\n\n")

    def code(self):
        out, r = [], self.rng
        for pc in range(24):
            op, nd, ns, width = r.choice(OPS + (HOPPER if self.v >= 6 else []))
            names = ["R0", "R4", "R7", "R20", "R255"] + (["UR4", "P0", "UP1"] if self.v >= 6 else [])
            out.append((pc * 16, (op, nd, ns, width), [r.choice(names) for _ in range(nd)],
                        [r.choice(names[1:]) for _ in range(ns)],
                        [r.choice([0, -8, 4, 1024]) for _ in range(r.choice([1, 2]) if self.v >= 6 else 1)],
                        10 + pc // 3))
        return out

    def addresses(self, op, mask):
        r, n = self.rng, bin(mask).count("1")
        if op.startswith(BULK):
            base, n = 0x7f0000000000 + r.randrange(0, 1 << 20, 16), r.choice([0, 1, 2, 8, 32])
            deltas = [r.choice([128, 4096, -64]) for _ in range(n - 1)]
            multicast = r.random() < .3
            return (f" 0x{r.choice([0x400, 0x408]):x} {int(multicast)}{' 0x3' if multicast else ''} {128 * n} "
                    f"{r.choice([0, 0, 32])} 4 "
                    f"0x{base if n else 0:x} {n}" + "".join(f" {d}" for d in deltas))
        if not n:
            return " 1 0x0 0"
        if op.startswith(("LDS", "STS", "ATOMS")):
            base = r.randrange(0, 900, 4)
        elif op.startswith(("LDL", "STL")):
            base = 0x7f5501000000 + r.randrange(0, 4000, 4)
        elif op.startswith(("LD.E", "ST.E", "ATOM.")):
            base = r.choice([0x7f5500000000 + r.randrange(0, 900, 4), 0x7f5501000000 + r.randrange(0, 4000, 4),
                             0x7f0000000000 + r.randrange(0, 1 << 20, 4)])
        elif op.startswith("LDC"):
            base = r.randrange(0, 4096)
        else:
            base = 0x7f0000000000 + r.randrange(0, 1 << 20, 4)
        low = mask & -mask
        if r.random() < .6:
            stride = r.choice([0, 4, 8, 16, 128])
            a = [base + stride * j for j in range(n)]
        else:
            a = [base] + [base + r.randrange(0, 64, 4) * (1 if op[2:3] == "L" else 16) for _ in range(n - 1)]
        equal = n > 1 and not mask & (mask + low) and all(a[j] - a[j - 1] == a[1] - a[0] for j in range(1, n))
        if equal:
            return f" 1 0x{a[0]:x} {a[1] - a[0]}"
        return f" 2 0x{a[0]:x}" + "".join(f" {a[j] - a[j - 1]}" for j in range(1, n))

    def line(self, inst, mask, cta, warp):
        pc, (op, _, _, width), dst, src, immediates, number = inst
        s = f"{cta[0]} {cta[1]} {cta[2]} {warp} " if self.v < 3 else ""
        s += f"{number} " if self.lineinfo else ""
        s += " ".join([f"{pc:04x} {mask:08x} {len(dst)}"] + dst + [op, str(len(src))] + src)
        if self.v >= 6 and "GMMA" in op:
            s += f" {pc // 16 % 2}"
        s += f" {width}"
        if width:
            s += self.addresses(op, mask)
        if self.immediates:
            s += "".join(f" {i}" for i in immediates)
        return s + (" NoVal" if self.v >= 6 else "") + "\n"

    def warp(self, code, cta, w):
        r, out, pc = self.rng, [], 1
        if r.random() < .08:
            return out
        if r.random() < .9:  # some warps do not begin at the kernel's first instruction
            out.append(self.line(code[0], 0xffffffff, cta, w))
        for _ in range(r.randint(5, 60)):
            mask = r.choice(MASKS)
            out.append(self.line(code[pc], mask, cta, w))
            pc = r.choice([pc + 1, pc + 1, pc + 1, r.randrange(24)]) % 24
        out.append(self.line((25 * 16, BAR, [], [], [0], 29), 0xffffffff, cta, w))
        out.append(self.line((24 * 16, EXIT, [], [], [0], 30), 0xffffffff, cta, w))
        return out

    def kernel(self, k):
        r = self.rng
        cluster = (1, 1, 1) if self.v < 6 else r.choice([(1, 1, 1), (2, 1, 1), (1, 2, 1), (2, 2, 1)])
        grid = [r.randint(1, 3) * cluster[0], r.randint(1, 2) * cluster[1], r.randint(1, 2)]
        block = (r.choice([32, 48, 96]), r.randint(1, 2), 1)
        text, code = self.header(k, grid, block), self.code()
        for z in range(grid[2]):
            for y in range(grid[1]):
                for x in range(grid[0]):
                    warps = [self.warp(code, (x, y, z), w) for w in range((block[0] * block[1] * block[2] + 31) // 32)]
                    if not any(warps):
                        warps[0] = [self.line((24 * 16, EXIT, [], [], [0], 30), 0xffffffff, (x, y, z), 0)]
                    text += f"#BEGIN_TB\n\nthread block = {x},{y},{z}\n"
                    if self.v >= 6:
                        at = (x % cluster[0], y % cluster[1])
                        text += (f"cluster id = {x // cluster[0]},{y // cluster[1]},{z}\ncluster cta = "
                                 f"{at[0]},{at[1]},0\n"
                                 f"cluster rank = {at[1] * cluster[0] + at[0]}\n")
                    text += "\n" + "".join(f"warp = {w}\ninsts = {len(lines)}\n{''.join(lines)}\n"
                                           for w, lines in enumerate(warps)) + "#END_TB\n\n"
        return text


def write(folder, version, lineinfo, seed):
    os.makedirs(folder, exist_ok=True)
    w = Writer(version, lineinfo, random.Random(seed))
    with open(folder + "/kernelslist.g", "w") as names:
        for k in range(1, 4):
            names.write(f"MemcpyHtoD,0x{0x7f0000000000 + k * 4096:016x},{1000 * k}\nkernel-{k}.traceg\n")
            with open(f"{folder}/kernel-{k}.traceg", "w") as f:
                f.write(w.kernel(k))


if __name__ == "__main__":
    write(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
