#!/usr/bin/env python3
"""Check the dependency rules between rooms: which folder of src/ may include which.

The rule is "data flows one way; a room knows the room below it, never the one above" (docs/explanation/architecture.md). Prints
"ok" or "not ok" lines; exits 1 when a rule is broken.
"""
import pathlib
import re
import sys

# room -> rooms whose headers it may include (itself always). gpu sees of ptx only the static instruction and the feed.
ALLOWED = {
    "base": set(),
    "ptx": {"base"},
    "simt": {"base", "ptx"},
    "trace": {"base", "ptx"},
    "gpu": {"base", "ptx/inst.h", "ptx/feed.h", "model/invariants.h"},
    "model": {"base", "ptx", "gpu"},
    "schemes": {"base", "gpu/scheme.h", "gpu/common/req.h", "gpu/common/config.h", "gpu/common/stats.h", "gpu/sm/coalesce.h", "ptx/inst.h", "schemes/lib"},
    "results": {"base", "gpu/common/config.h", "gpu/common/stats.h", "gpu/observe/observe.h", "gpu/observe/timeline.h", "gpu/observe/l2.h", "model/energy.h", "ptx/feed.h"},
    "session": {"base", "simt", "trace", "results", "ptx/feed.h", "gpu/gpu.h", "gpu/common/config.h", "gpu/common/stats.h", "gpu/slots/scheme.h"},
    "cudart": {"base", "session", "simt"},
    "report": {"base", "results", "gpu/common/stats.h", "gpu/common/config.h"},
    "study": {"base", "proc", "results", "session", "gpu/common/config.h", "gpu/slots/scheme.h", "gpu/common/stats.h"},
    "proc": {"base", "cli"},
    "cli": {"base", "proc", "results", "session", "simt", "trace", "report", "study", "gpu/common/config.h", "gpu/slots/scheme.h", "gpu/common/stats.h", "model/energy.h", "model/hitrate.h", "model/invariants.h"},
}
# Schemes must not know each other, and the timing model no scheme by name.
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def main():
    src = pathlib.Path(__file__).resolve().parent.parent / "src"
    names = [p.stem for p in (src / "schemes").glob("*.c")]
    broken = 0
    for room in sorted(p.name for p in src.iterdir() if p.is_dir()):
        if room not in ALLOWED:
            print(f"not ok rooms: src/{room} is not in the table of tools/rooms.py")
            broken += 1
            continue
        for f in sorted(src.joinpath(room).rglob("*")):
            if f.suffix not in (".c", ".h", ".inc"):
                continue
            text = f.read_text(errors="replace")
            for inc in INCLUDE.findall(text):
                target = inc.split("/")[0] if "/" in inc else room
                if target == room or target in ALLOWED[room] or inc in ALLOWED[room]:
                    if not (room == "schemes" and inc.startswith("schemes/") and not inc.startswith("schemes/lib/")):
                        continue
                line = text[: text.index('"' + inc + '"')].count("\n") + 1
                print(f"not ok rooms: {f.relative_to(src.parent)}:{line} includes {inc}; {room} must not know it")
                broken += 1
            if room == "gpu":
                code = "" if f.name == "config.c" else re.sub(r"/\*.*?\*/", "", text, flags=re.S)
                for n in names:
                    if re.search(r'"%s"' % re.escape(n), code):
                        print(f"not ok rooms: {f.relative_to(src.parent)} names the scheme {n}")
                        broken += 1
    if not broken:
        print("ok rooms")
    return 1 if broken else 0


sys.exit(main())
