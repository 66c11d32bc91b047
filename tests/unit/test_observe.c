/* test_observe.c - observations change nothing and add up: counters by unit, over time, and by instruction against the
 * counters of the same launch unobserved, with idle time skipped and not, and under schemes with epochs and
 * organisations of their own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "fake_feed.h"
#include "gpu/gpu.h"
#include "units.h"

enum { EVERY = 777, MAX_SAMPLES = 4096 };

struct look {
  struct gpu_stats st, units; /* of the last launch; the sum over its units */
  struct gpu_sample sample[MAX_SAMPLES];
  uint32_t samples;
  struct gpu_inst_memory inst[FAKE_CODE];
  struct gpu_character character;
};

static struct fake_feed feed;
static struct look plain, seen, stepped;

static uint64_t raw(const struct gpu_stats *s, uint32_t offset) {
  return *(const uint64_t *)((const char *)s + offset);
}

static void add_all(struct gpu_stats *to, const struct gpu_stats *s, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) gpu_stats_add(to, &s[i]);
}

static uint64_t value(const struct gpu_stats *s, const char *key) {
  for (uint32_t i = 0; i < gpu_stat_row_count; i++)
    if (!strcmp(gpu_stat_rows[i].key, key)) return raw(s, gpu_stat_rows[i].offset);
  fail_msg("no counter %s", key);
  return 0;
}

/* The profile of a run adds up to the counters of all its launches. */
static void profile_adds_up(const struct gpu_profile *p, const struct gpu_stats *st) {
  uint64_t bursts = 0, rows = 0, accesses = 0, hits = 0;
  for (uint32_t k = 0; k < gpu_profile_counters; k++) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < p->used; i++) sum += p->count[(size_t)i * gpu_profile_counters + k];
    if (sum != value(st, gpu_profile_keys[k])) fail_msg("profile: %s", gpu_profile_keys[k]);
  }
  for (uint32_t i = 0; i < p->used * p->channels * p->banks; i++) bursts += p->bank_bursts[i], rows += p->bank_rows[i];
  for (uint32_t i = 0; i < p->used * p->sets; i++) accesses += p->set_accesses[i], hits += p->set_hits[i];
  assert_int_equal(bursts, st->dram_reads + st->dram_writes);
  assert_int_equal(rows, st->dram_activates);
  assert_int_equal(accesses, st->l1d_read_accesses + st->l1d_local_read_accesses);
  assert_int_equal(hits, st->l1d_read_hits + st->l1d_local_read_hits);
  assert_int_equal(p->cycles, st->cycles);
  assert_in_range(p->used, PROFILE_INTERVALS / 4, PROFILE_INTERVALS);
  assert_true(p->shift > 8); /* intervals were put together */
}

static void run(struct look *out, const char *scheme, uint32_t lookups, bool watch, bool skip) {
  struct gpu_config c;
  struct err e = {0};
  gpu_config_defaults(&c);
  c.sms = 4, c.l1d_lookups = lookups;
  struct gpu *g = gpu_new(&c, scheme, &e);
  if (!g) fail_msg("%s", e.msg);
  gpu_set_skip(g, skip);
  if (watch)
    gpu_watch(g,
              &(struct gpu_watch){.detail = true, .lines = true, .character = true, .profile = true, .sample = EVERY});
  struct gpu_stats both = {0};
  for (uint32_t k = 0; k < 2; k++) { /* the second launch starts from what the first left behind */
    fake_kernel(&feed, 40 + k, 14, 4, 4, 24 * 1024);
    if (!gpu_run_kernel(g, &feed.feed, &out->st, &e)) fail_msg("%s", e.msg);
    gpu_stats_add(&both, &out->st);
  }
  memset(&out->units, 0, sizeof out->units);
  const struct gpu_observed *s = gpu_observed(g);
  if (watch) {
    profile_adds_up(s->profile, &both);
    add_all(&out->units, s->sm, s->sms);
    add_all(&out->units, s->subpart, s->subparts);
    add_all(&out->units, s->channel, s->channels);
    assert_in_range(s->samples, 2, MAX_SAMPLES);
    out->samples = s->samples;
    memcpy(out->sample, s->sample, s->samples * sizeof *s->sample);
    assert_int_equal(s->insts, FAKE_CODE);
    memcpy(out->inst, s->inst, sizeof out->inst);
    out->character = *s->character;
    out->character.missed = NULL;
    out->character.fetched_by = NULL;
    out->character.stream = NULL;
  } else {
    assert_null(s->sm);
    assert_null(s->sample);
    assert_null(s->inst);
    assert_null(s->character);
  }
  gpu_free(g);
}

/* Counters that are made from the whole launch, not counted by a unit. */
static bool of_launch(const char *key) {
  return !strcmp(key, "kernels") || !strcmp(key, "cycles") || !strcmp(key, "sm.empty_cycles");
}

static void same_stats(const struct gpu_stats *a, const struct gpu_stats *b, bool of_units, const char *what) {
  for (uint32_t i = 0; i < gpu_stat_row_count; i++) {
    const struct stat_row *r = &gpu_stat_rows[i];
    if (of_units && of_launch(r->key)) continue;
    bool same = raw(a, r->offset) == raw(b, r->offset) &&
                (r->kind != STAT_MEAN || raw(a, r->count_offset) == raw(b, r->count_offset));
    if (!same) fail_msg("%s: %s differs", what, r->key);
  }
}

