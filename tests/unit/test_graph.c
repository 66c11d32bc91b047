/* test_graph.c - dominators of random graphs against their definition: without a dominator of a node no way leads from
 * the root to it. Regions in which lanes reconverge lie in each other or apart.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/reconverge.h"
#include "base/rng.h"

enum { MOST = 24 };

/* Nodes reached from the root without passing `without`, as bits. */
static uint32_t reach(const struct graph *g, uint32_t root, uint32_t without) {
  uint32_t seen = root == without ? 0 : 1u << root, before;
  do {
    before = seen;
    for (uint32_t q = 0; q < g->nodes; q++)
      for (uint32_t e = g->at[q]; seen >> q & 1 && e < g->at[q + 1]; e++)
        if (g->to[e] != without) seen |= 1u << g->to[e];
  } while (seen != before);
  return seen;
}

static struct graph random_graph(struct rng *seed, struct arena *a) {
  uint32_t nodes = 1 + rng_below(seed, MOST), most = 1 + rng_below(seed, 3);
  struct graph_rows r = graph_rows(nodes, nodes * most, a);
  for (uint32_t q = 0; q < nodes; q++, graph_next(&r))
    for (uint32_t n = rng_below(seed, most + 1); n; n--) graph_edge(&r, rng_below(seed, nodes));
  return graph_of(&r);
}

static void check_reversed(const struct graph *g, const struct graph *back) {
  uint32_t ways[MOST][MOST] = {{0}};
  assert_int_equal(back->at[back->nodes], g->at[g->nodes]);
  for (uint32_t q = 0; q < g->nodes; q++) {
    for (uint32_t e = g->at[q]; e < g->at[q + 1]; e++) ways[q][g->to[e]]++;
    for (uint32_t e = back->at[q]; e < back->at[q + 1]; e++) ways[back->to[e]][q]--;
  }
  for (uint32_t q = 0; q < g->nodes; q++)
    for (uint32_t p = 0; p < g->nodes; p++) assert_int_equal(ways[q][p], 0);
}

/* The dominators of a node other than itself are its immediate dominator's. */
static void check_dominators(const struct graph *g, const struct dominators *d, uint32_t root) {
  uint32_t reached = reach(g, root, GRAPH_NONE), of[MOST] = {0};
  for (uint32_t a = 0; a < g->nodes; a++) {
    uint32_t cut = reached & ~reach(g, root, a);
    for (uint32_t b = 0; b < g->nodes; b++) {
      bool both = reached >> a & 1 && reached >> b & 1;
      assert_int_equal(graph_dominates(d, a, b), both && cut >> b & 1);
      if (cut >> b & 1) of[b] |= 1u << a;
    }
  }
  for (uint32_t b = 0; b < g->nodes; b++) {
    assert_int_equal(graph_reached(d, b), reached >> b & 1);
    if (!(reached >> b & 1)) assert_int_equal(d->idom[b], GRAPH_NONE);
    else if (b == root) assert_int_equal(d->idom[b], root);
    else assert_int_equal(of[d->idom[b]], of[b] & ~(1u << b));
  }
}

static void dominators_of_random_graphs(void **state) {
  (void)state;
  struct rng seed = rng_seed(1);
  for (uint32_t i = 0; i < 2000; i++) {
    struct arena a = {0};
    struct graph g = random_graph(&seed, &a), back = graph_reversed(&g, &a);
    uint32_t root = rng_below(&seed, g.nodes);
    struct dominators d = graph_dominators(&g, &back, root, &a), post = graph_dominators(&back, &g, root, &a);
    check_reversed(&g, &back);
    check_dominators(&g, &d, root);
    check_dominators(&back, &post, root);
    arena_free(&a);
  }
}

/* Each pair lies apart or one in the other, with its end in that or at the same place; a branch reconverges where two
 * of its ways lead (one if the other may be endless), or at the end. */
static void check_regions(const struct graph *g, const struct reconvergence *r, uint32_t least) {
  for (uint32_t a = 0; a < r->n; a++)
    for (uint32_t b = 0; b < r->n; b++) {
      bool both = false, less = false;
      for (uint32_t q = 0; q < r->exit; q++) {
        both |= region_has(r, a, q) && region_has(r, b, q);
        less |= region_has(r, a, q) && !region_has(r, b, q);
      }
      bool plain = a >= r->loops && b >= r->loops && a != b;
      if (!plain || !both || less) continue;
      assert_true(r->end[a] == r->end[b] || region_has(r, b, r->end[a]));
    }
  for (uint32_t q = 0; q < r->exit; q++) {
    uint32_t ways = 0;
    if (r->at[q] == GRAPH_NONE || r->at[q] == r->exit) continue;
    for (uint32_t e = g->at[q]; e < g->at[q + 1]; e++) ways += reach(g, g->to[e], GRAPH_NONE) >> r->at[q] & 1;
    assert_in_range(ways, least, MOST);
  }
  for (uint32_t a = 0; a < r->n; a++) {
    bool next_turn = r->up[a] != NO_REGION && r->meet[a] == r->end[r->up[a]];
    assert_true(r->meet[a] == GRAPH_NONE || next_turn || !region_has(r, a, r->meet[a]));
  }
}

static void regions_of_random_graphs_are_nested(void **state) {
  (void)state;
  struct rng seed = rng_seed(2);
  uint32_t joins = 0;
  for (uint32_t i = 0; i < 4000; i++) {
    struct arena a = {0};
    struct graph g = random_graph(&seed, &a);
    uint8_t flags[MOST];
    for (uint32_t q = 0; q < MOST; q++) flags[q] = (uint8_t)(rng_below(&seed, 8) ? 0 : rng_below(&seed, 8));
    if (g.nodes < 2) {
      arena_free(&a);
      continue;
    }
    bool loops = i % 3 == 0;
    struct graph_rows rows = graph_rows(g.nodes, g.at[g.nodes] + g.nodes, &a);
    for (uint32_t q = 0; q < g.nodes; q++, graph_next(&rows)) { /* all lead to the last node */
      uint32_t before = rows.edges;
      for (uint32_t e = g.at[q]; q + 1 < g.nodes && e < g.at[q + 1]; e++)
        if (g.to[e] > q || loops) graph_edge(&rows, g.to[e]);
      if (q + 1 < g.nodes && rows.edges == before) graph_edge(&rows, g.nodes - 1);
    }
    g = graph_of(&rows);
    struct graph back = graph_reversed(&g, &a);
    struct reconvergence r = graph_reconverge(&g, &back, flags, i & 1, &a);
    joins += r.n - r.loops;
    check_regions(&g, &r, loops ? 1 : 2);
    arena_free(&a);
  }
  assert_in_range(joins, 100, UINT32_MAX);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(dominators_of_random_graphs),
                                     cmocka_unit_test(regions_of_random_graphs_are_nested)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
