/* block_filter.c - one run of Profiled-BYPASS: a first run counts the references of every block; in a second run
 * blocks with few references bypass the L1. The search `profiled` (profiled.c) makes both runs for every threshold.
 *
 * Paper: Li, Song, Dai, Sidelnik, Hari, Zhou, "Locality-Driven Dynamic GPU Cache Bypassing", ICS 2015, section 6.1
 * (Profiled-BYPASS).
 *
 * By hand: --scheme block-filter:run=1 --set profile.file=F, then --scheme block-filter=T:run=2 --set profile.file=F.
 *
 * Choices: a reference is an access after coalescing, by launch, SM and 128 B block (line of the L1). The local filter
 * knows the references of the SM itself, the global one those of the other SMs ("inter-SM reuse"), both together all.
 * A block at or below the threshold bypasses, as does one without a reference in the first run. The order of accesses
 * may differ between the runs (the paper's third caveat).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/hash.h"
#include "base/input.h"
#include "base/output.h"
#include "base/paths.h"
#include "gpu/scheme.h"

enum { PROF_THRESHOLD, PROF_RUN, PROF_FILTER };
enum { PROF_LOCAL, PROF_GLOBAL, PROF_BOTH };
enum { PROF_ALL_SMS = 0xffff, PROF_START = 1 << 12 };
static const char prof_magic[8] = "SLUICEP1";

static const struct scheme_param params[] = {
    {"threshold", "reference", "blocks with at most this many references bypass (section 6.1: 1 to 16)", 0, 1e6, 2,
     true},
    {"run", "", "1: count, everything uses the L1; 2: filter by the counts of run 1", 1, 2, 1, true},
    {"filter", "", "run 2: 0 local, 1 global, 2 both (section 6.1)", 0, 2, 2, true},
    {0},
};
enum { COUNTED, FILTERED };
static const struct scheme_counter counters[] = {
    {"counted", "access", "accesses counted (run 1)", true},
    {"filtered", "access", "accesses that bypassed the L1 (run 2)", false},
    {0},
};

struct prof_entry {
  uint64_t line;
  uint16_t launch, sm;
  uint32_t count; /* 0: empty */
};
struct prof {
  struct prof_entry *at;
  uint32_t size, used;
  uint16_t launch;
};

static struct prof_entry *prof_slot(const struct prof *p, uint64_t line, uint16_t launch, uint16_t sm) {
  uint32_t i = (uint32_t)hash_u64(line ^ (uint64_t)launch << 48 ^ (uint64_t)sm << 32) & (p->size - 1);
  for (;; i = (i + 1) & (p->size - 1)) {
    struct prof_entry *e = &p->at[i];
    if (!e->count || (e->line == line && e->launch == launch && e->sm == sm)) return e;
  }
}

static void prof_resize(struct prof *p, uint32_t size) {
  struct prof old = *p;
  p->size = size;
  p->at = mem_zeroed(size, sizeof *p->at);
  for (uint32_t i = 0; i < old.size; i++)
    if (old.at[i].count) *prof_slot(p, old.at[i].line, old.at[i].launch, old.at[i].sm) = old.at[i];
  free(old.at);
}

static void prof_add(struct prof *p, uint64_t line, uint16_t launch, uint16_t sm, uint32_t count) {
  if (2 * (p->used + 1) > p->size) prof_resize(p, 2 * p->size);
  struct prof_entry *e = prof_slot(p, line, launch, sm);
  p->used += !e->count;
  *e = (struct prof_entry){line, launch, sm, e->count + count};
}

static bool prof_read(struct scheme_ctx *c, struct prof *p, struct err *e) {
  const char *path = c->config->profile;
  size_t bytes;
  if (!*path)
    return err_set(e, ERR_USAGE,
                   "scheme block-filter: run=2 needs the counts of a run=1: name their file, --set profile.file=F");
  char *data = input_read(path, INPUT_DATA_MOST, &bytes, e);
  if (!data) return false;
  size_t n = bytes < sizeof prof_magic ? 0 : (bytes - sizeof prof_magic) / sizeof(struct prof_entry);
  bool ok = bytes >= sizeof prof_magic && !memcmp(data, prof_magic, sizeof prof_magic) &&
            bytes == sizeof prof_magic + n * sizeof(struct prof_entry);
  for (size_t i = 0; ok && i < n; i++) {
    struct prof_entry r;
    memcpy(&r, data + sizeof prof_magic + i * sizeof r, sizeof r);
    if (r.count) prof_add(p, r.line, r.launch, r.sm, r.count);
  }
  free(data);
  return ok || err_set(e, ERR_INPUT, "%s: not a profile written by scheme block-filter", path);
}

