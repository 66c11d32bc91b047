// The report of sluice compare: bars of any counter over the schemes, issue slots, a table of all counters, the
// configuration. Reads the JSON that sluice put into the page; loads nothing.
import * as echarts from "echarts/core";
import { BarChart } from "echarts/charts";
import { GridComponent, LegendComponent, MarkLineComponent, TooltipComponent } from "echarts/components";
import { SVGRenderer } from "echarts/renderers";

echarts.use([BarChart, GridComponent, LegendComponent, MarkLineComponent, TooltipComponent, SVGRenderer]);

const $ = (id) => document.getElementById(id);
const source = $("data");
const data = source ? JSON.parse(source.textContent) : { title: "No data", command: "", docs: {}, runs: [] };
const runs = data.runs;
const FIRST = ["ipc", "cycles", "l1d.read.hit_rate", "l2.hit_rate", "dram.bytes", "icnt.flits_down", "mem.latency.mean"];
const SLOTS = [
  ["issue.issued", "issued"], ["issue.data_hazard", "data hazard"], ["issue.memory_stall", "memory stall"],
  ["issue.pipe_busy", "pipe busy"], ["issue.barrier", "barrier"], ["issue.control", "control"], ["issue.idle", "idle"],
];

// Two runs may name the same scheme (with other knobs): number the repeats.
const labels = runs.map((r, i) => {
  const before = runs.slice(0, i).filter((o) => o.scheme === r.scheme).length;
  return before ? `${r.scheme} (${before + 1})` : r.scheme;
});

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const option = (value, text = value) => Object.assign(document.createElement("option"), { value, textContent: text });
const cell = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });

function format(v) {
  if (v === undefined || v === null) return "–";
  if (Number.isInteger(v)) return v.toLocaleString("en");
  return Math.abs(v) >= 100 ? v.toFixed(1) : v.toPrecision(4);
}

function flat(o) {
  return { ...o, ...(o.scheme_counters ?? {}) };
}

// Kernels by name: sums over launches for counters that are sums; rates come from the totals only.
const kernelNames = [...new Set(runs.flatMap((r) => r.kernels.map((k) => k.name)))];
function values(run) {
  const name = $("kernel").value;
  if (!name) return flat(run.totals);
  const sum = {};
  for (const k of run.kernels.filter((x) => x.name === name)) {
    for (const [key, v] of Object.entries(flat(k))) {
      if (typeof v !== "number") continue;
      sum[key] = key.endsWith(".max") ? Math.max(sum[key] ?? 0, v) : (sum[key] ?? 0) + v;
    }
  }
  const ratio = (a, b) => (sum[b] ? sum[a] / sum[b] : 0);
  sum.ipc = ratio("thread_insts", "cycles");
  sum["l1d.read.hit_rate"] = ratio("l1d.read.hits", "l1d.read.accesses");
  sum["l1d.read.pending_rate"] = ratio("l1d.read.pending_hits", "l1d.read.accesses");
  sum["l1d.read.miss_rate"] = ratio("l1d.read.misses", "l1d.read.accesses");
  sum["l2.hit_rate"] = ratio("l2.hits", "l2.accesses");
  sum["dram.row_hit_rate"] = ratio("dram.row_hits", "dram.requests");
  sum["dram.utilisation"] = ratio("dram.busy_cycles", "dram.cycles");
  // Means over launches cannot be rebuilt from the launches' means.
  for (const key of Object.keys(sum)) if (key.endsWith(".mean") || key === "simt_efficiency" || key === "l1d.read.bypass_rate") delete sum[key];
  return sum;
}

function keys() {
  const all = [...new Set(runs.flatMap((r) => Object.keys(flat(r.totals))))].filter((k) => k !== "scheme_counters");
  return [...FIRST.filter((k) => all.includes(k)), ...all.filter((k) => !FIRST.includes(k))];
}

const charts = { bars: null, slots: null };
function base() {
  return Number($("base").value) || 0;
}

function style() {
  const text = { color: css("--text") };
  const axis = { axisLabel: text, axisLine: { lineStyle: { color: css("--line") } }, splitLine: { lineStyle: { color: css("--line") } } };
  return { text, axis };
}

function drawBars() {
  const key = $("metric").value;
  const raw = runs.map((r) => values(r)[key]);
  const ref = raw[base()];
  const normal = $("normalise").checked && ref;
  const shown = raw.map((v) => (v === undefined ? null : normal ? v / ref : v));
  const { text, axis } = style();
  charts.bars ??= echarts.init($("chart"), null, { renderer: "svg" });
  charts.bars.setOption({
    animationDuration: 200,
    textStyle: text,
    grid: { left: 70, right: 20, top: 20, bottom: 60 },
    tooltip: { trigger: "item", formatter: (p) => `${labels[p.dataIndex]}<br>${key}: ${format(raw[p.dataIndex])}${normal ? `<br>${p.value.toFixed(3)} of ${labels[base()]}` : ""}` },
    xAxis: { type: "category", data: labels, ...axis, axisLabel: { ...text, interval: 0, rotate: labels.length > 8 ? 35 : 0 } },
    yAxis: { type: "value", name: normal ? "" : data.docs[key]?.unit ?? "", ...axis },
    series: [{
      type: "bar",
      data: shown,
      barMaxWidth: 56,
      itemStyle: { color: (p) => (p.dataIndex === base() ? css("--soft") : css("--accent")) },
      label: { show: true, position: "top", color: css("--text"), formatter: (p) => (p.value === null ? "" : normal ? p.value.toFixed(3) : format(p.value)) },
      markLine: normal ? { silent: true, symbol: "none", label: { show: false }, lineStyle: { color: css("--soft") }, data: [{ yAxis: 1 }] } : undefined,
    }],
  }, true);
  $("metric-doc").textContent = data.docs[key] ? `${key}: ${data.docs[key].doc}${data.docs[key].unit ? ` [${data.docs[key].unit}]` : ""}` : key;
}

