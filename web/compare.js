// The comparison: a summary in words and figures, bars of any counter over schemes and workloads, where issue slots go,
// loads by un-coalescing degree.
import { $, choose, css, el, sortable } from "./dom.js";
import { axisStyle, color, figure, tooltipStyle, zoom } from "./figure.js";
import {
  data,
  format,
  geomean,
  kernelNames,
  keys,
  runOf,
  runs,
  schemes,
  short,
  unit,
  value,
  workloads,
} from "./data.js";

const many = workloads.length > 1;
const state = {
  metric: "ipc",
  base: schemes[0],
  normalise: true,
  kernel: "",
  order: "given",
  off: new Set(),
  offWorkloads: new Set(),
};
const SLOTS = [
  ["issue.issued", "issued"],
  ["issue.data_hazard", "data hazard"],
  ["issue.memory_stall", "memory stall"],
  ["issue.pipe_busy", "pipe busy"],
  ["issue.barrier", "barrier"],
  ["issue.control", "control"],
  ["issue.idle", "idle"],
];
export const SLOT_COLORS = {
  "issue.issued": 2,
  "issue.data_hazard": 1,
  "issue.memory_stall": 5,
  "issue.pipe_busy": 3,
  "issue.barrier": 6,
  "issue.control": 4,
  "issue.idle": 7,
};
export { SLOTS };

const ratio = (w, label, key = state.metric, kernel = state.kernel) => {
  const v = value(runOf(w, label), key, kernel),
    ref = value(runOf(w, state.base), key, kernel);
  return v === undefined || !ref ? undefined : v / ref;
};

// ---- summary ----

function summaryRow(label) {
  const of = workloads.map((w) => runOf(w, label)).filter(Boolean);
  const sum = (key) => of.reduce((s, r) => s + (value(r, key) ?? 0), 0);
  const speed = geomean(workloads.map((w) => ratio(w, label, "ipc", "")).filter((v) => v !== undefined));
  const share = (a, b) => (sum(b) ? (100 * sum(a)) / sum(b) : undefined);
  const traffic = (...k) => {
    const base = workloads.map((w) => runOf(w, state.base)).filter(Boolean);
    const all = (rs) => rs.reduce((s, r) => s + k.reduce((t, key) => t + (value(r, key) ?? 0), 0), 0);
    return all(base) ? all(of) / all(base) : undefined;
  };
  const n = (v, digits = 3, after = "") => ({
    text: v === undefined ? "–" : v.toFixed(digits) + after,
    value: v ?? -1,
  });
  return {
    label,
    speed,
    cells: [
      { text: label, value: label },
      n(speed),
      { text: short(sum("cycles")), value: sum("cycles"), title: format(sum("cycles")) },
      n(share("l1d.read.hits", "l1d.read.accesses"), 1, " %"),
      n(share("l2.hits", "l2.accesses"), 1, " %"),
      n(traffic("icnt.flits_up", "icnt.flits_down")),
      n(traffic("dram.reads", "dram.writes")),
      n(traffic("energy.total")),
    ],
  };
}

export function summary() {
  const rows = schemes.map(summaryRow),
    others = rows.filter((r) => r.label !== state.base && r.speed);
  const best = others.reduce((a, b) => (a && a.speed >= b.speed ? a : b), null);
  const say = $("verdict");
  say.replaceChildren();
  const over = many ? `, geometric mean over ${workloads.length} workloads` : "";
  if (best && best.speed > 1.005) {
    say.append(
      el("strong", { textContent: best.label }),
      ` is the fastest: ${best.speed.toFixed(2)} times the IPC of ${state.base}${over}.`,
    );
    const slow = others.filter((r) => r.speed < 0.995);
    if (slow.length)
      say.append(` ${slow.length} of ${others.length} ${slow.length > 1 ? "are" : "is"} slower than ${state.base}.`);
  } else if (best) {
    say.append(
      `No scheme is faster than `,
      el("strong", { textContent: state.base }),
      `; the next is ${best.label} with ${best.speed.toFixed(3)} of its IPC${over}.`,
    );
  } else {
    const ipc = value(runs[0], "ipc");
    say.append(
      el("strong", { textContent: state.base }),
      `: ${format(value(runs[0], "cycles"))} cycles, ${format(ipc)} instructions per cycle.`,
    );
  }
  sortable(
    $("summary-table"),
    ["scheme", "IPC, normalised", "cycles", "L1 hits", "L2 hits", "L1–L2 traffic", "DRAM traffic", "energy"],
    rows.map((r) => r.cells),
    {},
  );
}

