/* profile.c - a whole run over time in a bounded number of intervals: use of issue slots, hit rate of each L1 set,
 * activity of each DRAM bank. See observe.h.
 *
 * Intervals continue across launches. When the table is full, neighbours are merged and all intervals become twice as
 * long, so neither memory nor report size grows with the run.
 */
#include "gpu/mem/partition.h"
#include "gpu/observe/observe.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

enum { FIRST_SHIFT = 8 };

#define KEYS(X)                             \
  X(cycles, "cycles")                       \
  X(thread_insts, "thread_insts")           \
  X(issue_issued, "issue.issued")           \
  X(issue_data, "issue.data_hazard")        \
  X(issue_memory, "issue.memory_stall")     \
  X(issue_pipe, "issue.pipe_busy")          \
  X(issue_barrier, "issue.barrier")         \
  X(issue_control, "issue.control")         \
  X(issue_idle, "issue.idle")               \
  X(issue_slots, "issue.slots")             \
  X(stall_shared, "stall.shared_conflict")  \
  X(stall_const, "stall.constant")          \
  X(stall_tex, "stall.texture")             \
  X(stall_l1d, "stall.l1d")                 \
  X(stall_bypass, "stall.bypass")           \
  X(stall_coalesce, "stall.uncoalesced")    \
  X(l1d_read_accesses, "l1d.read.accesses") \
  X(l1d_read_hits, "l1d.read.hits")         \
  X(l1d_read_bypasses, "l1d.read.bypasses") \
  X(l2_accesses, "l2.accesses")             \
  X(l2_hits, "l2.hits")                     \
  X(flits_up, "icnt.flits_up")              \
  X(flits_down, "icnt.flits_down")          \
  X(dram_requests, "dram.requests")         \
  X(dram_row_hits, "dram.row_hits")         \
  X(dram_reads, "dram.reads")               \
  X(dram_writes, "dram.writes")

#define KEY(field, key) key,
#define OFFSET(field, key) offsetof(struct gpu_stats, field),
const char *const gpu_profile_keys[] = {KEYS(KEY)};
static const size_t field_of[] = {KEYS(OFFSET)};
enum { COUNTERS = sizeof field_of / sizeof *field_of };
const uint32_t gpu_profile_counters = COUNTERS;

static void fold64(uint64_t *v, uint32_t width) {
  for (uint32_t i = 0; i < PROFILE_INTERVALS / 2; i++)
    for (uint32_t k = 0; k < width; k++) v[i * width + k] = v[2 * i * width + k] + v[(2 * i + 1) * width + k];
  memset(v + PROFILE_INTERVALS / 2 * width, 0, (size_t)(PROFILE_INTERVALS / 2) * width * sizeof *v);
}

static void fold32(uint32_t *v, uint32_t width) {
  for (uint32_t i = 0; i < PROFILE_INTERVALS / 2; i++)
    for (uint32_t k = 0; k < width; k++) v[i * width + k] = v[2 * i * width + k] + v[(2 * i + 1) * width + k];
  memset(v + PROFILE_INTERVALS / 2 * width, 0, (size_t)(PROFILE_INTERVALS / 2) * width * sizeof *v);
}

/* The interval of a core cycle. */
static uint32_t interval(struct gpu_profile *p, uint64_t cycle) {
  while (cycle >> p->shift >= PROFILE_INTERVALS) {
    p->shift++;
    p->used = (p->used + 1) / 2;
    fold64(p->count, COUNTERS);
    fold32(p->set_accesses, p->sets);
    fold32(p->set_hits, p->sets);
    fold32(p->bank_bursts, p->channels * p->banks);
    fold32(p->bank_rows, p->channels * p->banks);
  }
  uint32_t i = (uint32_t)(cycle >> p->shift);
  if (i >= p->used) p->used = i + 1;
  return i;
}

struct channel {
  struct gpu *g;
  uint32_t first; /* bank 0 of the channel */
};

