#!/usr/bin/env python3
"""Check that every page, section and file that the text of the repository cites exists.

Looks at
  - docs/... paths in every tracked text file, and the section names in quotes that follow such a path
  - relative links of Markdown pages, with their #anchors
  - paths of sources, tests and tools that a page names in backquotes (* matches; NAME and X stand for any name);
  docs/notes and
    the tutorials, which make files, are left out
  - the index of each folder of docs/, which must name every page of the folder

Prints "FILE:LINE: what is missing", then "ok citations" or "not ok citations"; exits 1 when something is missing.
"""
import fnmatch
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PATH = re.compile(r"(?<![\w./-])docs/[\w./-]+\.(?:md|csv|svg|png)\b")
SECTION = re.compile(r'`?\)?[,:]?\s+"([A-Z][^"\n]{2,60})"(?!,\s*OPT)')
LINK = re.compile(r'\]\(([^)\s]*)\)|\bsrc="([^"]+)"')

SOURCE = re.compile(r"`((?:src|tests|tools|bench|configs|data|fuzz|web|figures|studies|workloads|examples)/[\w./*-]*)")


def headings(page):
    return re.findall(r"^#+ +(.+?) *$", page.read_text(), re.M)


def anchor(heading):
    """The anchor that a heading gets on the usual hosts."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def joined(text):
    """The text with each line break, and the comment sign after it, replaced by spaces: positions stay."""
    return re.sub(r"\n[ \t]*(?:\*|//|#)?[ \t]*", lambda m: " " * len(m[0]), text)


def cited(name, text):
    """Position and description of each path or section that does not exist."""
    flat = joined(text)
    for m in PATH.finditer(text):
        page = ROOT / m[0]
        if page.stem == "NAME":
            continue
        if not page.is_file():
            yield m.start(), m[0]
            continue
        section = SECTION.match(flat, m.end())
        if section and name.suffix != ".md" and page.suffix == ".md" and re.sub(r" +", " ",
                                                                                section[1]) not in headings(page):
            yield m.start(), f'section "{section[1]}" of {m[0]}'


def linked(name, text):
    """The same for the links of a Markdown page."""
    for m in LINK.finditer(text):
        target, _, fragment = (m[1] or m[2] or "").partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        page = (name.parent / target) if target else name
        if not page.exists():
            yield m.start(), target
        elif fragment and page.suffix == ".md" and fragment not in map(anchor, headings(page)):
            yield m.start(), f"#{fragment} of {target or name.name}"


def named(name, text, tracked):
    """The same for the files and folders that a page names."""
    if re.search(r"/docs/(notes|tutorials)/", str(name)):
        return
    for m in SOURCE.finditer(text):
        path = m[1].rstrip("/.")
        if not re.search(r"/(NAME|\w*X)\.",
                         path) and not any(fnmatch.fnmatch(t, path) or t.startswith(path + "/") for t in tracked):
            yield m.start(), path


def unlisted(tracked):
    """Each page that the index of its folder of docs/ does not link."""
    for name in map(pathlib.Path, tracked):
        index = name.parent / "README.md"
        if name.parts[:1] != ("docs",) or name.suffix != ".md" or name == index:
            continue
        links = LINK.findall((ROOT / index).read_text()) if str(index) in tracked else []
        if name.name not in (link.partition("#")[0] for link, _ in links):
            yield f"{index}: no link to {name.name}"


def main():
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True,
                             check=True).stdout.decode().split("\0")
    bad = 0
    for line in unlisted(tracked):
        print(line)
        bad += 1
    for name in filter(None, tracked):
        path = ROOT / name
        try:
            text = path.read_text() if path.is_file() else ""
        except UnicodeDecodeError:
            continue
        found = list(cited(path, text))
        if path.suffix == ".md":
            found += [*linked(path, text), *named(path, text, tracked)]
        for at, what in sorted(found):
            print(f"{name}:{text.count(chr(10), 0, at) + 1}: {what} does not exist")
            bad += 1
    print("not ok citations" if bad else "ok citations")
    return 1 if bad else 0


sys.exit(main())
