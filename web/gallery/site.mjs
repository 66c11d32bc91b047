// The pages of the gallery and their addresses. A link to a file of the source makes a page of that file.
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import { escape, render } from "./markdown.mjs";

const PICTURE = /\.(png|svg|jpg)$/;

// Where the page of a file or folder of the source lies in the site.
function addressOf(path) {
  if (path === "README.md") return "readme.html";
  if (path === "docs/notes/composition.md") return "composition.html";
  if (PICTURE.test(path)) return path;
  if (path.endsWith("/README.md")) return path.replace(/README\.md$/, "index.html");
  if (path.endsWith(".md")) return path.replace(/\.md$/, ".html");
  return `files/${path}.html`;
}

export const relative = (from, to) => posix.relative(posix.dirname(from), to) || posix.basename(to);

export class Site {
  constructor(root) {
    this.root = root;
    this.pages = new Map(); // by address
    this.pictures = new Set(); // paths in the source
    this.wrong = []; // messages
    this.links = []; // to check: { where, address, anchor }
  }

  add(page) {
    this.pages.set(page.address, page);
    return page;
  }

  // The address of a file of the source, whose page is made if it is not there yet.
  file(path) {
    const address = addressOf(path);
    if (PICTURE.test(path)) this.pictures.add(path);
    else if (!this.pages.has(address)) this.make(path, address);
    return address;
  }

  // What a link in `from` leads to, as an address relative to that page.
  resolver(from, address) {
    return (to, line, picture) => {
      if (/^[a-z]+:/.test(to)) return to;
      const where = `${from}:${line}`;
      const [name, anchor] = to.split("#");
      const path = name ? posix.normalize(posix.join(posix.dirname(from), decodeURI(name))).replace(/\/$/, "") : from;
      if (path.startsWith("..") || !existsSync(join(this.root, path)) || (picture && !PICTURE.test(path))) {
        this.wrong.push(`${where}: no ${picture ? "picture" : "file"} '${to}'`);
        return to;
      }
      const there = path === from ? address : this.file(path);
      if (anchor) this.links.push({ where, to, address: there, anchor });
      return (name ? relative(address, there) : "") + (anchor ? `#${anchor}` : "");
    };
  }

  make(path, address) {
    const full = join(this.root, path);
    if (path.endsWith(".md")) return this.markdown(path, address, readFileSync(full, "utf8"));
    if (statSync(full).isDirectory()) return this.folder(path, address);
    if (path.endsWith(".ipynb")) return this.notebook(path, address);
    return this.source(path, address);
  }

  markdown(path, address, text) {
    const page = this.add({ address, path, kind: path.startsWith("docs/") ? "docs" : "other" });
    return Object.assign(page, render(text, this.resolver(path, address)));
  }

  source(path, address) {
    const text = readFileSync(join(this.root, path), "utf8");
    const html = `<h1><code>${escape(path)}</code></h1>\n<pre class="file" data-name="${escape(path)}"><code>${escape(text)}</code></pre>\n`;
    const first = text.split("\n", 3).join(" ");
    return this.add({ address, path, kind: "file", title: path, html, sections: [{ heading: path, text: first }] });
  }

  folder(path, address) {
    const page = this.add({ address, path, kind: "file", title: path, sections: [] });
    const names = readdirSync(join(this.root, path), { withFileTypes: true })
      .filter((e) => e.isFile() && !e.name.startsWith("."))
      .map((e) => e.name)
      .sort();
    const items = names.map((name) => {
      const to = this.file(`${path}/${name}`);
      const title = this.pages.get(to)?.title ?? name;
      return `<li><a href="${escape(encodeURI(relative(address, to)))}">${escape(title)}</a></li>`;
    });
    page.html = `<h1><code>${escape(path)}</code></h1>\n<ul>${items.join("\n")}</ul>\n`;
    return page;
  }

  // Cells of text and of code; what was stored of their output as text.
  notebook(path, address) {
    const { cells } = JSON.parse(readFileSync(join(this.root, path), "utf8"));
    const text = (lines) => [lines ?? []].flat().join("");
    const markdown = cells.map((c) => {
      if (c.cell_type === "markdown") return text(c.source);
      const out = (c.outputs ?? []).map((o) => text(o.text ?? o.data?.["text/plain"])).filter(Boolean);
      return [text(c.source), ...out].map((t) => "~~~~~\n" + t.replace(/\n*$/, "\n") + "~~~~~").join("\n\n");
    });
    return this.markdown(path, address, markdown.join("\n\n"));
  }

  // Anchors that no heading has.
  check() {
    for (const { where, to, address, anchor } of this.links) {
      const page = this.pages.get(address);
      if (!page || !page.sections.some((s) => s.slug === anchor)) this.wrong.push(`${where}: no heading for '${to}'`);
    }
    return this.wrong;
  }
}
