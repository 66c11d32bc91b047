#!/usr/bin/env python3
"""Check comments, user-visible texts and pages for words that the field does not use.

  tools/words.py           "ok words", or FILE:LINE: word: what to write instead; exits with 1 when a word is found
  tools/words.py --count   the number of each word

A comment is found by the file's kind (C, shell, Python); texts are string literals of src/ with a blank in them. Pages
of docs/notes are records and are left out, as is `code` and a line that contains "words: ok".
"""
import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PERSON = r"\b(?:some|any|no)body\b|\bwho(?:so)?ever\b"
WORDS = [  # what must not stand there, and what stands there instead
    ("anew", r"\banew\b(?!=)", "again"),
    ("past", r"\b(?:sent|send|sends|goes|go|going|went|loads?|accesses) past\b|\bpast the (?:L1|L2|cache|filter)\b",
     "bypass"),
    ("plain", r"\bplain\b(?! (?:text|C\b|English|JSON))", "default, ordinary, uncompressed, unnamed ..."),
    ("usual machine", r"\busual machine\b", "default machine"),
    ("somebody", PERSON, "the component: caller, user, scheme, observer"),
    ("told", r"\b(?:is|are|was|be|been|not|what) told\b|\btold (?:of|about|apart|once|completely)\b",
     "reported, notified, distinguished"),
    ("seen", r"\b(?:is|are|was|were|has|have|be|been|as) seen\b|\bseen (?:by|from|to|at|through)\b",
     "observed, visible"),
    ("ours", r"\bours\b|\bof our own\b", "Sluice's, simulated, measured"),
    ("asked for", r"\basked for\b|\basks? for\b", "requested, requests, opt-in"),
    ("on its way", r"\bon (?:its|their) way\b", "pending, in flight"),
    ("comes of", r"\b(?:comes?|came) of\b", "results from"),
    ("for good", r"\bfor good\b", "permanently"),
    ("is about", r"\bwhat \w+ (?:is|are|was|were) about\b", "the subject itself"),
    ("let through", r"\blet(?:s|ting)? through\b", "allowed"),
    ("did wrong", r"\b(?:did|does|do) wrong\b", "fault, error"),
    ("closer look", r"\bcloser looks?\b", "observation"),
    ("worked out", r"\bworked out\b", "computed, derived"),
    ("carried out", r"\bcarried out\b", "done, executed"),
    ("is silent", r"\bpapers? (?:is|are) silent\b", "not specified in the paper"),
    ("for want of", r"\bfor want of\b", "for lack of"),
    ("goes on", r"\bgoes on\b|\b(?:can|may|could) go on\b", "continues"),
    ("nothing for it", r"\bnothing for it\b", "it is necessary"),
]
WORDS = [(name, re.compile(pattern, re.I), instead) for name, pattern, instead in WORDS]

C_KINDS = {"c", "h", "inc", "def", "cu", "js", "mjs"}
HASH_KINDS = {"py", "sh", "mk", "attack", "yaml", "awk"}
C_TOKEN = re.compile(r'("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')|(//[^\n]*|/\*.*?\*/)', re.S)


def kept_lines(text, keep):
    """The text with everything blank but the spans: line numbers stay."""
    blank = re.sub(r"[^\n]", " ", text)
    out, at = [], 0
    for start, end in sorted(keep):
        if end > at:
            out += [blank[at:max(at, start)], text[max(at, start):end]]
            at = end
    return "".join(out) + blank[at:]


def prose(name, text):
    """The part of a file that people read, None for files that are not looked at."""
    kind = name.rpartition(".")[2] if "." in pathlib.Path(name).name else ""
    if name == "tools/words.py" or name.startswith("docs/notes/") or kind == "csv":
        return None
    if kind == "md":
        return re.sub(r"```.*?```", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)
    if kind in C_KINDS:
        spans = []
        for m in C_TOKEN.finditer(text):
            if m[2] or (name.startswith("src/") and " " in m[1] and m[1][0] == '"'):
                spans.append(m.span())
        return kept_lines(text, spans)
    if kind in HASH_KINDS or text.startswith("#!"):
        spans = [m.span() for m in re.finditer(r"(?m)(?:^|\s)#(?!!)[^\n]*", text)]
        if kind == "py" or "python" in text[:40]:
            spans += [m.span() for m in re.finditer(r'""".*?"""', text, re.S)]
        return kept_lines(text, spans)
    return None


def found(name, text):
    body = prose(name, text)
    for line in [] if body is None else body.split("\n"):
        line = re.sub(r"`[^`]*`", "", line)
        yield [(word, m[0], instead) for word, pattern, instead in WORDS
               for m in pattern.finditer(line) if "words: ok" not in line]


def main():
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True,
                             check=True).stdout.decode().split("\0")
    count = collections.Counter()
    for name in filter(None, tracked):
        path = ROOT / name
        try:
            text = path.read_text() if path.is_file() and not path.is_symlink() else ""
        except UnicodeDecodeError:
            continue
        for number, hits in enumerate(found(name, text), 1):
            for word, is_there, instead in hits:
                count[word] += 1
                if "--count" not in sys.argv:
                    print(f'{name}:{number}: "{is_there}": write {instead}')
    if "--count" in sys.argv:
        for word, _, _ in WORDS:
            print(f"{count[word]:5} {word}")
    total = sum(count.values())
    print(f"not ok words ({total})" if total else "ok words")
    return 1 if total else 0


sys.exit(main())
