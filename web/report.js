// The report page: summary, comparison, each run over time, loads by source line, counters, configuration. Reads the
// JSON that sluice put into the page; loads nothing.
import { $, csv, el, save, sortable } from "./dom.js";
import { data, format, halfWidth, interval, keys, runs, schemes, value, workloads } from "./data.js";
import { redrawAll } from "./figure.js";
import { claims } from "./claims.js";
import { league } from "./league.js";
import { compare, loads, slots, summary } from "./compare.js";
import { paperFigures } from "./paperfigures.js";
import { profiles } from "./profile.js";
import { sources } from "./source.js";
import { themes } from "./theme.js";

themes($("theme"), redrawAll);

// ---- tables ----

let state;
function words(text) {
  return text
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean);
}

const counterSort = {};
function counterRows() {
  const filter = words($("filter").value),
    changed = $("changed").checked,
    ref = runs.find((r) => r.label === state.base);
  const of = (r, key) => value(r, key, state.kernel);
  return keys()
    .filter((k) => !filter.length || filter.some((w) => k.includes(w)))
    .map((key) => [key, runs.map((r) => of(r, key))])
    .filter(([, row]) => row.some((v) => v !== undefined) && !(changed && row.every((v) => v === row[0])))
    .map(([key, row]) => ({
      key,
      row,
      ref: (i) => of(workloads.length > 1 ? runs[i].workload.runs.find((r) => r.label === state.base) : ref, key),
    }));
}
function drawCounters() {
  const rows = counterRows();
  const head = ["counter", ...runs.map((r) => r.name)];
  sortable(
    $("counters"),
    head,
    rows.map(({ key, row, ref }) => [
      {
        text: key,
        value: key,
        title: data.docs[key] ? `${data.docs[key].doc}${data.docs[key].unit ? ` [${data.docs[key].unit}]` : ""}` : "",
      },
      ...row.map((v, i) => ({
        text: format(v, key),
        value: v ?? -1,
        extra:
          halfWidth(runs[i], key, state.kernel) +
          (runs[i].label !== state.base && v !== undefined && ref(i) ? ` ${(v / ref(i)).toFixed(3)}×` : ""),
      })),
    ]),
    counterSort,
  );
  $("counters-shown").textContent = `${rows.length} of ${keys().length} counters`;
}
// Of an estimated run: one cell for each end of the interval.
const ends = (run, cell) => (run.estimate ? ["low", "high"].map(cell) : []);
function saveCounters() {
  save(
    "counters.csv",
    "text/csv",
    csv([
      ["counter", "unit", ...runs.flatMap((r) => [r.name, ...ends(r, (end) => `${r.name}, ${end}`)])],
      ...counterRows().map(({ key, row }) => [
        key,
        data.docs[key]?.unit ?? "",
        ...row.flatMap((v, i) => [v, ...ends(runs[i], (end, k) => interval(runs[i], key, state.kernel)?.[k] ?? v)]),
      ]),
    ]),
  );
}

function drawConfig() {
  const filter = words($("config-filter").value);
  const names = Object.keys(runs[0].config).filter((k) => !filter.length || filter.some((w) => k.includes(w)));
  const differ = (k) => runs.some((r) => r.config[k] !== runs[0].config[k]);
  const columns = runs.filter((r, i) => !i || names.some((k) => r.config[k] !== runs[0].config[k]));
  sortable(
    $("config"),
    ["knob", ...columns.map((r) => (columns.length > 1 ? r.name : "value"))],
    names.map((k) => [
      { text: k, value: k },
      ...columns.map((r) => ({
        text: String(r.config[k] ?? "–"),
        value: r.config[k],
        className: differ(k) ? "differs" : undefined,
      })),
    ]),
    configSort,
  );
}
const configSort = {};

function reproduce() {
  $("command").textContent = data.command;
  const one = (r) =>
    `sluice run --gpu ${r.gpu.match(/\(([^)]*)\)/)?.[1] ?? r.gpu} --scheme ${r.scheme}${r.estimate ? " --estimate" : ""} -- ${r.program}`;
  $("each").replaceChildren(
    ...runs.map((r) =>
      el("li", {}, el("code", { textContent: one(r) }), r.config_hash && ` configuration ${r.config_hash}`),
    ),
  );
}

// ---- the page ----

function estimated(e) {
  const share = ((100 * e.detailed_warp_insts) / e.warp_insts).toFixed(1);
  return `estimated from ${share} % of the warp instructions, intervals of ${100 * e.confidence} % confidence`;
}

const title = data.title.replace(/^\S*\//, ""); // a program by its name; where it lies is below
document.title = `Sluice: ${title}`;
$("title").textContent = title;
if (data.left_out)
  $("left-out").textContent =
    "To keep this file below 5 MB, pictures over time or source lines of some of its last runs are left out; " +
    "a report of fewer runs has them.";
function drop(id) {
  document.querySelector(`nav a[href="#${id}"]`)?.remove();
  $(id).remove();
}
if (!league()) drop("league");
if (claims()) drop("summary");
else drop("claims");
if (!paperFigures()) drop("figures");
if (!runs.length) {
  ["summary", "compare", "where", "degrees", "time", "code", "all"].filter($).forEach(drop);
  $("command").textContent = data.command;
} else {
  const r = runs[0],
    launches = runs.reduce((n, x) => n + x.launches.length + (x.launches_left_out ?? 0), 0);
  $("subtitle").textContent = [
    r.gpu,
    workloads.length > 1 ? `${workloads.length} workloads` : null,
    `${schemes.length} ${schemes.length > 1 ? "schemes" : "scheme"}`,
    `${launches} launches`,
    r.estimate && estimated(r.estimate),
    r.config_hash && `configuration ${r.config_hash}`,
  ]
    .filter(Boolean)
    .join(" · ");
  state = compare(() => drawCounters());
  if ($("summary")) summary();
  slots();
  for (const [id, shown] of [
    ["loads", loads()],
    ["profile", profiles()],
    ["lines-box", sources()],
  ])
    if (!shown) drop($(id).closest("section").id);
  $("filter").addEventListener("input", drawCounters);
  $("changed").addEventListener("change", drawCounters);
  $("csv").addEventListener("click", saveCounters);
  $("config-filter").addEventListener("input", drawConfig);
  drawCounters();
  drawConfig();
  reproduce();
}
document.querySelector(".skip").href = `#${document.querySelector("main > section").id}`;
