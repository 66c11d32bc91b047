// Small helpers for building the page.
export const $ = (id) => document.getElementById(id);
export function el(tag, props = {}, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(props)) {
    if (v === undefined || v === null || v === false) continue;
    if (k in e && k !== "list") e[k] = v;
    else e.setAttribute(k, v === true ? "" : v);
  }
  e.append(...children.filter((c) => c !== null && c !== undefined && c !== false));
  return e;
}
export const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function choose(label, options, on, chosen) {
  const select = el(
    "select",
    {},
    ...options.map(([value, text]) => el("option", { value, textContent: text ?? value, selected: value === chosen })),
  );
  select.addEventListener("change", () => on(select.value));
  return { label: el("label", {}, label + " ", select), select };
}

export function save(name, type, text) {
  const a = el("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  document.body.append(a);
  a.click();
  a.remove();
  setTimeout(() => URL.revokeObjectURL(a.href), 1000);
}
// A text that a spreadsheet would take for a formula gets an apostrophe in front (OWASP); numbers stay as they are.
const cell = (c) => {
  const t = String(c ?? ""),
    formula = /^[=+\-@\t\r]/.test(t) && Number.isNaN(Number(t));
  return formula || /[",\r\n]/.test(t) ? `"${formula ? "'" : ""}${t.replaceAll('"', '""')}"` : t;
};
export const csv = (rows) => rows.map((r) => r.map(cell).join(",")).join("\n") + "\n";
export const slug = (s) =>
  s
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");

// A table whose columns sort by a click or the Enter key on their heading. Cells: { text, value, title, extra,
// bar (its length in percent), className }.
export function sortable(table, heads, rows, state) {
  const sorted =
    state.column === undefined
      ? rows
      : [...rows].sort((a, b) => {
          const x = a[state.column]?.value ?? "",
            y = b[state.column]?.value ?? "";
          const c = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
          return state.down ? -c : c;
        });
  const head = el(
    "tr",
    {},
    ...heads.map((h, i) => {
      const on = state.column === i;
      const b = el(
        "button",
        { type: "button", className: "sort", title: "sort by this column" },
        h,
        el("span", { className: "arrow", textContent: on ? (state.down ? "▼" : "▲") : "" }),
      );
      b.addEventListener("click", () => {
        if (on && state.down === !i) delete state.column;
        else if (on) state.down = !state.down;
        else Object.assign(state, { column: i, down: i > 0 });
        sortable(table, heads, rows, state);
        table.tHead.rows[0].cells[i].querySelector("button").focus();
      });
      const className = rows[0]?.[i]?.className?.split(" ")[0];
      return el(
        "th",
        { scope: "col", className, "aria-sort": on ? (state.down ? "descending" : "ascending") : "none" },
        b,
      );
    }),
  );
  table.replaceChildren(
    el("thead", {}, head),
    el(
      "tbody",
      {},
      ...sorted.map((r) =>
        el(
          "tr",
          {},
          ...r.map((c, i) =>
            el(
              i ? "td" : "th",
              { title: c.title, className: c.className, scope: i ? null : "row" },
              c.text,
              c.extra && el("small", { textContent: c.extra }),
              c.bar !== undefined && el("span", { className: "bar", style: `width:${c.bar.toFixed(1)}%` }),
            ),
          ),
        ),
      ),
    ),
  );
}