// ---- bars ----

// Rows of the figure: what is on the category axis, and a value per series.
function table() {
  const shown = schemes.filter((s) => !state.off.has(s)),
    picked = workloads.filter((w) => !state.offWorkloads.has(w.name));
  const cell = (w, s) => (state.normalise ? ratio(w, s) : value(runOf(w, s), state.metric, state.kernel));
  let cats, series;
  if (many) {
    cats = picked.map((w) => ({
      name: w.name,
      v: shown.map((s) => cell(w, s)),
      raw: shown.map((s) => value(runOf(w, s), state.metric, state.kernel)),
    }));
    series = shown;
  } else {
    cats = shown.map((s) => ({
      name: s,
      v: [cell(workloads[0], s)],
      raw: [value(runOf(workloads[0], s), state.metric, state.kernel)],
    }));
    series = [state.metric];
  }
  const last = (c) => c.v[c.v.length - 1] ?? -1;
  if (state.order === "value") cats.sort((a, b) => last(b) - last(a));
  if (state.order === "name") cats.sort((a, b) => a.name.localeCompare(b.name));
  if (many && state.normalise) {
    const mean = (i) => geomean(cats.map((c) => c.v[i]).filter((v) => v !== undefined));
    cats.push({ name: "GMEAN", v: shown.map((_, i) => mean(i)), raw: [], mean: true });
  }
  return { cats, series };
}

function barsOption() {
  const { cats, series } = table();
  const narrow = $("chart").clientWidth < 520,
    crowded = cats.length * series.length > (narrow ? 12 : 40);
  const label = cats.length > (narrow ? 3 : 8) || cats.some((c) => c.name.length > 14);
  return {
    color: series.map((_, i) => color(i)),
    grid: { left: 56, right: 12, top: series.length > 1 ? 40 : 24, bottom: (label ? 70 : 30) + (crowded ? 28 : 0) },
    legend: { show: series.length > 1, type: "scroll", top: 0, textStyle: { color: css("--text") } },
    tooltip: {
      trigger: "item",
      ...tooltipStyle(),
      formatter: (p) => {
        const c = cats[p.dataIndex],
          raw = c.raw[p.seriesIndex];
        const who = many ? `${c.name}<br>${series[p.seriesIndex]}` : c.name;
        const plain = raw === undefined ? "" : `<br>${state.metric}: ${format(raw, state.metric)}`;
        const relative = state.normalise && p.value !== undefined;
        return `<b>${who}</b>${plain}${relative ? `<br>${Number(p.value).toFixed(3)} of ${state.base}` : ""}`;
      },
    },
    xAxis: {
      type: "category",
      data: cats.map((c) => c.name),
      ...axisStyle(),
      splitLine: { show: false },
      axisLabel: {
        color: css("--text"),
        interval: crowded ? "auto" : 0,
        rotate: label ? 35 : 0,
        width: 96,
        overflow: "truncate",
      },
    },
    yAxis: {
      type: "value",
      name: state.normalise ? `of ${state.base}` : unit(state.metric),
      nameGap: 10,
      ...axisStyle(),
      nameTextStyle: { align: "left", padding: [0, 0, 0, -40], color: css("--soft") },
      axisLabel: { color: css("--text"), formatter: (v) => short(v) },
    },
    dataZoom: zoom("xAxisIndex", crowded),
    series: series.map((s, i) => ({
      name: s,
      type: "bar",
      barMaxWidth: 56,
      barGap: "5%",
      data: cats.map((c) => ({
        value: c.v[i],
        itemStyle: c.mean ? { opacity: 1, borderColor: css("--text"), borderWidth: 1 } : {},
      })),
      itemStyle: many ? {} : { color: (p) => (cats[p.dataIndex].name === state.base ? css("--soft") : color(0)) },
      label: {
        show: !many && cats.length <= (narrow ? 4 : 16),
        position: "top",
        color: css("--text"),
        formatter: (p) => (p.value === undefined ? "" : state.normalise ? Number(p.value).toFixed(3) : short(p.value)),
      },
      markLine:
        state.normalise && !i
          ? {
              silent: true,
              symbol: "none",
              label: { show: false },
              lineStyle: { color: css("--soft"), type: "dashed" },
              data: [{ yAxis: 1 }],
            }
          : undefined,
    })),
  };
}

