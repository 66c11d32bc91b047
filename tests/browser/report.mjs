// What a reader of the report does, done in Chromium: see run. Prints "ok NAME" and "not ok NAME".
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { browser, end, test, watch } from "./page.mjs";

const [, , dir, shots] = process.argv;
const records = JSON.parse(readFileSync(join(dir, "runs.json"))).runs;

async function open(file, options = {}) {
  const page = watch(
    await browser.newPage({
      viewport: { width: 1280, height: 900 },
      acceptDownloads: true,
      ...options,
    }),
  );
  await page.goto(`file://${join(dir, file)}`);
  return page;
}
async function download(page, selector) {
  const [d] = await Promise.all([
    page.waitForEvent("download"),
    page.locator(selector).click(),
  ]);
  return {
    name: d.suggestedFilename(),
    text: readFileSync(await d.path(), "utf8"),
  };
}
const table = (text) =>
  text
    .trim()
    .split("\n")
    .map((l) => l.split(","));
const button = (figure, what) =>
  `${figure} figure:has(.chart) .exports button:has-text("${what}")`;

const page = await open("report.html");
const near = (a, b, e = 1e-6) =>
  assert.ok(
    Math.abs(a - b) <= e * Math.max(1, Math.abs(b)),
    `${a} is not ${b}`,
  );
const ipc = records.map((r) => r.totals.ipc);

