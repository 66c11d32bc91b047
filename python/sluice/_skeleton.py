"""The C skeleton of a Python scheme: the same parameters, counters, storage and hooks, with the Python code as comments.

  python3 -m sluice._skeleton FILE[:CLASS] [NAME]

Prints the name, a form feed, src/schemes/NAME.c, a form feed and its test: `sluice new scheme --from-python` writes them.
"""
from __future__ import annotations

import ast
import importlib.util
import inspect
import json
import pathlib
import re
import sys
import textwrap
from typing import Any, Dict, List, Type, Union

from . import _scheme
from ._errors import Error, InputError
from ._scheme import Scheme

_NEUTRAL = {"bool": "false", "int": "-1", "int64_t": "-1", "uint32_t": "0", "uint64_t": "0"}
_NEUTRALS = {
    "may_launch": "true",
    "may_allocate": "true",
    "l2_may_allocate": "true",
    "may_issue": "warps",
    "issue_wake": "UINT64_MAX",
    "l2_narrow": "s->usable",
}


def load(path: str, wanted: str = "") -> Type[Scheme]:
    """The Scheme class that a file defines; `wanted`: its Python name, needed where there are several."""
    spec = importlib.util.spec_from_file_location("sluice_scheme_file", path)
    if not spec or not spec.loader or not pathlib.Path(path).is_file():
        raise InputError(f"{path}: no Python file", 2)
    found = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = found
    sys.path.insert(0, str(pathlib.Path(path).resolve().parent))
    try:
        spec.loader.exec_module(found)
    except SyntaxError as e:
        raise InputError(f"{path}:{e.lineno}: {e.msg}", 2) from None
    except Exception as e:  # the file's own code
        raise InputError(f"{path}: {type(e).__name__}: {e}", 2) from None
    classes = {
        k: v
        for k, v in vars(found).items()
        if inspect.isclass(v) and issubclass(v, Scheme) and v.__module__ == spec.name and v.name and wanted in ("", k)
    }
    if len(classes) != 1:
        several = f"has {len(classes)} schemes ({', '.join(classes)}); say which with {path}:CLASS"
        raise InputError(f"{path}: " + (several if classes else f"no class {wanted or 'below sluice.Scheme'} with a name"), 2)
    return next(iter(classes.values()))


def _text(words: str) -> str:
    return json.dumps(words, ensure_ascii=False)


def _value(number: float) -> str:
    return f"{number:.17g}" if number != int(number) or abs(number) >= 1e15 else str(int(number)) if abs(number) < 1e9 else f"{number:g}"


def _comment(text: str, indent: str = "  ") -> List[str]:
    return [f"{indent} * {line}".rstrip() for line in text.replace("*/", "* /").splitlines()]


def _expression(cls: Type[Scheme], given: Union[int, float, str]) -> str:
    """An expression of `storage` in C, over the configuration `g` and the parameters `param`."""
    fields: Dict[str, str] = _scheme.module().fields()
    names = [p.name for p in cls.params]

    def c(node: ast.AST) -> str:
        name = _scheme._dotted(node)
        if name in names:
            return f"param[{_enum(name)}]"
        if name is not None:
            if name not in fields:
                raise InputError(f"storage of {cls.name}: no knob and no parameter '{name}'; `sluice knobs` lists them", 2)
            return f"(double)g->{fields[name]}"
        if isinstance(node, ast.BinOp):
            sign = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}[type(node.op)]
            return f"({c(node.left)} {sign} {c(node.right)})"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            function = {"min": "fmin", "max": "fmax"}.get(node.func.id, node.func.id)
            return f"{function}({', '.join(map(c, node.args))})"
        assert isinstance(node, ast.Constant)
        return repr(float(node.value))

    _scheme.bits(given, lambda name: 1.0)  # refuses what is no such expression
    text = c(ast.parse(str(given), mode="eval").body)
    return text[1:-1] if text.startswith("(") and text.endswith(")") and text.count("(") == 1 else text


def _enum(name: str) -> str:
    return "P_" + re.sub(r"\W", "_", name).upper()


def _tables(cls: Type[Scheme]) -> List[str]:
    out: List[str] = []
    if cls.params:
        out += ["enum { " + ", ".join(_enum(p.name) for p in cls.params) + " };", "static const struct scheme_param params[] = {"]
        for p in cls.params:
            numbers = ", ".join(map(_value, (p.min, p.max, p.default)))
            out.append(f"    {{{_text(p.name)}, {_text(p.unit)}, {_text(p.doc)}, {numbers}, {'true' if p.integer else 'false'}}},")
        out += ["    {0},", "};"]
    if cls.counters:
        out += ["enum { " + ", ".join(_enum(k.name).replace("P_", "N_", 1) for k in cls.counters) + " };"]
        out += ["static const struct scheme_counter counters[] = {"]
        out += [f"    {{{_text(k.name)}, {_text(k.unit)}, {_text(k.doc)}, false}}," for k in cls.counters]
        out += ["    {0},", "};"]
    return [*out, ""]


def _source(method: Any) -> List[str]:
    try:
        return _comment(textwrap.dedent(inspect.getsource(method)).rstrip())
    except OSError:
        return []


