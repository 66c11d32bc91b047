/* observed_l2.c - warps at the L2, queues, shared blocks and CTAs (gpu/observe/l2.h) as parts of a launch's entry, and
 * as values of the totals: one row gives the key and its value.
 */
#include "results/observed.h"

#include <stdio.h>

#include "gpu/common/observed.h"
#include "gpu/observe/l2.h"
#include "results/record.h"

static uint64_t sum_of_types(const uint64_t type[WARP_TYPES]) {
  uint64_t n = 0;
  for (int i = 0; i < WARP_TYPES; i++) n += type[i];
  return n;
}

/* Blocks that `from` SMs or more touched, and SMs over all such blocks. */
static uint64_t blocks_of(const struct gpu_l2_sums *s, uint32_t from) {
  uint64_t n = 0;
  for (uint32_t i = from; i < SHARER_BINS; i++) n += s->sharers[i];
  return n;
}
static uint64_t sharers_of(const struct gpu_l2_sums *s, uint32_t from) {
  uint64_t n = 0;
  for (uint32_t i = from; i < SHARER_BINS; i++) n += i * s->sharers[i];
  return n;
}

/* Shares of the types in all, as KEY.all_hit to KEY.all_miss, and their number as KEY. */
static void types_to_totals(json_t *totals, const char *key, const uint64_t type[WARP_TYPES]) {
  uint64_t all = sum_of_types(type);
  json_object_set_new(totals, key, json_real((double)all));
  for (int i = 0; i < WARP_TYPES; i++) {
    char of_type[64];
    snprintf(of_type, sizeof of_type, "%s.%s", key, gpu_warp_type_names[i]);
    json_object_set_new(totals, of_type, json_real(record_ratio(type[i], all)));
  }
}

