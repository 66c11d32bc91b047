// Pages that are no document of the source: the first one, papers, schemes, the figure of the composition study.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { escape } from "./markdown.mjs";
import { link } from "./layout.mjs";

const VERDICTS = ["reproduced", "direction", "contradicted", "not-comparable"];
const html = String.raw;

export function table(name, head, rows) {
  const cells = (tag, row) => row.map((c) => `<${tag}>${c}</${tag.split(" ")[0]}>`).join("");
  return (
    `<div class="scroll" data-name="${escape(name)}"><table><thead><tr>${cells('th scope="col"', head)}</tr></thead>` +
    `<tbody>${rows.map((r) => `<tr>${cells("td", r)}</tr>`).join("\n")}</tbody></table></div>\n`
  );
}

// ---- papers ----

// A paper of `reports`, the folder that `sluice paper all --stored -o` wrote, beside its page in docs/papers.
export function readPapers(root, reports, site) {
  return readdirSync(reports)
    .filter((name) => existsSync(join(reports, name, "report.html")))
    .map((name) => {
      const page = site.pages.get(site.file(`docs/papers/${name}.md`));
      const { claims } = JSON.parse(readFileSync(join(reports, name, "data.json")));
      const count = Object.fromEntries(VERDICTS.map((v) => [v, claims.filter((c) => c.verdict === v).length]));
      const figure = page.html.match(/<img src="([^"]*)" alt="([^"]*)"/);
      return {
        name,
        page,
        title: page.title.replace(/:.*/, ""),
        report: `papers/${name}.html`,
        count,
        claims: claims.length,
        figure: figure && { address: `docs/papers/${figure[1]}`, alt: figure[2] },
      };
    })
    .sort((a, b) => a.title.localeCompare(b.title));
}

function verdictBar(paper) {
  const parts = VERDICTS.filter((v) => paper.count[v]);
  const text = parts.map((v) => `${paper.count[v]} ${v}`).join(", ");
  const cells = parts.map((v) => `<span class="${v}" style="flex-grow:${paper.count[v]}"></span>`);
  return (
    `<div class="verdicts" aria-hidden="true">${cells.join("")}</div>` +
    `<p>Of ${paper.claims} published numbers: ${text}.</p>`
  );
}

function paperCard(from, paper, level) {
  const base = "../".repeat(from.split("/").length - 1);
  const image = paper.figure
    ? `<img src="${base}${escape(paper.figure.address)}" alt="Figure ${escape(paper.figure.alt)}, simulated" loading="lazy">`
    : "";
  return html`<article class="card">
    <h${level}>${link(from, paper.report, escape(paper.title))}</h${level}>
    ${image}${verdictBar(paper)}
    <p>
      ${link(from, paper.report, "Report", ` aria-label="Report of ${escape(paper.title)}"`)} ·
      ${link(from, paper.page.address, "Every claim", ` aria-label="Every claim of ${escape(paper.title)}"`)}
    </p>
  </article>`;
}

export function papersPage(papers, readme) {
  const address = "papers/index.html";
  const sum = (v) => papers.reduce((n, p) => n + p.count[v], 0);
  const all = papers.reduce((n, p) => n + p.claims, 0);
  return {
    address,
    title: "Papers",
    sections: [{ heading: "Papers", slug: "", level: 1, text: papers.map((p) => p.title).join(", ") }],
    html: html`<h1>Papers: published and simulated</h1>
      <p>
        Of ${all} published numbers: ${VERDICTS.map((v) => `${sum(v)} ${v}`).join(", ")}. A report has every figure,
        every claim, and the runs behind them. ${link(address, readme, "How the numbers are made")}.
      </p>
      <div class="cards">${papers.map((p) => paperCard(address, p, 2)).join("\n")}</div>`,
  };
}

// The report of a paper with a way back.
export function reportPage(text, from) {
  const nav = '<nav aria-label="Sections">';
  if (!text.includes(nav)) throw new Error(`${from}: no ${nav}`);
  return text.replace(nav, () => `${nav}<a href="../index.html">Gallery</a>`);
}

