#!/usr/bin/env python3
"""Print lines run by folder of src/ from an lcov file, the files with most lines not run, and the total.

A line counts as run when any object that holds it ran it: sources that are compiled several times are counted once.
"""
import collections
import pathlib
import sys


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    hits = collections.defaultdict(dict)
    name = None
    for line in open(sys.argv[1], encoding="utf-8"):
        if line.startswith("SF:"):
            path = pathlib.Path(line[3:].strip())
            try:
                name = str((root / path).resolve().relative_to(root))
            except ValueError:
                name = None
        elif line.startswith("DA:") and name and name.startswith("src/"):
            number, count = line[3:].split(",")[:2]
            hits[name][int(number)] = max(hits[name].get(int(number), 0), int(count))
    folders = collections.Counter()
    ran = collections.Counter()
    for f, lines in hits.items():
        folder = f.rsplit("/", 1)[0]
        folders[folder] += len(lines)
        ran[folder] += sum(1 for n in lines.values() if n)
    print(f"{'folder':24} {'lines':>7} {'run':>7} {'share':>8}")
    for folder in sorted(folders):
        print(f"{folder:24} {folders[folder]:7,} {ran[folder]:7,} {100 * ran[folder] / folders[folder]:6.1f} %")
    missed = sorted(((sum(1 for n in l.values() if not n), len(l), f) for f, l in hits.items()), reverse=True)
    print("\nmost lines not run")
    for n, of, f in missed[:20]:
        print(f"{n:6} of {of:5}  {f}")
    total, done = sum(folders.values()), sum(ran.values())
    print(f"\ntotal {done:,} of {total:,} lines: {100 * done / total:.1f} %")
    return 0


sys.exit(main())
