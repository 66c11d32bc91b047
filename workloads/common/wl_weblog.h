/* wl_weblog.h - inputs of the Mars programs: a web log whose pages follow a Zipf distribution. */
#ifndef WL_WEBLOG_H
#define WL_WEBLOG_H

#include "wl.h"

/* Ranks 0..n-1 with probability proportional to 1 / (rank + 1). */
struct wl_zipf {
  std::vector<float> sum;
};
static inline struct wl_zipf wl_zipf_of(int n) {
  struct wl_zipf z;
  double s = 0;
  for (int i = 0; i < n; i++) z.sum.push_back((float)(s += 1.0 / (i + 1)));
  return z;
}
static inline int wl_zipf_next(const struct wl_zipf &z, uint64_t *seed) {
  float x = wl_unit(seed) * z.sum.back();
  int i = (int)(std::upper_bound(z.sum.begin(), z.sum.end(), x) - z.sum.begin());
  return std::min(i, (int)z.sum.size() - 1);
}
static inline std::string wl_url(int rank) {
  char text[80];
  unsigned h = (unsigned)rank * 2654435761u;
  snprintf(text, sizeof text, "http://www.site%u.org/%.*s/page%d.html", h % 97, (int)(h % 13) + 1, "abcdefghijklmnop",
           rank);
  return text;
}
/* A web log: "URL\tADDRESS\tVISIT\n" lines, URLs by Zipf. Offsets of the lines (and the end) go to `lines`. */
static inline std::string wl_log(int n, int urls, int visitors, uint64_t *seed, std::vector<int> *lines) {
  struct wl_zipf z = wl_zipf_of(urls);
  std::string text;
  char address[40];
  for (int i = 0; i < n; i++) {
    lines->push_back((int)text.size());
    unsigned v = wl_below(seed, (uint32_t)visitors) * 2654435761u;
    snprintf(address, sizeof address, "\t%u.%u.%u.%u\t%u\n", v >> 24, v >> 16 & 255, v >> 8 & 255, v & 255, v % 1000);
    text += wl_url(wl_zipf_next(z, seed)) + address;
  }
  lines->push_back((int)text.size());
  return text;
}
static inline std::vector<char> wl_bytes(const std::string &s) {
  return std::vector<char>(s.begin(), s.end());
}

#endif
