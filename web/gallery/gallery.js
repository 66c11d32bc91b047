// Theme, search, and scrolling by keyboard. The index is a script of the site, loaded when the search is first used.
import MiniSearch from "minisearch";
import { $, el } from "../dom.js";
import { themes } from "../theme.js";
import { OPTIONS } from "./index.mjs";

const SHOWN = 12;
const AROUND = 90; // characters of text before and after the first word found

themes($("theme"));

// ---- what scrolls can be scrolled by keyboard ----

function scrollers() {
  const times = {}; // each region has a name of its own
  for (const e of document.querySelectorAll(".scroll, pre")) {
    const scrolls = e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight;
    const name = e.dataset.name;
    times[name] = (times[name] ?? 0) + 1;
    for (const [attribute, value] of [
      ["tabindex", "0"],
      ["role", "region"],
      ["aria-label", times[name] > 1 ? `${name} (${times[name]})` : name],
    ])
      if (scrolls) e.setAttribute(attribute, value);
      else e.removeAttribute(attribute);
  }
}
scrollers();
addEventListener("resize", scrollers);

// ---- search ----

const input = $("find"),
  found = $("found"),
  list = found.querySelector("ol"),
  base = document.body.dataset.base;
let loading;

function load() {
  loading ??= new Promise((ready, failed) => {
    self.sluiceIndex = (text) => ready(MiniSearch.loadJSON(text, OPTIONS));
    document.head.append(el("script", { src: `${base}assets/index.js`, onerror: failed }));
  });
  return loading;
}

// The text around the first word found, with all found words marked.
function excerpt(text, terms) {
  const longest = [...terms].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(`(${longest.join("|")})`, "giu"); // of letters and digits
  const at = Math.max(0, text.search(pattern));
  const from = Math.max(0, at - AROUND);
  const cut = (from ? "…" : "") + text.slice(from, at + AROUND) + (at + AROUND < text.length ? "…" : "");
  return cut.split(pattern).map((part, i) => (i % 2 ? el("mark", { textContent: part }) : part));
}

function result(r) {
  const of = r.page === r.heading ? null : el("small", { textContent: r.page });
  const link = el("a", { href: base + r.url }, el("b", { textContent: r.heading }), of);
  if (r.text) link.append(el("span", {}, ...excerpt(r.text, r.terms)));
  return el("li", {}, link);
}

function close() {
  found.hidden = true;
}

async function search() {
  const text = input.value.trim();
  if (!text) return close();
  const index = await load();
  if (text !== input.value.trim()) return; // typed on meanwhile
  // All words, then all but for slips of the pen, then any of them.
  const tries = [{}, { fuzzy: 0.25 }, { fuzzy: 0.25, combineWith: "OR" }];
  let all = [];
  for (const options of tries) if (!all.length) all = index.search(text, options);
  const more = all.length > SHOWN ? `, the best ${SHOWN} shown` : "";
  $("find-count").textContent = `${all.length} ${all.length === 1 ? "result" : "results"}${more}`;
  list.replaceChildren(...all.slice(0, SHOWN).map(result));
  found.hidden = false;
}

// Arrow keys walk from the field through the results and back.
function walk(step) {
  const stops = [input, ...list.querySelectorAll("a")];
  const at = stops.indexOf(document.activeElement) + step;
  stops[Math.min(Math.max(at, 0), stops.length - 1)].focus();
}

input.disabled = false;
input.addEventListener("focus", load);
input.addEventListener("input", search);
document.addEventListener("keydown", (e) => {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
  const inside = !found.hidden && (document.activeElement === input || found.contains(document.activeElement));
  if (e.key === "/" && !typing && !e.ctrlKey && !e.metaKey) input.focus();
  else if (e.key === "Escape" && inside) (close(), input.focus());
  else if (inside && e.key === "ArrowDown") walk(1);
  else if (inside && e.key === "ArrowUp") walk(-1);
  else if (inside && e.key === "Enter" && document.activeElement === input) list.querySelector("a")?.click();
  else return;
  e.preventDefault();
});
document.addEventListener("click", (e) => !e.target.closest(".find") && close());
list.addEventListener("click", (e) => e.target.closest("a") && close()); // an anchor of this page
document.addEventListener("focusin", (e) => !e.target.closest(".find") && close());