await test("the summary names the fastest scheme", async () => {
  const best = ipc.indexOf(Math.max(...ipc));
  const text = await page.locator("#verdict").innerText();
  assert.ok(
    text.startsWith(
      `${records[best].scheme} is the fastest: ${(ipc[best] / ipc[0]).toFixed(2)} times`,
    ),
    text,
  );
  assert.equal(await page.locator("#summary-table tbody tr").count(), 4);
});
await test("bars: the figure's CSV holds the records' values", async () => {
  const f = await download(page, button("#chart", "CSV"));
  assert.equal(f.name, "ipc.csv");
  const rows = table(f.text).slice(1);
  assert.deepEqual(
    rows.map((r) => r[0]),
    records.map((r) => r.scheme),
  );
  rows.forEach((r, i) => (near(+r[1], ipc[i] / ipc[0]), near(+r[2], ipc[i])));
});
await test("CSV: what a spreadsheet would run is text, numbers are numbers", async () => {
  const { csv } = await import(new URL("../../web/dom.js", import.meta.url));
  assert.equal(
    csv([["=1+1", -1, "-2.5", "@x", "a,b", null, "bfs"]]),
    `"'=1+1",-1,-2.5,"'@x","a,b",,bfs\n`,
  );
});
await test("bars: another metric, plain, in order, with schemes hidden", async () => {
  await page.selectOption("#metric", "dram.bytes");
  await page.uncheck("#normalise");
  await page.selectOption("#order", "value");
  await page.locator("#chart .boxes label", { hasText: /^ bucl$/ }).click();
  const rows = table(
    (await download(page, button("#chart", "CSV"))).text,
  ).slice(1);
  assert.deepEqual(rows.map((r) => r[0]).sort(), ["baseline", "swl=4", "tsc"]);
  for (const [scheme, v] of rows)
    near(+v, records.find((r) => r.scheme === scheme).totals["dram.bytes"]);
  assert.deepEqual(
    rows.map((r) => +r[1]),
    rows.map((r) => +r[1]).sort((a, b) => b - a),
  );
  assert.match(
    await page.locator("#chart .note").innerText(),
    /bytes moved by read and write commands/,
  );
});
await test("bars: one kernel only", async () => {
  await page.locator("#chart .boxes label", { hasText: /^ bucl$/ }).click();
  await page.selectOption("#metric", "cycles");
  const kernel = records[0].kernels[0].name;
  await page.selectOption("#kernel", kernel);
  const rows = table(
    (await download(page, button("#chart", "CSV"))).text,
  ).slice(1);
  for (const [scheme, v] of rows) {
    const k = records
      .find((r) => r.scheme === scheme)
      .kernels.filter((x) => x.name === kernel);
    assert.equal(
      +v,
      k.reduce((s, x) => s + x.cycles, 0),
    );
  }
  await page.selectOption("#kernel", "");
});
await test("bars: normalised to another scheme", async () => {
  await page.selectOption("#metric", "ipc");
  await page.check("#normalise");
  await page.selectOption("#base", "swl=4");
  const rows = table(
    (await download(page, button("#chart", "CSV"))).text,
  ).slice(1);
  for (const [scheme, v] of rows)
    near(+v, records.find((r) => r.scheme === scheme).totals.ipc / ipc[2]);
  await page.selectOption("#base", "baseline");
  await page.selectOption("#order", "given");
});
await test("bars: hover and arrow keys show the value", async () => {
  await page.locator("#chart .chart").scrollIntoViewIfNeeded();
  const at = await page.locator("#chart .chart").boundingBox();
  await page.mouse.move(at.x + 56 + (at.width - 68) / 8, at.y + at.height - 40);
  await page.waitForFunction(() =>
    document
      .querySelector("#chart .chart")
      .innerText.includes("1.000 of baseline"),
  );
  await page.mouse.move(0, 0);
  await page.locator("#chart .chart").focus();
  for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowRight");
  const want = `${(ipc[2] / ipc[0]).toFixed(3)} of baseline`;
  await page.waitForFunction(
    (w) => document.querySelector("#chart .chart").innerText.includes(w),
    want,
  );
});
await test("a figure as SVG is a drawing with its bars and labels", async () => {
  const f = await download(page, button("#chart", "SVG"));
  assert.equal(f.name, "ipc.svg");
  assert.ok(
    f.text.startsWith("<svg") &&
      f.text.includes("tsc") &&
      f.text.includes((ipc[1] / ipc[0]).toFixed(3)),
  );
  const errors = await page.evaluate(
    (s) =>
      new DOMParser()
        .parseFromString(s, "image/svg+xml")
        .querySelectorAll("parsererror").length,
    f.text,
  );
  assert.equal(errors, 0);
});
await test("issue slots add up to 100 %", async () => {
  const rows = table(
    (await download(page, button("#slots", "CSV"))).text,
  ).slice(1);
  assert.equal(rows.length, 4);
  for (const r of rows)
    near(
      r.slice(1).reduce((s, v) => s + +v, 0),
      100,
      1e-4,
    );
});
await test("loads by degree: shares of every scheme, and other views", async () => {
  const rows = table(
    (await download(page, button("#loads", "CSV"))).text,
  ).slice(1);
  for (const r of rows)
    near(
      r.slice(1).reduce((s, v) => s + +v, 0),
      100,
      1e-6,
    );
  await page.locator("#loads select").selectOption("hits");
  const hits = table((await download(page, button("#loads", "CSV"))).text)[1]
    .slice(1)
    .map(Number);
  const c = records[0].kernels.map((k) => k.loads.by_degree[4]);
  near(
    hits[4],
    (100 * c.reduce((s, x) => s + x.hits, 0)) /
      c.reduce((s, x) => s + x.accesses, 0),
  );
});

const over = (label) =>
  `#profile figure:has(.chart[aria-label="${label}"]) .exports button:has-text("CSV")`;
