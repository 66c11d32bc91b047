// Draw a paper's figures from the records of its runs: node paper.mjs DATA.json DIR DATA.json comes from `sluice
// paper`: the figure files as JSON, the published rows with the simulated values, and the runs with the files of their
// records. Writes DIR/FIGURE.svg, .pdf, .png and .csv, and DIR/figures.json for the report.
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as echarts from "echarts";
import { csv } from "./dom.js";
import { intervals, intervalsSvg } from "./intervals.js";
import { spread } from "./spread.js";

const [, , file, out] = process.argv;
const data = JSON.parse(readFileSync(file, "utf8"));

// Okabe and Ito's palette, ordered so that neighbours differ in brightness too: figures survive a black-and-white
// printer.
const COLORS = ["#56B4E9", "#E69F00", "#009E73", "#0072B2", "#D55E00", "#CC79A7", "#F0E442", "#999999", "#000000"];
const INK = "#1a1a1a",
  GRID = "#d0d0d0",
  FONT = "Liberation Sans, Arial, DejaVu Sans, sans-serif";

// ---- records ----

const records = new Map();
function record(run) {
  if (!run) return null;
  if (run.record) return run.record; // stored results
  if (!records.has(run.file)) {
    try {
      records.set(run.file, JSON.parse(readFileSync(run.file, "utf8")));
    } catch {
      records.set(run.file, null); // it failed: the figure has a gap there, and says so
    }
  }
  return records.get(run.file);
}
const sorted = (o) => JSON.stringify(Object.entries(o ?? {}).sort());
const column = (f, label) => {
  const c = f.schemes[label],
    own = typeof c === "object" ? c : { list: c };
  return { list: String(own.list), gpu: own.gpu ?? f.gpu ?? "fermi", set: { ...f.set, ...own.set }, over: own.over };
};
function runOf(f, workload, label) {
  const c = column(f, label),
    ofSize = data.runs.filter((r) => r.size === (f.size ?? data.size));
  return (
    ofSize.find(
      (r) =>
        r.alias === workload.alias &&
        r.suite === f.suite &&
        r.scheme === c.list &&
        r.gpu === c.gpu &&
        sorted(r.set) === sorted(c.set),
    ) ??
    ofSize.find(
      (r) =>
        r.workload === workload.workload && r.scheme === c.list && r.gpu === c.gpu && sorted(r.set) === sorted(c.set),
    )
  );
}
// The suite's workloads in the order of the figure's groups.
function workloadsOf(f) {
  const seen = new Map();
  for (const r of data.runs)
    if (r.suite === f.suite && (!f.workloads || f.workloads.includes(r.alias)))
      seen.set(r.alias, { alias: r.alias, workload: r.workload, group: r.group });
  const order = f.groups ?? [],
    at = (w) => (order.indexOf(w.group) + order.length + 1) % (order.length + 1);
  return [...seen.values()]
    .filter((w) => !f.groups || order.includes(w.group) || order.includes("*"))
    .sort((a, b) => at(a) - at(b) || a.alias.localeCompare(b.alias));
}

// "a + b - c / d": sums of counters, and their ratio. A number stands for itself, or is the factor of what follows: "2*a".
const terms = (sum) =>
  [...sum.matchAll(/([+-]?)\s*(?:([\d.]+)\s*\*\s*)?([\w.]+)/g)].map(([, sign, factor, key]) => [
    (sign === "-" ? -1 : 1) * (factor ?? 1),
    key,
  ]);
const counter = (values, key) => (Number.isFinite(+key) ? +key : (values[key] ?? values.scheme_counters?.[key]));
function evaluate(values, expression) {
  const sum = (t) => terms(t).reduce((s, [sign, key]) => s + sign * (counter(values, key) ?? 0), 0);
  const [a, b] = expression.split("/");
  if (b === undefined) return sum(a);
  return sum(b) ? sum(a) / sum(b) : undefined;
}
const known = (values, expression) => terms(expression).some(([, key]) => counter(values, key) !== undefined);

