/* wl_graph.h - graphs and sparse matrices in CSR: generators and readers of the public formats.
 *
 * R-MAT (Chakrabarti et al., SDM 2004) gives the skewed degrees of social and web graphs; the grid with shortcuts gives
 * the low degrees and long paths of road maps. Readers name file and line of what they cannot read. */
#ifndef WL_GRAPH_H
#define WL_GRAPH_H

#include "wl.h"

struct wl_csr {
  int rows, cols;
  std::vector<int> row;   /* rows + 1 */
  std::vector<int> col;   /* one per edge or non-zero */
  std::vector<float> val; /* edge weight or matrix value */
  int edges() const {
    return (int)col.size();
  }
  int degree(int v) const {
    return row[(size_t)v + 1] - row[(size_t)v];
  }
};
struct wl_edge {
  int from, to;
  float w;
};

/* Sorted by row, then column; duplicates keep their first weight. */
static inline struct wl_csr wl_csr_of(int rows, int cols, std::vector<wl_edge> &e) {
  std::stable_sort(e.begin(), e.end(),
                   [](const wl_edge &a, const wl_edge &b) { return a.from != b.from ? a.from < b.from : a.to < b.to; });
  struct wl_csr g = {rows, cols, std::vector<int>((size_t)rows + 1, 0), {}, {}};
  for (size_t i = 0; i < e.size(); i++) {
    if (i && e[i].from == e[i - 1].from && e[i].to == e[i - 1].to) continue;
    g.col.push_back(e[i].to);
    g.val.push_back(e[i].w);
    g.row[(size_t)e[i].from + 1]++;
  }
  for (int v = 0; v < rows; v++) g.row[(size_t)v + 1] += g.row[(size_t)v];
  return g;
}

/* 2^scale vertices, `degree` edges each on average before duplicates go; vertex numbers are shuffled. Integer weights
 * 1..max_weight. Symmetric: every edge in both directions with one weight. */
static inline struct wl_csr wl_rmat(int scale, int degree, int max_weight, bool symmetric, uint64_t *seed) {
  int n = 1 << scale;
  std::vector<int> name((size_t)n);
  for (int i = 0; i < n; i++) name[(size_t)i] = i;
  for (int i = n - 1; i > 0; i--) std::swap(name[(size_t)i], name[wl_below(seed, (uint32_t)i + 1)]);
  std::vector<wl_edge> e;
  for (long k = 0; k < (long)n * degree / (symmetric ? 2 : 1); k++) {
    int u = 0, v = 0;
    for (int b = 0; b < scale; b++) {
      float p = wl_unit(seed); /* quadrants .57 .19 .19 .05 */
      u = u << 1 | (p >= 0.76f);
      v = v << 1 | ((p >= 0.57f && p < 0.76f) || p >= 0.95f);
    }
    float w = 1.0f + (float)wl_below(seed, (uint32_t)max_weight);
    if (u == v) continue;
    e.push_back({name[(size_t)u], name[(size_t)v], w});
    if (symmetric) e.push_back({name[(size_t)v], name[(size_t)u], w});
  }
  return wl_csr_of(n, n, e);
}

/* 2^scale vertices, each of which chooses 2 to `degree` neighbours anywhere: Rodinia's own generator for degree 4.
 * Symmetric: about `degree` + 2 edges a vertex. */
static inline struct wl_csr wl_uniform(int scale, int degree, int max_weight, uint64_t *seed) {
  uint32_t n = 1u << scale;
  std::vector<wl_edge> e;
  for (uint32_t v = 0; v < n; v++)
    for (int least = degree < 2 ? degree : 2, k = least + (int)wl_below(seed, (uint32_t)(degree - least) + 1); k > 0;
         k--) {
      int to = (int)wl_below(seed, n);
      float w = 1.0f + (float)wl_below(seed, (uint32_t)max_weight);
      if (to == (int)v) continue;
      e.push_back({(int)v, to, w});
      e.push_back({to, (int)v, w});
    }
  return wl_csr_of((int)n, (int)n, e);
}

