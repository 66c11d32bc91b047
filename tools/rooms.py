#!/usr/bin/env python3
"""Check which folder of src/ includes which: folders depend downward only.

  tools/rooms.py           "ok rooms", or a "not ok" line for each include that breaks a rule; then it exits with 1
  tools/rooms.py --graph   the folders from the lowest to the highest, and what each includes

A room is a folder below src/. Its rule names the rooms, or single headers, whose headers it may include; all of them
stand above its own line in the table, so that no arrow can run upward. docs/explanation/architecture.md says what the
rooms are.
"""
import collections
import pathlib
import re
import sys

SRC = pathlib.Path(__file__).resolve().parent.parent / "src"
# A scheme sees one interface and nothing of the machine behind it.
SCHEME = "gpu/scheme.h gpu/common/req.h gpu/common/config.h gpu/common/stats.h ptx/inst.h"
# From the lowest room to the highest. "x/*" stands for x and all rooms below x.
ROOMS = {
    "base": "",
    "ptx": "base",
    # what a GPU's assembler makes of PTX
    "back": "base ptx",
    # the functional machine; src/simt itself holds its interface, simt.h
    "simt": "base ptx",
    "simt/core": "base ptx simt",
    "simt/ops": "base ptx simt simt/core",
    "simt/lower": "base ptx back simt simt/core simt/ops",
    "simt/check": "base ptx simt simt/core",
    "simt/run": "base ptx simt simt/core",
    # recorded programs
    "trace/common": "base ptx",
    "trace/slt": "base ptx trace/common",
    "trace/accel": "base ptx trace/common",
    "trace": "base ptx trace/common trace/slt trace/accel",
    # the machine in time; of PTX it sees the static instruction and the feed
    "gpu/common": "base ptx/inst.h ptx/feed.h",
    "gpu/slots": "base gpu/common ptx/inst.h",
    "gpu/ro": "base gpu/common",
    "gpu/icnt": "base gpu/common",
    "gpu/mem": "base gpu/common gpu/slots",
    "gpu/state": "base gpu/common gpu/slots gpu/ro gpu/icnt gpu/mem ptx/inst.h ptx/feed.h",
    "gpu/observe": "base gpu/common gpu/slots gpu/icnt gpu/mem gpu/state ptx/inst.h ptx/feed.h",
    "gpu/l1": "base gpu/common gpu/slots gpu/mem gpu/state gpu/observe ptx/inst.h",
    "gpu/sm": "base gpu/common gpu/slots gpu/ro gpu/icnt gpu/mem gpu/state gpu/observe gpu/l1 ptx/inst.h ptx/feed.h",
    "gpu": "base gpu/common gpu/slots gpu/icnt gpu/mem gpu/state gpu/observe gpu/l1 gpu/sm ptx/inst.h ptx/feed.h",
    "schemes/lib": f"base {SCHEME}",
    "schemes": f"base {SCHEME} schemes/lib",
    "model": "base gpu/common gpu/slots gpu/mem ptx",
    "results": "base gpu/common gpu/observe/l2.h gpu/observe/timeline.h model ptx/feed.h",
    "results/db": "base gpu/common results",
    # samples of launches: signatures, plans, and totals with their intervals
    "sample": "base gpu/common ptx/inst.h ptx/feed.h",
    "session": "base sample simt trace trace/common trace/slt results gpu gpu/common gpu/slots gpu/observe/timeline.h "
               "ptx/feed.h",
    # the library for programs that embed the simulator
    "api": "base session simt trace/common results gpu/common gpu/slots model",
    # the CUDA runtime and driver libraries
    "cudart/image": "base",
    "cudart/core": "base session simt simt/core/texture.h cudart/image",
    "cudart/interop": "base cudart/core",
    "cudart/runtime": "base session simt cudart/core cudart/interop",
    "cudart/driver": "base session simt cudart/core cudart/interop",
    "cudart/hook": "cudart/core/calls.def",
    # the command
    "report": "base results gpu/common",
    "cli/frame": "base gpu/common session/options.def",
    "cli/tables": "base results gpu/common model cli/frame",
    "proc": "base cli/frame",
    "study": "base results session proc gpu/common gpu/slots",
    "cli/run": "base sample results session simt trace trace/common model gpu/slots proc cli/frame cli/tables",
    "cli/cmd": "base sample results report session simt trace trace/common trace/slt trace/accel study model "
               "gpu/common gpu/slots proc cli/frame cli/tables cli/run",
    "cli": "base proc cli/frame cli/cmd",
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def arrows():
    """Each include of a header of Sluice, as (room, file, line, header, room of the header)."""
    for f in sorted(SRC.rglob("*")):
        if f.suffix not in (".c", ".h", ".inc"):
            continue
        text = f.read_text(errors="replace")
        for m in INCLUDE.finditer(text):
            header = m.group(1)
            if (SRC / header).exists():
                yield f.parent.relative_to(SRC).as_posix(), f, text.count("\n", 0,
                    m.start()) + 1, header, pathlib.PurePath(header).parent.as_posix()


def check():
    broken = []
    order = list(ROOMS)
    for room, rule in ROOMS.items():
        for word in rule.split():
            below = word if word in ROOMS else pathlib.PurePath(word).parent.as_posix()
            # gpu/scheme.h is the name under which authors of schemes include gpu/slots/scheme.h.
            if word != "gpu/scheme.h" and order.index(below) > order.index(room):
                broken.append(f"tools/rooms.py: {room} may include {word}, which stands above it")
    for room in sorted({f.parent.relative_to(SRC).as_posix() for f in SRC.rglob("*.[ch]")} - set(ROOMS)):
        broken.append(f"src/{room} is not in the table of tools/rooms.py")
    for room, f, line, header, target in arrows():
        allowed = ROOMS.get(room, "").split()
        if target != room and target not in allowed and header not in allowed:
            broken.append(f"{f.relative_to(SRC.parent)}:{line} includes {header}; {room} must not know it")
        if room == "schemes" and target == "schemes":
            broken.append(f"{f.relative_to(SRC.parent)}:{line} includes {header}: schemes do not know each other")
    # The machine knows no scheme by name; its configuration has a knob whose values are names of organisations.
    names = [p.stem for p in (SRC / "schemes").glob("*.c")]
    for f in sorted((SRC / "gpu").rglob("*.[chi]*")):
        code = "" if f.name == "config.c" else re.sub(r"/\*.*?\*/", "", f.read_text(errors="replace"), flags=re.S)
        broken += [f"{f.relative_to(SRC.parent)} names the scheme {n}" for n in names if f'"{n}"' in code]
    for b in broken:
        print("not ok rooms:", b)
    if not broken:
        print("ok rooms")
    return 1 if broken else 0


def graph():
    seen = collections.defaultdict(collections.Counter)
    files = collections.Counter(f.parent.relative_to(SRC).as_posix() for f in SRC.rglob("*")
                                if f.suffix in (".c", ".h", ".inc", ".def"))
    for room, _, _, _, target in arrows():
        if target != room:
            seen[room][target] += 1
    order = list(ROOMS)
    up = 0
    for room in order:
        names = sorted(seen[room], key=order.index)
        above = [n for n in names if order.index(n) > order.index(room)
                 and (room, n) not in (("schemes", "gpu"), ("schemes/lib", "gpu"))]
        up += len(above)
        print(f"{room:15} {files[room]:3} files -> {' '.join(names) or '-'}"
              + (f"   UPWARD: {' '.join(above)}" if above else ""))
    print(f"{len(order)} rooms, {sum(len(s) for s in seen.values())} arrows, {up} of them upward")
    return 1 if up else 0


sys.exit(graph() if sys.argv[1:] == ["--graph"] else check())