// The totals of a run; with its characterisation summed over launches as "loads.by_degree.0.loads", if it has one.
const flat = new Map();
function totals(r) {
  if (!flat.has(r)) {
    const all = {};
    const put = (prefix, part) => {
      for (const [k, v] of Object.entries(part ?? {}))
        if (typeof v === "object") put(`${prefix}.${k}`, v);
        else if (typeof v === "number") all[`${prefix}.${k}`] = v;
    };
    for (const name of ["loads", "warps_at_l2", "sharing"]) {
      let sum;
      for (const k of r.kernels ?? []) if (k[name] !== undefined) sum = add(sum, k[name]);
      put(name, sum);
    }
    for (const [k, v] of Object.entries(r.energy ?? {})) if (typeof v === "number") all[`energy.${k}`] = v;
    flat.set(r, { ...all, ...r.totals });
  }
  return flat.get(r);
}
// Launches, cycles and instructions of each kernel of a run by name.
function byKernel(r) {
  if (r.by_kernel) return r.by_kernel; // stored results
  const all = {};
  for (const k of r.kernels ?? []) {
    const one = (all[k.name] ??= { cycles: 0, thread_insts: 0 });
    one.cycles += k.cycles ?? 0;
    one.thread_insts += k.thread_insts ?? 0;
  }
  return all;
}
// The run of a column on the default input, or on that of a further seed.
const runAt = (f, w, label, seed) => (seed ? runOf(f, w, label)?.seeds?.[seed - 1] : runOf(f, w, label));
const inputsOf = (f, w, label) => 1 + (runOf(f, w, label)?.seeds?.length ?? 0);
const average = (v) => v.reduce((s, x) => s + x, 0) / v.length;
// IPC of every kernel of a workload under a scheme, over the scheme that the column or the figure is normalised to; of
// each the mean over the program's inputs.
function kernelRatios(f, w, label) {
  const all = {};
  for (let seed = 0; seed < inputsOf(f, w, label); seed++) {
    const a = record(runAt(f, w, label, seed)),
      b = record(runAt(f, w, column(f, label).over ?? f.normalise, seed));
    if (!a || !b) continue;
    const of = byKernel(b);
    for (const [name, k] of Object.entries(byKernel(a)))
      if (k.cycles && k.thread_insts && of[name]?.cycles && of[name].thread_insts)
        (all[name] ??= []).push(k.thread_insts / k.cycles / (of[name].thread_insts / of[name].cycles));
  }
  return Object.values(all).map(average);
}
function metric(f, w, label, missing, of = f.metric, seed = 0) {
  const r = record(runAt(f, w, label, seed));
  if (!r && seed) return;
  if (!r) return void missing.add(`${w.alias} under ${label} did not run`);
  if (!known(totals(r), of)) return seed ? undefined : void missing.add(`no run counts ${of}`);
  return evaluate(totals(r), of);
}

// A part of the characterisation, summed over the launches of a run.
function item(f, w, label, missing) {
  const r = record(runOf(f, w, label));
  if (!r) return void missing.add(`${w.alias} under ${label} did not run`);
  let sum;
  for (const k of r.kernels ?? []) {
    const part = f.item.split(".").reduce((o, key) => o?.[key], k);
    if (part !== undefined) sum = add(sum, part);
  }
  if (sum === undefined) missing.add(`no record has ${f.item}`);
  return sum;
}
function add(a, b) {
  if (a === undefined) a = Array.isArray(b) ? b.map(() => undefined) : typeof b === "object" ? {} : 0;
  if (Array.isArray(b))
    return Array.from({ length: Math.max(a.length, b.length) }, (_, i) => (i < b.length ? add(a[i], b[i]) : a[i]));
  if (typeof b !== "object") return typeof b === "number" ? a + b : b;
  const o = { ...a };
  for (const [k, v] of Object.entries(b)) {
    if (k === "latency.mean") o.latency_sum = (o.latency_sum ?? 0) + v * (b.loads ?? 0);
    else o[k] = add(o[k], v);
  }
  return o;
}
const listOf = (f, part) =>
  part === undefined
    ? undefined
    : Array.isArray(part)
      ? part.map((v) => (typeof v === "object" ? evaluate(v, f.value) : v))
      : Object.values(part);

