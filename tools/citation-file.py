#!/usr/bin/python3
"""Check CITATION.cff against the rules of the Citation File Format 1.2.0 (Druskat et al., 2021) for what it has.

  tools/citation-file.py [FILE]

Prints what is wrong, then "ok CITATION.cff" or "not ok CITATION.cff"; exits 1 when something is. Of `references` and
`preferred-citation` only the required keys are looked at.
"""
import pathlib
import re
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATE = r"\d{4}-(0[1-9]|1[012])-(0[1-9]|[12]\d|3[01])"
URL = r"(https?|s?ftp)://\S+"
DOI = r"10\.\d{4,9}(\.\d+)?/[A-Za-z0-9:/_;.()\[\]\\-]+"
# Of the top level: a pattern for a text, or a list.
KEYS = {
    "cff-version": r"1\.2\.0",
    "message": r".+",
    "title": r".+",
    "authors": list,
    "abstract": r".+",
    "commit": r".+",
    "contact": list,
    "date-released": DATE,
    "doi": DOI,
    "identifiers": list,
    "keywords": list,
    "license": r"[A-Za-z0-9.+-]+",
    "license-url": URL,
    "preferred-citation": dict,
    "references": list,
    "repository": URL,
    "repository-artifact": URL,
    "repository-code": URL,
    "type": r"software|dataset",
    "url": URL,
    "version": r".+",
}
REQUIRED = ("cff-version", "message", "title", "authors")
SHARED = {"address", "alias", "city", "country", "email", "fax", "orcid", "post-code", "region", "tel", "website"}
PERSON = SHARED | {"affiliation", "family-names", "given-names", "name-particle", "name-suffix"}
ENTITY = SHARED | {"name", "date-end", "date-start", "location"}


def author_problems(where, author):
    """What is wrong with a person or an entity."""
    if not isinstance(author, dict):
        return [f"{where}: neither a person nor an entity"]
    allowed = ENTITY if "name" in author else PERSON
    found = [f"{where}: no key '{k}'" for k in author if k not in allowed]
    if not any(author.get(k) for k in ("name", "family-names", "given-names", "alias")):
        found.append(f"{where}: no name")
    if "orcid" in author and not re.fullmatch(r"https://orcid\.org/(\d{4}-){3}\d{3}[\dX]", str(author["orcid"])):
        found.append(f"{where}: orcid is https://orcid.org/ with four groups of four")
    return found


def problems(text):
    """What is wrong with the text of a citation file."""
    try:
        file = yaml.load(text, yaml.BaseLoader)
    except yaml.YAMLError as e:
        return [str(e)]
    if not isinstance(file, dict):
        return ["no mapping"]
    found = [f"no '{k}'" for k in REQUIRED if k not in file]
    for key, value in file.items():
        rule = KEYS.get(key)
        if rule is None:
            found.append(f"no key '{key}' in this format")
        elif isinstance(rule, type):
            if not isinstance(value, rule) or not value:
                found.append(f"{key}: a {rule.__name__} that is not empty")
        elif not isinstance(value, str) or not re.fullmatch(rule, value, re.S):
            found.append(f"{key}: '{value}' does not match {rule}")
    for key in ("authors", "contact"):
        people = file.get(key) if isinstance(file.get(key), list) else []
        found += [p for i, a in enumerate(people) for p in author_problems(f"{key}[{i}]", a)]
    words = file.get("keywords", [])
    if len(set(map(str, words))) != len(words):
        found.append("keywords: one occurs twice")
    for reference in [*file.get("references", []), *filter(None, [file.get("preferred-citation")])]:
        lacking = [k for k in ("type", "title", "authors") if not isinstance(reference, dict) or k not in reference]
        found += [f"a reference has no '{k}'" for k in lacking]
    return found


def main():
    text = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "CITATION.cff").read_text()
    found = problems(text)
    # The check can fail: each of these is wrong.
    for wrong in (text.replace("title:", "titel:"), text.replace("1.2.0", "1.2"), text.replace("- name:", "- nmae:")):
        if not problems(wrong):
            found.append(f"not found: {wrong[:200]}")
    for line in found:
        print(f"CITATION.cff: {line}")
    print("not ok CITATION.cff" if found else "ok CITATION.cff")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
