/* l1_full_assoc.c - a fully associative L1 of the same capacity, least recently used: separates conflict from capacity.
 *
 * Paper: Li et al., "Locality-Driven Dynamic GPU Cache Bypassing", ICS 2015, section 3.1 and Fig 2.
 *
 * Deviations: none known.
 */
#include "gpu/scheme.h"

static bool l1_full_assoc_configure(struct gpu_config *c, const double *param, struct err *e) {
  (void)param, (void)e;
  c->l1d.ways *= c->l1d.sets;
  c->l1d.sets = 1;
  c->l1d_index = INDEX_LINEAR;
  return true;
}

static double bits_for(uint32_t values) {
  double bits = 0;
  while (1u << (uint32_t)bits < values) bits++;
  return bits;
}

static uint32_t l1_full_assoc_storage(const struct gpu_config *g, const double *param, struct scheme_bits *out,
                                      uint32_t max) {
  double lines = (double)g->l1d.sets * g->l1d.ways * g->sms;
  (void)param;
  if (max > 0) out[0] = (struct scheme_bits){"the set index in the tag of every line", bits_for(g->l1d.sets) * lines};
  if (max > 1)
    out[1] = (struct scheme_bits){"order of last use among all lines, more bits per line",
                                  (bits_for(g->l1d.sets * g->l1d.ways) - bits_for(g->l1d.ways)) * lines};
  return 2;
}

static const struct scheme l1_full_assoc = {
    .name = "l1-full-assoc",
    .title = "a fully associative L1 of the same capacity",
    .paper = "Li, Song, Dai, Sidelnik, Hari, Zhou: Locality-Driven Dynamic GPU Cache Bypassing. ICS 2015, Fig 2",
    .idea =
        "One set of all lines, replaced in order of last use. What it gains over the baseline were conflict misses.",
    .owns = {OWNS_L1_SIZE, OWNS_L1_REPLACEMENT, OWNS_L1_ORGANISATION},
    .configure = l1_full_assoc_configure,
    .storage = l1_full_assoc_storage,
};
SCHEME(l1_full_assoc);
