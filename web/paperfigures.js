// Figures of a paper as `sluice paper` drew them, each with the published and the simulated numbers.
import { $, csv, el, save } from "./dom.js";
import { data, format } from "./data.js";

const STATES = { absent: "not drawn: ", partial: "in part: " };

export function paperFigures() {
  if (!data.figures?.length) return false;
  const only = el("input", { type: "search", placeholder: "Fig 7, energy, …", id: "figure-filter" });
  const boxes = data.figures.map((f) => {
    const image = el("img", {
      src: `data:image/svg+xml;utf8,${encodeURIComponent(f.svg)}`,
      alt: `${f.where}: ${f.title}`,
    });
    const table = f.published.length
      ? el(
          "details",
          {},
          el("summary", { textContent: `Published beside ours (${f.published.length})` }),
          el(
            "div",
            { className: "scroll" },
            el(
              "table",
              {},
              el(
                "thead",
                {},
                el(
                  "tr",
                  {},
                  ...["scheme", "of", "metric", "published", "ours", "unit"].map((h) => el("th", { textContent: h })),
                ),
              ),
              el(
                "tbody",
                {},
                ...f.published.map((p) =>
                  el(
                    "tr",
                    {},
                    ...[
                      p.scheme,
                      p.group,
                      p.metric,
                      format(p.published),
                      p.ours === undefined ? "–" : p.ours.toFixed(1),
                      p.unit,
                    ].map((t) => el("td", { textContent: t })),
                  ),
                ),
              ),
            ),
          ),
        )
      : null;
    const button = (text, on) => {
      const b = el("button", { type: "button", textContent: text, title: `save ${f.where}` });
      b.addEventListener("click", on);
      return b;
    };
    const note = [STATES[f.state] ? STATES[f.state] + f.missing.join("; ") : "", f.reason].filter(Boolean).join(". ");
    const exports = el(
      "span",
      { className: "exports" },
      button("SVG", () => save(`${f.figure}.svg`, "image/svg+xml", f.svg)),
      button("CSV", () => save(`${f.figure}.csv`, "text/csv", csv(f.rows))),
    );
    return {
      f,
      box: el(
        "figure",
        { className: "paper", id: f.figure },
        el("div", { className: "controls" }, el("h3", { textContent: `${f.where}: ${f.title}` }), exports),
        image,
        el("p", { className: "note", textContent: note }),
        table,
      ),
    };
  });
  only.addEventListener("input", () => {
    const w = only.value.toLowerCase();
    for (const { f, box } of boxes) box.hidden = !!w && !`${f.where} ${f.title} ${f.figure}`.toLowerCase().includes(w);
  });
  $("figures-box").append(
    el("div", { className: "controls" }, el("label", {}, "Filter ", only)),
    ...boxes.map((b) => b.box),
  );
  return true;
}
