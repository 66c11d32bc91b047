// What every page of the gallery has around its content.
import { escape } from "./markdown.mjs";
import { relative } from "./site.mjs";

const TOP = [
  ["papers/index.html", "Papers"],
  ["composition.html", "Composition"],
  ["schemes/index.html", "Schemes"],
  ["docs/index.html", "Documentation"],
];

export const link = (from, to, text, more = "") =>
  `<a href="${escape(encodeURI(relative(from, to)))}"${more}>${text}</a>`;

const entry = (page, item) => {
  const here = item.address === page.address;
  const parts = here ? page.sections.filter((s) => s.level === 2) : [];
  const below = parts.map((s) => `<li><a href="#${escape(s.slug)}">${escape(s.heading)}</a></li>`).join("");
  return (
    `<li>${link(page.address, item.address, escape(item.title), here ? ' aria-current="page"' : "")}` +
    `${below && `<ul>${below}</ul>`}</li>`
  );
};

// Lists of pages beside the content: [{ name, items: [{ address, title }] }], those with this page open.
function tree(page, groups) {
  const lists = groups.map(({ name, items }) => {
    const open = groups.length === 1 || items.some((i) => i.address === page.address);
    return (
      `<details${open ? " open" : ""}><summary>${escape(name)}</summary>` +
      `<ul>${items.map((i) => entry(page, i)).join("\n")}</ul></details>`
    );
  });
  return (
    `<nav class="tree" aria-label="Pages"><details open><summary>Pages</summary>${lists.join("\n")}</details>\n` +
    "<script>if (innerWidth < 900) document.currentScript.previousElementSibling.open = false;</script></nav>"
  );
}

export function layout(page, groups) {
  const base = "../".repeat(page.address.split("/").length - 1);
  const current = (to) => (to === page.address ? ' aria-current="page"' : "");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(page.title)}${page.address === "index.html" ? "" : " - Sluice"}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${base}assets/gallery.css">
<script>try { document.documentElement.dataset.theme = localStorage.getItem("sluice-theme") ?? "auto"; } catch {}</script>
<script src="${base}assets/gallery.js" defer></script>
</head>
<body data-base="${base}">
<a class="skip" href="#main">To the content</a>
<header class="site">
${link(page.address, "index.html", "Sluice", ` class="home"${current("index.html")}`)}
<nav aria-label="Site">${TOP.map(([to, name]) => link(page.address, to, name, current(to))).join("")}</nav>
<div class="find" role="search"><input id="find" type="search" autocomplete="off" spellcheck="false" aria-label="Search"
 aria-describedby="find-count" placeholder="Search  /" disabled>
<div id="found" hidden><p id="find-count" role="status"></p><ol></ol></div></div>
<button id="theme" type="button">Theme: auto</button>
</header>
<div class="columns${groups ? " two" : ""}">
${groups ? tree(page, groups) : ""}
<main id="main" tabindex="-1">
${page.html}
</main>
</div>
<footer><p class="note">${page.path ? `From <code>${escape(page.path)}</code>. ` : ""}Made by <code>make gallery</code>.</p></footer>
</body>
</html>
`;
}
