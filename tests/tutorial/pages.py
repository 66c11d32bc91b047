#!/usr/bin/env python3
"""Try the commands that the README and the pages of docs/ show.

  tests/tutorial/pages.py BUILD

  README.md                 a `$ command` of a console block is executed; it must print the lines below it, to the byte
  every page but notes      `sluice COMMAND ... --option`, in blocks and in backquotes: the command exists, and its
  --help
                            or its page of help names the option; `make TARGET`: the Makefile has it
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
failed = 0


def report(name, problem=None):
    global failed
    if problem:
        print(problem)
        failed += 1
    print(f"{'not ok' if problem else 'ok'} {name}", flush=True)


def output(argv, **how):
    r = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=900, **how)
    return r.stdout + (f"exit {r.returncode}\n{r.stderr}" if r.returncode else "")


def transcripts(build):
    text = (ROOT / "README.md").read_text()
    shown = re.findall(r"^```console\n\$ ([^\n]*)\n(.*?)^```$", text, re.M | re.S)
    report("README.md: transcripts", None if shown else "no console block")
    with tempfile.TemporaryDirectory() as tmp:
        os.symlink(build, pathlib.Path(tmp) / "build")
        for command, expected in shown:
            printed = output(command.split(), cwd=tmp, env={**os.environ, "LC_ALL": "C.UTF-8"}).rstrip() + "\n"
            report(f"README.md: {command}",
                   None if printed == expected else f"expected:\n{expected}\nprinted:\n{printed}")


def commands(text):
    """What a page shows between backquotes: line number, text. Lines of a block that end in a backslash go on."""
    for m in re.finditer(r"^```(?:sh|console)?\n(.*?)^```$|(?<!`)`([^`\n]+)`(?!`)", text, re.M | re.S):
        body = (m[1] or m[2]).replace("\\\n", " ")
        for line in body.splitlines():
            yield text[: m.start()].count("\n") + 1, line


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    sluice = str(build / "sluice")
    transcripts(build)
    names = set(re.findall(r"^  (\w+) ", output([sluice, "--help"]), re.M))
    targets = set(re.findall(r"^([\w-]+)(?: [\w-]+)*:", (ROOT / "Makefile").read_text(), re.M))
    targets |= {t for room in [*ROOT.glob("*/room.mk"), *ROOT.glob("src/*/room.mk")]
                for t in re.findall(r"^([\w-]+):", room.read_text(), re.M)}
    helps, seen, bad = {}, 0, []
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*/*.md"))]
    for page in pages:
        if page.parent.name == "notes":
            continue
        for line, shown in commands(page.read_text()):
            where = f"{page.relative_to(ROOT)}:{line}"
            for m in re.finditer(r"(?:^|[\s/$(])(?:sluice|\"\$\{SLUICE:-sluice\}\") ([a-z]\w*)([^|;&#]*)", shown):
                command, rest = m[1], m[2].split(" -- ")[0]
                if command not in names:
                    bad.append(f"{where}: no command '{command}'")
                    continue
                if command not in helps:
                    helps[command] = output([sluice, command, "--help"]) + " --help --version"
                for option in re.findall(r"(?<![\w-])--[a-z][\w-]*", rest):
                    seen += 1
                    if not re.search(option + r"(?![\w-])", helps[command]):
                        bad.append(f"{where}: sluice {command} has no {option}")
            for target in re.findall(r"(?:^|[\s(])make (?:-j\d* )?([a-z][\w-]*)(?![\w/-])", shown):
                seen += 1
                if target not in targets:
                    bad.append(f"{where}: no target '{target}'")
    report(f"{seen} options and targets that pages show", "\n".join(bad) or (None if seen > 100 else f"only {seen}"))
    return 1 if failed else 0


sys.exit(main())
