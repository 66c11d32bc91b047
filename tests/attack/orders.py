#!/usr/bin/env python3
"""Random kernels of a few accesses each: what --check race, --memory and --interleave say against what must hold.

  orders.py SLUICE SEED COUNT

Every thread makes the accesses of a kernel one after another, some behind a barrier, at places that are a linear
function of its numbers. Which pairs race is then counted here, byte by byte: both touch it, one writes, they are not
both atomic (on global memory: nor volatile), they are of different warps, and no barrier of their CTA lies between
them. What races nowhere is never reported, and leaves the same memory in every order and in timing mode; of two
accesses of whole words a race is always found. The checker keeps two accesses of a word: of more accesses, or of parts
of words, it may miss one.
"""
import json
import os
import random
import subprocess
import sys

WORDS = 512  # of the buffer, and of shared memory


class Access:
    def __init__(self, r, whole):
        self.op = r.choice(["ld", "ld", "st", "st", "st", "ld.volatile", "st.volatile", "atom"])
        self.width = 4 if self.op == "atom" else r.choice([4, 8] if whole else [1, 2, 4, 8])
        self.space = r.choice(["global", "global", "shared"])
        self.a, self.b, self.c = r.choice([0, 1, 1, 1, 2, 31, 63]), r.choice([0, 1, 32, 64, 96]), r.randrange(0, 128)
        self.modulus = r.choice([1, 8, 64, 4 * WORDS // self.width])
        one = r.randrange(0, 96)
        self.low, self.high = r.choice([(0, 1024), (0, 1024), (0, 32), (32, 64), (16, 48), (one, one + 1),
                                        (one, one + 1)])
        self.cta = r.choice([None, None, None, 0, 1])
        self.barrier = r.random() < .5  # in front of it

    writes = property(lambda self: self.op.startswith(("st", "atom")))
    strong = property(lambda self: self.op == "atom" or (self.space == "global" and "volatile" in self.op))

    def byte(self, tid, cta):
        return (self.a * tid + self.b * cta + self.c % 4096) % self.modulus * self.width

    def ptx(self, n):
        t = f"b{8 * self.width}" if self.width > 1 else "u8"
        reg = "%rd9" if self.width == 8 else "%r9" if self.width == 4 else "%h9"
        base = "%rd1" if self.space == "global" else "%rd2"
        lines = ["bar.sync 0;"] if self.barrier else []
        lines += [f"mad.lo.u32 %r4, %r1, {self.a}, {self.c % 4096};", f"mad.lo.u32 %r4, %r2, {self.b}, %r4;",
                  f"rem.u32 %r4, %r4, {self.modulus};", f"mul.wide.u32 %rd4, %r4, {self.width};",
                  f"add.u64 %rd4, %rd4, {base};",
                  f"setp.ge.u32 %p1, %r1, {self.low};", f"setp.lt.and.u32 %p1, %r1, {self.high}, %p1;"]
        if self.cta is not None:
            lines.append(f"setp.eq.and.u32 %p1, %r2, {self.cta}, %p1;")
        lines += [f"add.u32 %r9, %r3, {n * 65536 + 1};", "cvt.u64.u32 %rd9, %r9;", "cvt.u16.u32 %h9, %r9;"]
        if self.op == "atom":
            lines.append(f"@%p1 atom.{self.space}.add.u32 %r8, [%rd4], %r9;")
        elif self.writes:
            lines.append(f"@%p1 {self.op}.{self.space}.{t} [%rd4], {reg};")
        else:
            lines.append(f"@%p1 {self.op}.{self.space}.{t} {reg}, [%rd4];")
        return "".join(f"  {line}\n" for line in lines)


class Kernel:
    def __init__(self, seed):
        r = random.Random(seed)
        self.ctas, self.threads = r.choice([1, 2, 4]), r.choice([32, 48, 64, 96])
        self.whole = r.random() < .5
        self.at = [Access(r, self.whole) for _ in range(2 if self.whole else r.randint(2, 5))]
        if self.whole and r.random() < .7:  # mostly rows of words against one of them
            first, second = self.at
            first.a, first.modulus, second.space, second.barrier = 1, 2048 // first.width, first.space, False
            second.a, second.b, second.c, second.modulus = 1, 0, first.c, 2048 // second.width
            second.low = r.randrange(0, self.threads)
            second.high = second.low + 1
            second.c += r.choice([-33, -32, -20, 0, 7, 32, 37])

    def ptx(self):
        return (".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                "  .reg .b16 %h<10>;\n  .reg .b32 %r<10>;\n  .reg .b64 %rd<10>;\n  .reg .pred %p<4>;\n"
                f"  .shared .align 8 .b8 s[{4 * WORDS}];\n"
                "  ld.param.u64 %rd1, [p];\n  mov.u64 %rd2, s;\n  mov.u32 %r1, %tid.x;\n  mov.u32 %r2, %ctaid.x;\n"
                "  mov.u32 %r3, %ntid.x;\n  mad.lo.u32 %r3, %r2, %r3, %r1;\n"
                + "".join(a.ptx(n) for n, a in enumerate(self.at)) + "  ret;\n}\n")

    def launch(self):
        return (f"grid: {self.ctas}\nblock: {self.threads}\nbuffers:\n  p: {{type: u32, count: {WORDS}}}\nargs: [p]\n"
                f"outputs:\n  - {{buffer: p, print: {WORDS}}}\n")

    def touched(self):
        """Of each byte: (access, CTA, warp, barriers before)."""
        out = {}
        for n, a in enumerate(self.at):
            barriers = sum(b.barrier for b in self.at[:n + 1])
            for cta in range(self.ctas):
                if a.cta not in (None, cta):
                    continue
                for tid in range(a.low, min(a.high, self.threads)):
                    for byte in range(a.byte(tid, cta), a.byte(tid, cta) + a.width):
                        where = (a.space, cta if a.space == "shared" else None, byte)
                        out.setdefault(where, set()).add((n, cta, tid // 32, barriers))
        return out

    def conflicts(self):
        """Does any pair race? Does the order of two that do not race matter?"""
        races = order = False
        for who in self.touched().values():
            who = sorted(who)
            for i, x in enumerate(who):
                for y in who[i:]:
                    p, q = self.at[x[0]], self.at[y[0]]
                    if not (p.writes or q.writes) or (x[1] == y[1] and (x[2] == y[2] or x[3] != y[3])):
                        continue
                    if p.strong and q.strong:
                        order |= not p.op == q.op == "atom"
                    else:
                        races = True
            # Lanes of one instruction do not race, but the last one's value stays: that is the same in every order.
        return races, order


def run(sluice, *options):
    p = subprocess.run([sluice, "run", "-q", *options, "k.ptx", "--launch", "k.yaml"], stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True, timeout=600, check=False)
    return p.returncode, p.stdout


ORDERS = (["-m", "functional"], ["-m", "functional", "--interleave", "none"],
          ["-m", "functional", "--interleave", "fair=3"], [])


def try_races(sluice, seed, counts):
    k = Kernel(seed)
    races, order = k.conflicts()
    for name, text in (("k.ptx", k.ptx()), ("k.yaml", k.launch())):
        with open(name, "w", encoding="utf-8") as f:
            f.write(text)
    memory = set()
    for options in ORDERS:
        if os.path.exists("r.json"):
            os.remove("r.json")
        code, text = run(sluice, "--check", "race", "--json", "r.json", *options)
        with open("r.json", encoding="utf-8") as f:
            findings = json.load(f).get("findings", [])
        if code not in (0, 1) or (code == 1) != any(f["check"] == "race" for f in findings):
            return f"exit {code} with {len(findings)} findings {options}: {text[:500]}"
        if findings and not races:
            return f"a race is reported where none is {options}: {text[:500]}"
        if races and k.whole and not findings:
            return f"a race is missed {options}"
        memory.add("".join(line for line in text.splitlines() if line.startswith("p:")))
        plain = run(sluice, *options)
        if plain[0] or not plain[1].startswith("p:") or plain[1].strip() not in text:
            return f"the check changes what is computed {options}"
    if not races and not order and len(memory) != 1:
        return "the order changes what is computed"
    counts["racing" if races else "silent"] += 1
    return None


class Bounds:
    """Reads and writes of one buffer around its ends, a word per thread."""

    def __init__(self, seed):
        r = random.Random(seed)
        self.count, self.threads = r.choice([1, 31, 64, 100, 4096]), r.choice([1, 32, 48])
        self.at = [(r.choice(["ld", "ld", "ld", "st", "atom"]),
                    r.choice([0, 0, -1, -3, self.count - 1, self.count, self.count // 2]),
                    r.choice([0, 1, -1, 3])) for _ in range(r.randint(1, 3))]

    def ptx(self):
        lines = ""
        for op, first, step in self.at:
            lines += f"  mad.lo.s32 %r4, %r1, {step}, {first};\n"
            lines += "  mul.wide.s32 %rd4, %r4, 4;\n  add.s64 %rd4, %rd4, %rd1;\n"
            lines += {"ld": "  ld.global.u32 %r5, [%rd4];\n  or.b32 %r6, %r6, %r5;\n",
                      "st": "  st.global.u32 [%rd4], 7;\n",
                      "atom": "  atom.global.max.u32 %r5, [%rd4], 7;\n"}[op]
        return (".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 q)\n{\n"
                "  .reg .b32 %r<10>;\n  .reg .b64 %rd<10>;\n  ld.param.u64 %rd1, [p];\n  ld.param.u64 %rd2, [q];\n"
                "  mov.u32 %r1, %tid.x;\n  mov.u32 %r6, 0;\n" + lines +
                "  mul.wide.u32 %rd5, %r1, 4;\n  add.u64 %rd5, %rd5, %rd2;\n  st.global.u32 [%rd5], %r6;\n  ret;\n}\n")

    def launch(self):  # p begins at a multiple of 256 bytes, with 63 unused words before it
        return (f"block: {self.threads}\ngrid: 1\nbuffers:\n  q: {{type: u32, count: 65}}\n  p: "
                f"{{type: u32, count: {self.count}}}\n"
                "args: [p, q]\noutputs:\n  - {buffer: q, print: 64}\n")

    def outside(self):
        """(reads, writes) out of bounds before the first faulting instruction of each mode."""
        reads = 0
        for op, first, step in self.at:
            n = sum(not 0 <= first + step * t < self.count for t in range(self.threads))
            if n and op != "ld":
                return reads, n
            reads += n
        return reads, 0


def try_bounds(sluice, seed, counts):
    k = Bounds(seed)
    reads, writes = k.outside()
    with open("k.ptx", "w", encoding="utf-8") as f:
        f.write(k.ptx())
    with open("k.yaml", "w", encoding="utf-8") as f:
        f.write(k.launch())
    for mode in ("functional", "timing"):
        code, text = run(sluice, "-m", mode, "--memory", "strict")
        if code != (4 if reads or writes else 0):
            return f"strict, {mode}: exit {code}: {text[:500]}"
        code, text = run(sluice, "-m", mode, "--memory", "warn", "--json", "r.json")
        if code != (4 if writes else 7 if reads else 0):
            return f"warn, {mode}: exit {code} after {reads} reads and {writes} writes out of bounds: {text[:500]}"
        if not writes:
            with open("r.json", encoding="utf-8") as f:
                said = json.load(f)
            told = said.get("out_of_bounds", said.get("totals", {}).get("out_of_bounds", {})).get("reads", 0)
            if told != reads:
                return f"warn, {mode}: {told} reads are told of {reads}"
    counts["outside" if reads or writes else "inside"] += 1
    return None


def main():
    sluice, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    counts = {"racing": 0, "silent": 0, "outside": 0, "inside": 0}
    for seed in range(first, first + count):
        for what in (try_races, try_bounds):
            wrong = what(sluice, seed, counts)
            if wrong:
                print(f"seed {seed}, {what.__name__}: {wrong}")
                return 1
    print(" ".join(f"{v} {k}" for k, v in counts.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
