/* observed.c - counters by unit, by instruction and over time, as parts of a launch's entry in the record.
 *
 * A unit's entry holds the counters that such a unit changes, by the first part of their keys, so the entries of all
 * units of a launch add up to its counters (maxima: their maximum).
 */
#include "results/observed.h"

#include <string.h>

#include "gpu/common/observed.h"
#include "gpu/observe/l2.h"
#include "ptx/feed.h"

enum unit { UNIT_LAUNCH, UNIT_SM, UNIT_PARTITION, UNIT_CHANNEL };

static enum unit unit_of(const char *key) {
  static const struct {
    const char *prefix;
    enum unit unit;
  } rules[] = {{"kernels", UNIT_LAUNCH},
               {"cycles", UNIT_LAUNCH},
               {"sm.empty_cycles", UNIT_LAUNCH}, /* the remainder of the launch's cycles */
               {"l2.", UNIT_PARTITION},
               {"icnt.flits_down", UNIT_PARTITION},
               {"icnt.packets_down", UNIT_PARTITION},
               {"icnt.latency_up", UNIT_PARTITION},
               {"dram.", UNIT_CHANNEL}};
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    if (!strncmp(key, rules[i].prefix, strlen(rules[i].prefix))) return rules[i].unit;
  return UNIT_SM;
}

static json_t *json_count(uint64_t v) {
  return json_integer((json_int_t)v);
}

json_t *observed_mean(uint64_t sum, uint64_t count, bool to_fold) {
  if (to_fold) return json_pack("[I, I]", (json_int_t)sum, (json_int_t)count);
  return json_real(count ? (double)sum / (double)count : 0);
}

static json_t *unit_value(const struct gpu_stats *s, const struct stat_row *row, bool to_fold) {
  uint64_t v = *(const uint64_t *)((const char *)s + row->offset);
  if (row->kind != STAT_MEAN) return json_count(v);
  return observed_mean(v, *(const uint64_t *)((const char *)s + row->count_offset), to_fold);
}

static void add_units(json_t *launch, const char *name, enum unit unit, const struct gpu_stats *s, uint32_t n,
                      bool to_fold) {
  json_t *all = json_array();
  for (uint32_t u = 0; u < n; u++) {
    json_t *o = json_object();
    for (uint32_t i = 0; i < gpu_stat_row_count; i++) {
      const struct stat_row *row = &gpu_stat_rows[i];
      if (unit_of(row->key) != unit) continue;
      json_object_set_new(o, row->key, unit_value(&s[u], row, to_fold));
    }
    json_array_append_new(all, o);
  }
  json_object_set_new(launch, name, all);
}

static void add_samples(json_t *launch, const struct gpu_observed *observed) {
  json_t *all = json_object();
  json_object_set_new(all, "every_cycles", json_count(observed->on.sample));
  for (uint32_t k = 0; k < GPU_SAMPLE_COUNTERS; k++) {
    json_t *values = json_array();
    for (uint32_t i = 0; i < observed->samples; i++)
      json_array_append_new(values, json_count(observed->sample[i].v[k]));
    json_object_set_new(all, gpu_sample_keys[k], values);
  }
  json_object_set_new(launch, "samples", all);
}

/* In the order of the code, which is that of the PTX text; instructions without memory accesses are omitted. */
static void add_observed_lines(json_t *all, const struct gpu_observed *observed, const struct gpu_observed_code *c) {
  const struct feed_kernel *k = &c->kernel;
  for (uint32_t pc = 0; pc < k->insts; pc++) {
    const struct gpu_inst_memory *m = &observed->inst[c->base + pc];
    const struct inst *i = &k->code[pc];
    if (!m->executions) continue;
    const char *file = k->files && i->src_line && i->src_file < k->nfiles ? k->files[i->src_file] : NULL;
    json_t *o = json_object(), *name = json_string(file ? file : "");
    json_object_set_new(o, "ptx_line", json_count(i->ptx_line));
    json_object_set_new(o, "file", name ? name : json_string("(not UTF-8)"));
    json_object_set_new(o, "line", json_count(i->src_line));
    json_object_set_new(o, "executions", json_count(m->executions));
    json_object_set_new(o, "accesses", json_count(m->accesses));
    json_object_set_new(o, "l1_accesses", json_count(m->l1_accesses));
    json_object_set_new(o, "l1_hits", json_count(m->l1_hits));
    json_object_set_new(o, "stall_cycles", json_count(m->stalls));
    json_object_set_new(o, "l2_bytes", json_count(m->bytes));
    json_array_append_new(all, o);
  }
}

static json_t *numbers(const uint64_t *v, uint32_t n) {
  json_t *a = json_array();
  for (uint32_t i = 0; i < n; i++) json_array_append_new(a, json_count(v[i]));
  return a;
}