const MEANS = {
  geometric: (v) => (v.every((x) => x > 0) ? Math.exp(v.reduce((s, x) => s + Math.log(x), 0) / v.length) : undefined),
  arithmetic: (v) => v.reduce((s, x) => s + x, 0) / v.length,
  harmonic: (v) => (v.every((x) => x > 0) ? v.length / v.reduce((s, x) => s + 1 / x, 0) : undefined),
  maximum: (v) => Math.max(...v),
  minimum: (v) => Math.min(...v),
};
const among = (m, pairs) =>
  pairs.filter(([w, x]) => x !== undefined && (!m.group || w.group === m.group)).map(([, x]) => x);
const mean = (m, pairs) => {
  const v = among(m, pairs);
  return v.length ? MEANS[m.of ?? "geometric"](v) : undefined;
};

// ---- tables behind the figures: {heads, rows: [name, ...numbers], means: set of names, spreads} ----
// spreads: of a row its 95 % intervals: of a mean over its programs (or kernels), of a program over its inputs.

// Of a workload under a scheme, over the scheme that the column or the figure is normalised to, on each of its inputs.
function relatives(f, w, label, missing, of = f.metric) {
  const base = column(f, label).over ?? f.normalise,
    all = [];
  for (let seed = 0; seed < inputsOf(f, w, label); seed++) {
    const v = metric(f, w, label, missing, of, seed),
      ref = base ? metric(f, w, base, missing, of, seed) : 1;
    if (v !== undefined && ref === 0) missing.add(`${w.alias} has no ${of} under ${base}`);
    if (v !== undefined && ref) all.push(((f.scale ?? (f.percent ? 100 : 1)) * v) / ref);
  }
  return all;
}
const relative = (...of) => averageOf(relatives(...of));
const averageOf = (all) => (all.length ? average(all) : undefined);
// Several quantities, each the mean over all workloads.
function quantities(f, missing) {
  const ws = workloadsOf(f),
    labels = shown(f),
    m = { of: "arithmetic", ...f.means?.[0] };
  const spreads = new Map(),
    rows = Object.entries(f.metrics).map(([name, of]) => {
      const pairs = labels.map((l) => ws.map((w) => [w, relative(f, w, l, missing, of)])),
        row = [name, ...pairs.map((p) => mean(m, p))];
      spreads.set(
        row,
        pairs.map((p) => spread(among(m, p), m.of)),
      );
      return row;
    });
  return { heads: labels, rows, means: new Set(), spreads };
}
const shown = (f) => Object.keys(f.schemes).filter((l) => !(f.hide ?? []).includes(l));
function bars(f, missing) {
  if (f.metrics) return quantities(f, missing);
  const ws = workloadsOf(f),
    labels = f.columns ? Object.keys(f.columns) : shown(f),
    only = Object.keys(f.schemes)[0];
  const values = (w, l) => (f.columns ? relatives(f, w, only, missing, f.columns[l]) : relatives(f, w, l, missing));
  const inputs = ws.map((w) => labels.map((l) => values(w, l))),
    of = inputs.map((r) => r.map(averageOf)),
    spreads = new Map();
  const valuesOf = (m, l, i) =>
    m.per === "kernel" && !f.columns
      ? ws.flatMap((w) => kernelRatios(f, w, l).map((x) => [w, x]))
      : ws.map((w, k) => [w, of[k][i]]);
  const means = (f.means ?? []).map((m) => {
    const pairs = labels.map((l, i) => valuesOf(m, l, i)),
      row = [m.label, ...pairs.map((p) => mean(m, p))];
    spreads.set(
      row,
      pairs.map((p) => spread(among(m, p), m.of)),
    );
    return row;
  });
  const rows = [];
  for (const [k, w] of ws.entries()) {
    rows.push([w.alias, ...of[k]]);
    spreads.set(
      rows.at(-1),
      inputs[k].map((v) => spread(v, "arithmetic")),
    );
    const next = ws[k + 1];
    if (next?.group !== w.group)
      for (const [i, m] of (f.means ?? []).entries()) if (m.group && m.group === w.group) rows.push(means[i]);
  }
  for (const [i, m] of (f.means ?? []).entries())
    if (!m.group || !ws.some((w) => w.group === m.group)) rows.push(means[i]);
  return {
    heads: labels,
    rows: f.rows === "means" ? rows.filter((r) => f.means.some((m) => m.label === r[0])) : rows,
    means: new Set((f.means ?? []).map((m) => m.label)),
    spreads,
  };
}
// Warps that were followed: hits over accesses in every interval since a launch began, a line for each.
function followed(f, missing) {
  const part = item(f, workloadsOf(f)[0], f.from ?? Object.keys(f.schemes)[0], missing) ?? [];
  const seen = part.filter((p) => p.accesses?.some((n) => n)),
    most = Math.max(0, ...seen.map((p) => p.accesses.length));
  const rows = Array.from({ length: most }, (_, i) => [
    String(i),
    ...seen.map((p) => (p.accesses[i] ? (100 * p.hits[i]) / p.accesses[i] : undefined)),
  ]);
  return { heads: seen.map((_, i) => `warp ${i + 1}`), rows, means: new Set() };
}
function lines(f, missing) {
  if (f.item) return followed(f, missing);
  const t = bars({ ...f, means: f.means ?? [{ label: "GMEAN" }] }, missing),
    of = t.rows.filter((r) => t.means.has(r[0])),
    rows = t.heads.map((l, i) => [l, ...of.map((r) => r[i + 1])]),
    spreads = new Map(rows.map((row, i) => [row, of.map((r) => t.spreads.get(r)?.[i])]));
  return { heads: of.map((r) => r[0]), rows, means: new Set(), spreads };
}
function stack(f, missing) {
  const ws = workloadsOf(f),
    from = f.from ?? Object.keys(f.schemes)[0];
  let heads = f.bins ?? Object.keys(f.parts ?? {});
  const rows = ws.map((w) => {
    const r = f.item ? null : record(runOf(f, w, from));
    const part = f.item ? item(f, w, from, missing) : null;
    if (part && !f.bins && !Array.isArray(part)) heads = Object.keys(part);
    let v = f.item ? listOf(f, part) : r && Object.values(f.parts).map((e) => evaluate(r.totals, e));
    if (!f.item && !r) missing.add(`${w.alias} under ${from} did not run`);
    const all = v?.reduce((s, x) => s + (x ?? 0), 0);
    if (v && f.bins) v = [...v.slice(0, f.bins.length - 1), v.slice(f.bins.length - 1).reduce((s, x) => s + x, 0)];
    return [w.alias, ...(all ? v.map((x) => (100 * (x ?? 0)) / all) : heads.map(() => undefined))];
  });
  for (const m of f.means ?? []) {
    const of = ws.map((w, i) => [w, rows[i]]);
    rows.push([
      m.label,
      ...heads.map((_, c) =>
        mean(
          m,
          of.map(([w, r]) => [w, r[c + 1]]),
        ),
      ),
    ]);
  }
  return {
    heads: heads.length ? heads : (rows[0]?.slice(1).map((_, i) => String(i)) ?? []),
    rows,
    means: new Set((f.means ?? []).map((m) => m.label)),
  };
}
function classes(f, missing) {
  const ws = workloadsOf(f),
    from = f.from ?? Object.keys(f.schemes)[0],
    scale = f.percent ? 100 : 1;
  const rows = ws.map((w) => {
    const v = listOf(f, item(f, w, from, missing)) ?? f.bins.map(() => undefined);
    const ref = f.normalise === "first" ? v[0] : 1;
    return [w.alias, ...v.map((x) => (x === undefined || !ref ? undefined : (scale * x) / ref))];
  });
  return { heads: f.bins, rows, means: new Set() };
}
// A line or a group of bars per workload; per scheme where the figure has several of one workload.
function cdf(f, missing) {
  const ws = workloadsOf(f),
    labels = shown(f),
    of = labels.length > 1 ? labels.map((l) => [ws[0], l, l]) : ws.map((w) => [w, labels[0], w.alias]);
  const all = of
    .map(([w, from, name]) => {
      const part = w && item(f, w, from, missing),
        v = listOf(f, part);
      return {
        name,
        v,
        names: f.bins ?? (part && !Array.isArray(part) ? Object.keys(part) : v?.map((_, i) => String(i))),
      };
    })
    .filter((x) => x.v?.some((n) => n));
  const names = all.map((x) => x.names).sort((a, b) => b.length - a.length)[0] ?? [];
  const rows = names.map((n, i) => [
    n,
    ...all.map(({ v }) => {
      const total = v.reduce((s, x) => s + x, 0),
        upto = f.kind === "cdf" ? v.slice(0, i + 1).reduce((s, x) => s + x, 0) : (v[i] ?? 0);
      return (100 * upto) / total;
    }),
  ]);
  return { heads: all.map((x) => x.name), rows, means: new Set() };
}
function table(f, missing) {
  const ws = workloadsOf(f),
    labels = shown(f);
  if (f.value === "search") {
    const found = (w, l) => {
      const s = record(runOf(f, w, l))?.search;
      if (!s) missing.add(`${w.alias} under ${l} has no search outcome`);
      const text = typeof s?.values === "string" ? s.values : JSON.stringify(s?.values ?? s?.chosen ?? "");
      return s ? (text.match(/=\s*([\d.]+)/)?.[1] ?? text) : undefined;
    };
    return { heads: labels, rows: ws.map((w) => [w.alias, ...labels.map((l) => found(w, l))]), means: new Set() };
  }
  if (f.columns) {
    const from = Object.keys(f.schemes)[0];
    return {
      heads: Object.keys(f.columns),
      means: new Set(),
      rows: ws.map((w) => {
        const r = record(runOf(f, w, from));
        if (!r) missing.add(`${w.alias} did not run`);
        return [
          w.alias,
          ...Object.values(f.columns).map((e) => {
            if (r && !known(r.totals, e)) missing.add(`no run counts ${e}`);
            return r && known(r.totals, e) ? (f.percent ? 100 : 1) * evaluate(r.totals, e) : undefined;
          }),
        ];
      }),
    };
  }
  return bars(f, missing);
}
const KINDS = { bars, lines, stack, classes, cdf, histogram: cdf, table, intervals };