function drawSlots() {
  const { text, axis } = style();
  const palette = ["--good", "--bad", "--accent"];
  const extra = ["#c58b2a", "#8b6bb8", "#4d9aa0", "#8895a3"];
  charts.slots ??= echarts.init($("slots"), null, { renderer: "svg" });
  charts.slots.setOption({
    animationDuration: 200,
    textStyle: text,
    legend: { textStyle: text, top: 0 },
    grid: { left: 130, right: 20, top: 40, bottom: 30 },
    tooltip: { trigger: "item", valueFormatter: (v) => `${v.toFixed(1)} %` },
    yAxis: { type: "category", data: labels, inverse: true, ...axis, axisLabel: { ...text, width: 120, overflow: "truncate" } },
    xAxis: { type: "value", max: 100, ...axis, axisLabel: { ...text, formatter: "{value} %" } },
    series: SLOTS.map(([key, name], i) => ({
      name,
      type: "bar",
      stack: "slots",
      color: i < 3 ? css(palette[i]) : extra[i - 3],
      data: runs.map((r) => { const v = values(r); return v["issue.slots"] ? (100 * (v[key] ?? 0)) / v["issue.slots"] : 0; }),
    })),
  }, true);
}

function drawTable() {
  const head = $("counters").tHead, body = $("counters").tBodies[0];
  const words = $("filter").value.toLowerCase().split(/[\s,]+/).filter(Boolean);
  head.replaceChildren(document.createElement("tr"));
  head.rows[0].append(cell("th", "counter"), ...labels.map((l) => cell("th", l)));
  body.replaceChildren();
  const all = runs.map(values), ref = all[base()] ?? {};
  for (const key of keys()) {
    const row = all.map((v) => v[key]);
    if (row.every((v) => v === undefined)) continue;
    if (words.length && !words.some((w) => key.includes(w))) continue;
    if ($("changed").checked && row.every((v) => v === row[0])) continue;
    const tr = body.insertRow();
    const first = cell("td", key);
    first.title = data.docs[key]?.doc ?? "";
    tr.append(first, ...row.map((v, i) => {
      const td = cell("td", format(v));
      if (i !== base() && v !== undefined && ref[key]) td.append(cell("small", `${(v / ref[key]).toFixed(3)}×`));
      return td;
    }));
  }
}

function drawConfig() {
  const head = $("config").tHead, body = $("config").tBodies[0];
  head.replaceChildren(document.createElement("tr"));
  head.rows[0].append(cell("th", "knob"), ...labels.map((l) => cell("th", l)));
  for (const key of Object.keys(runs[0]?.config ?? {})) {
    body.insertRow().append(cell("td", key), ...runs.map((r) => cell("td", String(r.config[key] ?? "–"))));
  }
}

function saveCsv() {
  const rows = [["counter", ...labels], ...keys().map((k) => [k, ...runs.map((r) => values(r)[k] ?? "")])];
  const quoted = rows.map((r) => r.map((c) => `"${String(c).replaceAll('"', '""')}"`).join(",")).join("\n");
  const a = Object.assign(document.createElement("a"), { href: URL.createObjectURL(new Blob([quoted + "\n"], { type: "text/csv" })), download: "sluice.csv" });
  a.click();
  URL.revokeObjectURL(a.href);
}

function draw() {
  drawBars();
  drawSlots();
  drawTable();
}

document.title = `Sluice: ${data.title}`;
$("title").textContent = data.title;
if (runs.length) {
  const r = runs[0];
  $("subtitle").textContent = `${r.gpu}, configuration ${r.config_hash}, ${r.kernels.length + (r.kernels_left_out ?? 0)} launches, ${runs.length} runs`;
  $("command").textContent = data.command;
  $("metric").append(...keys().map((k) => option(k)));
  $("kernel").append(option("", "all kernels"), ...kernelNames.map((k) => option(k)));
  $("base").append(...labels.map((l, i) => option(i, l)));
  for (const id of ["metric", "kernel", "normalise", "base"]) $(id).addEventListener("change", draw);
  $("filter").addEventListener("input", drawTable);
  $("changed").addEventListener("change", drawTable);
  $("csv").addEventListener("click", saveCsv);
  drawConfig();
  draw();
  addEventListener("resize", () => Object.values(charts).forEach((c) => c?.resize()));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}
