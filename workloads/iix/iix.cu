/* iix - inverted index of the links in web pages
 *
 * Program: Mars InvertedIndex
 * Suites: medic=IIX
 * Groups: medic=all-hit
 * Algorithm: map runs twice over each page of HTML: to count the links (a small state machine looks for <a href="), and,
 *   after the prefix sums, to emit link and page; the group phase sorts by link, so that the pages of each link lie
 *   together.
 * Loads: each thread reads its own page byte by byte, with branches on every byte: lines of the cache are reused for 128
 *   iterations if they survive; the sort compares hashes, and links, at unrelated places.
 * Simplified: a page per thread.
 */
#include "../common/wl_mars.h"
#include "../common/wl_weblog.h"
#include <set>

struct block {
  int offset, size, page;
};

struct inverted_index {
  /* The next link at or after `at`: its offset, or -1; its length is stored. */
  __device__ static int next_link(const char *text, int at, int end, int *length) {
    const char want[10] = "<a href=\"";
    int state = 0;
    for (; at < end; at++) {
      char c = text[at];
      if (c == want[state]) {
        if (++state < 9) continue;
        int start = at + 1, n = 0;
        while (start + n < end && text[start + n] != '"') n++;
        *length = n;
        return start;
      }
      state = c == '<';
    }
    return -1;
  }
  __device__ static void count(char *key, char *value, mars_emitter &e) {
    const block *b = (const block *)value;
    const char *text = ((mars_string *)key)->text;
    int length = 0;
    for (int at = next_link(text, b->offset, b->offset + b->size, &length); at >= 0;
         at = next_link(text, at + length, b->offset + b->size, &length))
      e.size(sizeof(mars_string), sizeof(int));
  }
  __device__ static void map(char *key, char *value, mars_emitter &e) {
    block *b = (block *)value;
    mars_string *link = (mars_string *)key;
    int length = 0;
    for (int at = next_link(link->text, b->offset, b->offset + b->size, &length); at >= 0;
         at = next_link(link->text, at + length + 1, b->offset + b->size, &length)) {
      link->text[at + length] = 0;
      link->offset = at;
      link->hash = mars_hash(link->text + at, length);
      e.emit(link, &b->page, sizeof(mars_string), sizeof(int));
    }
  }
  __device__ static int compare(const char *a, const char *b) {
    return mars_compare_strings((const mars_string *)a, (const mars_string *)b);
  }
};

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "iix");
  int pages = wl_int(&w, "pages", wl_by_size(384, 1024, 16384), 16, 1 << 20, "pages");
  int urls = wl_int(&w, "urls", wl_by_size(200, 2000, 10000), 1, 1 << 20, "different links");
  int most = wl_int(&w, "words", wl_by_size(12, 300, 300), 1, 10000, "most words before a link");
  wl_ready(&w);

  uint64_t seed = w.seed;
  static const char *const words[] = {"cache ", "memory ", "the ", "<b>warp</b> ", "of ", "<p>", "page ", "line "};
  struct wl_zipf z = wl_zipf_of(urls);
  std::string text;
  std::vector<int> page;
  std::vector<std::pair<std::string, int>> want;
  for (int i = 0; i < pages; i++) {
    page.push_back((int)text.size());
    for (int k = 0, n = 1 + (int)wl_below(&seed, 3); k < n; k++) {
      for (int j = (int)wl_below(&seed, (uint32_t)most); j >= 0; j--) text += words[wl_below(&seed, 8)];
      std::string url = wl_url(wl_zipf_next(z, &seed));
      text += "<a href=\"" + url + "\">here</a> ";
      want.push_back({url, i});
    }
  }
  page.push_back((int)text.size());
  char *dtext = wl_upload(wl_bytes(text));
  std::vector<block> blocks;
  for (int i = 0; i < pages; i++) blocks.push_back({page[(size_t)i], page[(size_t)i + 1] - page[(size_t)i], i});
  std::vector<mars_string> keys((size_t)pages, mars_string{dtext, 0, 0});
  int2 *groups;
  int n_groups;
  mars_records r =
      mars_group<inverted_index>(mars_run_map<inverted_index>(mars_upload(keys, blocks)), &groups, &n_groups);

  struct wl_check chk = {};
  wl_near(&chk, "links", 0, r.n, (double)want.size(), 1e-9);
  if (chk.wrong) return wl_end(&w, &chk);
  std::vector<mars_string> links = mars_download<mars_string>(r.keys, r.n);
  std::vector<int> of = mars_download<int>(r.values, r.n);
  std::vector<std::pair<std::string, int>> found;
  for (size_t i = 0; i < links.size(); i++) {
    size_t at = (size_t)links[i].offset;
    found.push_back({text.substr(at, text.find('"', at) - at), of[i]});
  }
  std::set<std::string> different;
  for (const int2 &g : wl_download(groups, (size_t)n_groups)) {
    for (int i = g.x + 1; i < g.y; i++)
      wl_that(&chk, found[(size_t)i].first == found[(size_t)g.x].first, "a group is of one link");
    wl_that(&chk, different.insert(found[(size_t)g.x].first).second, "a link has one group");
  }
  std::sort(found.begin(), found.end());
  std::sort(want.begin(), want.end());
  wl_that(&chk, found == want, "every link of every page is in the index");
  return wl_end(&w, &chk);
}