// A row of check boxes that hide columns.
function boxes(names, off, again, what) {
  return el(
    "fieldset",
    { className: "boxes" },
    el("legend", { textContent: what }),
    ...names.map((n) => {
      const box = el("input", { type: "checkbox", checked: true });
      box.addEventListener("change", () => (off[box.checked ? "delete" : "add"](n), again()));
      return el("label", {}, box, ` ${n}`);
    }),
  );
}

export function compare(onChange) {
  const note = () => {
    const d = data.docs[state.metric];
    bars.note.textContent = d ? `${state.metric}: ${d.doc}${d.unit ? ` [${d.unit}]` : ""}` : state.metric;
    const missing = workloads.filter((w) => value(runOf(w, state.base), state.metric, state.kernel) === undefined);
    if (missing.length) bars.note.textContent += `. Not known for ${missing.map((w) => w.name).join(", ")}.`;
  };
  const again = () => (bars.draw(), note());
  const metric = choose(
    "Metric",
    keys().map((k) => [k]),
    (v) => ((state.metric = v), again()),
    "ipc",
  );
  metric.select.id = "metric";
  const kernel = choose(
    "Kernel",
    [["", "all kernels"], ...kernelNames.map((k) => [k])],
    (v) => ((state.kernel = v), onChange(state), again()),
  );
  kernel.select.id = "kernel";
  const base = choose(
    "to",
    schemes.map((s) => [s]),
    (v) => ((state.base = v), onChange(state), summary(), again()),
    state.base,
  );
  base.select.id = "base";
  const order = choose(
    "Order",
    [
      ["given", "as given"],
      ["value", "by value"],
      ["name", "by name"],
    ],
    (v) => ((state.order = v), again()),
  );
  order.select.id = "order";
  const normal = el("input", { type: "checkbox", id: "normalise", checked: true });
  normal.addEventListener("change", () => ((state.normalise = normal.checked), again()));
  const bars = figure($("chart"), {
    label: "Comparison of schemes",
    name: () => `${state.metric}${state.kernel ? `-${state.kernel}` : ""}`,
    controls: [
      metric.label,
      kernelNames.length > 1 && kernel.label,
      el("span", { className: "pair" }, el("label", {}, normal, " normalised"), " ", base.label),
      order.label,
    ].filter(Boolean),
    option: barsOption,
    marks: () => table().cats.length,
    describe: () =>
      `${state.metric} of ${table()
        .cats.map((c) => `${c.name} ${c.v.map((v) => (v === undefined ? "unknown" : v.toFixed(3))).join(" ")}`)
        .join(", ")}`,
    rows: () => {
      const { cats, series } = table();
      const head = many ? series : [state.normalise ? `${state.metric} of ${state.base}` : state.metric];
      return [
        [many ? "workload" : "scheme", ...head, ...(state.normalise ? head.map((h) => `${h} (plain)`) : [])],
        ...cats.map((c) => [c.name, ...c.v, ...(state.normalise ? c.raw : [])]),
      ];
    },
  });
  if (schemes.length > 2) bars.root.append(boxes(schemes, state.off, again, "Schemes shown"));
  if (many)
    bars.root.append(
      boxes(
        workloads.map((w) => w.name),
        state.offWorkloads,
        again,
        "Workloads shown",
      ),
    );
  again();
  return state;
}

// ---- issue slots, loads by degree ----

