/* live.c - see live.h. Like meter.c it reads the clock; no result depends on it. */
#include "session/live.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/redraw.h"
#include "base/text.h"
#include "session/session_impl.h"

enum { VIEW = 4096, BAR_CELLS = 20, SCHEME_ROWS_SHOWN = 12, COUNTERS_IN_LINE = 3 };

struct live {
  struct session *s;
  bool terminal;
  double every, began, drawn_at; /* seconds */
  struct redraw lines;           /* on the terminal now */
  char view[VIEW];               /* the last one */
  struct gpu_stats before;       /* at the last view */
  uint32_t launch;               /* the last one, and when it began */
  double launch_began;
};

/* What a view is made of: the run so far, and what has changed since the view before. */
struct scene {
  const char *kernel;
  uint32_t launch, ended, ctas;
  double now, since; /* seconds of the run; between the two views */
  struct gpu_stats all, last;
};

static double clock_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

__attribute__((format(printf, 2, 3))) static void add(char *view, const char *fmt, ...) {
  size_t n = strlen(view);
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(view + n, VIEW - n, fmt, ap);
  va_end(ap);
}

/* "12,345,678" */
static void add_count(char *view, uint64_t v) {
  char digits[32];
  int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)v);
  for (int i = 0; i < n; i++) add(view, "%s%c", i && (n - i) % 3 == 0 ? "," : "", digits[i]);
}

static double part_of(uint64_t a, uint64_t b) {
  return b ? (double)a / (double)b : 0;
}

static void add_share(char *view, const char *name, uint64_t a, uint64_t b) {
  if (b) add(view, "%s %.1f %%", name, 100 * part_of(a, b));
  else add(view, "%s -", name);
}

/* A share in the run and since the last view. */
static void add_both(char *view, const char *name, const struct scene *c, size_t part, size_t whole) {
  const char *all = (const char *)&c->all, *last = (const char *)&c->last;
  add_share(view, name, *(const uint64_t *)(all + part), *(const uint64_t *)(all + whole));
  if (*(const uint64_t *)(last + whole))
    add_share(view, " (now", *(const uint64_t *)(last + part), *(const uint64_t *)(last + whole)), add(view, ")");
}
#define BOTH(view, name, c, part, whole) \
  add_both(view, name, c, offsetof(struct gpu_stats, part), offsetof(struct gpu_stats, whole))

/* The part of the run that is done, as far as it is known: of all launches, or of this one. */
static double done_part(const struct live *l, const struct scene *c, double *spent) {
  const struct meter *m = &l->s->meter;
  double part = part_of(c->ended, c->ctas);
  *spent = c->now - (m->launches ? 0 : l->launch_began);
  return m->launches > m->from ? (c->launch - m->from + part) / (m->launches - m->from) : part;
}

static void add_head(char *view, const struct live *l, const struct scene *c, bool bar) {
  double spent, part = done_part(l, c, &spent);
  char *name = text_visible(c->kernel, false);
  int length;
  const char *shown = meter_kernel(name, &length);
  add(view, "launch %u", c->launch + 1);
  if (l->s->meter.launches) add(view, " of %u", l->s->meter.launches);
  add(view, ", %.*s: ", length, shown);
  add_count(view, c->ended);
  add(view, " of ");
  add_count(view, c->ctas);
  add(view, " CTAs ");
  for (int i = 0; bar && i < BAR_CELLS; i++) add(view, "%s", i < (int)(part * BAR_CELLS + 0.5) ? "█" : "░");
  add(view, "%s%.0f %%, %.0f s", bar ? " " : "", 100 * part, c->now);
  if (part > 0.02) add(view, ", about %.0f s left%s", spent * (1 - part) / part, l->s->meter.launches ? "" : " of it");
  free(name);
}

static const struct {
  const char *name;
  size_t at;
} waits[] = {
#define WAIT(name, field) \
  { name, offsetof(struct gpu_stats, field) }
    WAIT("issued", issue_issued),  WAIT("data hazard", issue_data), WAIT("memory stall", issue_memory),
    WAIT("pipe busy", issue_pipe), WAIT("barrier", issue_barrier),  WAIT("control", issue_control),
    WAIT("no warp", issue_idle),
};

/* Where issue slots went since the last view: parts of a percent are left out. */
static void add_waits(char *view, const struct scene *c) {
  const struct gpu_stats *s = c->last.issue_slots ? &c->last : &c->all;
  const char *comma = "";
  if (!s->issue_slots) add(view, "-");
  for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
    uint64_t n = *(const uint64_t *)((const char *)s + waits[i].at);
    if (100 * n < s->issue_slots || !n) continue;
    add(view, "%s", comma);
    add_share(view, waits[i].name, n, s->issue_slots);
    comma = ", ";
  }
}