static void see_dram(void *ctx, uint64_t t, enum dram_command cmd, uint32_t bank, uint32_t row) {
  (void)t;
  const struct channel *c = ctx;
  struct gpu_profile *p = c->g->observed.profile;
  if (c->g->observed.timeline) timeline_dram(c->g, c->first + bank, cmd, row);
  if (!p || cmd == DRAM_PRECHARGE) return;
  uint32_t at = interval(p, c->g->now) * p->channels * p->banks + c->first + bank;
  if (cmd == DRAM_ACTIVATE) p->bank_rows[at]++;
  else p->bank_bursts[at]++;
}

void observe_dram(struct gpu *g) {
  struct channel *c = mem_zeroed(g->config.channels, sizeof *c);
  g->observed.dram_listener = c;
  for (uint32_t i = 0; i < g->config.channels; i++) {
    c[i] = (struct channel){.g = g, .first = i * g->config.dram_banks};
    partition_watch_dram(g->parts, i, see_dram, &c[i]);
  }
}

void observe_set(struct sm *s, uint64_t addr, bool hit) {
  struct gpu_profile *p = s->g->observed.profile;
  uint32_t sets = s->l1d.org ? s->l1d.org_sets : s->l1d.sets;
  uint32_t set = gpu_l1_set(s->c, sets, s->l1d.line_bytes, addr) >> p->set_shift;
  uint32_t at = interval(p, s->g->now) * p->sets + set;
  p->set_accesses[at]++;
  p->set_hits[at] += hit;
}

void observe_profile(struct gpu *g) {
  struct gpu_profile *p = mem_zeroed(1, sizeof *p);
  const struct l1d *l = &g->sm[0].l1d;
  p->shift = FIRST_SHIFT;
  p->sets = l->org ? l->org_sets : l->sets;
  while (p->sets >> p->set_shift > PROFILE_SETS) p->set_shift++;
  p->sets = (p->sets + (1u << p->set_shift) - 1) >> p->set_shift;
  p->channels = g->config.channels;
  p->banks = g->config.dram_banks;
  p->count = mem_zeroed((size_t)PROFILE_INTERVALS * COUNTERS, sizeof *p->count);
  p->set_accesses = mem_zeroed((size_t)PROFILE_INTERVALS * p->sets, sizeof *p->set_accesses);
  p->set_hits = mem_zeroed((size_t)PROFILE_INTERVALS * p->sets, sizeof *p->set_hits);
  p->bank_bursts = mem_zeroed((size_t)PROFILE_INTERVALS * p->channels * p->banks, sizeof *p->bank_bursts);
  p->bank_rows = mem_zeroed((size_t)PROFILE_INTERVALS * p->channels * p->banks, sizeof *p->bank_rows);
  p->at = UINT64_MAX;
  g->observed.profile = p;
}

void observe_profile_free(struct gpu_profile *p) {
  if (!p) return;
  free(p->count);
  free(p->set_accesses);
  free(p->set_hits);
  free(p->bank_bursts);
  free(p->bank_rows);
  free(p);
}

void observe_profile_begin(struct gpu *g) {
  struct gpu_profile *p = g->observed.profile;
  memset(&p->before, 0, sizeof p->before);
  p->at = ((g->now >> p->shift) + 1) << p->shift;
}

void observe_profile_look(struct gpu *g, const struct gpu_stats *total) {
  struct gpu_profile *p = g->observed.profile;
  if (g->now > p->cycles) {
    p->cycles = g->now;
    uint64_t *to = p->count + (size_t)interval(p, g->now - 1) * COUNTERS;
    for (uint32_t i = 0; i < COUNTERS; i++)
      to[i] += *(const uint64_t *)((const char *)total + field_of[i]) -
               *(const uint64_t *)((const char *)&p->before + field_of[i]);
  }
  p->before = *total;
  p->at = ((g->now >> p->shift) + 1) << p->shift;
}