await test("over time: stall shares, of every run", async () => {
  for (const [i, r] of records.entries()) {
    await page.selectOption("#run", String(i));
    const rows = table(
      (await download(page, over("Stalls over time"))).text,
    ).slice(1);
    assert.equal(rows.length, r.profile.intervals);
    for (const x of rows)
      near(
        x.slice(1).reduce((s, v) => s + +v, 0),
        100,
        1e-6,
      );
  }
  await page.selectOption("#run", "0");
});
await test("over time: the L1's sets and the banks of the DRAM", async () => {
  const sum = async (select, value, label) => {
    await page.selectOption(select, value);
    return table((await download(page, over(label))).text)
      .slice(1)
      .reduce((s, r) => s + +r[2], 0);
  };
  const t = records[0].totals;
  assert.equal(
    await sum("#set-what", "accesses", "Heat of the L1 by set"),
    t["l1d.read.accesses"],
  );
  assert.equal(
    await sum("#set-what", "misses", "Heat of the L1 by set"),
    t["l1d.read.accesses"] - t["l1d.read.hits"],
  );
  assert.equal(
    await sum("#bank-what", "bursts", "DRAM banks over time"),
    t["dram.reads"] + t["dram.writes"],
  );
  assert.equal(
    await sum("#bank-what", "rows", "DRAM banks over time"),
    t["dram.activates"],
  );
  await page.selectOption("#set-what", "hits");
  await page.selectOption("#bank-what", "bursts");
});
await test("over time: zoom narrows all figures of the run", async () => {
  const labels = () =>
    page
      .locator('#profile .chart[aria-label="Rates over time"] svg text')
      .allInnerTexts();
  const chart = page.locator('#profile .chart[aria-label="Stalls over time"]');
  await chart.scrollIntoViewIfNeeded();
  const before = (await labels()).join(" "),
    at = await chart.boundingBox();
  await page.mouse.move(at.x + at.width / 3, at.y + at.height / 2);
  await page.keyboard.down("Control");
  for (let i = 0; i < 5; i++) await page.mouse.wheel(0, -200);
  await page.keyboard.up("Control");
  await page.waitForFunction(
    (b) =>
      [
        ...document.querySelectorAll(
          '#profile .chart[aria-label="Rates over time"] svg text',
        ),
      ]
        .map((t) => t.textContent)
        .join(" ") !== b,
    before,
  );
  await page.selectOption("#run", "1");
  await page.selectOption("#run", "0");
});
await test("source lines: figures beside the source, a click leads there", async () => {
  const rows = page.locator("#lines tbody tr");
  assert.ok((await rows.count()) >= 5);
  const first = page.locator("#lines tbody tr:first-child .link");
  assert.match(await first.innerText(), /^kmeans\.cu:\d+$/);
  const other = page
    .locator("#lines .link:not([disabled])", { hasText: /^kmeans\.cu/ })
    .nth(1);
  const line = (await other.innerText()).split(":")[1];
  await other.click();
  const chosen = page.locator("#source tr.chosen");
  assert.equal(await chosen.locator("td").first().innerText(), line);
  assert.ok((await page.locator("#source tr.hot").count()) >= 5);
  assert.match(await page.locator("#source").innerText(), /__global__/);
  const degree = +(await page
    .locator("#lines tbody tr:first-child td")
    .nth(2)
    .innerText());
  assert.ok(degree > 10 && degree <= 32, `degree ${degree}`);
  await page.fill("#line-filter", "no such line");
  assert.equal(await rows.count(), 0);
  await page.fill("#line-filter", "");
});
await test("counters: filter, only those that differ, sort by keyboard, CSV", async () => {
  const rows = page.locator("#counters tbody tr");
  const all = await rows.count();
  await page.fill("#filter", "dram, l2.hit");
  const some = await rows.count();
  assert.ok(some > 5 && some < all / 2, `${some} of ${all}`);
  assert.equal(
    await page.locator("#counters-shown").innerText(),
    `${some} of ${all} counters`,
  );
  const names = await page.locator("#counters tbody th").allInnerTexts();
  assert.ok(names.every((n) => n.includes("dram") || n.includes("l2.hit")));
  await page.check("#changed");
  assert.ok((await rows.count()) <= some);
  await page.uncheck("#changed");
  await page.locator("#counters thead button").first().focus();
  await page.keyboard.press("Enter");
  const sorted = await page.locator("#counters tbody th").allInnerTexts();
  assert.deepEqual(
    sorted,
    [...sorted].sort((a, b) => a.localeCompare(b)),
  );
  assert.equal(
    await page.locator("#counters thead th").first().getAttribute("aria-sort"),
    "ascending",
  );
  const f = table((await download(page, "#csv")).text);
  assert.equal(f.length - 1, some);
  const reads = f.find((r) => r[0] === "dram.reads");
  assert.deepEqual(
    reads.slice(2).map(Number),
    records.map((r) => r.totals["dram.reads"]),
  );
  await page.fill("#filter", "");
});
await test("how to reproduce it: command, runs, configuration", async () => {
  assert.equal(
    await page.locator("#command").innerText(),
    "sluice compare --scheme baseline,bucl,swl=4,tsc --json runs.json -- build/workloads/kmeans --size small",
  );
  await page.locator("#again summary").nth(1).click();
  assert.equal(
    await page.locator("#config tbody tr").count(),
    Object.keys(records[0].config).length,
  );
  await page.fill("#config-filter", "l1d.ways");
  assert.equal(
    await page.locator("#config tbody tr td").innerText(),
    String(records[0].config["l1d.ways"]),
  );
  assert.equal(await page.locator("#each li").count(), 4);
});
await test("keyboard: the first stop leads to the figures, every control has a name", async () => {
  const p = await open("report.html");
  await p.keyboard.press("Tab");
  assert.equal(
    await p.evaluate(() => document.activeElement.className),
    "skip",
  );
  await p.close();
  const nameless = await page.evaluate(() =>
    [...document.querySelectorAll("select,input,button,[role=img]")]
      .filter(
        (e) =>
          !(
            e.labels?.length ||
            e.textContent.trim() ||
            e.getAttribute("aria-label")
          ),
      )
      .map((e) => e.outerHTML),
  );
  assert.deepEqual(nameless, []);
});
await test("an estimated run: what was timed, and the interval of each counter", async () => {
  const p = await open("estimated.html");
  const { estimate, totals } = JSON.parse(
    readFileSync(join(dir, "estimated.json")),
  );
  const { low, high } = estimate.totals.cycles;
  const share = (100 * estimate.detailed_warp_insts) / estimate.warp_insts;
  assert.ok(high > low && share < 100);
  const subtitle = await p.locator("#subtitle").innerText();
  assert.ok(
    subtitle.includes(`estimated from ${share.toFixed(1)} % of the warp`),
    subtitle,
  );
  const row = (name) =>
    p
      .locator("#counters tbody tr")
      .filter({ has: p.getByText(name, { exact: true }) });
  const half = ((50 * (high - low)) / totals.cycles).toFixed(1);
  assert.ok((await row("cycles").first().innerText()).includes(`± ${half} %`));
  assert.ok(!(await row("thread_insts").first().innerText()).includes("±"));
  const f = table((await download(p, "#csv")).text);
  const digits = (v) => Number(v).toPrecision(7);
  assert.deepEqual(
    f
      .find((r) => r[0] === "cycles")
      .slice(2)
      .map(digits),
    [totals.cycles, low, high].map(digits),
  );
  assert.deepEqual(p.wrong, []);
  await p.close();
});
await test("light and dark", async () => {
  const ground = () =>
    page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.click("#theme");
  assert.equal(await ground(), light);
  await page.click("#theme");
  assert.notEqual(await ground(), light);
  await page.click("#theme");
  await page.emulateMedia({ colorScheme: "dark" });
  assert.notEqual(await ground(), light);
  await page.emulateMedia({ colorScheme: "light" });
});
await test("on paper: no controls to press, everything on its pages", async () => {
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.locator("nav").isVisible(), false);
  assert.equal(await page.locator("#csv").isVisible(), false);
  const pdf = await page.pdf({ format: "A4" });
  assert.ok(
    pdf.subarray(0, 4).toString() === "%PDF" && pdf.length > 50000,
    `${pdf.length} bytes`,
  );
  await page.emulateMedia({ media: "screen" });
});
await test("no errors, no network", async () =>
  assert.deepEqual(page.wrong, []));

