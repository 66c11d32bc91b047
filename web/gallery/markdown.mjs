// Markdown as GitHub shows it: the same anchors of headings; links and pictures go where `resolve` says.
import GithubSlugger from "github-slugger";
import MarkdownIt from "markdown-it";

export const escape = (text) =>
  String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);

// The text of an inline token without marks, and what its pictures say.
function inlineText(token) {
  return (token.children ?? [])
    .map((t) => (t.type === "softbreak" || t.type === "hardbreak" ? " " : t.type === "html_inline" ? "" : t.content))
    .join("");
}

// HTML in Markdown: comments go, src and href are links.
function rewriteHtml(html, resolve, line) {
  return html
    .replace(/<!--[^]*?-->/g, "")
    .replace(/\b(src|href)="([^"]*)"/g, (_, name, to) => `${name}="${escape(resolve(to, line, name === "src"))}"`);
}

const md = new MarkdownIt({ html: true });
const rules = md.renderer.rules;
md.renderer.rules.heading_open = (tokens, i, options, env, self) => self.renderToken(tokens, i, options);
rules.heading_close = (tokens, i) => {
  const { slug, text } = tokens[i].meta;
  const link = ` <a class="anchor" href="#${escape(slug)}" aria-label="Link to ${escape(text)}">#</a>`;
  return `${tokens[i].tag === "h1" ? "" : link}</${tokens[i].tag}>\n`;
};
rules.table_open = (tokens, i) => `<div class="scroll" data-name="Table: ${escape(tokens[i].meta)}"><table>\n`;
rules.table_close = () => "</table></div>\n";
rules.th_open = (tokens, i, options, env, self) => {
  tokens[i].attrSet("scope", "col");
  return self.renderToken(tokens, i, options);
};
rules.fence = rules.code_block = (tokens, i) =>
  `<pre data-name="Code: ${escape(tokens[i].meta)}"><code>${escape(tokens[i].content)}</code></pre>\n`;

// Returns title (of the first heading), html, and sections: heading, slug, level and the text below it, for the search.
// `resolve(to, line, picture)` gives the address of a link; `line` counts from 1.
export function render(text, resolve) {
  const tokens = md.parse(text, {});
  const slugger = new GithubSlugger();
  const sections = [{ heading: "", slug: "", level: 1, text: [] }];
  let line = 1;
  for (const [i, t] of tokens.entries()) {
    if (t.map) line = t.map[0] + 1;
    if (t.type === "heading_open") {
      const heading = inlineText(tokens[i + 1]);
      const slug = slugger.slug(heading);
      t.attrSet("id", slug);
      tokens[i + 2].meta = { slug, text: heading };
      sections.push({ heading, slug, level: +t.tag[1], text: [] });
    } else if (t.type === "inline" && tokens[i - 1].type !== "heading_open") {
      sections.at(-1).text.push(inlineText(t));
    } else if (t.type === "fence" || t.type === "code_block") {
      sections.at(-1).text.push(t.content);
    }
    if (["table_open", "fence", "code_block"].includes(t.type)) t.meta = sections.at(-1).heading;
    if (t.type === "html_block") t.content = rewriteHtml(t.content, resolve, line);
    for (const c of t.children ?? []) {
      if (c.type === "link_open") c.attrSet("href", resolve(c.attrGet("href"), line, false));
      if (c.type === "image") c.attrSet("src", resolve(c.attrGet("src"), line, true));
      if (c.type === "html_inline") c.content = rewriteHtml(c.content, resolve, line);
    }
  }
  return {
    title: sections.find((s) => s.level === 1 && s.heading)?.heading ?? "",
    lead: tokens.find((t, i) => t.type === "inline" && tokens[i - 1].type === "paragraph_open")?.content ?? "",
    html: md.renderer.render(tokens, md.options, {}),
    sections: sections.filter((s) => s.heading || s.text.length).map((s) => ({ ...s, text: s.text.join(" ") })),
  };
}