// ---- schemes ----

export const schemeAddress = (name) => `schemes/${name.replaceAll("+", "-plus")}.html`;
const storage = (bits) => (bits >= 8192 ? `${(bits / 8192).toFixed(2)} KB` : `${Math.round(bits)} bits`);
const code = (text) => `<code>${escape(text)}</code>`;

// The file below src/schemes that defines a scheme.
function definedIn(root, name) {
  const folder = join(root, "src/schemes");
  return readdirSync(folder)
    .filter((f) => f.endsWith(".c"))
    .find((f) => readFileSync(join(folder, f), "utf8").includes(`.name = "${name}"`));
}

function schemeFacts(s, address, site) {
  const file = definedIn(site.root, s.scheme);
  const slots = [...new Set(s.hooks.map((h) => h.slot).filter(Boolean))];
  const facts = [
    ["Paper", escape(s.paper)],
    ["Slots", escape(slots.join(", "))],
    ["Decides", escape(s.owns.join(", "))],
    [
      "Search",
      s.search &&
        `over ${code(s.search.parameter)} of ${link(address, schemeAddress(s.search.base), code(s.search.base))}: ${s.search.values.join(", ")}`,
    ],
    ["Storage", s.no_storage ? `none: ${escape(s.no_storage)}` : `${storage(s.storage_bits)} on GTX480 (fermi)`],
    ["Source", file && link(address, site.file(`src/schemes/${file}`), code(`src/schemes/${file}`))],
  ];
  return `<dl class="facts">${facts
    .filter(([, v]) => v)
    .map(([k, v]) => `<dt>${k}</dt><dd>${v}</dd>`)
    .join("\n")}</dl>`;
}

function schemeParts(s, address, site) {
  const part = (heading, slug, body) => body && `<h2 id="${slug}">${heading}</h2>\n${body}`;
  const params = s.parameters.map((p) => [
    code(p.name) + (p.positional ? ` <small>or ${code(`${s.scheme}=VALUE`)}</small>` : ""),
    p.default,
    `${p.from} to ${p.to}`,
    escape(p.unit),
    escape(p.meaning),
  ]);
  const counters = s.counters.map((c) => [code(`${s.scheme}.${c.name}`), escape(c.unit), escape(c.meaning)]);
  const items = s.storage.map((i) => [escape(i.item), Math.round(i.bits).toLocaleString("en")]);
  const hooks = s.hooks.map((h) => [code(h.hook), escape(h.slot || "observes")]);
  return [
    part(
      "Run it",
      "run-it",
      `<pre data-name="Code: run it"><code>sluice compare --scheme baseline,${escape(s.scheme)} -- kmeans --size medium\nsluice schemes --long ${escape(s.scheme)}</code></pre>`,
    ),
    part(
      "Parameters",
      "parameters",
      params.length && table("Parameters", ["parameter", "default", "range", "unit", "meaning"], params),
    ),
    part("Counters", "counters", counters.length && table("Counters", ["counter", "unit", "meaning"], counters)),
    part("Storage", "storage", items.length && table("Storage", ["item", "bits"], items)),
    part(
      "Hooks",
      "hooks",
      hooks.length &&
        table("Hooks", ["hook", "slot"], hooks) +
          `<p>${link(address, site.file("docs/reference/hooks.md"), "What each hook is called for")}</p>`,
    ),
  ].filter(Boolean);
}

export function schemePage(s, site, papers) {
  const address = schemeAddress(s.scheme);
  const paper = papers.find((p) => p.name === s.scheme);
  const parts = schemeParts(s, address, site);
  const words = [...s.parameters, ...s.counters].map((x) => `${x.name}: ${x.meaning}`);
  return {
    address,
    kind: "scheme",
    title: s.scheme,
    sections: [
      { heading: `${s.scheme}: ${s.what_it_does}`, slug: "", level: 1, text: [s.idea, s.paper, ...words].join(" ") },
      ...parts
        .map((p) => p.match(/<h2 id="([^"]*)">([^<]*)/))
        .map(([, slug, heading]) => ({ slug, heading, level: 2 })),
    ],
    html: html`<h1>${code(s.scheme)}</h1>
      <p class="lead">${escape(s.what_it_does)}</p>
      ${s.idea ? `<p>${escape(s.idea)}</p>` : ""} ${schemeFacts(s, address, site)}
      ${paper ? `<p>${link(address, paper.report, `Report of its paper: ${escape(paper.title)}`)}</p>` : ""}
      ${parts.join("\n")}`,
  };
}