void observed_l2_to_totals(json_t *totals, const struct gpu_l2_sums *s) {
  types_to_totals(totals, "character.warps", s->warp_type);
  types_to_totals(totals, "character.l2_loads", s->load_type);
  uint64_t misses = s->miss[0] + s->miss[1] + s->miss[2];
  const struct {
    const char *key;
    double value;
  } rows[] = {
      {"character.warps.type_kept", record_ratio(s->type_kept, s->type_kept + s->type_changed)},
      {"character.divergence_penalty.mean", record_ratio(s->penalty, s->all_hit_loads)},
      {"character.divergence_penalty.max", (double)s->penalty_max},
      {"character.l2_misses.first", record_ratio(s->miss[0], misses)},
      {"character.l2_misses.capacity", record_ratio(s->miss[1], misses)},
      {"character.l2_misses.conflict", record_ratio(s->miss[2], misses)},
      {"character.blocks", (double)s->blocks},
      {"character.blocks.shared_by_ctas", record_ratio(s->cta_shared, s->blocks)},
      {"character.blocks.shared_below_distance_5", record_ratio(s->distance[0] + s->distance[1], s->cta_shared)},
      {"character.blocks.shared_by_sms", record_ratio(blocks_of(s, 2), s->blocks)},
      {"character.sharers_per_block", record_ratio(sharers_of(s, 1), s->blocks)},
      {"character.sharers_per_shared_block", record_ratio(sharers_of(s, 2), blocks_of(s, 2))},
      {"character.shared_loads.merged", record_ratio(s->shared_merges, s->shared_loads)},
      {"character.shared_loads.hits", record_ratio(s->shared_hits, s->shared_loads)},
      {"character.shared_loads.reused_late", record_ratio(s->late_reuses, s->reuses)},
      {"character.ctas.longest_over_mean", record_ratio(s->cta_longest, s->cta_mean)},
      {"character.ctas.shortest_over_mean", record_ratio(s->cta_shortest, s->cta_mean)},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    json_object_set_new(totals, rows[i].key, json_real(rows[i].value));
}

static json_t *counts(const uint64_t *v, uint32_t n) {
  json_t *a = json_array();
  while (n && !v[n - 1]) n--; /* empty bins at the end are omitted */
  for (uint32_t i = 0; i < n; i++) json_array_append_new(a, json_integer((json_int_t)v[i]));
  return a;
}

static json_t *named(const uint64_t *v, const char *const *names, uint32_t n) {
  json_t *o = json_object();
  for (uint32_t i = 0; i < n; i++) json_object_set_new(o, names[i], json_integer((json_int_t)v[i]));
  return o;
}

static json_t *series_json(const struct gpu_l2_character *c) {
  json_t *all = json_array();
  for (uint32_t k = 0; k < SERIES; k++) {
    json_t *accesses = json_array(), *hits = json_array();
    for (uint32_t i = 0; i < c->intervals; i++) {
      json_array_append_new(accesses, json_integer(c->series[i][k][0]));
      json_array_append_new(hits, json_integer(c->series[i][k][1]));
    }
    json_array_append_new(all, json_pack("{s:i, s:i, s:i, s:o, s:o}", "sm", (int)c->series_sm[k], "warp",
                                         (int)c->series_warp[k], "every_cycles", SERIES_CYCLES, "accesses", accesses,
                                         "hits", hits));
  }
  return all;
}

void observed_l2_to_json(json_t *launch, const struct gpu_l2_character *c, bool to_fold) {
  const struct gpu_l2_sums *s = &c->sums;
  json_t *l2 = json_object(), *sharing = json_object();
  json_object_set_new(l2, "warps_by_type", named(s->warp_type, gpu_warp_type_names, WARP_TYPES));
  json_object_set_new(l2, "loads_by_type", named(s->load_type, gpu_warp_type_names, WARP_TYPES));
  json_object_set_new(l2, "warps_by_hit_ratio_tenths", counts(s->hit_ratio, RATIO_BINS));
  json_object_set_new(l2, "types_kept", json_integer((json_int_t)s->type_kept));
  json_object_set_new(l2, "types_changed", json_integer((json_int_t)s->type_changed));
  json_object_set_new(l2, "misses_by_cause", named(s->miss, gpu_l2_cause_names, L2_CAUSES));
  json_object_set_new(l2, "requests_by_log2_wait", counts(s->waits, QUEUE_BINS));
  json_object_set_new(l2, "all_hit_loads", json_integer((json_int_t)s->all_hit_loads));
  json_object_set_new(l2, "divergence_penalty.mean", observed_mean(s->penalty, s->all_hit_loads, to_fold));
  json_object_set_new(l2, "divergence_penalty.max", json_integer((json_int_t)s->penalty_max));
  if (!to_fold) json_object_set_new(l2, "followed_warps", series_json(c));
  json_object_set_new(launch, "warps_at_l2", l2);
  json_object_set_new(sharing, "blocks", json_integer((json_int_t)s->blocks));
  json_object_set_new(sharing, "blocks_shared_by_ctas", json_integer((json_int_t)s->cta_shared));
  json_object_set_new(sharing, "blocks_by_cta_distance", named(s->distance, gpu_distance_names, DISTANCE_BINS));
  json_object_set_new(sharing, "blocks_by_sharing_sms", counts(s->sharers, SHARER_BINS));
  json_object_set_new(sharing, "loads_of_shared_blocks", json_integer((json_int_t)s->shared_loads));
  json_object_set_new(sharing, "hits_of_them", json_integer((json_int_t)s->shared_hits));
  json_object_set_new(sharing, "merges_of_them", json_integer((json_int_t)s->shared_merges));
  json_object_set_new(sharing, "reuses_after_fill", json_integer((json_int_t)s->reuses));
  json_object_set_new(sharing, "of_them_after_1000_cycles", json_integer((json_int_t)s->late_reuses));
  json_object_set_new(sharing, "cta_cycles.mean", observed_mean(s->cta_cycles, s->ctas, to_fold));
  json_object_set_new(sharing, "cta_cycles.shortest", json_integer((json_int_t)s->cta_shortest));
  json_object_set_new(sharing, "cta_cycles.longest", json_integer((json_int_t)s->cta_longest));
  json_object_set_new(launch, "sharing", sharing);
}
