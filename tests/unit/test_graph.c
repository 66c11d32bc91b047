/* test_graph.c - dominators of random graphs against their definition: without a dominator of a node no way leads from
 * the root to it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/graph.h"
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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(dominators_of_random_graphs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
