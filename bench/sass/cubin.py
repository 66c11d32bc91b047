#!/usr/bin/env python3
"""The kernel file that sass and record.c read, of a cubin for sm_70.

  bench/sass/cubin.py --tools DIR FILE.cubin > KERNELS

DIR holds NVIDIA's cuobjdump. Registers, memory, parameters and constants come from the cubin itself.
"""
import argparse
import re
import struct
import subprocess

ATTR_FRAME, ATTR_PARAM, ATTR_REGISTERS, ATTR_MIN_STACK = 0x11, 0x17, 0x2f, 0x12


class Cubin:
    def __init__(self, path):
        self.b = b = open(path, "rb").read()
        at, = struct.unpack_from("<Q", b, 0x28)
        size, n, names = struct.unpack_from("<HHH", b, 0x3a)
        self.sections = []
        for i in range(n):
            name, kind, _, _, off, length, link, info, _, _ = struct.unpack_from("<IIQQQQIIQQ", b, at + i * size)
            self.sections.append(dict(name=name, kind=kind, off=off, size=length, link=link, info=info, index=i))
        text = self.sections[names]
        for s in self.sections: s["name"] = self.string(text, s["name"])
        self.by_name = {s["name"]: s for s in self.sections}
        self.symbols = []
        for s in self.sections:
            if s["kind"] != 2: continue
            for k in range(s["size"] // 24):
                name, info, other, where, value, length = struct.unpack_from("<IBBHQQ", b, s["off"] + 24 * k)
                self.symbols.append(dict(name=self.string(self.sections[s["link"]], name), section=where, value=value,
                                         size=length))

    def string(self, section, at):
        begin = section["off"] + at
        return self.b[begin:self.b.index(b"\0", begin)].decode()

    def bytes(self, name):
        s = self.by_name.get(name)
        if not s: return b""
        return bytes(s["size"]) if s["kind"] == 8 else self.b[s["off"]:s["off"] + s["size"]]

    def size(self, name):
        return self.by_name[name]["size"] if name in self.by_name else 0

    def attributes(self, section):
        b, at = self.bytes(section), 0
        while at + 4 <= len(b):
            form, kind, n = struct.unpack_from("<BBH", b, at)
            at += 4
            if form == 4:
                yield kind, b[at:at + n]
                at += n


def kernels(path, cuobjdump):
    c = Cubin(path)
    stack = {}
    for kind, v in c.attributes(".nv.info"):
        if kind in (ATTR_FRAME, ATTR_MIN_STACK):
            symbol, n = struct.unpack("<II", v[:8])
            name = c.symbols[symbol]["name"]
            stack[name] = max(stack.get(name, 0), n)
    sass = subprocess.run([cuobjdump, "-sass", path], capture_output=True, text=True, check=True).stdout
    for part in re.split(r"^\s*Function : ", sass, flags=re.M)[1:]:
        name, text = part.split("\n", 1)
        section = c.by_name.get(".text." + name)
        if not section: continue
        out = [f"kernel {name}", f"registers {section['info'] >> 24}", f"shared {c.size('.nv.shared.' + name)}",
               f"local {stack.get(name, 0)}"]
        params = []
        for kind, v in c.attributes(".nv.info." + name):
            if kind != ATTR_PARAM: continue
            _, ordinal, offset, bits = struct.unpack("<IHHI", v)
            params.append((ordinal, offset, bits >> 18))
        out += [f"param {offset} {size}" for _, offset, size in sorted(params)]
        for bank, owner in ((2, "." + name), (3, ""), (4, "")):
            data = c.bytes(f".nv.constant{bank}{owner}")
            if any(data): out.append(f"bank {bank} 0 {data.hex()}")
        third = c.by_name.get(".nv.constant3", {"index": -1})["index"]
        out += [f"symbol 3 {s['value']} {s['name']}" for s in c.symbols if s["section"] == third and s["size"]]
        relocations = c.by_name.get(".rel.nv.constant4") or c.by_name.get(".rela.nv.constant4")
        if relocations:
            entry = 16 if relocations["kind"] == 9 else 24
            for k in range(relocations["size"] // entry):
                at, info = struct.unpack_from("<QQ", c.b, relocations["off"] + entry * k)
                out.append(f"symbol 4 {at} {c.symbols[info >> 32]['name']}")
        yield "\n".join(out + [l.split("*/", 2)[0].strip() + "*/ " + l.split("*/", 1)[1].strip()
                               for l in text.split("\n") if re.match(r"\s*/\*[0-9a-f]{4,}\*/", l)])


if __name__ == "__main__":
    a = argparse.ArgumentParser()
    a.add_argument("--tools", required=True)
    a.add_argument("cubin")
    o = a.parse_args()
    for k in kernels(o.cubin, o.tools + "/cuobjdump"): print(k + "\n")