await test("names that look like markup are text", async () => {
  const p = await open("odd.html");
  assert.equal(await p.locator("#title").innerText(), "<!--<script>");
  assert.match(
    await p.locator("body").innerText(),
    /<!--<script>[^]*<\/script><script>alert\(1\)<\/script>/,
  );
  assert.deepEqual(p.wrong, []);
  await p.close();
});
await test("two workloads: grouped bars with a geometric mean", async () => {
  const p = await open("two.html");
  const rows = table((await download(p, button("#chart", "CSV"))).text);
  assert.deepEqual(rows[0].slice(0, 3), ["workload", "baseline", "sharing"]);
  const v = Object.fromEntries(rows.slice(1).map((r) => [r[0], +r[2]]));
  const of = (w, s) =>
    JSON.parse(readFileSync(join(dir, `${w}-${s}.json`))).totals.ipc;
  for (const w of ["nw", "hotspot"])
    near(v[w], of(w, "sharing") / of(w, "baseline"));
  near(v.GMEAN, Math.sqrt(v.nw * v.hotspot));
  await p.locator("#chart .boxes label", { hasText: "hotspot" }).click();
  const fewer = table((await download(p, button("#chart", "CSV"))).text).slice(
    1,
  );
  assert.deepEqual(
    fewer.map((r) => r[0]),
    ["nw", "GMEAN"],
  );
  assert.equal(await p.locator("#profile").count(), 0);
  assert.match(await p.locator("#title").innerText(), /alert\(1\)/);
  assert.deepEqual(p.wrong, []);
  await p.close();
});
await test("a paper's report opens with its claims, contradictions first, numbers and verdicts in sight", async () => {
  const p = await open("papers/bucl/report.html");
  const verdicts = await p.locator("#claims-table td.verdict").allInnerTexts();
  const count = (v) => verdicts.filter((x) => x === v).length;
  assert.ok(verdicts.length > 20 && count("contradicted") > 0);
  assert.ok(
    verdicts.slice(0, count("contradicted")).every((v) => v === "contradicted"),
  );
  assert.ok(
    (await p.locator("#claims-verdict").innerText()).includes(
      `${count("reproduced")} are reproduced`,
    ),
  );
  const beyond = await p.evaluate(() => {
    const box = document.getElementById("claims-table").parentElement;
    return box.scrollWidth - box.clientWidth;
  });
  assert.equal(beyond, 0);
  const rows = table((await download(p, "#claims-csv")).text);
  assert.equal(rows.length - 1, verdicts.length);
  assert.ok(rows[0].includes("why"));
  assert.deepEqual(p.wrong, []);
  await p.close();
});
await test("a league ranks the schemes of each class and draws their means", async () => {
  const p = await open("league.html");
  const ranks = () => p.locator("#league-table tbody th").allInnerTexts();
  assert.deepEqual(await ranks(), ["1", "2", "3"]);
  assert.match(
    await p.locator("#league-verdict").innerText(),
    /^none leads .* over 2 programs; 3 schemes/,
  );
  const widths = await p
    .locator("#league-table span.bar")
    .evaluateAll((all) => all.map((b) => parseFloat(b.style.width)));
  assert.equal(widths[0], 50);
  assert.ok(widths[2] < widths[1] && widths[1] < 50);
  await p.locator("#league-class select").selectOption("all-miss");
  assert.match(
    await p.locator("#league-verdict").innerText(),
    /programs of class all-miss/,
  );
  const rows = table((await download(p, "#league-csv")).text);
  assert.equal(rows.length - 1, 6);
  assert.ok(rows[0].includes("storage_bits"));
  assert.equal(await p.locator("#summary").count(), 0);
  assert.deepEqual(p.wrong, []);
  await p.close();
});
await test("64 runs stay below 5 MB and open", async () => {
  const size = statSync(join(dir, "many.html")).size;
  assert.ok(size < 5e6, `${size} bytes`);
  const p = await open("many.html");
  assert.equal(await p.locator("#summary-table tbody tr").count(), 64);
  assert.deepEqual(p.wrong, []);
  await p.close();
});
for (const width of [1280, 400]) {
  await test(`${width} pixels wide: nothing sticks out`, async () => {
    const p = await open("report.html", { viewport: { width, height: 900 } });
    assert.equal(
      await p.evaluate(() => document.documentElement.scrollWidth),
      width,
    );
    const empty = await p.evaluate(
      () =>
        [...document.querySelectorAll(".chart")].filter(
          (c) => !c.querySelector("svg,canvas"),
        ).length,
    );
    assert.equal(empty, 0);
    const low = await p.screenshot({ fullPage: true });
    assert.ok(low.length > 20000);
    if (shots) {
      mkdirSync(shots, { recursive: true });
      const cut = async (name, y, height) =>
        p.screenshot({
          path: join(shots, `report-${width}${name}.png`),
          fullPage: true,
          clip: { x: 0, y, width, height },
        });
      const top = async (id) =>
        p.evaluate(
          (i) =>
            document.getElementById(i).getBoundingClientRect().top + scrollY,
          id,
        );
      await cut("", 0, await top("degrees"));
      await cut(
        "-time",
        await top("time"),
        (await top("code")) - (await top("time")),
      );
      await cut(
        "-source",
        await top("code"),
        (await top("all")) - (await top("code")),
      );
    }
    assert.deepEqual(p.wrong, []);
    await p.close();
  });
}
await end();