/* The counts of all SMs are summed at the end: each access updates one entry. */
static void prof_sum(struct prof *p) {
  struct prof own = *p;
  p->at = NULL, p->size = p->used = 0;
  prof_resize(p, own.size);
  for (uint32_t i = 0; i < own.size; i++) {
    const struct prof_entry *r = &own.at[i];
    if (!r->count) continue;
    prof_add(p, r->line, r->launch, r->sm, r->count);
    prof_add(p, r->line, r->launch, PROF_ALL_SMS, r->count);
  }
  free(own.at);
}

static void prof_finish(struct scheme_ctx *c, struct err *e) {
  struct prof *p = c->state;
  if (p->at && c->param[PROF_RUN] == 1 && *c->config->profile) {
    prof_sum(p);
    size_t bytes = sizeof prof_magic + p->used * sizeof *p->at, at = sizeof prof_magic;
    char *data = mem_alloc(bytes);
    memcpy(data, prof_magic, sizeof prof_magic);
    for (uint32_t i = 0; i < p->size; i++)
      if (p->at[i].count) memcpy(data + at, &p->at[i], sizeof *p->at), at += sizeof *p->at;
    if (!path_write_whole(c->config->profile, data, bytes)) output_failed(c->config->profile, errno, e);
    free(data);
  }
  free(p->at);
  p->at = NULL;
}

static bool prof_init(struct scheme_ctx *c, struct err *e) {
  struct prof *p = c->state;
  prof_resize(p, PROF_START);
  if (c->param[PROF_RUN] == 2) return prof_read(c, p, e);
  return !*c->config->profile || output_prepare(c->config->profile, e);
}

static void prof_on_kernel(struct scheme_ctx *c) {
  ((struct prof *)c->state)->launch++;
}

static void prof_count(struct scheme_ctx *c, const struct l1_event *e) {
  struct prof *p = c->state;
  if (e->local || c->param[PROF_RUN] != 1) return;
  prof_add(p, e->line, p->launch, (uint16_t)e->sm, 1);
  c->counter[COUNTED]++;
}

static bool prof_bypass_access(struct scheme_ctx *c, const struct l1_event *e) {
  const struct prof *p = c->state;
  if (c->param[PROF_RUN] != 2) return false;
  uint32_t own = prof_slot(p, e->line, p->launch, (uint16_t)e->sm)->count;
  uint32_t all = prof_slot(p, e->line, p->launch, PROF_ALL_SMS)->count;
  uint32_t n = c->param[PROF_FILTER] == PROF_LOCAL ? own : c->param[PROF_FILTER] == PROF_GLOBAL ? all - own : all;
  return n <= c->param[PROF_THRESHOLD];
}

/* Run 1 counts, run 2 filters. */
static bool prof_idle(const double *param, size_t hook) {
  return hook == (param[PROF_RUN] == 1 ? offsetof(struct scheme, bypass_access) : offsetof(struct scheme, on_access));
}

static void prof_on_access(struct scheme_ctx *c, const struct l1_event *e, enum l1_outcome out) {
  (void)out;
  prof_count(c, e);
}

static void prof_on_bypass(struct scheme_ctx *c, const struct l1_event *e, enum l1_bypass_by by) {
  prof_count(c, e);
  c->counter[FILTERED] += by == BYPASS_BY_ACCESS && prof_bypass_access(c, e);
}

static const struct scheme block_filter = {
    .name = "block-filter",
    .title = "one run of profiled: count references by block, or bypass blocks with few",
    .paper = "Li, Song, Dai, Sidelnik, Hari, Zhou: Locality-Driven Dynamic GPU Cache Bypassing. ICS 2015, section 6.1",
    .idea =
        "What a filter on reuse could gain if the reuse were known: run 1 counts the references of every block into\n"
        "profile.file, in run 2 accesses of blocks at or below the threshold bypass the L1. No hardware.",
    .no_storage = "no hardware is proposed: the host keeps the counts, to bound what a filter could gain",
    .params = params,
    .counters = counters,
    .positional = "threshold",
    .owns = {"profile.file"},
    .state_bytes = sizeof(struct prof),
    .idle = prof_idle,
    .init = prof_init,
    .finish = prof_finish,
    .on_kernel = prof_on_kernel,
    .bypass_access = prof_bypass_access,
    .on_access = prof_on_access,
    .on_bypass = prof_on_bypass,
};
SCHEME(block_filter);