static void samples_add_up(const struct look *l) {
  for (uint32_t i = 0; i + 1 < l->samples; i++) assert_int_equal(l->sample[i].v[0], EVERY);
  assert_in_range(l->sample[l->samples - 1].v[0], 1, EVERY);
  for (uint32_t k = 0; k < GPU_SAMPLE_COUNTERS; k++) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < l->samples; i++) sum += l->sample[i].v[k];
    assert_int_equal(sum, value(&l->st, gpu_sample_keys[k]));
  }
}

static void instructions_add_up(const struct look *l) {
  struct gpu_inst_memory all = {0};
  for (uint32_t i = 0; i < FAKE_CODE; i++) {
    const struct gpu_inst_memory *m = &l->inst[i];
    if (!m->executions) assert_int_equal(m->accesses + m->l1_accesses + m->stalls + m->bytes, 0);
    all.accesses += m->accesses;
    all.l1_accesses += m->l1_accesses;
    all.l1_hits += m->l1_hits;
    all.stalls += m->stalls;
    all.bytes += m->bytes;
  }
  const struct gpu_stats *s = &l->st;
  assert_int_equal(all.stalls, s->stall_shared + s->stall_const + s->stall_tex + s->stall_l1d + s->stall_bypass +
                                   s->stall_coalesce);
  assert_int_equal(all.l1_accesses, s->l1d_read_accesses + s->l1d_local_read_accesses);
  assert_int_equal(all.l1_hits, s->l1d_read_hits + s->l1d_local_read_hits);
  assert_true(all.accesses >= all.l1_accesses);
  assert_true(all.stalls > 1000);
  assert_true(all.bytes >= s->l1d_fetch_bytes);
}

static void loads_add_up(const struct look *l) {
  const struct gpu_stats *s = &l->st;
  const uint64_t loads[DEGREE_CLASSES] = {s->loads_1, s->loads_2, s->loads_10, s->loads_20, s->loads_32};
  const struct gpu_character *c = &l->character;
  uint64_t hits = 0, lines = 0, by_use = 0;
  for (uint32_t i = 0; i < DEGREE_CLASSES; i++) {
    const struct gpu_degree_class *d = &c->degree[i];
    assert_int_equal(d->loads, loads[i]);
    assert_int_equal(d->done, loads[i]);
    assert_true(d->all_hit_loads * (i == 0 ? 1 : 2) <= d->hits);
    assert_true(d->hits <= d->accesses && d->reused <= d->blocks);
    assert_true(d->latency >= d->done);
    hits += d->hits;
    lines += d->blocks;
  }
  for (uint32_t i = 0; i < LINE_QUARTERS; i++) by_use += c->used[i];
  assert_int_equal(hits, s->l1d_read_hits);
  assert_int_equal(lines, c->has_blocks ? s->l1d_read_misses : 0);
  assert_int_equal(by_use, lines);
  /* All requests of loads, those that the L1 admitted, and a cause for every miss. */
  const struct reuse_histogram *asked = &c->reuse[REUSE_LOADS], *in = &c->reuse[REUSE_ADMITTED];
  uint64_t all = asked->first, taken = in->first, causes = 0, by_count = 0;
  for (uint32_t i = 0; i < REUSE_DISTANCES; i++) all += asked->distance[i], taken += in->distance[i];
  for (uint32_t i = 0; i < REUSE_COUNTS; i++) by_count += asked->accesses[i];
  for (uint32_t i = 0; i < MISS_CAUSES; i++) causes += c->miss[i];
  assert_int_equal(taken, s->l1d_read_accesses);
  assert_int_equal(all, s->l1d_read_accesses + s->l1d_read_bypasses);
  assert_int_equal(by_count, all);
  assert_int_equal(causes, s->l1d_read_misses + s->l1d_read_partial);
  assert_int_equal(c->miss[MISS_PARTIAL], s->l1d_read_partial);
  assert_true(c->miss[MISS_FIRST] <= in->first);
  uint32_t classes = 0;
  for (uint32_t i = 0; i < DEGREE_CLASSES; i++) classes += loads[i] > 100;
  if (!hits || classes < 3) fail_msg("%lu hits, loads in %u classes", (unsigned long)hits, classes);
}

static void looks_add_up_and_change_nothing(void **state) {
  (void)state;
  static const struct {
    const char *scheme;
    uint32_t lookups;
  } runs[] = {{NULL, 1}, {NULL, 4}, {"pdp-dyn", 1}, {"dsc", 1}, {"bucl", 1}, {"mrpb", 1}, {"ccws", 1}};
  for (uint32_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    const char *name = runs[i].scheme ? runs[i].scheme : "baseline";
    run(&plain, runs[i].scheme, runs[i].lookups, false, true);
    run(&seen, runs[i].scheme, runs[i].lookups, true, true);
    run(&stepped, runs[i].scheme, runs[i].lookups, true, false);
    same_stats(&plain.st, &seen.st, false, name);
    same_stats(&seen.units, &seen.st, true, name);
    samples_add_up(&seen);
    instructions_add_up(&seen);
    loads_add_up(&seen);
    same_stats(&stepped.st, &seen.st, false, name);
    same_stats(&stepped.units, &seen.units, false, name);
    assert_int_equal(stepped.samples, seen.samples);
    assert_memory_equal(stepped.sample, seen.sample, seen.samples * sizeof *seen.sample);
    assert_memory_equal(stepped.inst, seen.inst, sizeof seen.inst);
    assert_memory_equal(&stepped.character, &seen.character, sizeof seen.character);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(looks_add_up_and_change_nothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
