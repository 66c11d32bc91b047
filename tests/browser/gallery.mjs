// What a reader of the gallery does, done in Chromium: gallery.mjs SITE SCHEMES.json. Prints "ok NAME" and "not ok NAME".
import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { extname, join, normalize } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { browser, end, test, watch } from "./page.mjs";

const [, , site, schemesFile] = process.argv;
const schemes = JSON.parse(readFileSync(schemesFile));
const PAPERS = ["bucl", "decoupled-l1d", "medic", "sharing", "tsc"];
const url = (address) => pathToFileURL(join(site, address)).href;

async function open(address, options = {}) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    ...options,
  });
  const page = watch(await context.newPage());
  await page.goto(url(address));
  return page;
}
const close = (page) => page.context().close();

// ---- every page ----

const pages = new Map(); // by address: { ids, links, ... }
await test("every page from the first one on, on a phone: no errors, no network, nothing sticks out", async () => {
  const page = await open("index.html", {
    viewport: { width: 390, height: 800 },
    colorScheme: "dark",
  });
  const queue = ["index.html"];
  for (const at of queue) {
    if (at !== "index.html") await page.goto(url(at));
    const there = await page.evaluate(() => ({
      ids: [...document.querySelectorAll("[id]")].map((e) => e.id),
      links: [...document.querySelectorAll("a[href]")].map((a) => a.href),
      files: [...document.querySelectorAll("[src],link[href]")]
        .map((e) => e.src || e.href)
        .filter((u) => !u.startsWith("data:")),
      wide: document.documentElement.scrollWidth - innerWidth,
      title: document.title,
      headings: document.querySelectorAll("h1").length,
      blind: [...document.images].filter((i) => !i.alt).length,
    }));
    pages.set(at, there);
    assert.deepEqual(page.wrong, [], at);
    assert.equal(there.wide, 0, `${at} is wider than the screen`);
    assert.ok(there.title && there.headings === 1 && !there.blind, at);
    for (const link of there.links) {
      if (link.startsWith("https://")) continue; // a reader may go there; nothing is loaded from it
      const name = link.split("#")[0];
      assert.ok(
        name.startsWith(url("")),
        `${at} leads out of the site: ${link}`,
      );
      const to = decodeURI(name.slice(url("").length + 1));
      if (!queue.includes(to) && existsSync(join(site, to))) queue.push(to);
    }
  }
  await close(page);
  assert.ok(pages.size > 150, `${pages.size} pages`);
});
await test("every link leads to a page, every anchor to a place in it, every picture is there", async () => {
  const wrong = [];
  for (const [at, { links, files }] of pages) {
    for (const link of links.filter((l) => !l.startsWith("https://"))) {
      const [name, anchor] = link.slice(url("").length + 1).split("#");
      const to = pages.get(decodeURI(name));
      if (!to || (anchor && !to.ids.includes(decodeURIComponent(anchor))))
        wrong.push(`${at}: ${link}`);
    }
    for (const f of files)
      if (!f.startsWith(`${url("")}/`) || !statSync(fileURLToPath(f)).size)
        wrong.push(`${at}: ${f}`);
  }
  assert.deepEqual(wrong, []);
});

// ---- what is there ----