def _state(cls: Type[Scheme], ident: str) -> List[str]:
    """The attributes that `start` assigns, as a comment in the struct that is to hold them."""
    kept = []
    if cls.start is not Scheme.start:
        kept = ["  /* start():", *_source(cls.start), "   */"]
    return [f"struct {ident} {{", *kept, "  uint32_t unused;", "};", ""]


def _hooks(cls: Type[Scheme], ident: str) -> List[str]:
    out: List[str] = []
    filled = _scheme.hooks_of(cls)
    for name, kind, arguments, _, _, _ in _scheme.module().hooks():
        if name not in filled:
            continue
        used = [re.sub(r".*\W", "", a.strip()) for a in arguments.strip("()").split(",")]
        out += [f"static {kind} {ident}_{name}{arguments} {{", "  /*", *_source(filled[name]), "   */"]
        out += ["  " + ", ".join(f"(void){a}" for a in used) + ";"]
        if name == "queues":
            out += ["  *depth = 1;"]
        if kind != "void":
            out += [f"  return {_NEUTRALS.get(name, _NEUTRAL[kind])};"]
        out += ["}", ""]
    return out


def _storage(cls: Type[Scheme], ident: str) -> List[str]:
    rows = [f"{{{_text(item)}, {_expression(cls, e)}}}" for item, e in (cls.storage or {}).items()]
    return [f"SCHEME_STORAGE({ident}_storage, " + ",\n               ".join(rows) + ")", ""] if rows else []


def _row(cls: Type[Scheme], name: str, ident: str) -> List[str]:
    title = _scheme.title_of(cls)
    out = [f"static const struct scheme {ident} = {{", f"    .name = {_text(name)},", f"    .title = {_text(title)},"]
    out += [f"    .paper = {_text(cls.paper or 'none yet')},", f"    .idea = {_text(cls.idea or title)},"]
    out += ["    .params = params,"] if cls.params else []
    out += ["    .counters = counters,"] if cls.counters else []
    out += [f"    .positional = {_text(cls.positional)},"] if cls.positional else []
    out += [f"    .state_bytes = sizeof(struct {ident}),"]
    out += [f"    .storage = {ident}_storage,"] if cls.storage else ['    .no_storage = "to be said",']
    out += [f"    .{flag} = true," for flag in ("steady", "yields_l1", "every_cycle") if getattr(cls, flag)]
    out += [f"    .epoch = {cls.epoch or 1}," if "on_epoch" in _scheme.hooks_of(cls) else ""]
    out += [f"    .epoch_param = {_text(cls.epoch_param)},"] if cls.epoch_param else []
    out += [f"    .{hook} = {ident}_{hook}," for hook in _scheme.hooks_of(cls)]
    return [*(line for line in out if line), "};", f"SCHEME({ident});"]


def scheme_text(cls: Type[Scheme], name: str, path: str) -> str:
    """src/schemes/NAME.c"""
    _scheme.check(cls)
    ident = name.replace("-", "_")
    head = [f"/* {ident}.c - {name}: {_scheme.title_of(cls)}.", " *", f" * Paper: {cls.paper or 'none yet'}.", " *"]
    head += [f" * Parameters, counters, storage and hooks are those of the class {cls.__name__} in {pathlib.Path(path).name}."]
    head += [" * Its code is a comment in each hook; a hook that is not written yet answers as if it were absent.", " */"]
    math = ["#include <math.h>", ""] if any(re.search(r"ceil|log2|min|max", str(e)) for e in (cls.storage or {}).values()) else []
    parts = [*head, *math, '#include "gpu/scheme.h"', "", *_tables(cls), *_state(cls, ident), *_hooks(cls, ident)]
    return "\n".join([*parts, *_storage(cls, ident), *_row(cls, name, ident)]) + "\n"


def test_text(cls: Type[Scheme], name: str) -> str:
    """tests/unit/test_scheme_NAME.c"""
    ident = name.replace("-", "_")
    return f"""/* test_scheme_{ident}.c - {name} on sequences of accesses whose hits were computed by hand.
 *
 * scheme_rig.h runs one warp on an L1 of one set of 4 ways, each access after the one before; letters are lines.
 */
#include "scheme_rig.h"

/* Before a hook is written, and afterwards with parameters under which it never acts: name those here. */
static void {ident}_off_is_baseline(void **state) {{
  (void)state;
  rig_same("baseline", "{name}", "it does nothing");
}}

int main(int argc, char **argv) {{
  const struct CMUnitTest tests[] = {{
      NEVER_TEST({ident}_off_is_baseline, "{name}"),
  }};
  return scheme_tests(tests, argc, argv);
}}
"""


def main() -> int:
    """The command line of this module."""
    path, _, wanted = sys.argv[1].partition(":") if not pathlib.Path(sys.argv[1]).exists() else (sys.argv[1], "", "")
    try:
        cls = load(path, wanted)
        name = sys.argv[2] if len(sys.argv) > 2 else cls.name
        sys.stdout.write(f"{name}\f{scheme_text(cls, name, path)}\f{test_text(cls, name)}")
    except Error as e:
        sys.stderr.write(str(e))
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
