/* mummergpu - exact matching of DNA reads against a genome through a suffix tree
 *
 * Program: Rodinia mummergpu
 * Suites: tsc=mummergpu sharing=MUM
 * Groups: tsc=cache-line-negative
 * Algorithm: one thread per read follows the suffix tree of the genome for every suffix of its read, going from one
 *   suffix to the next through suffix links, and records node and length where the match ends.
 * Loads: every lane is at
 *   its own node (32 bytes of it are used) and its own place in the genome, with trip counts that depend on the data:
 *   degree near 32, one sector per line. The upper nodes of the tree are reused.
 * Simplified: nodes, text and reads are in
 *   global memory (the original can bind them to textures); one direction.
 */
#include "../common/wl.h"

/* Edge into the node spells text[start, end); child: A C G T and the end mark. */
struct tree_node {
  int start, end, link, child[5];
};

static int letter(char c) {
  return c;
}

/* Ukkonen's construction over text of letters 0..3 that ends in 4. */
static std::vector<tree_node> build(const std::vector<char> &text) {
  const int open = 0x7fffffff;
  std::vector<tree_node> t(1, tree_node{0, 0, 0, {-1, -1, -1, -1, -1}});
  int active = 0, edge = 0, length = 0, remaining = 0, pending;
  for (int i = 0; i < (int)text.size(); i++) {
    pending = -1;
    remaining++;
    while (remaining) {
      if (length == 0) edge = i;
      int c = letter(text[(size_t)edge]), next = t[(size_t)active].child[c];
      if (next < 0) {
        t[(size_t)active].child[c] = (int)t.size();
        t.push_back(tree_node{i, open, 0, {-1, -1, -1, -1, -1}});
        if (pending >= 0) t[(size_t)pending].link = active;
        pending = active;
      } else {
        int span = std::min(t[(size_t)next].end, i + 1) - t[(size_t)next].start;
        if (length >= span) {
          edge += span;
          length -= span;
          active = next;
          continue;
        }
        if (text[(size_t)(t[(size_t)next].start + length)] == text[(size_t)i]) {
          length++;
          if (pending >= 0) t[(size_t)pending].link = active;
          break;
        }
        int split = (int)t.size();
        t.push_back(tree_node{t[(size_t)next].start, t[(size_t)next].start + length, 0, {-1, -1, -1, -1, -1}});
        t[(size_t)active].child[c] = split;
        t.push_back(tree_node{i, open, 0, {-1, -1, -1, -1, -1}});
        t[(size_t)split].child[letter(text[(size_t)i])] = split + 1;
        t[(size_t)next].start += length;
        t[(size_t)split].child[letter(text[(size_t)t[(size_t)next].start])] = next;
        if (pending >= 0) t[(size_t)pending].link = split;
        pending = split;
      }
      remaining--;
      if (active == 0 && length > 0) {
        length--;
        edge = i - remaining + 1;
      } else if (active > 0) {
        active = t[(size_t)active].link;
      }
    }
  }
  for (tree_node &n : t)
    if (n.end == open) n.end = (int)text.size();
  return t;
}

/* For each suffix q of the read: the longest match that starts at q, and the place in the genome where it ends. */
__global__ void match(const tree_node *tree, const char *text, const char *reads, int read_length, int reads_n,
                      int *length, int *end) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= reads_n) return;
  const char *q = reads + r * read_length;
  int node = 0, depth = 0; /* node reached, and its string depth */
  for (int s = 0; s < read_length; s++) {
    if (depth < 0) node = depth = 0;
    int at = depth, place = 0;
    /* Below the node: first skip-count over what is known to match is not needed, the node is exact. */
    for (;;) {
      int child = s + at < read_length ? tree[node].child[(int)q[s + at]] : -1;
      if (child < 0) {
        place = tree[node].end;
        break;
      }
      int a = tree[child].start, stop = tree[child].end, k = 0;
      while (a + k < stop && s + at + k < read_length && text[a + k] == q[s + at + k]) k++;
      if (a + k < stop) {
        at += k;
        place = a + k;
        break;
      }
      at += k;
      node = child;
      depth = at;
    }
    length[r * read_length + s] = at;
    end[r * read_length + s] = place;
    node = tree[node].link; /* the node of the same string without its first letter */
    depth--;
  }
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "mummergpu");
  int n = wl_int(&w, "genome", wl_by_size(4000, 40000, 400000), 16, 10000000, "letters of the genome");
  int reads_n = wl_int(&w, "reads", wl_by_size(1024, 8192, 65536), 1, 1 << 20, "reads");
  int len = wl_int(&w, "length", wl_by_size(25, 25, 40), 4, 1000, "letters per read");
  wl_ready(&w);

  uint64_t seed = w.seed;
  std::vector<char> text((size_t)n + 1), reads((size_t)reads_n * (size_t)len);
  for (int i = 0; i < n; i++) /* a tenth of the genome repeats an earlier stretch, as real ones do */
    text[(size_t)i] = i > 500 && i % 1000 < 100 ? text[(size_t)(i - 457)] : (char)wl_below(&seed, 4);
  text[(size_t)n] = 4;
  for (int r = 0; r < reads_n; r++) { /* reads come from the genome, with errors */
    int from = (int)wl_below(&seed, (uint32_t)std::max(1, n - len));
    for (int k = 0; k < len; k++)
      reads[(size_t)(r * len + k)] =
          wl_below(&seed, 20) == 0 ? (char)wl_below(&seed, 4) : text[(size_t)std::min(n - 1, from + k)];
  }
  std::vector<tree_node> tree = build(text);
  printf("%zu nodes of %zu bytes for %d letters\n", tree.size(), sizeof(tree_node), n);
  size_t out = reads.size();
  tree_node *dt = wl_upload(tree);
  char *dx = wl_upload(text), *dr = wl_upload(reads);
  int *dlen = wl_alloc<int>(out), *dend = wl_alloc<int>(out);
  match<<<wl_blocks((size_t)reads_n, 256), 256>>>(dt, dx, dr, len, reads_n, dlen, dend);
  WL_LAUNCHED();
  std::vector<int> length = wl_download(dlen, out), end = wl_download(dend, out);

  /* A match must be one, and be as long as possible: checked against a sorted array of suffixes. */
  std::vector<int> sa((size_t)n);
  for (int i = 0; i < n; i++) sa[(size_t)i] = i;
  auto compare = [&](int at, const char *q, int m) {
    for (int k = 0; k < m; k++) {
      int c = at + k < n ? text[(size_t)(at + k)] : -1;
      if (c != q[k]) return c < q[k] ? -1 : 1;
    }
    return 0;
  };
  std::sort(sa.begin(), sa.end(), [&](int a, int b) {
    while (a < n && b < n && text[(size_t)a] == text[(size_t)b]) a++, b++;
    return a < n && b < n ? text[(size_t)a] < text[(size_t)b] : a > b;
  });
  struct wl_check chk = {};
  for (size_t i = 0; i < out; i++) {
    int s = (int)(i % (size_t)len), m = length[i];
    const char *q = &reads[i];
    auto occurs = [&](int k) {
      auto it = std::lower_bound(sa.begin(), sa.end(), 0, [&](int at, int) { return compare(at, q, k) < 0; });
      return it != sa.end() && compare(*it, q, k) == 0;
    };
    wl_that(&chk, m >= 0 && s + m <= len && end[i] - m >= 0 && compare(end[i] - m, q, m) == 0,
            "the match is in the genome");
    wl_that(&chk, s + m == len || !occurs(m + 1), "no longer match exists");
  }
  return wl_end(&w, &chk);
}