static void add_reuse(json_t *loads, const struct gpu_character *c) {
  json_t *all = json_object(), *miss = json_object();
  json_object_set_new(all, "line_bytes", json_count(c->line_bytes));
  for (uint32_t i = 0; i < REUSE_STREAMS; i++) {
    const struct reuse_histogram *h = &c->reuse[i];
    json_t *o = json_object();
    json_object_set_new(o, "first_accesses", json_count(h->first)); /* the footprint in lines, summed over SMs */
    json_object_set_new(o, "by_distance", numbers(h->distance, REUSE_DISTANCES));
    json_object_set_new(o, "lines_by_reuses", numbers(h->lines, REUSE_COUNTS));
    json_object_set_new(o, "accesses_by_reuses", numbers(h->accesses, REUSE_COUNTS));
    json_object_set_new(all, gpu_reuse_names[i], o);
  }
  json_object_set_new(loads, "reuse", all);
  for (uint32_t i = 0; i < MISS_CAUSES; i++) json_object_set_new(miss, gpu_miss_names[i], json_count(c->miss[i]));
  json_object_set_new(loads, "misses_by_cause", miss);
}

static void add_loads(json_t *launch, const struct gpu_character *c, bool to_fold) {
  json_t *loads = json_object(), *classes = json_array(), *used = json_array(), *reused = json_array();
  for (uint32_t i = 0; i < DEGREE_CLASSES; i++) {
    const struct gpu_degree_class *d = &c->degree[i];
    json_t *o = json_object();
    json_object_set_new(o, "degrees", json_string(gpu_degree_names[i]));
    json_object_set_new(o, "loads", json_count(d->loads));
    json_object_set_new(o, "accesses", json_count(d->accesses));
    json_object_set_new(o, "hits", json_count(d->hits));
    json_object_set_new(o, "all_hit_loads", json_count(d->all_hit_loads));
    json_object_set_new(o, "latency.mean", observed_mean(d->latency, d->done, to_fold));
    if (c->has_blocks) {
      json_object_set_new(o, "lines_fetched", json_count(d->blocks));
      json_object_set_new(o, "lines_reused", json_count(d->reused));
    }
    json_array_append_new(classes, o);
  }
  json_object_set_new(loads, "by_degree", classes);
  for (uint32_t i = 0; i < LINE_QUARTERS; i++) json_array_append_new(used, json_count(c->used[i]));
  for (uint32_t i = 0; i <= LINE_QUARTERS; i++) json_array_append_new(reused, json_count(c->reused[i]));
  if (c->has_blocks) {
    json_object_set(loads, "lines_by_quarters_used", used);
    json_object_set(loads, "lines_by_quarters_reused", reused);
  }
  json_decref(used);
  json_decref(reused);
  add_reuse(loads, c);
  json_object_set_new(launch, "loads", loads);
}

void observed_to_json(json_t *launch, const struct gpu_observed *observed, bool to_fold) {
  if (observed->on.detail) {
    add_units(launch, "sms", UNIT_SM, observed->sm, observed->sms, to_fold);
    add_units(launch, "partitions", UNIT_PARTITION, observed->subpart, observed->subparts, to_fold);
    add_units(launch, "channels", UNIT_CHANNEL, observed->channel, observed->channels, to_fold);
  }
  if (observed->on.lines) {
    json_t *lines = json_array();
    for (uint32_t i = 0; i < observed->codes; i++) add_observed_lines(lines, observed, &observed->code[i]);
    json_object_set_new(launch, "lines", lines);
  }
  if (observed->character) add_loads(launch, observed->character, to_fold);
  if (gpu_observed_l2(observed)) observed_l2_to_json(launch, gpu_observed_l2(observed), to_fold);
  if (observed->on.sample && !to_fold) add_samples(launch, observed);
}

static json_t *rows(const uint32_t *v, uint32_t used, uint32_t width) {
  json_t *all = json_array();
  for (uint32_t i = 0; i < used * width; i++) json_array_append_new(all, json_count(v[i]));
  return all;
}

json_t *profile_to_json(const struct gpu_observed *observed) {
  const struct gpu_profile *p = observed->profile;
  if (!p) return NULL;
  json_t *all = json_object(), *counters = json_object();
  json_object_set_new(all, "every_cycles", json_count(1ull << p->shift));
  json_object_set_new(all, "cycles", json_count(p->cycles));
  json_object_set_new(all, "intervals", json_count(p->used));
  for (uint32_t k = 0; k < gpu_profile_counters; k++) {
    json_t *values = json_array();
    for (uint32_t i = 0; i < p->used; i++)
      json_array_append_new(values, json_count(p->count[(size_t)i * gpu_profile_counters + k]));
    json_object_set_new(counters, gpu_profile_keys[k], values);
  }
  json_object_set_new(all, "counters", counters);
  json_object_set_new(all, "sets", json_count(p->sets));
  json_object_set_new(all, "set_accesses", rows(p->set_accesses, p->used, p->sets));
  json_object_set_new(all, "set_hits", rows(p->set_hits, p->used, p->sets));
  json_object_set_new(all, "channels", json_count(p->channels));
  json_object_set_new(all, "banks", json_count(p->banks));
  json_object_set_new(all, "bank_bursts", rows(p->bank_bursts, p->used, p->channels * p->banks));
  json_object_set_new(all, "bank_rows", rows(p->bank_rows, p->used, p->channels * p->banks));
  return all;
}
