"""Figures of the report, drawn by matplotlib."""
from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Dict, List, Sequence, Tuple

from ._errors import MissingError

if TYPE_CHECKING:
    from ._result import Comparison, Result

# The report's colours (web/figure.js): Okabe and Ito's palette, which people with any colour vision can tell apart.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#8A8F98")
SOFT = "#55636f"
SLOTS = (
    ("issue.issued", "issued", 2),
    ("issue.data_hazard", "data hazard", 1),
    ("issue.memory_stall", "memory stall", 5),
    ("issue.pipe_busy", "pipe busy", 3),
    ("issue.barrier", "barrier", 6),
    ("issue.control", "control", 4),
    ("issue.idle", "idle", 7),
)
LOADS = (
    ("l1d.read.hits", "hit", 2),
    ("l1d.read.pending_hits", "pending", 4),
    ("l1d.read.misses", "miss", 5),
    ("l1d.read.bypasses", "bypass", 7),
)
MOST_ROWS = 24


def _new(width: float, height: float) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingError("figures need matplotlib; install python3-matplotlib (Debian) or matplotlib (PyPI)") from None

    class ShownFigure(Figure):  # type: ignore[misc]
        """A Figure that notebooks show without pyplot."""

        def _repr_png_(self) -> bytes:
            out = io.BytesIO()
            self.savefig(out, format="png", dpi=110)
            return out.getvalue()

    return ShownFigure(figsize=(width, height), layout="constrained")


def _bars(axes: Any, names: Sequence[str], values: Sequence[float], colors: Sequence[str], title: str) -> None:
    at = range(len(names))
    axes.bar(at, values, color=colors, width=min(0.7, len(names) / 8))
    axes.axhline(1, color=SOFT, linestyle="--", linewidth=1)
    for x, v in zip(at, values):
        if v == v:
            axes.text(x, v, f"{v:.3f}", ha="center", va="bottom", fontsize=8)
    axes.set_xticks(list(at), names, rotation=35 if max(map(len, names)) > 9 or len(names) > 6 else 0, ha="center")
    axes.set_title(title, loc="left", fontsize=10)
    axes.margins(y=0.12, x=max(0.02, 0.3 - 0.04 * len(names)))
    axes.spines[["top", "right"]].set_visible(False)


def _shares(axes: Any, names: Sequence[str], rows: Sequence[Any], parts: Sequence[Tuple[str, str, int]], title: str) -> None:
    """Stacked horizontal bars: each part in percent of the sum of the parts."""
    at = list(range(len(names)))
    left = [0.0] * len(names)
    sums = [sum(r[key] for key, _, _ in parts) for r in rows]
    for key, label, color in parts:
        widths = [100 * r[key] / s if s else 0.0 for r, s in zip(rows, sums)]
        axes.barh(at, widths, left=left, color=PALETTE[color], label=label, height=0.7)
        left = [a + b for a, b in zip(left, widths)]
    axes.set_yticks(at, names)
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_title(f"{title}, %", loc="left", fontsize=10)
    axes.legend(ncols=4, fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.12), frameon=False)
    axes.spines[["top", "right"]].set_visible(False)


def of_comparison(c: "Comparison") -> Any:
    """IPC, issue slots, traffic and energy of the columns of a comparison."""
    names, rows = list(c), [r.totals for r in c.values()]
    table = c.table
    figure = _new(max(9.0, 3 + 1.2 * len(names)), 6.4)
    parts = figure.subplot_mosaic([["ipc", "ipc"], ["slots", "traffic"]])
    top, slots, traffic = parts["ipc"], parts["slots"], parts["traffic"]
    colors = [SOFT if i == 0 else PALETTE[0] for i in range(len(names))]
    _bars(top, names, list(table["ipc_norm"]), colors, f"IPC, normalised to {names[0]}")
    _shares(slots, names, rows, SLOTS, "where issue slots go")
    kinds = [("icnt_traffic", "L1-L2 traffic"), ("dram_traffic", "DRAM traffic"), ("energy", "energy")]
    for i, name in enumerate(names):
        x = [k + (i + 0.5) / len(names) * 0.8 - 0.4 for k in range(len(kinds))]
        color = SOFT if i == 0 else PALETTE[(i - 1) % len(PALETTE)]
        traffic.bar(x, [table[key][i] for key, _ in kinds], width=0.8 / len(names), color=color, label=name)
    traffic.set_xticks(range(len(kinds)), [k for _, k in kinds])
    traffic.axhline(1, color=SOFT, linestyle="--", linewidth=1)
    traffic.set_title(f"normalised to {names[0]}", loc="left", fontsize=10)
    traffic.legend(fontsize=7, frameon=False)
    traffic.spines[["top", "right"]].set_visible(False)
    figure.suptitle(f"{c.base.program} on {c.base.gpu}", fontsize=11)
    return figure


def of_run(r: "Result") -> Any:
    """Issue slots, loads and cycles of the kernels of a run; those with most cycles where there are many."""
    from ._counters import Counters

    summed: Dict[str, Dict[str, float]] = {}
    for k in r.record.get("kernels", []):
        into = summed.setdefault(k["name"], {})
        for key, v in Counters(k).items():
            into[key] = into.get(key, 0) + v
    names: List[str] = sorted(summed, key=lambda n: -summed[n].get("cycles", 0))[:MOST_ROWS]
    rows = [Counters({**{key: 0 for key, _, _ in SLOTS + LOADS}, **summed[n]}) for n in names]
    shown = [_plain(n) for n in names]
    figure = _new(11.0, 2.2 + 0.4 * max(3, len(names)))
    slots, loads, cycles = figure.subplots(1, 3, width_ratios=[3, 2, 2])
    _shares(slots, shown, rows, SLOTS, "where issue slots go")
    _shares(loads, shown, rows, LOADS, "what loads find in the L1")
    cycles.barh(range(len(names)), [n.get("cycles", 0) for n in rows], color=PALETTE[0], height=0.7)
    cycles.set_yticks(range(len(names)), [""] * len(names))
    cycles.invert_yaxis()
    cycles.set_xlabel("core cycles")
    cycles.set_title("cycles", loc="left", fontsize=10)
    cycles.spines[["top", "right"]].set_visible(False)
    figure.suptitle(f"{r.program} on {r.gpu}, {r.scheme}: {r.record['totals'].get('cycles', 0):,} cycles", fontsize=11)
    return figure


def _plain(name: str) -> str:
    """The name inside a mangled one: _Z6kernelPf is kernel."""
    digits = ""
    if name.startswith("_Z"):
        rest = name[2:]
        while rest[:1].isdigit():
            digits, rest = digits + rest[0], rest[1:]
        name = rest[: int(digits)] if digits and int(digits) <= len(rest) else name
    return name if len(name) <= 28 else name[:27] + "…"
