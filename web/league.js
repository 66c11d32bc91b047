// The league: schemes ranked per class of program, as `sluice league` puts them into the page.
import { $, choose, csv, el, save, sortable } from "./dom.js";
import { data } from "./data.js";

const ratio = (v) => ({ text: v === null ? "–" : v.toFixed(3), value: v ?? -1 });
const word = (text) => ({ text, value: text, className: "word" });

// The length of a bar in percent: half for the baseline's IPC, all for twice that.
const length = (v) => Math.max(0, Math.min(100, 50 * v));

const HEADS = ["rank", "scheme", "IPC", "95 % interval", "worst", "best", "programs", "energy", "storage [KB]"];
const cells = (n) => [
  { text: n.rank === null ? "–" : String(n.rank), value: n.rank ?? 1e9 },
  word(n.scheme),
  { ...ratio(n.ipc), bar: length(n.ipc) },
  { text: n.low === null || n.high === null ? "–" : `${n.low.toFixed(3)} to ${n.high.toFixed(3)}`, value: n.low ?? -1 },
  { ...ratio(n.worst), extra: ` ${n.worst_program}` },
  { ...ratio(n.best), extra: ` ${n.best_program}` },
  { text: n.programs < n.of ? `${n.programs} of ${n.of}` : String(n.of), value: n.programs },
  ratio(n.energy),
  { text: n.storage_bits === null ? "–" : (n.storage_bits / 8192).toFixed(2), value: n.storage_bits ?? -1 },
];

export function league() {
  const all = data.league ?? [];
  if (!all.length) return false;
  const classes = [...new Set(all.map((n) => n.class))];
  const of = (name) => all.filter((n) => n.class === name);
  const draw = (name) => {
    const rows = of(name),
      first = rows[0];
    $("league-verdict").replaceChildren(
      el("strong", { textContent: first.scheme }),
      ` leads with ${first.ipc.toFixed(3)} of the baseline's IPC over ${first.of} ` +
        `${name === "all" ? "programs" : `programs of class ${name}`}; ${rows.length} schemes.`,
    );
    sortable($("league-table"), HEADS, rows.map(cells), {});
  };
  const { label } = choose(
    "Class",
    classes.map((c) => [c, `${c} (${of(c)[0].of})`]),
    draw,
    classes[0],
  );
  $("league-class").append(label);
  $("league-csv").addEventListener("click", () =>
    save("league.csv", "text/csv", csv([Object.keys(all[0]), ...all.map((n) => Object.values(n))])),
  );
  draw(classes[0]);
  return true;
}
