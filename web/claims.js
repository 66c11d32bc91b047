// The claims of a paper beside our results: what the report of `sluice paper` opens with.
import { $, csv, el, save, sortable } from "./dom.js";
import { data } from "./data.js";

const ORDER = ["contradicted", "direction", "reproduced", "not-comparable"];
const number = (v) => (v === undefined ? "–" : Math.abs(v) >= 1000 ? v.toFixed(0) : String(+v.toPrecision(3)));
const interval = (low, high) => (low === undefined && high === undefined ? "" : ` (${number(low)} to ${number(high)})`);

// Columns of the CSV, and what each holds.
const HEADS = ["where", "metric", "scheme", "over", "published", "originals", "ours", "verdict", "why", "unit"];
const row = (c) => [
  c.where,
  c.metric,
  c.scheme,
  c.group,
  c.published,
  c.originals,
  c.ours,
  c.verdict,
  c.reason,
  c.unit,
];

// On the page, the reason stands under the claim, so that numbers and verdict fit the width.
const SHOWN = ["where", "verdict", "claim", "published", "originals", "ours", "unit"];
const word = (text, className = "word", extra = undefined) => ({
  text: text ?? "–",
  value: text ?? "",
  className,
  extra,
});
const amount = (v, more = "") => (v === undefined ? { text: "–", value: "" } : { text: number(v) + more, value: v });
const shown = (c) => [
  word(c.where),
  word(c.verdict, `word verdict ${c.verdict}`),
  word([c.metric?.replaceAll("_", " "), c.scheme, c.group].filter(Boolean).join(", "), "claim", c.reason),
  amount(c.published),
  amount(c.originals, interval(c.low_originals, c.high_originals)),
  amount(c.ours, interval(c.low, c.high)),
  word(c.unit),
];

export function claims() {
  const all = data.claims ?? [];
  if (!all.length) return false;
  const count = (v) => all.filter((c) => c.verdict === v).length;
  $("claims-verdict").append(
    `Of ${all.length} published numbers `,
    el("strong", { textContent: `${count("reproduced")} are reproduced` }),
    `, ${count("direction")} in direction only, ${count("contradicted")} are contradicted, ` +
      `${count("not-comparable")} are not comparable.`,
  );
  if (data.order) $("claims-order").textContent = data.order;
  if (data.origin) $("claims-origin").textContent = data.origin;
  const sorted = [...all].sort((a, b) => ORDER.indexOf(a.verdict) - ORDER.indexOf(b.verdict));
  sortable($("claims-table"), SHOWN, sorted.map(shown), {});
  $("claims-csv").addEventListener("click", () => save("claims.csv", "text/csv", csv([HEADS, ...sorted.map(row)])));
  return true;
}