await test("the reports of the five papers lead back; the composition study has its figure", async () => {
  for (const name of PAPERS) {
    const report = pages.get(`papers/${name}.html`);
    assert.ok(report.ids.includes("claims-table"), name);
    assert.ok(report.links.includes(url("index.html")), name);
    assert.ok(
      pages.get("index.html").links.includes(url(`papers/${name}.html`)),
    );
  }
  const page = await open("composition.html");
  const bars = await page.locator(".bars li").allInnerTexts();
  const rows = await page
    .locator("table")
    .first()
    .locator("tbody tr")
    .evaluateAll((all) =>
      all.map((r) => [r.cells[0].innerText, r.cells[6].innerText]),
    );
  assert.ok(rows.length > 20);
  assert.deepEqual(
    bars.map((b) => b.split("\n").filter(Boolean)),
    rows,
  );
  await close(page);
});
await test("a page for each scheme has the parameters, counters and storage of its description", async () => {
  const page = await open("schemes/index.html");
  assert.equal(await page.locator("main tbody tr").count(), schemes.length);
  for (const s of schemes) {
    await page.goto(url(`schemes/${s.scheme.replaceAll("+", "-plus")}.html`));
    const shown = await page.evaluate(() => ({
      name: document.querySelector("h1").innerText,
      text: document.querySelector("main").innerText.replace(/\s+/g, " "),
      tables: Object.fromEntries(
        ["parameters", "counters", "storage"].map((id) => [
          id,
          [
            ...(document
              .getElementById(id)
              ?.nextElementSibling.querySelectorAll("tbody tr") ?? []),
          ].map((r) =>
            [...r.cells].map((c) => (c.querySelector("code") ?? c).innerText),
          ),
        ]),
      ),
    }));
    const { parameters, counters, storage } = shown.tables;
    assert.equal(shown.name, s.scheme);
    assert.ok(
      shown.text.includes(s.paper.replace(/\s+/g, " ")) &&
        shown.text.includes(s.what_it_does),
      s.scheme,
    );
    assert.deepEqual(
      parameters.map((p) => [p[0], +p[1], p[4]]),
      s.parameters.map((p) => [p.name, p.default, p.meaning]),
    );
    assert.deepEqual(
      counters.map((c) => c[0]),
      s.counters.map((c) => `${s.scheme}.${c.name}`),
    );
    assert.equal(
      storage.reduce((sum, r) => sum + +r[1].replaceAll(",", ""), 0),
      s.storage.reduce((sum, r) => sum + Math.round(r.bits), 0),
    );
  }
  assert.deepEqual(page.wrong, []);
  await close(page);
});

// ---- search ----

async function search(page, text) {
  await page.fill("#find", "");
  await page.waitForSelector("#found", { state: "hidden" });
  await page.fill("#find", text);
  await page.waitForSelector("#found:not([hidden])");
  return page
    .locator("#found a")
    .evaluateAll((all) => all.map((a) => a.getAttribute("href")));
}
await test("search finds schemes, counters, sections and documents, also with a slip of the pen", async () => {
  const page = await open("docs/how-to/studies.html");
  const top = async (text, to, n = 3) => {
    const results = (await search(page, text)).slice(0, n);
    assert.ok(results.includes(`../../${to}`), `${text}: ${results}`);
  };
  await top("bucl", "schemes/bucl.html");
  await top("tsc+", "schemes/tsc-plus.html");
  await top("bypassed_on_stall", "schemes/bucl.html");
  await top("stored results", "docs/how-to/papers.html#stored-results");
  await top("un-coalesc bypass", "schemes/bucl.html", 12);
  await top("report medic", "papers/medic.html");
  await top("prefetchng", "docs/reference/scheme-hooks.html#prefetching", 12);
  assert.deepEqual(await search(page, "qqqzzzxxx"), []);
  assert.equal(await page.locator("#find-count").innerText(), "0 results");
  assert.ok((await search(page, "<img src=x onerror=alert(1)>")).length >= 0);
  assert.deepEqual(page.wrong, []);
  await close(page);
});

// ---- keyboard ----

await test("keyboard: skip link, a ring around the focus, search and its results", async () => {
  const page = await open("schemes/bucl.html");
  const active = () =>
    page.evaluate(
      () => document.activeElement.id || document.activeElement.className,
    );
  await page.keyboard.press("Tab");
  assert.equal(await active(), "skip");
  await page.keyboard.press("Enter");
  assert.equal(await active(), "main");
  for (let i = 0; i < 12; i++) {
    await page.keyboard.press("Shift+Tab");
    const stop = await page.evaluate(() => {
      const e = document.activeElement,
        s = getComputedStyle(e);
      return s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2
        ? "ring"
        : e.outerHTML;
    });
    assert.equal(stop, "ring");
  }
  await page.keyboard.press("/");
  assert.equal(await active(), "find");
  await page.keyboard.type("sharing cta");
  await page.waitForSelector("#found:not([hidden])");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  const second = await page.evaluate(() => document.activeElement.href);
  assert.equal(
    second,
    await page
      .locator("#found a")
      .nth(1)
      .evaluate((a) => a.href),
  );
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("#found").isVisible(), false);
  assert.equal(await active(), "find");
  await page.keyboard.type(" ");
  await page.keyboard.press("Backspace");
  await page.waitForSelector("#found:not([hidden])");
  const first = await page
    .locator("#found a")
    .first()
    .evaluate((a) => a.href);
  await page.keyboard.press("Enter");
  await page.waitForURL(first);
  assert.deepEqual(page.wrong, []);
  await close(page);
});
await test("what is wider than the page scrolls by keyboard", async () => {
  const page = await open("docs/how-to/papers.html", {
    viewport: { width: 390, height: 800 },
  });
  const pre = page.locator("pre").first();
  await pre.focus();
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(
    () => document.querySelector("pre").scrollLeft > 0,
  );
  await close(page);
});