export function slots() {
  const pick = { workload: workloads[0] };
  const of = () => pick.workload.runs;
  const share = (r, key) => {
    const all = value(r, "issue.slots", state.kernel);
    return all ? (100 * (value(r, key, state.kernel) ?? 0)) / all : 0;
  };
  const which = choose(
    "Workload",
    workloads.map((w) => [w.name]),
    (v) => ((pick.workload = workloads.find((w) => w.name === v)), f.draw()),
  );
  const f = figure($("slots"), {
    label: "Where the issue slots go",
    controls: many ? [which.label] : [],
    size: () => 90 + Math.max(2, of().length) * 34,
    marks: () => of().length,
    tipSeries: 2,
    option: () => {
      const narrow = $("slots").clientWidth < 520;
      return {
        legend: { type: narrow ? "scroll" : "plain", textStyle: { color: css("--text") }, top: 0, itemWidth: 14 },
        grid: { left: narrow ? 92 : 150, right: 24, top: 44, bottom: 28 },
        tooltip: {
          trigger: "item",
          ...tooltipStyle(),
          formatter: (p) => `<b>${of()[p.dataIndex].label}</b><br>${p.seriesName}: ${p.value.toFixed(1)} %`,
        },
        yAxis: {
          type: "category",
          data: of().map((r) => r.label),
          inverse: true,
          ...axisStyle(),
          axisLabel: { color: css("--text"), width: narrow ? 80 : 136, overflow: "truncate" },
        },
        xAxis: { type: "value", max: 100, ...axisStyle(), axisLabel: { color: css("--text"), formatter: "{value} %" } },
        series: SLOTS.map(([key, name]) => ({
          name,
          type: "bar",
          stack: "slots",
          barMaxWidth: 24,
          color: color(SLOT_COLORS[key]),
          data: of().map((r) => share(r, key)),
        })),
      };
    },
    rows: () => [
      ["scheme", ...SLOTS.map(([, n]) => n)],
      ...of().map((r) => [r.label, ...SLOTS.map(([k]) => share(r, k).toFixed(3))]),
    ],
  });
  f.draw();
  return f;
}

export function loads() {
  const with_ = runs.filter((r) => r.loads?.some((c) => c.loads));
  if (!with_.length) return false;
  const pick = { run: with_[0], what: "share" };
  const WHAT = {
    share: ["share of loads", (c, all) => (100 * (c.loads ?? 0)) / all, "%"],
    hits: ["L1 hit rate of their accesses", (c) => (c.accesses ? (100 * (c.hits ?? 0)) / c.accesses : null), "%"],
    all: ["loads all of whose accesses hit", (c) => (c.loads ? (100 * (c.all_hit_loads ?? 0)) / c.loads : null), "%"],
    latency: ["mean latency", (c) => (c.loads ? c.latency_sum / c.loads : null), "core cycles"],
    reused: [
      "fetched lines that were hit again",
      (c) => (c.lines_fetched ? (100 * (c.lines_reused ?? 0)) / c.lines_fetched : null),
      "%",
    ],
  };
  const points = (r) => {
    const all = r.loads.reduce((s, c) => s + (c.loads ?? 0), 0);
    return r.loads.map((c) => WHAT[pick.what][1](c, all));
  };
  const own = () => (many ? with_.filter((r) => r.workload === pick.run.workload) : with_);
  const what = choose(
    "Show",
    Object.entries(WHAT).map(([k, v]) => [k, v[0]]),
    (v) => ((pick.what = v), f.draw()),
  );
  const which = choose(
    "Workload",
    [...new Set(with_.map((r) => r.workload.name))].map((n) => [n]),
    (v) => ((pick.run = with_.find((r) => r.workload.name === v)), f.draw()),
  );
  const f = figure($("loads"), {
    label: "Loads by accesses per instruction after coalescing",
    height: 260,
    controls: many ? [which.label, what.label] : [what.label],
    marks: () => 5,
    option: () => ({
      color: own().map((_, i) => color(i)),
      legend: { type: "scroll", top: 0, textStyle: { color: css("--text") } },
      grid: { left: 56, right: 12, top: 44, bottom: 44 },
      tooltip: {
        trigger: "axis",
        ...tooltipStyle(),
        valueFormatter: (v) => (v === null || v === undefined ? "–" : `${v.toFixed(1)} ${WHAT[pick.what][2]}`),
      },
      xAxis: {
        type: "category",
        name: "accesses per load",
        nameLocation: "middle",
        nameGap: 28,
        data: pick.run.loads.map((c) => c.degrees),
        ...axisStyle(),
        splitLine: { show: false },
      },
      yAxis: { type: "value", name: WHAT[pick.what][2], ...axisStyle() },
      series: own().map((r) => ({ name: r.label, type: "bar", barMaxWidth: 32, data: points(r) })),
    }),
    rows: () => [["scheme", ...pick.run.loads.map((c) => c.degrees)], ...own().map((r) => [r.label, ...points(r)])],
  });
  f.draw();
  return true;
}