/* 2^scale vertices with `degree` uniform random neighbours each, one way, in no order: LonestarGPU's r4-2eN for
 * degree 4. */
static inline struct wl_csr wl_random(int scale, int degree, int max_weight, uint64_t *seed) {
  int n = 1 << scale;
  struct wl_csr g = {n, n, std::vector<int>(1, 0), {}, {}};
  for (int v = 0; v < n; v++) {
    for (int k = 0; k < degree; k++) {
      g.col.push_back((int)wl_below(seed, (uint32_t)n));
      g.val.push_back(1.0f + (float)wl_below(seed, (uint32_t)max_weight));
    }
    g.row.push_back((int)g.col.size());
  }
  return g;
}

/* side x side road map: four neighbours, a tenth of the roads missing, one in 64 vertices with a long road. */
static inline struct wl_csr wl_grid(int side, int max_weight, uint64_t *seed) {
  std::vector<wl_edge> e;
  int n = side * side;
  for (int y = 0; y < side; y++)
    for (int x = 0; x < side; x++) {
      int v = y * side + x, to[3] = {x + 1 < side ? v + 1 : -1, y + 1 < side ? v + side : -1, -1};
      if (wl_below(seed, 64) == 0) to[2] = (int)wl_below(seed, (uint32_t)n);
      for (int k = 0; k < 3; k++) {
        float w = 1.0f + (float)wl_below(seed, (uint32_t)max_weight);
        bool missing = k < 2 && wl_below(seed, 10) == 0;
        if (to[k] < 0 || to[k] == v || missing) continue;
        e.push_back({v, to[k], w});
        e.push_back({to[k], v, w});
      }
    }
  return wl_csr_of(n, n, e);
}

/* Symmetric sparse matrix as a mesh gives it: `per_row` entries a row on average, normally distributed around the
 * diagonal with a deviation of the root of n, and the diagonal. */
static inline struct wl_csr wl_mesh_matrix(int n, int per_row, uint64_t *seed) {
  std::vector<wl_edge> e;
  int deviation = (int)sqrtf((float)n);
  for (int r = 0; r < n; r++) e.push_back({r, r, wl_range(seed, -1, 1)});
  for (long k = 0; k < (long)n * per_row / 2; k++) {
    int r = (int)wl_below(seed, (uint32_t)n), c = std::max(0, r - (int)fabsf(wl_normal(seed) * (float)deviation));
    float v = wl_range(seed, -1, 1);
    if (r == c) continue;
    e.push_back({r, c, v});
    e.push_back({c, r, v});
  }
  return wl_csr_of(n, n, e);
}

/* ---- readers ---- */
static inline void wl_bad_line(const char *file, long line, const char *expected) {
  fprintf(stderr, "%s:%ld: expected %s\n", file, line, expected);
  exit(2);
}

/* DIMACS: "p sp N M" (or "p edge N M"), then "a FROM TO WEIGHT" (or "e FROM TO"); "c" lines are comments.
 * Matrix Market: "%%MatrixMarket matrix coordinate real|integer|pattern general|symmetric", sizes, entries. */
