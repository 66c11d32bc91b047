/* iix - inverted index of the links in web pages
 *
 * Program: Mars InvertedIndex
 * Suites: medic=IIX
 * Groups: medic=all-hit
 * Algorithm: map runs twice over each chunk of HTML: to count the links (a small state machine looks for <a href="),
 *   and, after the prefix sum, to emit link and document; the group phase sorts by link, so that the documents of each
 *   link lie together.
 * Loads: each thread reads its own page byte by byte, with branches on every byte: lines of the
 *   cache are reused for 128 iterations if they survive; the sort compares links at unrelated places of the text.
 * Simplified: a page per thread; a hash is compared before the strings.
 */
#include "../common/wl_mars.h"

/* The next link at or after `at`: its offset, or -1; its length is stored. */
__device__ int next_link(const char *text, int at, int end, int *length) {
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
__global__ void map_count(const char *text, const int *page, int pages, int *count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pages) return;
  int n = 0, length = 0;
  for (int at = next_link(text, page[i], page[i + 1], &length); at >= 0;
       at = next_link(text, at + length, page[i + 1], &length))
    n++;
  count[i] = n;
}
__global__ void map_links(const char *text, const int *page, int pages, const int *place, mars_record *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pages) return;
  int n = place[i], length = 0;
  for (int at = next_link(text, page[i], page[i + 1], &length); at >= 0;
       at = next_link(text, at + length, page[i + 1], &length)) {
    mars_record r = {mars_hash(text, at, length), at, length, i};
    out[n++] = r;
  }
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "iix");
  int pages = wl_int(&w, "pages", wl_by_size(384, 2048, 16384), 16, 1 << 20, "pages");
  int urls = wl_int(&w, "urls", wl_by_size(200, 1000, 10000), 1, 1 << 20, "different links");
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
      for (int j = (int)wl_below(&seed, 12); j >= 0; j--) text += words[wl_below(&seed, 8)];
      std::string url = wl_url(wl_zipf_next(z, &seed));
      text += "<a href=\"" + url + "\">here</a> ";
      want.push_back({url, i});
    }
  }
  page.push_back((int)text.size());
  size_t np = (size_t)pages;
  char *dtext = wl_upload(wl_bytes(text));
  int *dpage = wl_upload(page), *place = wl_alloc<int>(np), *total = wl_alloc<int>(1);
  map_count<<<wl_blocks(np, 128), 128>>>(dtext, dpage, pages, place);
  mars_scan<<<1, 512>>>(place, pages, total);
  WL_LAUNCHED();
  int n = wl_get(total), room = mars_room(n);
  mars_record *r = mars_places(room);
  map_links<<<wl_blocks(np, 128), 128>>>(dtext, dpage, pages, place, r);
  WL_LAUNCHED();
  mars_sort(r, dtext, room);

  struct wl_check chk = {};
  wl_near(&chk, "links", 0, n, (double)want.size(), 1e-9);
  if (chk.wrong) return wl_end(&w, &chk);
  std::vector<mars_record> got = wl_download(r, (size_t)n);
  std::vector<std::pair<std::string, int>> found;
  for (size_t i = 0; i < got.size(); i++) {
    found.push_back({text.substr((size_t)got[i].offset, (size_t)got[i].length), got[i].value});
    if (i)
      wl_that(&chk, got[i - 1].hash < got[i].hash || found[i - 1] <= found[i],
              "links lie together, documents in order");
  }
  std::sort(found.begin(), found.end());
  std::sort(want.begin(), want.end());
  wl_that(&chk, found == want, "every link of every page is in the index");
  return wl_end(&w, &chk);
}
