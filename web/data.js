// What sluice put into the page, and how values are looked up in it: runs, their names, counters and rates.
const source = document.getElementById("data");
export const data = source
  ? JSON.parse(source.textContent)
  : { title: "No data", command: "", docs: {}, sources: {}, runs: [] };
export const runs = data.runs;
runs.forEach((r, i) => {
  r.index = i;
  r.gpu ??= "";
  r.launches ??= [];
  r.config = i ? { ...runs[0].config, ...r.config } : r.config;
  r.argv = (r.program ?? "").split(" ");
});

// A workload is a program with its arguments; its short name is the file name, with the arguments only where needed.
const file = (r) => r.argv[0].split("/").pop() || "program";
const programs = [...new Set(runs.map((r) => r.program))];
export const workloads = programs.map((p) => {
  const own = runs.filter((r) => r.program === p);
  const twin = programs.some((q) => q !== p && file(runs.find((r) => r.program === q)) === file(own[0]));
  return { program: p, name: twin ? [file(own[0]), ...own[0].argv.slice(1)].join(" ") : file(own[0]), runs: own };
});

// Columns: schemes; the same scheme twice with one workload (other knobs) is numbered.
workloads.forEach((w) => {
  const seen = new Map();
  for (const r of w.runs) {
    const n = (seen.get(r.scheme) ?? 0) + 1;
    seen.set(r.scheme, n);
    r.label = n > 1 ? `${r.scheme} (${n})` : r.scheme;
    r.workload = w;
    r.name = workloads.length > 1 ? `${w.name}, ${r.label}` : r.label;
  }
});
export const schemes = [...new Set(runs.map((r) => r.label))];
export const kernelNames = [...new Set(runs.flatMap((r) => r.kernels.map((k) => k.name)))];
export const runOf = (w, label) => w.runs.find((r) => r.label === label);

const RATES = {
  ipc: ["thread_insts", "cycles"],
  "l1d.read.hit_rate": ["l1d.read.hits", "l1d.read.accesses"],
  "l1d.read.pending_rate": ["l1d.read.pending_hits", "l1d.read.accesses"],
  "l1d.read.miss_rate": ["l1d.read.misses", "l1d.read.accesses"],
  "l2.hit_rate": ["l2.hits", "l2.accesses"],
  "dram.row_hit_rate": ["dram.row_hits", "dram.requests"],
  "dram.utilisation": ["dram.busy_cycles", "dram.cycles"],
};

// Values of one run: of all its launches, or of the launches of one kernel. Zeros are not in the page.
export function values(run, kernel) {
  if (!kernel) return run.totals;
  const k = run.kernels.find((x) => x.name === kernel);
  if (!k) return null;
  const v = { ...k };
  for (const [key, [a, b]] of Object.entries(RATES)) if (v[b]) v[key] = (v[a] ?? 0) / v[b];
  return v;
}
export function value(run, key, kernel) {
  const v = run && values(run, kernel);
  if (!v) return undefined;
  if (kernel && isMean(key)) return undefined; // means over launches cannot be rebuilt from the launches' means
  return typeof v[key] === "number" ? v[key] : 0;
}
const isMean = (key) =>
  key.endsWith(".mean") || ["simt_efficiency", "l1d.read.bypass_rate", "energy.efficiency"].includes(key);

// Lowest and highest value of an estimated counter of all launches; undefined if it is exact.
export function interval(run, key, kernel) {
  const [low, high] = (!kernel && run.estimate?.intervals[key]) || [0, 0];
  return high > low ? [low, high] : undefined;
}
export function halfWidth(run, key, kernel) {
  const i = interval(run, key, kernel),
    v = value(run, key, kernel);
  return i && v ? ` ± ${((50 * (i[1] - i[0])) / v).toFixed(1)} %` : "";
}

const FIRST = [
  "ipc",
  "cycles",
  "l1d.read.hit_rate",
  "l2.hit_rate",
  "dram.bytes",
  "dram.row_hit_rate",
  "icnt.flits_down",
  "mem.latency.mean",
  "energy.total",
];
let allKeys;
export function keys() {
  if (allKeys) return allKeys;
  const all = new Set(runs.flatMap((r) => Object.keys(r.totals)));
  return (allKeys = [...FIRST.filter((k) => all.has(k)), ...[...all].filter((k) => !FIRST.includes(k))]);
}

export const unit = (key) => data.docs[key]?.unit ?? "";
export const isRate = (key) => key.endsWith("_rate") || key === "dram.utilisation" || key === "simt_efficiency";
export function format(v, key = "") {
  if (v === undefined || v === null || Number.isNaN(v)) return "–";
  if (isRate(key)) return `${(100 * v).toFixed(1)} %`;
  if (unit(key) === "B") return bytes(v);
  if (Number.isInteger(v)) return v.toLocaleString("en");
  return Math.abs(v) >= 100 ? v.toFixed(1) : v.toPrecision(4);
}
export function short(v) {
  const a = Math.abs(v);
  if (a >= 1e9) return `${+(v / 1e9).toPrecision(3)}G`;
  if (a >= 1e6) return `${+(v / 1e6).toPrecision(3)}M`;
  if (a >= 1e4) return `${+(v / 1e3).toPrecision(3)}k`;
  return `${+v.toPrecision(3)}`;
}
export function bytes(v) {
  for (const [size, name] of [
    [1e9, "GB"],
    [1e6, "MB"],
    [1e3, "kB"],
  ])
    if (v >= size) return `${+(v / size).toPrecision(3)} ${name}`;
  return `${v} B`;
}
export const geomean = (a) =>
  a.length && a.every((v) => v > 0) ? Math.exp(a.reduce((s, v) => s + Math.log(v), 0) / a.length) : undefined;
