// Loads and stores by source line, with the source beside them, as a profiler shows it.
import { $, choose, el, sortable } from "./dom.js";
import { bytes, data, runs, short } from "./data.js";

const base = (f) => f.split("/").pop();
const COLUMNS = [
  [
    "stalls",
    (l) => l.stall_cycles ?? 0,
    (v) => short(v),
    "cycles in which the line's instructions held a memory pipe, over all SMs",
  ],
  ["executed", (l) => l.executions ?? 0, (v) => short(v), "warp instructions with an active lane"],
  [
    "degree",
    (l) => (l.accesses ?? 0) / (l.executions || 1),
    (v) => v.toFixed(1),
    "accesses per instruction after coalescing (shared memory: passes through its banks)",
  ],
  [
    "L1 hits",
    (l) => (l.l1_accesses ? (100 * (l.l1_hits ?? 0)) / l.l1_accesses : -1),
    (v) => (v < 0 ? "–" : `${v.toFixed(1)} %`),
    "of the accesses that the L1 took",
  ],
  [
    "reused",
    (l) => (l.fetched ? (100 * (l.reused ?? 0)) / l.fetched : -1),
    (v) => (v < 0 ? "–" : `${v.toFixed(1)} %`),
    "lines fetched by it that were hit before they left the L1",
  ],
  ["L2 traffic", (l) => l.l2_bytes ?? 0, (v) => bytes(v), "data of its requests to the L2, both ways"],
];

export function sources() {
  const own = runs.filter((r) => r.lines?.length);
  if (!own.length) return false;
  const columns = own.some((r) => r.lines.some((l) => l.fetched)) ? COLUMNS : COLUMNS.filter(([n]) => n !== "reused");
  const pick = { run: own[0], file: "", filter: "" },
    sort = { column: 1, down: true };
  const which = choose(
    "Run",
    own.map((r, i) => [String(i), r.name]),
    (v) => ((pick.run = own[v]), draw()),
  );
  const filter = el("input", { type: "search", placeholder: "file or kernel", id: "line-filter" });
  filter.addEventListener("input", () => ((pick.filter = filter.value.toLowerCase()), table()));
  const list = el("table", { id: "lines" }),
    code = el("div", { className: "code", tabIndex: 0, role: "region", "aria-label": "source", id: "source" }),
    title = el("h3", { id: "source-title" });
  $("lines-box").append(
    el("div", { className: "controls" }, which.label, el("label", {}, "Filter ", filter)),
    el("div", { className: "scroll short" }, list),
    title,
    code,
  );

  const place = (l) => (l.file ? `${base(l.file)}:${l.line}` : `${l.kernel}, PTX line ${l.line}`);
  const share = (l) => {
    const all = pick.run.lines.reduce((s, x) => s + (x.stall_cycles ?? 0), 0);
    return all ? (100 * (l.stall_cycles ?? 0)) / all : 0;
  };

  function table() {
    const rows = pick.run.lines
      .filter(
        (l) =>
          !pick.filter || place(l).toLowerCase().includes(pick.filter) || l.kernel.toLowerCase().includes(pick.filter),
      )
      .map((l) => {
        const go = el("button", {
          type: "button",
          className: "link",
          textContent: place(l),
          disabled: !data.sources[l.file],
          title: l.kernel,
        });
        go.addEventListener("click", () => show(l.file, l.line, true));
        return [
          { text: go, value: place(l) },
          ...columns.map(([, get, say, doc], i) => ({
            text: say(get(l)),
            value: get(l),
            title: doc,
            extra: i ? undefined : ` ${share(l).toFixed(1)} %`,
          })),
        ];
      });
    sortable(list, ["source line", ...columns.map(([n]) => n)], rows, sort);
  }

  function show(file, line, move) {
    const text = data.sources[file];
    title.textContent = text ? base(file) : "";
    code.hidden = title.hidden = !text;
    if (!text) return;
    const of = new Map(pick.run.lines.filter((l) => l.file === file).map((l) => [l.line, l]));
    const most = Math.max(1, ...[...of.values()].map((l) => l.stall_cycles ?? 0));
    const head = el(
      "tr",
      {},
      el("th", { textContent: "line" }),
      ...columns.map(([n, , , doc]) => el("th", { textContent: n, title: doc })),
      el("th", { className: "src", textContent: "source" }),
    );
    const body = text.split("\n").map((s, i) => {
      const l = of.get(i + 1),
        heat = l ? (l.stall_cycles ?? 0) / most : 0;
      const row = el(
        "tr",
        { id: `line-${i + 1}`, className: [l ? "hot" : "", i + 1 === line ? "chosen" : ""].join(" ").trim() },
        el("td", { textContent: i + 1 }),
        ...columns.map(([, get, say]) => el("td", { textContent: l ? say(get(l)) : "" })),
        el("td", { className: "src" }, el("code", { textContent: s.replaceAll("\t", "    ") || " " })),
      );
      if (l) row.style.setProperty("--heat", `${(100 * heat).toFixed(1)}%`);
      return row;
    });
    code.replaceChildren(el("table", {}, el("thead", {}, head), el("tbody", {}, ...body)));
    const row = code.querySelector(".chosen");
    if (row) code.scrollTop = row.offsetTop - code.clientHeight / 2;
    if (move) {
      code.focus({ preventScroll: true });
      code.scrollIntoView({ block: "nearest" });
    }
  }

  function draw() {
    table();
    const hot = pick.run.lines.find((l) => data.sources[l.file]);
    show(hot?.file, hot?.line, false);
  }
  draw();
  return true;
}