// ---- drawing ----

const number = (v) =>
  v === undefined || v === null
    ? "–"
    : typeof v === "string"
      ? v
      : Math.abs(v) >= 1000
        ? v.toFixed(0)
        : Math.abs(v) >= 100
          ? v.toFixed(1)
          : v.toPrecision(3);
const escape = (s) => String(s).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const svgHead = (width, height) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`;
const axis = {
  axisLine: { show: true, lineStyle: { color: INK } },
  axisTick: { show: true, lineStyle: { color: INK } },
  axisLabel: { color: INK, fontSize: 12 },
  nameTextStyle: { color: INK, fontSize: 12 },
  splitLine: { lineStyle: { color: GRID } },
};

// A published value as a short line with a diamond over the bar that it belongs to: of the same quantity, over the same
// scheme, and so in the unit of the axis.
function publishedMarks(f, t) {
  const scale = f.scale ?? (f.percent ? 100 : 1),
    plain = (e) => e.replace(/\s/g, ""),
    marks = [];
  for (const p of f.published ?? []) {
    if (p.ratio === undefined || !p.label || !p.quantity) continue;
    const relative = !!(column(f, p.label).over ?? f.normalise);
    if (relative !== (p.over_label !== undefined)) continue;
    if (relative && p.over_label !== (column(f, p.label).over ?? f.normalise)) continue;
    const m = (f.means ?? []).find((x) => p.of_group !== undefined && (x.group ?? "") === p.of_group);
    const name = f.metrics
      ? Object.keys(f.metrics).find((k) => plain(f.metrics[k]) === plain(p.quantity))
      : plain(f.metric ?? "") === plain(p.quantity)
        ? (m?.label ?? (p.of_group === undefined ? p.group : undefined))
        : undefined;
    const row = t.rows.findIndex((r) => r[0] === name),
      col = t.heads.indexOf(p.label);
    if (row >= 0 && col >= 0) marks.push([row, col, scale * p.ratio]);
  }
  return marks;
}
function markSeries(marks, series) {
  return {
    type: "custom",
    name: "published",
    data: marks,
    encode: { x: 0, y: 2 }, // the axis takes the value, not the number of the bar
    z: 5,
    itemStyle: { color: "#000" },
    renderItem: (params, api) => {
      const [row, col] = [api.value(0), api.value(1)],
        at = api.coord([row, api.value(2)]);
      const layout = api.barLayout({ count: series, barGap: "10%", barCategoryGap: "22%" })[col],
        x = at[0] + layout.offsetCenter,
        w = Math.max(8, layout.width);
      return {
        type: "group",
        children: [
          {
            type: "line",
            shape: { x1: x - w / 2, y1: at[1], x2: x + w / 2, y2: at[1] },
            style: { stroke: "#000", lineWidth: 1.5 },
          },
          {
            type: "polygon",
            shape: {
              points: [
                [x, at[1] - 4.5],
                [x + 4.5, at[1]],
                [x, at[1] + 4.5],
                [x - 4.5, at[1]],
              ],
            },
            style: { fill: "#fff", stroke: "#000", lineWidth: 1.2 },
          },
        ],
      };
    },
  };
}
// Intervals as whiskers over the bars, or over the points of lines.
function spreadSeries(ends, series, isLine) {
  return {
    type: "custom",
    name: SPREAD,
    data: ends,
    encode: { x: 0, y: [2, 3] },
    clip: true,
    z: 4,
    itemStyle: { color: INK },
    renderItem: (params, api) => {
      const [row, col] = [api.value(0), api.value(1)],
        [low, high] = [api.coord([row, api.value(2)]), api.coord([row, api.value(3)])],
        bar = isLine ? null : api.barLayout({ count: series, barGap: "10%", barCategoryGap: "22%" })[col],
        x = low[0] + (bar?.offsetCenter ?? 0),
        w = bar ? Math.min(8, 0.7 * bar.width) : 8;
      const line = (x1, y1, x2, y2) => ({
        type: "line",
        shape: { x1, y1, x2, y2 },
        style: { stroke: isLine ? COLORS[col % COLORS.length] : INK, lineWidth: 1 },
      });
      return {
        type: "group",
        children: [
          line(x, low[1], x, high[1]),
          line(x - w / 2, low[1], x + w / 2, low[1]),
          line(x - w / 2, high[1], x + w / 2, high[1]),
        ],
      };
    },
  };
}
// [row, column, low, high] of what has an interval of some length.
function ends(t) {
  return t.rows.flatMap((r, row) =>
    (t.spreads?.get(r) ?? []).flatMap((e, col) => (e && e[1] - e[0] > 1e-9 * Math.abs(e[1]) ? [[row, col, ...e]] : [])),
  );
}
const SPREAD = "95 % interval";
function option(f, t) {
  const unit =
    f.axis?.y ??
    (f.kind === "stack" || f.kind === "cdf" || f.kind === "histogram"
      ? "%"
      : f.percent
        ? "%"
        : f.normalise
          ? "normalised"
          : "");
  const isLine = f.kind === "lines" || f.kind === "cdf",
    marks = f.kind === "bars" ? publishedMarks(f, t) : [],
    whiskers = ends(t),
    entries = [
      ...t.heads,
      ...(marks.length ? [{ name: "published", icon: "path://M5,0L10,5L5,10L0,5Z" }] : []),
      ...(whiskers.length ? [{ name: SPREAD, icon: "path://M0,0h10v1h-4v8h4v1h-10v-1h4v-8h-4z" }] : []),
    ];
  const longest = Math.max(...t.rows.map((r) => String(r[0]).length)),
    long = t.rows.length > 9 || longest > 9;
  const tilted = Math.round(14 + longest * 5.2); // height of labels at 45 degrees
  const most = Math.max(
    ...t.rows.flatMap((r) => r.slice(1)).filter((v) => Number.isFinite(v)),
    ...marks.map((m) => m[2]),
  );
  const top = f.maximum && most > f.maximum ? f.maximum : undefined;
  return {
    color: COLORS,
    animation: false,
    backgroundColor: "#fff",
    textStyle: { fontFamily: FONT, color: INK },
    legend: {
      top: 4,
      data: entries,
      textStyle: { color: INK, fontSize: 12 },
      itemWidth: 16,
      itemHeight: 10,
    },
    grid: {
      left: 62,
      right: 16,
      top: entries.length > 6 ? 56 : 38,
      bottom: (long ? tilted + 8 : 34) + (f.axis?.x ? 18 : 0),
    },
    xAxis: {
      type: "category",
      data: t.rows.map((r) => r[0]),
      name: f.axis?.x,
      nameLocation: "middle",
      nameGap: long ? tilted : 30,
      boundaryGap: !isLine,
      ...axis,
      splitLine: { show: false },
      axisLabel: {
        ...axis.axisLabel,
        interval: isLine && t.rows.length > 20 ? "auto" : 0,
        rotate: long ? 45 : 0,
        rich: {},
        fontWeight: "normal",
      },
    },
    yAxis: {
      type: "value",
      name: unit,
      nameLocation: "middle",
      nameGap: 44,
      nameRotate: 90,
      ...axis,
      max: f.kind === "stack" || f.kind === "cdf" ? 100 : top,
      scale: f.kind === "lines",
    },
    series: [
      ...t.heads.map((h, i) => ({
        name: h,
        type: isLine ? "line" : "bar",
        stack: f.kind === "stack" ? "s" : undefined,
        barGap: "10%",
        barCategoryGap: "22%",
        symbol: isLine ? ["circle", "rect", "triangle", "diamond"][i % 4] : undefined,
        symbolSize: 7,
        data: t.rows.map((r) =>
          r[i + 1] === undefined
            ? null
            : {
                value: r[i + 1],
                itemStyle: t.means.has(r[0])
                  ? { borderColor: "#000", borderWidth: 1.2 }
                  : { borderColor: INK, borderWidth: 0.5 },
                label:
                  top && r[i + 1] > top
                    ? {
                        show: true,
                        position: "insideTop",
                        distance: 2,
                        fontSize: 9,
                        color: "#000",
                        formatter: () => number(r[i + 1]),
                      }
                    : undefined,
              },
        ),
        markLine:
          f.normalise && !i && !isLine && f.kind === "bars"
            ? {
                silent: true,
                symbol: "none",
                label: { show: false },
                lineStyle: { color: INK, type: "dashed", width: 1 },
                data: [{ yAxis: f.percent ? 100 : 1 }],
              }
            : undefined,
      })),
      ...(marks.length ? [markSeries(marks, t.heads.length)] : []),
      ...(whiskers.length ? [spreadSeries(whiskers, t.heads.length, isLine)] : []),
    ],
  };
}
function chartSvg(f, t) {
  const cells = t.rows.length * (f.kind === "stack" ? 1 : t.heads.length);
  const width = Math.min(1300, Math.max(560, f.kind === "lines" || f.kind === "cdf" ? 620 : 90 + cells * 13));
  const chart = echarts.init(null, null, { renderer: "svg", ssr: true, width, height: 340 });
  chart.setOption(option(f, t));
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg;
}
function tableSvg(t) {
  const rows = [["", ...t.heads], ...t.rows.map((r) => [r[0], ...r.slice(1).map(number)])];
  const wide = rows[0].map((_, i) => 24 + 7.2 * Math.max(...rows.map((r) => String(r[i] ?? "").length))),
    x = wide.map((_, i) => wide.slice(0, i).reduce((s, v) => s + v, 0));
  const width = Math.ceil(x.at(-1) + wide.at(-1)) + 16,
    height = rows.length * 22 + 20;
  const cell = (text, i, j) =>
    `<text x="${i ? x[i] + wide[i] - 4 : 12}" y="${j * 22 + 24}" text-anchor="${i ? "end" : "start"}"` +
    `${j ? "" : ' font-weight="bold"'}>${escape(text ?? "–")}</text>`;
  const rule = (y, w) => `<line x1="8" x2="${width - 8}" y1="${y}" y2="${y}" stroke="${INK}" stroke-width="${w}"/>`;
  const cells = rows.map((r, j) => r.map((c, i) => cell(c, i, j)).join("")).join("");
  return (
    svgHead(width, height) +
    `<rect width="100%" height="100%" fill="#fff"/>` +
    `<g font-family="${FONT}" font-size="13" fill="${INK}">${cells}</g>` +
    `${rule(8, 1.2)}${rule(31, 0.7)}${rule(height - 8, 1.2)}</svg>`
  );
}
// A figure without data says so, since an empty frame could be taken for a result.
function absentSvg(f, missing) {
  const text = [`${f.where}: not drawn`, ...[...missing].slice(0, 4)];
  const line = (s, i) => `<text x="280" y="${44 + 22 * i}"${i ? "" : ' font-weight="bold"'}>${escape(s)}</text>`;
  const height = 70 + 20 * text.length;
  return (
    svgHead(560, height) +
    `<rect x="1" y="1" width="558" height="${height - 2}" fill="#fff" stroke="${INK}" stroke-dasharray="6 4"/>` +
    `<g font-family="${FONT}" font-size="14" fill="${INK}" text-anchor="middle">${text.map(line).join("")}</g></svg>`
  );
}

// A file appears whole or not at all; what cannot be written ends the drawing with the exit code that sluice has for
// it.
function save(path, write) {
  const temp = `${path}.${randomBytes(9).toString("base64url")}`;
  try {
    write(temp);
    renameSync(temp, path);
  } catch (e) {
    rmSync(temp, { force: true });
    console.error(`sluice: cannot write '${path}': ${e.message}`);
    process.exit(8);
  }
}
const saveText = (path, text) => save(path, (temp) => writeFileSync(temp, text, { flag: "wx" }));
const done = [];
for (const f of data.figures) {
  const missing = new Set(),
    draw = KINDS[f.kind];
  if (!draw) throw new Error(`${f.figure}: kind ${f.kind}? there are ${Object.keys(KINDS).join(", ")}`);
  const t = draw(f, missing),
    some = t.rows.some((r) => r.slice(1).some((v) => v !== undefined && !Number.isNaN(v)));
  const svg = !some
    ? absentSvg(f, missing.size ? missing : new Set(["its runs have no such data"]))
    : f.kind === "table"
      ? tableSvg(t)
      : f.kind === "intervals"
        ? intervalsSvg(f, {
            ink: INK,
            grid: GRID,
            font: FONT,
            colors: { gain: COLORS[2], loss: COLORS[4], tie: COLORS[3] },
          })
        : chartSvg(f, t);
  const at = (end) => join(out, `${f.figure}.${end}`);
  saveText(at("svg"), svg);
  saveText(
    at("csv"),
    csv([
      [
        f.kind === "lines" || f.kind === "cdf" ? (f.axis?.x ?? "") : f.kind === "intervals" ? "scheme" : "workload",
        ...t.heads,
      ],
      ...t.rows,
      ...(f.published?.length
        ? [
            [],
            ["published", "metric", "scheme", "group", "published value", "ours", "unit"],
            ...f.published.map((p) => [p.where, p.metric, p.scheme, p.group, p.published, p.ours ?? "", p.unit]),
          ]
        : []),
    ]),
  );
  save(at("pdf"), (temp) => execFileSync("rsvg-convert", ["-f", "pdf", "-o", temp, at("svg")]));
  save(at("png"), (temp) => execFileSync("rsvg-convert", ["-f", "png", "-z", "2", "-o", temp, at("svg")]));
  const state = !some ? "absent" : missing.size ? "partial" : "whole";
  done.push({
    figure: f.figure,
    where: f.where,
    title: f.title,
    kind: f.kind,
    state,
    missing: [...missing],
    published: f.published ?? [],
    reason: f.reason ?? "",
    svg,
    rows: [["", ...t.heads], ...t.rows],
    spreads: ends(t),
  });
  const others = missing.size > 1 ? `, and ${missing.size - 1} more` : "";
  const lack =
    {
      whole: "",
      partial: `(partly: ${[...missing][0]}${others})`,
    }[state] ?? `NOT DRAWN: ${[...missing][0] ?? "no data"}${others}`;
  console.log(`  ${f.figure.padEnd(20)} ${f.where.padEnd(10)} ${lack}`.trimEnd());
}
saveText(join(out, "figures.json"), JSON.stringify(done, null, 1));
