// Build the report page: one HTML file with script and style inside, and a marker where sluice puts the data.
//   node build.mjs OUT.html          the page
//   node build.mjs OUT/paper.mjs     the script that draws papers' figures, with its library inside
import { build } from "esbuild";
import { readFileSync, writeFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "report.html");
mkdirSync(dirname(out), { recursive: true });
if (out.endsWith(".mjs")) {
  await build({
    entryPoints: [join(here, "paper.mjs")],
    bundle: true,
    minify: true,
    platform: "node",
    format: "esm",
    target: "node18",
    outfile: out,
    legalComments: "none",
  });
  process.exit(0);
}
const js = await build({
  entryPoints: [join(here, "report.js")],
  bundle: true,
  minify: true,
  write: false,
  format: "iife",
  target: "es2020",
  legalComments: "none",
});
const css = await build({ entryPoints: [join(here, "report.css")], bundle: true, minify: true, write: false });
// A function as replacement: `$&` and the like inside the bundle must stay as they are.
const page = readFileSync(join(here, "report.html"), "utf8")
  .replace("/*STYLE*/", () => css.outputFiles[0].text)
  .replace("/*SCRIPT*/", () => js.outputFiles[0].text.replaceAll("</script", "<\\/script"));
writeFileSync(out, page);