/* The counters of the schemes since the machine was built, those that have moved. */
static void add_schemes(char *view, const struct live *l, const char *before) {
  const struct slots *slots = gpu_slots(l->s->gpu);
  uint32_t shown = 0;
  for (uint32_t i = 0; i < slots->count; i++) {
    const struct slot_instance *in = &slots->at[i];
    for (uint32_t k = 0; k < scheme_counter_count(in->scheme) && shown < SCHEME_ROWS_SHOWN; k++) {
      if (!in->counter[k]) continue;
      bool wrap = shown && l->terminal && shown % COUNTERS_IN_LINE == 0;
      add(view, "%s%s.%s ", !shown++ || wrap ? before : ", ", in->scheme->name, in->scheme->counters[k].name);
      add_count(view, in->counter[k]);
    }
  }
}

static void compose(const struct live *l, const struct scene *c, char *view) {
  const char *next = l->terminal ? "\n  " : ", ";
  *view = 0;
  add_head(view, l, c, l->terminal);
  add(view, "%s", next);
  add_count(view, c->all.cycles);
  add(view, " cycles");
  if (c->since > 0) add(view, " (%.0f thousand/s)", (double)c->last.cycles / c->since / 1000);
  add(view, ", IPC %.2f", gpu_stats_ipc(&c->all));
  if (c->last.cycles) add(view, " (now %.2f)", gpu_stats_ipc(&c->last));
  add(view, "%s", next);
  BOTH(view, "L1 hits", c, l1d_read_hits, l1d_read_accesses);
  add(view, ", ");
  BOTH(view, "L2 hits", c, l2_hits, l2_accesses);
  add(view, ", DRAM ");
  add_count(view, (c->all.dram_read_bytes + c->all.dram_write_bytes) / 1000);
  add(view, " kB%sslots: ", next);
  add_waits(view, c);
  add_schemes(view, l, next);
}

/* ---- drawing ---- */

/* b - a, of sums; what is a maximum means nothing here and is not shown. */
static void subtract(struct gpu_stats *b, const struct gpu_stats *a) {
  uint64_t *to = (uint64_t *)b;
  const uint64_t *by = (const uint64_t *)a;
  for (size_t i = 0; i < sizeof *b / sizeof *to; i++) to[i] -= by[i];
}

static void live_look(void *ctx, uint32_t number, const char *kernel, uint32_t ended, uint32_t ctas) {
  struct live *l = ctx;
  double now = clock_seconds() - l->began;
  struct scene c = {kernel, number, ended, ctas, now, 0, {0}, {0}};
  if (number != l->launch) l->launch = number, l->launch_began = now;
  bool due = now - l->drawn_at >= l->every;
  if (!due || !l->s->gpu || !gpu_peek(l->s->gpu, &c.all)) {
    if (*l->view && l->terminal && !l->lines.lines && !due)
      redraw_show(&l->lines, l->view); /* the view of the launch before, until a new one is due */
    return;
  }
  gpu_stats_add(&c.all, record_total(l->s->record));
  c.last = c.all;
  subtract(&c.last, &l->before);
  c.since = now - l->drawn_at;
  compose(l, &c, l->view);
  l->before = c.all;
  l->drawn_at = now;
  if (l->terminal) redraw_show(&l->lines, l->view);
  else fprintf(stderr, "sluice: %s\n", l->view);
}

/* A launch has ended: what follows may be the program's output. */
static void leave(void *ctx) {
  redraw_erase(&((struct live *)ctx)->lines);
}

bool live_interval(const char *text, uint32_t *ms, struct err *e) {
  *ms = 0;
  if (!text) return true;
  *ms = LIVE_DEFAULT_MS;
  if (!strcmp(text, "every=auto")) return true;
  char *end = NULL;
  double seconds = strncmp(text, "every=", 6) ? -1 : strtod(text + 6, &end);
  if (!(seconds >= 0.001 && seconds <= 86400) || *end)
    return err_set(e, ERR_USAGE, "--live needs every=SECONDS from 0.001 to 86400, every=10 say, not '%s'", text);
  *ms = (uint32_t)(seconds * 1000);
  return true;
}

struct live *live_open(struct session *s, uint32_t ms) {
  struct live *l = mem_zeroed(1, sizeof *l);
  *l = (struct live){.s = s,
                     .lines = {.f = stderr},
                     .terminal = isatty(STDERR_FILENO),
                     .began = clock_seconds(),
                     .launch = UINT32_MAX};
  l->every = ms != LIVE_DEFAULT_MS ? ms / 1000.0 : l->terminal ? 0.5 : 10;
  meter_watch(&s->meter, live_look, l);
  s->meter.end = leave;
  s->meter.every = 0;
  return l;
}

void live_close(struct live *l) {
  if (!l) return;
  redraw_erase(&l->lines);
  free(l);
}
