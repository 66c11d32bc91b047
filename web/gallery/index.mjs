// The index of the search: how words are cut is the same here and in the page.
import MiniSearch from "minisearch";

export const OPTIONS = {
  fields: ["heading", "page", "text"],
  storeFields: ["heading", "page", "url", "text", "weight"],
  tokenize: (text) => text.split(/[^\p{L}\p{N}]+/u),
  // Numbers of tables are no words to search for.
  processTerm: (term) => (/^\d*$/.test(term) ? null : term.toLowerCase()),
  searchOptions: {
    boost: { heading: 4, page: 2 },
    boostDocument: (id, term, stored) => stored.weight,
    prefix: (term) => term.length > 1,
    combineWith: "AND",
  },
};

const WEIGHTS = { scheme: 3, file: 0.3 };

// A document for each section of each page.
export function makeIndex(pages) {
  const index = new MiniSearch(OPTIONS);
  let id = 0;
  for (const page of pages)
    for (const s of page.sections) {
      if (!s.text && s.level === 2 && page.kind === "scheme") continue;
      const text = (s.text ?? "").replace(/\s+/g, " ").trim();
      const weight = WEIGHTS[page.kind] ?? 1;
      const url = page.address + (s.slug && s.level > 1 ? `#${s.slug}` : "");
      index.add({ id: id++, heading: s.heading || page.title, page: page.title, url, text, weight });
    }
  return JSON.stringify(index);
}