static inline struct wl_csr wl_read_graph(const char *file) {
  FILE *f = fopen(file, "r");
  if (!f) {
    fprintf(stderr, "%s: cannot open: expected a DIMACS graph or a Matrix Market matrix\n", file);
    exit(2);
  }
  char text[1024], kind[32], field[32] = "", symmetry[32] = "";
  long line = 0, n = 0, cols = 0, m = 0, from, to;
  bool market = false, sized = false;
  double w;
  std::vector<wl_edge> e;
  while (fgets(text, sizeof text, f)) {
    line++;
    if (line == 1 && !strncmp(text, "%%MatrixMarket", 14)) {
      market = true;
      if (sscanf(text, "%%%%MatrixMarket matrix coordinate %31s %31s", field, symmetry) != 2)
        wl_bad_line(file, line, "'%%MatrixMarket matrix coordinate FIELD SYMMETRY'");
      if (strcmp(field, "real") && strcmp(field, "integer") && strcmp(field, "pattern"))
        wl_bad_line(file, line, "real, integer or pattern values");
      continue;
    }
    if (text[0] == '\n' || (market ? text[0] == '%' : text[0] == 'c')) continue;
    if (!sized) {
      bool ok =
          market ? sscanf(text, "%ld %ld %ld", &n, &cols, &m) == 3 : sscanf(text, "p %31s %ld %ld", kind, &n, &m) == 3;
      if (!ok)
        wl_bad_line(file, line,
                    market ? "'ROWS COLUMNS ENTRIES'" : "'p sp VERTICES EDGES' (DIMACS) or a Matrix Market banner");
      if (!market) cols = n;
      if (n <= 0 || cols <= 0 || m < 0 || n > 100000000 || cols > 100000000)
        wl_bad_line(file, line, "sizes from 1 to 100000000");
      sized = true;
      continue;
    }
    w = 1;
    if (market ? sscanf(text, "%ld %ld %lf", &from, &to, &w) < (field[0] == 'p' ? 2 : 3)
               : sscanf(text, "a %ld %ld %lf", &from, &to, &w) < 3 && sscanf(text, "e %ld %ld", &from, &to) < 2)
      wl_bad_line(file, line, market ? "'ROW COLUMN VALUE'" : "'a FROM TO WEIGHT' or 'e FROM TO'");
    if (from < 1 || from > n || to < 1 || to > cols)
      wl_bad_line(file, line, "indices from 1 to the sizes declared above");
    e.push_back({(int)from - 1, (int)to - 1, (float)w});
    if ((market && symmetry[0] == 's' && from != to) || text[0] == 'e')
      e.push_back({(int)to - 1, (int)from - 1, (float)w});
    m--;
  }
  fclose(f);
  if (!sized) wl_bad_line(file, line + 1, "a size line before the end of the file");
  if (m > 0) wl_bad_line(file, line + 1, "more entries: fewer than declared were found");
  if (m < 0) wl_bad_line(file, line, "no more entries than declared");
  return wl_csr_of((int)n, (int)cols, e);
}

/* Degrees in powers of two: "degree 1: 10 %, 2-3: 40 %, ...". */
static inline void wl_print_degrees(const char *what, const struct wl_csr &g) {
  int bins[32] = {0}, most = 0;
  for (int v = 0; v < g.rows; v++) {
    int d = g.degree(v), b = 0;
    most = std::max(most, d);
    while (d >> b) b++;
    bins[b]++;
  }
  printf("%s: %d rows, %d entries, degree mean %.1f, largest %d;", what, g.rows, g.edges(), (double)g.edges() / g.rows,
         most);
  for (int b = 0; b < 32; b++)
    if (bins[b]) printf(" %d-%d: %.1f%%", b ? 1 << (b - 1) : 0, b ? (1 << b) - 1 : 0, 100.0 * bins[b] / g.rows);
  printf("\n");
}

#define WL_GRAPHS "0 R-MAT, 1 road map, 2 uniform, 3 random" /* --graph */

/* The graph that --input or --graph selects, with about 2^scale vertices. */
static inline struct wl_csr wl_graph_for(const struct wl *w, int kind, int scale, int degree, int max_weight,
                                         bool symmetric) {
  uint64_t seed = w->seed;
  struct wl_csr g = w->input    ? wl_read_graph(w->input)
                    : kind == 1 ? wl_grid(1 << (scale / 2), max_weight, &seed)
                    : kind == 2 ? wl_uniform(scale, degree, max_weight, &seed)
                    : kind == 3 ? wl_random(scale, degree, max_weight, &seed)
                                : wl_rmat(scale, degree, max_weight, symmetric, &seed);
  if (g.rows != g.cols) {
    fprintf(stderr, "%s: a graph needs a square matrix, this is %d x %d\n", w->input, g.rows, g.cols);
    exit(2);
  }
  wl_print_degrees("graph", g);
  return g;
}

/* The vertex with most neighbours: a start from which most of the graph is reached. */
static inline int wl_hub(const struct wl_csr &g) {
  int best = 0;
  for (int v = 1; v < g.rows; v++)
    if (g.degree(v) > g.degree(best)) best = v;
  return best;
}

#endif