// ---- themes, accessibility, paper ----

await test("the theme is kept from page to page and in the reports; without a choice it is the system's", async () => {
  const page = await open("index.html");
  const ground = () =>
    page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.click("#theme");
  await page.click("#theme");
  assert.equal(await page.locator("#theme").innerText(), "Theme: dark");
  const dark = await ground();
  assert.notEqual(dark, light);
  for (const to of ["docs/reference/knobs.html", "papers/bucl.html"]) {
    await page.goto(url(to));
    assert.equal(await ground(), dark, to);
  }
  await page.click("#theme");
  await page.emulateMedia({ colorScheme: "dark" });
  await page.goto(url("index.html"));
  assert.equal(await ground(), dark);
  await close(page);
});
const axe = createRequire(
  new URL("../../web/package.json", import.meta.url),
).resolve("axe-core/axe.min.js");
await test("axe finds nothing in either theme", async () => {
  const found = [];
  for (const colorScheme of ["light", "dark"])
    for (const at of [
      "index.html",
      "papers/index.html",
      "papers/bucl.html",
      "schemes/bucl.html",
      "composition.html",
      "docs/how-to/report.html",
      "files/examples/notebooks/3-a-scheme.ipynb.html",
    ]) {
      const page = await open(at, { colorScheme });
      if (at.startsWith("schemes")) await search(page, "bypass");
      await page.addScriptTag({ path: axe });
      const { violations } = await page.evaluate(() =>
        axe.run({ resultTypes: ["violations"] }),
      );
      found.push(
        ...violations.map(
          (v) =>
            `${at}, ${colorScheme}: ${v.id}: ${v.help}: ${v.nodes[0].html}`,
        ),
      );
      await close(page);
    }
  assert.deepEqual(found, []);
});
await test("on paper: content only, nothing cut off", async () => {
  const page = await open("docs/reference/schemes.html");
  await page.emulateMedia({ media: "print" });
  for (const part of ["header.site", ".tree", "footer"])
    assert.equal(await page.locator(part).isVisible(), false, part);
  const cut = await page.evaluate(
    () =>
      [...document.querySelectorAll(".scroll")].filter(
        (e) => getComputedStyle(e).overflowY !== "visible",
      ).length,
  );
  assert.equal(cut, 0);
  const pdf = await page.pdf({ format: "A4" });
  assert.ok(pdf.length > 50000, `${pdf.length} bytes`);
  await close(page);
});

// ---- a web server ----

await test("the same below a folder of a web server: pages, search, nothing from elsewhere", async () => {
  const types = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
  };
  const server = createServer((request, response) => {
    const path = normalize(decodeURI(request.url.replace(/[?#].*/, "")));
    const file = join(
      site,
      path.replace(/^\/some\/folder/, "").replace(/\/$/, "/index.html"),
    );
    if (!path.startsWith("/some/folder/") || !existsSync(file))
      return response.writeHead(404).end();
    response.writeHead(200, {
      "Content-Type": types[extname(file)] ?? "application/octet-stream",
    });
    response.end(readFileSync(file));
  }).listen(0, "127.0.0.1");
  await new Promise((ready) => server.once("listening", ready));
  const origin = `http://127.0.0.1:${server.address().port}/some/folder/`;
  const page = watch(await browser.newPage(), origin);
  await page.goto(origin);
  await page.locator("header").getByText("Documentation").click();
  await page.waitForURL(`${origin}docs/index.html`);
  assert.ok((await search(page, "bucl")).includes("../schemes/bucl.html"));
  await page.locator("#found a").first().click();
  await page.waitForLoadState();
  assert.deepEqual(page.wrong, []);
  await page.close();
  server.close();
});
await end();
