// Write the gallery: a static site that opens from the file system and from any web server.
//   node web/gallery/build.mjs BUILD REPORTS OUT    REPORTS: of `sluice paper all --stored -o REPORTS`
// An address in the site is relative to the page that uses it. Nothing is loaded but the site's own style and scripts.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { makeIndex } from "./index.mjs";
import { layout } from "./layout.mjs";
import { bars, homePage, papersPage, readPapers, reportPage, schemePage, schemesPage } from "./pages.mjs";
import { Site } from "./site.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../..");
const [buildFolder, reports, out] = process.argv.slice(2).map((p) => resolve(p));
const site = new Site(root);

// ---- documents ----

const titles = { tutorials: "Tutorials", "how-to": "How-to", reference: "Reference", explanation: "Explanation" };
function folder(name, title) {
  const files = readdirSync(join(root, "docs", name)).filter((f) => f.endsWith(".md"));
  files.sort((a, b) => (b === "README.md") - (a === "README.md") || a.localeCompare(b));
  return { name: title, items: files.map((f) => site.pages.get(site.file(`docs/${name}/${f}`))) };
}
const readme = site.pages.get(site.file("README.md"));
const docs = site.pages.get(site.file("docs/README.md"));
const contributing = site.pages.get(site.file("CONTRIBUTING.md"));
const groups = [
  { name: "Start", items: [docs, readme, contributing] },
  ...Object.entries({ ...titles, papers: "Papers", notes: "Notes" }).map(([name, title]) => folder(name, title)),
];
const notebooks = site.file("examples/notebooks");
const composition = site.pages.get(site.file("docs/notes/composition.md"));
composition.html = composition.html.replace("<h2", () => {
  const caption = "IPC over the baseline, geometric mean over all workloads, size small";
  return `${bars(composition, "all", caption)}<h2`;
});

// ---- papers, schemes, the first page ----

const sluice = join(buildFolder, "sluice");
const schemes = JSON.parse(execFileSync(sluice, ["schemes", "--json", "--long"], { maxBuffer: 1 << 26 }));
const papers = readPapers(root, reports, site);
site.add(papersPage(papers, groups.at(-2).items[0].address));
const schemeList = site.add(schemesPage(schemes));
const schemePages = schemes.map((s) => site.add(schemePage(s, site, papers)));
const schemeGroups = [{ name: "Schemes", items: [schemeList, ...schemePages] }];
site.add(homePage({ papers, schemes, readme, composition, groups: groups.slice(1), notebooks }));

const wrong = site.check();
if (wrong.length) {
  console.error(wrong.map((w) => `sluice: ${w}`).join("\n"));
  process.exit(1);
}

// ---- files: the whole site or none of it ----

const fresh = `${out}.new`;
rmSync(fresh, { recursive: true, force: true });
const put = (address, text) => {
  mkdirSync(dirname(join(fresh, address)), { recursive: true });
  writeFileSync(join(fresh, address), text);
};
const inDocs = new Set(groups.flatMap((g) => g.items.map((i) => i.address)));
for (const page of site.pages.values())
  put(page.address, layout(page, page.kind === "scheme" ? schemeGroups : inDocs.has(page.address) ? groups : null));
for (const path of site.pictures) {
  mkdirSync(dirname(join(fresh, path)), { recursive: true });
  cpSync(join(root, path), join(fresh, path));
}
for (const paper of papers) {
  const from = join(reports, paper.name, "report.html");
  put(paper.report, reportPage(readFileSync(from, "utf8"), from));
}
const bundle = { bundle: true, minify: true, write: false, legalComments: "none" };
const script = { ...bundle, format: "iife", target: "es2020" };
const text = async (options) => (await build(options)).outputFiles[0].text;
put("assets/gallery.css", await text({ ...bundle, entryPoints: [join(here, "gallery.css")] }));
put("assets/gallery.js", await text({ ...script, entryPoints: [join(here, "gallery.js")] }));
const reportItems = papers.map((p) => ({
  address: p.report,
  title: "Report",
  sections: [{ heading: `Report of ${p.title}`, slug: "", level: 1, text: `figures, claims and runs: ${p.name}` }],
}));
const index = makeIndex([...site.pages.values(), ...reportItems]);
put("assets/index.js", `sluiceIndex(${JSON.stringify(index)});\n`);
rmSync(out, { recursive: true, force: true });
if (existsSync(out)) throw new Error(`cannot replace ${out}`);
renameSync(fresh, out);
console.log(`${site.pages.size + papers.length} pages: ${join(out, "index.html")}`);
