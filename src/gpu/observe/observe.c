/* observe.c - counters by unit, over time, and by instruction. See observe.h. */
#include "gpu/mem/partition.h"
#include "gpu/observe/observe.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

const char *const gpu_sample_keys[GPU_SAMPLE_COUNTERS] = {
    "cycles",      "warp_insts", "thread_insts", "l1d.read.accesses", "l1d.read.hits",
    "l2.accesses", "l2.misses",  "dram.reads",   "dram.writes"};

static const size_t sample_field[GPU_SAMPLE_COUNTERS] = {
    offsetof(struct gpu_stats, cycles),        offsetof(struct gpu_stats, warp_insts),
    offsetof(struct gpu_stats, thread_insts),  offsetof(struct gpu_stats, l1d_read_accesses),
    offsetof(struct gpu_stats, l1d_read_hits), offsetof(struct gpu_stats, l2_accesses),
    offsetof(struct gpu_stats, l2_misses),     offsetof(struct gpu_stats, dram_reads),
    offsetof(struct gpu_stats, dram_writes)};

static struct gpu_stats *stats_array(uint32_t n) {
  struct gpu_stats *s = mem_zeroed(n, sizeof *s);
  return s;
}

void gpu_watch(struct gpu *g, const struct gpu_watch *w) {
  struct gpu_observed *o = &g->observed;
  CHECK(!o->sm, "gpu_watch after a launch or twice");
  o->on = *w;
  if (w->profile) observe_profile(g);
  if (w->timeline) timeline_start(g, w->timeline_first, w->timeline_last, w->timeline_sms);
  if (w->profile || w->timeline) observe_dram(g);
  if (w->character) observe_character(g), observe_l2(g);
  if (!w->detail) return;
  o->sms = g->config.sms;
  o->subparts = g->subparts;
  o->channels = g->config.channels;
  o->sm = stats_array(o->sms);
  o->subpart = stats_array(o->subparts);
  o->channel = stats_array(o->channels);
  for (uint32_t i = 0; i < o->sms; i++) g->sm[i].st = &o->sm[i];
  partition_split_stats(g->parts, o->subpart, o->channel);
}

const struct gpu_observed *gpu_observed(const struct gpu *g) {
  return &g->observed;
}

void observe_free(struct gpu *g) {
  struct gpu_observed *o = &g->observed;
  free(o->sm);
  free(o->subpart);
  free(o->channel);
  free(o->sample);
  free(o->inst);
  free(o->code);
  observe_character_free(o->character, g->config.sms);
  observe_profile_free(o->profile);
  timeline_free(o->timeline);
  free(o->dram_listener);
  observe_l2_free(o->l2);
}

/* Where the instructions of `k` are counted: launches of one module share their code. */
static uint32_t place_insts(struct gpu_observed *o, const struct feed_kernel *k) {
  for (uint32_t i = 0; i < o->codes; i++)
    if (o->code[i].kernel.code == k->code) return o->code[i].base;
  uint32_t base = o->insts, n = base + k->insts;
  if (n > o->inst_room) {
    o->inst = mem_resize(o->inst, n, sizeof *o->inst);
    o->inst_room = n;
  }
  o->insts = n;
  memset(o->inst + base, 0, k->insts * sizeof *o->inst);
  o->code = mem_resize(o->code, o->codes + 1, sizeof *o->code);
  o->code[o->codes++] = (struct gpu_observed_code){.kernel = *k, .base = base};
  return base;
}

void observe_launch(struct gpu *g, struct gpu_work *k) {
  if (g->observed.on.lines) k->inst_base = place_insts(&g->observed, k->feed->kernel);
  if (g->observed.timeline) timeline_launch(g, k);
}

static void plan_look(struct gpu *g) {
  struct gpu_observed *o = &g->observed;
  o->look_at = o->profile && o->profile->at < o->sample_at ? o->profile->at : o->sample_at;
}

void observe_begin(struct gpu *g) {
  struct gpu_observed *o = &g->observed;
  if (o->sm) {
    memset(o->sm, 0, o->sms * sizeof *o->sm);
    memset(o->subpart, 0, o->subparts * sizeof *o->subpart);
    memset(o->channel, 0, o->channels * sizeof *o->channel);
  }
  o->insts = o->codes = 0;
  if (o->character) observe_character_begin(o->character), observe_l2_begin(g);
  o->samples = 0;
  o->sampled_at = g->now;
  o->sample_at = o->on.sample ? g->now + o->on.sample : UINT64_MAX;
  memset(&o->sampled, 0, sizeof o->sampled);
  if (o->profile) observe_profile_begin(g);
  plan_look(g);
  if (o->look_at < g->slots.next_epoch) g->slots.next_epoch = o->look_at;
}

void observe_total(const struct gpu *g, struct gpu_stats *total) {
  const struct gpu_observed *o = &g->observed;
  *total = g->stats;
  if (!o->sm) return;
  for (uint32_t i = 0; i < o->sms; i++) gpu_stats_add(total, &o->sm[i]);
  for (uint32_t i = 0; i < o->subparts; i++) gpu_stats_add(total, &o->subpart[i]);
  for (uint32_t i = 0; i < o->channels; i++) gpu_stats_add(total, &o->channel[i]);
}

static void close_sample(struct gpu *g, const struct gpu_stats *total) {
  struct gpu_observed *o = &g->observed;
  if (o->samples == o->sample_room) {
    o->sample_room = o->sample_room ? 2 * o->sample_room : 256;
    o->sample = mem_resize(o->sample, o->sample_room, sizeof *o->sample);
  }
  struct gpu_sample *s = &o->sample[o->samples++];
  for (uint32_t i = 0; i < GPU_SAMPLE_COUNTERS; i++)
    s->v[i] = *(const uint64_t *)((const char *)total + sample_field[i]) -
              *(const uint64_t *)((const char *)&o->sampled + sample_field[i]);
  o->sampled = *total;
  o->sampled_at = g->now;
  o->sample_at = g->now + o->on.sample;
}

void observe_look(struct gpu *g, bool end) {
  struct gpu_observed *o = &g->observed;
  bool sample = o->on.sample && (end || g->now >= o->sample_at) && g->now != o->sampled_at;
  bool profile = o->profile && (end || g->now >= o->profile->at);
  if (!sample && !profile) return;
  struct gpu_stats total;
  observe_total(g, &total);
  total.cycles = g->now - g->start;
  if (sample) close_sample(g, &total);
  if (profile) observe_profile_look(g, &total);
  plan_look(g);
}
