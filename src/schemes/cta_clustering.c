/* cta_clustering.c - CTA clustering: neighbouring CTAs of the grid run on one SM, in order.
 *
 * Paper: Li, Song, Liu, Liu, Kumar, Corporaal, "Locality-Aware CTA Clustering for Modern GPUs", ASPLOS 2017.
 *
 * What was at hand: the abstract and summaries, not the paper's sections. They describe software for existing GPUs: a
 * launch's CTAs are taken in an order along which they share data and cut into clusters of equal size, one for each
 * SM. Redirection renumbers the CTAs so that, if the hardware gave them out in turn, a cluster's would meet on one SM.
 * Agents are CTAs bound to an SM, which perform the SM's cluster one after the other; throttling starts fewer of them.
 *
 * What is built: the order and the clusters in the CTA scheduler. With agents an SM takes CTAs of its own cluster only
 * and is idle after them. With redirection the n-th CTA to start is the next of cluster n modulo clusters, wherever it
 * starts. The first clusters take the remainder.
 *
 * Choices: the program's analysis that picks order, tile and agents is the user's parameters. An agent's loop costs no
 * instructions, and each of its CTAs starts as a CTA does. Rows of a three-dimensional grid follow each other. The
 * paper's bypassing and prefetching are left out. The machine's own limit for small grids applies.
 */
#include "gpu/scheme.h"

enum { ORDER, TILE, AGENTS, REDIRECT, CLUSTERS };
enum { BY_ROW, BY_COLUMN, BY_TILE };
static const char *const order_words[] = {"row", "column", "tile", NULL};

static const struct scheme_param params[] = {
    {"order", "", "of the CTAs: row, column or tile", 0, 2, 0, true},
    {"tile", "CTA", "width and height of a tile", 1, 1024, 4, true},
    {"agents", "CTA", "CTAs of an SM at a time; 0: as many as fit", 0, 64, 0, true},
    {"redirect", "", "0: an SM runs its own cluster (agents); 1: CTAs are renumbered", 0, 1, 0, true},
    {"clusters", "cluster", "of a redirected grid; 0: one for each SM", 0, 1024, 0, true},
    {0},
};
enum { GIVEN, MOVED, DONE_EARLY };
static const struct scheme_counter counters[] = {
    {"given", "CTA", "CTAs given to SMs", true},
    {"moved", "CTA", "of them, those that another place of the grid would have had in turn", false},
    {"done_early", "SM", "SMs that took the last CTA of their cluster before others did, summed over launches", false},
    {0},
};

struct clustering {
  uint32_t started; /* CTAs of this launch */
};
struct clustering_sm {
  uint32_t taken; /* CTAs of its cluster */
};

static void clustering_on_kernel(struct scheme_ctx *c) {
  ((struct clustering *)c->state)->started = 0;
  for (uint32_t i = 0; i < c->config->sms; i++) SCHEME_SM(c, struct clustering_sm, i)->taken = 0;
}

/* Row and column of the `k`-th CTA by tiles: bands of tiles, tiles of a band, rows of a tile. */
static uint32_t clustering_by_tile(uint32_t k, uint32_t width, uint32_t height, uint32_t side) {
  uint32_t top = (uint32_t)(k / ((uint64_t)width * side)) * side, rows = height - top < side ? height - top : side;
  uint32_t in_band = k - top * width, left = (uint32_t)(in_band / ((uint64_t)side * rows)) * side;
  uint32_t in_tile = in_band - left * rows, columns = width - left < side ? width - left : side;
  return (top + in_tile / columns) * width + left + in_tile % columns;
}

static uint32_t clustering_nth(const struct scheme_ctx *c, uint32_t k) {
  uint32_t width = gpu_grid_x(c->gpu), height = gpu_grid_ctas(c->gpu) / width;
  if (c->param[ORDER] == BY_COLUMN) return k % height * width + k / height;
  return c->param[ORDER] == BY_TILE ? clustering_by_tile(k, width, height, (uint32_t)c->param[TILE]) : k;
}

/* The CTA at place `at` of cluster `i` out of `n`; -1: it has no more. */
static int64_t clustering_cta(const struct scheme_ctx *c, uint32_t i, uint32_t n, uint32_t at) {
  uint32_t ctas = gpu_grid_ctas(c->gpu), size = ctas / n, more = ctas % n;
  if (at >= size + (i < more)) return -1;
  return clustering_nth(c, i * size + (i < more ? i : more) + at);
}

static int64_t clustering_pick_cta(struct scheme_ctx *c, uint32_t sm, uint32_t room) {
  (void)room;
  struct clustering *s = c->state;
  uint32_t n = c->config->sms, i = sm, at = SCHEME_SM(c, struct clustering_sm, sm)->taken;
  if (s->started == gpu_grid_ctas(c->gpu)) return -1;
  if (c->param[REDIRECT]) {
    if (c->param[CLUSTERS]) n = (uint32_t)c->param[CLUSTERS];
    i = s->started % n, at = s->started / n;
  }
  int64_t cta = clustering_cta(c, i, n, at);
  if (cta < 0) return -1;
  c->counter[GIVEN]++;
  c->counter[MOVED] += cta != s->started;
  s->started++;
  SCHEME_SM(c, struct clustering_sm, sm)->taken++;
  c->counter[DONE_EARLY] +=
      clustering_cta(c, i, n, at + 1) < 0 && s->started < gpu_grid_ctas(c->gpu) && !c->param[REDIRECT];
  return cta;
}

static bool clustering_may_launch(struct scheme_ctx *c, uint32_t sm, uint32_t running) {
  (void)sm;
  return running < c->param[AGENTS];
}

static bool clustering_idle(const double *param, size_t hook) {
  return !param[AGENTS] && hook == offsetof(struct scheme, may_launch);
}

SCHEME_STORAGE(clustering_storage, {"place in its cluster, 32 bits per SM", 32.0 * g->sms},
               {"CTAs started, 32 bits", param[REDIRECT] ? 32 : 0})

static const struct scheme cta_clustering = {
    .name = "cta-clustering",
    .title = "CTA clustering: neighbouring CTAs run on one SM",
    .paper = "Li, Song, Liu, Liu, Kumar, Corporaal: Locality-Aware CTA Clustering for Modern GPUs. ASPLOS 2017",
    .idea =
        "CTAs that share lines are neighbours along the rows, columns or tiles of the grid, and the hardware deals\n"
        "them out to all SMs. In that order the grid is cut into a cluster for each SM. Fewer CTAs at a time\n"
        "leave each a larger part of the L1.",
    .params = params,
    .counters = counters,
    .positional = "order",
    .words = order_words,
    .state_bytes = sizeof(struct clustering),
    .sm_state_bytes = sizeof(struct clustering_sm),
    .idle = clustering_idle,
    .storage = clustering_storage,
    .on_kernel = clustering_on_kernel,
    .may_launch = clustering_may_launch,
    .pick_cta = clustering_pick_cta,
};
SCHEME(cta_clustering);