export function schemesPage(schemes) {
  const address = "schemes/index.html";
  const rows = schemes.map((s) => [
    link(address, schemeAddress(s.scheme), code(s.scheme)),
    escape(s.what_it_does),
    s.no_storage ? "none" : storage(s.storage_bits),
    escape(s.paper),
  ]);
  return {
    address,
    kind: "scheme",
    title: "All schemes",
    sections: [{ heading: "Schemes", slug: "", level: 1, text: "cache-management schemes" }],
    html: `<h1>Schemes</h1>\n<p>${schemes.length} schemes, each from its own description; storage on GTX480 (fermi). They combine: ${code("--scheme swl=8+bucl:tucd=5")}.</p>\n${table("Schemes", ["scheme", "what it does", "storage", "paper"], rows)}`,
  };
}

// ---- the composition study ----

// Bars left and right of 1 from the first table whose head has `column`, as read from the rendered page.
export function bars(page, column, caption) {
  for (const [, body] of page.html.matchAll(/<table>([^]*?)<\/table>/g)) {
    const rows = [...body.matchAll(/<tr>([^]*?)<\/tr>/g)].map(([, r]) =>
      [...r.matchAll(/<t[hd][^>]*>([^]*?)<\/t[hd]>/g)].map(([, c]) => c.replace(/<[^>]*>/g, "")),
    );
    const at = rows[0].indexOf(column);
    if (at < 0) continue;
    const values = rows.slice(1).map((r) => +r[at]);
    const low = Math.min(1, ...values),
      part = (v) => `${((100 * v) / (Math.max(1, ...values) - low)).toFixed(1)}%`;
    const bar = (r, v) =>
      `<li><span>${r[0]}</span><span class="bar" style="--one:${part(1 - low)}"><span class="${v < 1 ? "less" : "more"}" ` +
      `style="margin-left:${part(Math.min(v, 1) - low)};width:${part(Math.abs(v - 1))}"></span></span><span>${r[at]}</span></li>`;
    const items = rows.slice(1).map((r, i) => bar(r, values[i]));
    return `<figure><figcaption>${escape(caption)}</figcaption><ul class="bars">${items.join("\n")}</ul></figure>\n`;
  }
  throw new Error(`${page.path}: no table with a column '${column}'`);
}

// ---- the first page ----

export function homePage({ papers, schemes, readme, composition, groups, notebooks }) {
  const address = "index.html";
  const docs = groups.map(
    (g) => `<li>${link(address, g.items[0].address, escape(g.name))}: ${g.items.length - 1} pages</li>`,
  );
  return {
    address,
    title: "Sluice",
    sections: [],
    html: html`<h1>Sluice</h1>
      <p class="lead">${escape(readme.lead)}</p>
      <p>${link(address, readme.address, "Read more")} · ${link(address, notebooks, "Notebooks")}</p>
      <h2 id="papers">Papers</h2>
      <div class="cards">${papers.map((p) => paperCard(address, p, 3)).join("\n")}</div>
      <h2 id="composition">What composes</h2>
      <p>${escape(composition.lead)}</p>
      <p>${link(address, composition.address, "The study")}</p>
      <h2 id="schemes">Schemes</h2>
      <ul class="names">
        ${schemes.map((s) => `<li>${link(address, schemeAddress(s.scheme), code(s.scheme))}</li>`).join("\n")}
      </ul>
      <h2 id="docs">Documentation</h2>
      <ul>
        ${docs.join("\n")}
      </ul>`,
  };
}
