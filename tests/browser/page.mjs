// A browser for the tests: pages that remember what went wrong in them, and a line for each test.
import { createRequire } from "node:module";

const { chromium } = createRequire(
  new URL("../../web/package.json", import.meta.url),
)("playwright-core");
export const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});

// `page.wrong`: errors, dialogs and requests to anything but files and `allowed`.
export function watch(page, allowed = "file:") {
  page.setDefaultTimeout(600_000); // a loaded machine is slow, not wrong
  page.wrong = [];
  page.on("console", (m) => m.type() === "error" && page.wrong.push(m.text()));
  page.on("pageerror", (e) => page.wrong.push(e.message));
  page.on(
    "dialog",
    (d) => (page.wrong.push(`dialog: ${d.message()}`), d.dismiss()),
  );
  page.on(
    "request",
    (r) =>
      [allowed, "data:", "blob:"].some((p) => r.url().startsWith(p)) ||
      page.wrong.push(`network: ${r.url()}`),
  );
  return page;
}

let failed = 0;
export async function test(name, body) {
  try {
    await body();
    console.log(`ok ${name}`);
  } catch (e) {
    failed = 1;
    console.log(`${e.stack}\nnot ok ${name}`);
  }
}
export async function end() {
  await browser.close();
  process.exit(failed);
}
