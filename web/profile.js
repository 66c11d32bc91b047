// One run over time: where issue slots go and what limits them, how warm each set of the L1 is, what each DRAM bank
// does.
import { $, choose, css, el } from "./dom.js";
import { axisStyle, color, figure, heat, tooltipStyle, zoom } from "./figure.js";
import { runs, short } from "./data.js";
import { SLOTS, SLOT_COLORS } from "./compare.js";

const STALLS = [
  ["stall.l1d", "L1 refusal"],
  ["stall.uncoalesced", "further accesses"],
  ["stall.bypass", "bypass, no room"],
  ["stall.shared_conflict", "shared-memory conflict"],
  ["stall.constant", "constant cache"],
  ["stall.texture", "texture cache"],
];
const LINES = {
  ipc: ["IPC", "thread_insts", "cycles", 1],
  l1: ["L1 hit rate", "l1d.read.hits", "l1d.read.accesses", 100],
  l2: ["L2 hit rate", "l2.hits", "l2.accesses", 100],
  row: ["DRAM row hit rate", "dram.row_hits", "dram.requests", 100],
};

export function profiles() {
  const own = runs.filter((r) => r.profile?.intervals);
  if (!own.length) return false;
  const root = $("profile"),
    pick = { run: own[0], stack: "slots", line: "ipc", heat: "hits", bank: "bursts" };
  const p = () => pick.run.profile;
  const n = () => p().intervals;
  const at = (i) => i * p().every_cycles;
  const times = () => Array.from({ length: n() }, (_, i) => short(at(i)));
  const shownValue = (v, plain) => (v === null || v === undefined ? "–" : `${(+v).toFixed(2)}${plain ? "" : " %"}`);
  const span = (i) => `cycles ${at(i).toLocaleString("en")} to ${Math.min(at(i + 1), p().cycles).toLocaleString("en")}`;
  const kernelAt = (cycle) => {
    let end = 0;
    for (const [k, cycles] of pick.run.launches) if (cycle < (end += cycles)) return pick.run.kernels[k]?.name ?? "";
    return "";
  };
  const timeAxis = (show) => ({
    type: "category",
    data: times(),
    name: "core cycle",
    nameLocation: "middle",
    nameGap: 26,
    ...axisStyle(),
    splitLine: { show: false },
    axisLabel: { color: css("--text"), hideOverlap: true, show },
  });

  const which = choose(
    "Run",
    own.map((r, i) => [String(i), r.name]),
    (v) => ((pick.run = own[v]), draw()),
  );
  which.select.id = "run";
  const about = el("p", { className: "note", id: "about-run" });
  root.append(el("div", { className: "controls" }, which.label), about);

  const rows = (get) => [
    ["from cycle", ...get().map((s) => s.name)],
    ...Array.from({ length: n() }, (_, i) => [at(i), ...get().map((s) => s.data[i])]),
  ];

  // Stacked areas: shares of the slots, or of the cycles in which a memory pipe was held.
  const stackSeries = () => {
    const c = p().counters,
      parts = pick.stack === "slots" ? SLOTS : STALLS;
    const used = parts.filter(([k]) => c[k]?.some((v) => v));
    const all = (i) => (pick.stack === "slots" ? c["issue.slots"][i] : used.reduce((s, [k]) => s + c[k][i], 0));
    return used.map(([k, name], j) => ({
      name,
      color: color(pick.stack === "slots" ? SLOT_COLORS[k] : j),
      data: c[k].map((v, i) => (all(i) ? (100 * v) / all(i) : 0)),
    }));
  };
  const stack = choose(
    "Show",
    [
      ["slots", "issue slots"],
      ["stalls", "what held the memory pipes"],
    ],
    (v) => ((pick.stack = v), over.draw()),
  );
  stack.select.id = "stack";
  const over = figure(root, {
    label: "Stalls over time",
    height: 300,
    group: "time",
    controls: [stack.label],
    marks: n,
    name: () => `${pick.stack}-over-time-${pick.run.label}`,
    option: () => ({
      legend: { type: "scroll", top: 0, textStyle: { color: css("--text") } },
      grid: { left: 52, right: 16, top: 36, bottom: 72 },
      tooltip: {
        trigger: "axis",
        ...tooltipStyle(),
        formatter: (ps) =>
          `<b>${span(ps[0].dataIndex)}</b><br>${kernelAt(at(ps[0].dataIndex))}<br>${ps
            .filter((x) => x.value >= 0.05)
            .map((x) => `${x.marker}${x.seriesName}: ${x.value.toFixed(1)} %`)
            .join("<br>")}`,
      },
      dataZoom: zoom(),
      xAxis: { ...timeAxis(true), boundaryGap: false },
      yAxis: { type: "value", max: 100, ...axisStyle(), axisLabel: { color: css("--text"), formatter: "{value} %" } },
      series: stackSeries().map((s) => ({
        ...s,
        type: "line",
        stack: "s",
        step: "start",
        symbol: "none",
        lineStyle: { width: 0 },
        areaStyle: { opacity: 0.9, color: s.color },
      })),
    }),
    rows: () => rows(stackSeries),
  });

  const lineSeries = () => {
    const [name, a, b, f] = LINES[pick.line],
      c = p().counters;
    return [{ name, data: c[a].map((v, i) => (c[b][i] ? (f * v) / c[b][i] : null)) }];
  };
  const line = choose(
    "Show",
    Object.entries(LINES).map(([k, v]) => [k, v[0]]),
    (v) => ((pick.line = v), rate.draw()),
  );
  line.select.id = "line";
  const rate = figure(root, {
    label: "Rates over time",
    height: 200,
    group: "time",
    controls: [line.label],
    marks: n,
    name: () => `${pick.line}-over-time-${pick.run.label}`,
    option: () => ({
      grid: { left: 52, right: 16, top: 12, bottom: 44 },
      tooltip: {
        trigger: "axis",
        ...tooltipStyle(),
        formatter: (ps) =>
          `<b>${span(ps[0].dataIndex)}</b><br>${ps[0].seriesName}: ${shownValue(ps[0].value, pick.line === "ipc")}`,
      },
      dataZoom: zoom("xAxisIndex", false),
      xAxis: { ...timeAxis(true), boundaryGap: false },
      yAxis: { type: "value", max: pick.line === "ipc" ? null : 100, ...axisStyle() },
      series: lineSeries().map((s) => ({
        ...s,
        type: "line",
        step: "start",
        symbol: "none",
        color: color(0),
        lineStyle: { width: 2 },
      })),
    }),
    rows: () => rows(lineSeries),
  });

  const cells = (table, width, get) => {
    const out = [];
    let most = 0;
    for (let i = 0; i < n(); i++)
      for (let k = 0; k < width; k++) {
        const v = get(table, i * width + k);
        if (v === null) continue;
        out.push([i, k, v]);
        if (v > most) most = v;
      }
    return { out, most };
  };
  const heatmap = (spec) =>
    figure(root, {
      renderer: "canvas",
      group: "time",
      ...spec,
      option: () => {
        const { out, most } = spec.cells();
        const narrow = root.clientWidth < 520;
        return {
          grid: { left: 62, right: 16, top: 8, bottom: 84 },
          tooltip: {
            ...tooltipStyle(),
            formatter: (q) => `<b>${spec.row(q.value[1])}</b><br>${span(q.value[0])}<br>${spec.say(q.value)}`,
          },
          dataZoom: zoom("xAxisIndex", false),
          visualMap: {
            min: 0,
            max: spec.max?.() ?? (most || 1),
            calculable: true,
            orient: "horizontal",
            left: "center",
            bottom: 0,
            itemHeight: narrow ? 100 : 180,
            itemWidth: 12,
            inRange: { color: heat() },
            textStyle: { color: css("--text") },
            formatter: (v) => short(v) + (spec.unit?.() ?? ""),
          },
          xAxis: timeAxis(true),
          yAxis: { type: "category", data: spec.names(), ...axisStyle(), splitLine: { show: false } },
          series: [
            {
              type: "heatmap",
              data: out,
              progressive: 0,
              itemStyle: { borderWidth: 0 },
              emphasis: { itemStyle: { borderColor: css("--text"), borderWidth: 1 } },
            },
          ],
        };
      },
      rows: () => [["from cycle", "row", "value"], ...spec.cells().out.map(([i, k, v]) => [at(i), spec.row(k), v])],
    });

  const setWhat = choose(
    "Show",
    [
      ["hits", "hit rate"],
      ["accesses", "accesses"],
      ["misses", "accesses that did not hit"],
    ],
    (v) => ((pick.heat = v), sets.draw()),
  );
  setWhat.select.id = "set-what";
  root.append(el("h3", { textContent: "L1 by set" }));
  const sets = heatmap({
    label: "Heat of the L1 by set",
    controls: [setWhat.label],
    size: () => 150 + Math.min(320, Math.max(120, p().sets * 7)),
    name: () => `l1-sets-${pick.heat}-${pick.run.label}`,
    cells: () =>
      cells(p(), p().sets, (t, i) =>
        !t.set_accesses[i]
          ? null
          : pick.heat === "hits"
            ? (100 * t.set_hits[i]) / t.set_accesses[i]
            : pick.heat === "accesses"
              ? t.set_accesses[i]
              : t.set_accesses[i] - t.set_hits[i],
      ),
    max: () => (pick.heat === "hits" ? 100 : undefined),
    unit: () => (pick.heat === "hits" ? " %" : ""),
    names: () => Array.from({ length: p().sets }, (_, i) => `set ${i}`),
    row: (k) => `set ${k}`,
    say: ([i, k]) => {
      const j = i * p().sets + k;
      const [loads, hits] = [p().set_accesses[j], p().set_hits[j]].map((n) => n.toLocaleString("en"));
      return `${loads} loads, ${hits} hit (all SMs together)`;
    },
  });

  const bankWhat = choose(
    "Show",
    [
      ["bursts", "bursts moved"],
      ["rows", "row activations"],
      ["per", "bursts per activation"],
    ],
    (v) => ((pick.bank = v), banks.draw()),
  );
  bankWhat.select.id = "bank-what";
  const width = () => p().channels * p().banks;
  root.append(el("h3", { textContent: "DRAM by bank" }));
  const banks = heatmap({
    label: "DRAM banks over time",
    controls: [bankWhat.label],
    size: () => 150 + Math.min(420, Math.max(160, width() * 4)),
    name: () => `dram-banks-${pick.bank}-${pick.run.label}`,
    cells: () =>
      cells(p(), width(), (t, i) => {
        const b = t.bank_bursts[i],
          r = t.bank_rows[i];
        if (!b && !r) return null;
        return pick.bank === "bursts" ? b : pick.bank === "rows" ? r : r ? b / r : null;
      }),
    names: () => Array.from({ length: width() }, (_, i) => `${Math.floor(i / p().banks)}.${i % p().banks}`),
    row: (k) => `channel ${Math.floor(k / p().banks)} bank ${k % p().banks}`,
    say: ([i, k]) => {
      const j = i * width() + k;
      return `${p().bank_bursts[j].toLocaleString("en")} bursts, ${p().bank_rows[j].toLocaleString("en")} activations`;
    },
  });

  function draw() {
    const r = pick.run,
      launches = r.launches.length + (r.launches_left_out ?? 0);
    const [cycles, every] = [p().cycles, p().every_cycles].map((n) => n.toLocaleString("en"));
    about.textContent =
      `${r.name}: ${launches} ${launches === 1 ? "launch" : "launches"}, ${cycles} cycles, ` +
      `shown in intervals of ${every} cycles. Ctrl and the mouse wheel zoom.`;
    for (const f of [over, rate, sets, banks]) f.draw();
  }
  draw();
  return true;
}
