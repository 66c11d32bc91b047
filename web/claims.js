// The claims of a paper beside our results: what the report of `sluice paper` opens with.
import { $, csv, el, save, sortable } from "./dom.js";
import { data } from "./data.js";

const ORDER = ["contradicted", "direction", "reproduced", "not-comparable"];
const number = (v) => (v === undefined ? "–" : Math.abs(v) >= 1000 ? v.toFixed(0) : String(+v.toPrecision(3)));
const interval = (c) => (c.low === undefined && c.high === undefined ? "" : ` (${number(c.low)} to ${number(c.high)})`);

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
  if (data.origin) $("claims-origin").textContent = data.origin;
  const sorted = [...all].sort((a, b) => ORDER.indexOf(a.verdict) - ORDER.indexOf(b.verdict));
  sortable(
    $("claims-table"),
    HEADS,
    sorted.map((c) =>
      row(c).map((v, i) =>
        typeof v === "number"
          ? { text: number(v) + (HEADS[i] === "ours" ? interval(c) : ""), value: v }
          : { text: v ?? "–", value: v ?? "", className: HEADS[i] === "why" ? "prose" : "word" },
      ),
    ),
    {},
  );
  $("claims-csv").addEventListener("click", () => save("claims.csv", "text/csv", csv([HEADS, ...sorted.map(row)])));
  return true;
}
