#!/usr/bin/env python3
"""Draws a timeline file as an SVG, for docs/how-to/timeline.md, where ui.perfetto.dev cannot be opened.

  tools/timeline-picture.py FILE.pftrace >picture.svg
  rsvg-convert -w 1280 picture.svg -o picture.png

The file is decoded by protoc with src/results/perfetto.proto. Groups and tracks come in the order of the file; those
that are most alike are left out beyond a few (warp slots, banks, sub-partitions, channels).
"""
import collections
import html
import pathlib
import re
import subprocess
import sys

PROTO = pathlib.Path(__file__).resolve().parent.parent / "src/results"
WIDTH, LEFT, ROW, GAP = 1280, 290, 15, 3
FIRST = {"warp slot": 10, "sub-partition": 2, "channel": 1, "bank": 6}  # tracks kept of a kind, in each group
COLOURS = ["#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#76b7b2", "#9c755f", "#edc948", "#e15759"]
EVENT_COLOURS = {"L1 miss": "#d62728", "activate": "#2ca02c", "precharge": "#7f7f7f", "read": "#1f77b4",
                 "write": "#ff7f0e"}


class Track:
    def __init__(self, name, parent, unit):
        self.name, self.parent, self.unit = name, parent, unit
        self.slices, self.instants, self.counts, self.open = [], [], [], None


def load(path):
    with open(path, "rb") as f:
        text = subprocess.run(["protoc", "--decode=sluice.perfetto.Trace", f"--proto_path={PROTO}", "perfetto.proto"],
                              stdin=f, check=True, capture_output=True, text=True).stdout
    tracks = {}
    for packet in text.split("packet {")[1:]:
        def get(key):
            found = re.search(r'^\s*%s: "?([^"\n]+)' % key, packet, re.M)
            return found and found[1]
        if "track_descriptor {" in packet:
            tracks[get("uuid")] = Track(get("name"), get("parent_uuid"), get("unit_name"))
            continue
        # the event's own name stands at its indentation, a debug annotation's one deeper
        name = re.search(r'^    name: "([^"]+)"', packet, re.M)
        track, at, kind = tracks[get("track_uuid")], int(get("timestamp")), get("type")
        if kind == "TYPE_SLICE_BEGIN":
            track.open = (at, name[1])
        elif kind == "TYPE_SLICE_END":
            track.slices.append((track.open[0], at, track.open[1]))
        elif kind == "TYPE_INSTANT":
            track.instants.append((at, name[1]))
        else:
            track.counts.append((at, int(get("counter_value") or 0)))
    return tracks


def rows(tracks):
    """(group or None, track) in drawing order, without the tracks that FIRST cuts off."""
    for uuid, t in tracks.items():
        if t.parent:
            continue
        children = [c for c in tracks.values() if c.parent == uuid]
        yield t, None
        kept = collections.Counter()
        for c in children:
            kind = next((k for k in ("bank", "warp slot", "sub-partition", "channel") if k in c.name), None)
            number = int(re.search(r"\d+", c.name)[0]) if kind else 0
            kept[kind] += 1
            cut = number >= FIRST[kind] if kind in ("sub-partition", "channel") else kind and kept[kind] > FIRST[kind]
            if not cut and (c.slices or c.instants or c.counts):
                yield t, c


def draw(tracks):
    times = [x for t in tracks.values() for x in [s[0] for s in t.slices] + [s[1] for s in t.slices]
             + [c[0] for c in t.counts] + [i[0] for i in t.instants]]
    first, last = min(times), max(times)
    scale = (WIDTH - LEFT - 10) / max(last - first, 1)
    x = lambda at: round(LEFT + (at - first) * scale, 1)
    out, y = [], 26
    text = lambda at, base, what, more="": out.append(f'<text x="{at}" y="{base}" {more}>{html.escape(what)}</text>')
    for step in range(6):
        at = first + (last - first) * step // 5
        out.append(f'<line x1="{x(at)}" x2="{x(at)}" y1="18" y2="@" stroke="#ddd"/>')
        text(x(at), 13, f"cycle {at}" if step == 0 else f"{at}", 'text-anchor="%s"' % ("start" if step < 5 else "end"))
    colour = {}
    for group, t in rows(tracks):
        high = ROW
        if t is None:
            if group.slices:
                t = group
            else:
                text(6, y + 12, group.name, 'font-weight="bold"')
                y += ROW + GAP
                continue
        name, top = t.name, y
        if t.counts:
            high = ROW + 9
            peak = max(v for _, v in t.counts) or 1
            name += f" (0-{peak} {t.unit or ''})".replace(" )", ")")
            height = lambda v: round(top + high - v * high / peak, 1)
            line, level = [f"M{x(t.counts[0][0])} {top + high}"], None
            for at, v in t.counts:
                line.append(f"H{x(at)}V{height(v)}")
            line.append(f"H{x(last)}V{top + high}Z")
            out.append(f'<path d="{"".join(line)}" fill="#4e79a7" fill-opacity=".75"/>')
        for a, b, what in t.slices:
            fill = colour.setdefault(what, COLOURS[len(colour) % len(COLOURS)])
            wide = round((b - a) * scale, 2)
            out.append(f'<rect x="{x(a)}" y="{top}" width="{max(wide, .3)}" height="{high}" fill="{fill}" '
                       f'fill-opacity=".8"/>')
            if wide > 6.5 * len(what):
                text(x(a) + 3, top + 11, what, 'fill="#fff"')
        for at, what in t.instants:
            out.append(f'<line x1="{x(at)}" x2="{x(at)}" y1="{top + 1}" y2="{top + high - 1}" '
                       f'stroke="{EVENT_COLOURS.get(what, "#000")}"/>')
        text(6 if t is group else 18, top + high / 2 + 4, name)
        y += high + GAP
    shown = {i[1] for _, t in rows(tracks) if t for i in t.instants}
    stalls = {s[2] for _, t in rows(tracks) if t and t.name.startswith("memory pipe") for s in t.slices}
    at = LEFT
    events = [(w, c) for w, c in EVENT_COLOURS.items() if w in shown]
    for what, fill in events + [(w, c) for w, c in colour.items() if w in stalls]:
        out.append(f'<rect x="{at}" y="{y + 6}" width="10" height="10" fill="{fill}"/>')
        text(at + 14, y + 15, what)
        at += 34 + 7 * len(what)
    y += 24
    body = "\n".join(out).replace('y2="@"', f'y2="{y - 24}"')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y}" font-family="Liberation Sans, '
            f'sans-serif" '
            f'font-size="11"><rect width="100%" height="100%" fill="#fff"/>\n{body}\n</svg>\n')


if len(sys.argv) != 2:
    sys.exit(__doc__)
sys.stdout.write(draw(load(sys.argv[1])))
