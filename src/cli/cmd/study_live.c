/* study_live.c - see study_live.h. */
#include "cli/cmd/study_live.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/redraw.h"
#include "base/text.h"
#include "cli/cmd/study_progress.h"
#include "session/live.h"

enum { ENDED_SHOWN = 64, NAME = 256, RATES = 160, LONG_SECONDS = 120 };

struct ended {
  char name[NAME], rates[RATES];
};
struct begun {
  const struct study_run *run;
  double at; /* cli_seconds */
};
struct study_live {
  const struct study *s;
  bool terminal;
  double every, drawn_at;
  struct redraw lines;
  struct begun *runs; /* that run now, the oldest first */
  size_t run_count, run_room;
  struct ended ended[ENDED_SHOWN]; /* a ring, the last one at (ended_count - 1) % ENDED_SHOWN */
  size_t ended_count;
};

/* ---- words ---- */

/* "kmeans --size small, swl=8, l1d.sets=64": what tells the runs of a study apart. */
static void name_run(const struct study_live *l, const struct study_run *r, char *out, size_t size) {
  char text[NAME];
  int n = snprintf(text, sizeof text, "%s, %s", r->program, r->scheme);
  if (l->s->gpu_count > 1 && n < NAME) n += snprintf(text + n, sizeof text - (size_t)n, ", %s", r->gpu);
  for (char **a = r->args; *a && strcmp(*a, "--") && n < NAME; a++)
    if (!strcmp(*a, "--set") && a[1]) n += snprintf(text + n, sizeof text - (size_t)n, ", %s", *++a);
  char *shown = text_visible(text, false);
  snprintf(out, size, "%s", shown);
  free(shown);
}

static void took_seconds(char *out, size_t size, double s) {
  if (s < 9.95) snprintf(out, size, "%.1f s", s);
  else screen_seconds(out, size, s);
}

static double counter_total(const json_t *record, const char *key) {
  const json_t *v = json_object_get(json_object_get(record, "totals"), key);
  return json_is_number(v) ? json_number_value(v) : -1;
}

/* The rate of a cache that was used. */
static void share(const json_t *record, const char *rate, const char *accesses, char *out, size_t size) {
  double v = counter_total(record, rate);
  if (v < 0 || counter_total(record, accesses) <= 0) snprintf(out, size, "-");
  else snprintf(out, size, "%.1f %%", 100 * v);
}

/* As a row of the view, or as words of a line. A run in functional mode has no rates. */
static void describe_rates(const json_t *record, double seconds, bool row, char *out, size_t size) {
  char cycles[64] = "-", l1[32], l2[32], took[32], ipc[32] = "-";
  double n = counter_total(record, "cycles"), rate = counter_total(record, "ipc");
  if (n >= 0) cli_count(cycles, sizeof cycles, n);
  if (rate >= 0) snprintf(ipc, sizeof ipc, "%.2f", rate);
  share(record, "l1d.read.hit_rate", "l1d.read.accesses", l1, sizeof l1);
  share(record, "l2.hit_rate", "l2.accesses", l2, sizeof l2);
  took_seconds(took, sizeof took, seconds);
  const char *fmt = row ? "%8s %7s %7s %13s %7s" : "IPC %s, L1 hits %s, L2 hits %s, %s cycles, took %s";
  snprintf(out, size, fmt, ipc, l1, l2, cycles, took);
}

/* ---- the state ---- */

static void print_state(FILE *f, const struct study_progress *p, bool bar) {
  char text[128], left[32];
  size_t over = p->done + p->failed;
  double rate = p->since > 0 ? (double)(over - p->before) / p->since : 0;
  if (bar) cli_bar(text, p->total ? (double)over / (double)p->total : 1, 20), fprintf(f, "%s ", text);
  fprintf(f, "%zu of %zu done", p->done, p->total);
  if (p->failed) fprintf(f, ", %zu failed", p->failed);
  if (p->running) fprintf(f, ", %zu running", p->running);
  if (p->waiting) fprintf(f, ", %zu queued", p->waiting);
  if (!(rate > 0)) return; /* no run has ended yet */
  double seconds = (double)(p->total - over) / rate;
  screen_seconds(left, sizeof left, seconds);
  fprintf(f, ", %.3g runs/s, about %s left", rate, left);
  if (seconds < LONG_SECONDS) return;
  time_t end = time(NULL) + (time_t)seconds;
  strftime(text, sizeof text, seconds < 86400 ? ", until %H:%M" : ", until %a %d %b %H:%M", localtime(&end));
  fputs(text, f);
}

/* What runs, the oldest first: as rows of the view, or as words of a line. */
static void print_running(const struct study_live *l, FILE *f) {
  size_t most = l->terminal ? 8 : 2;
  char name[NAME], took[32];
  for (size_t i = 0; i < l->run_count && i < most; i++) {
    name_run(l, l->runs[i].run, name, sizeof name);
    took_seconds(took, sizeof took, cli_seconds() - l->runs[i].at);
    if (l->terminal) fprintf(f, "\n%46s  %s", took, name);
    else fprintf(f, "; %s for %s", name, took);
  }
  if (l->run_count > most) fprintf(f, l->terminal ? "\n%46s  %zu more" : "%s; %zu more", "", l->run_count - most);
}

/* State, what runs, and what has ended, the last one first. */
static void print_view(const struct study_live *l, FILE *f, const struct study_progress *p) {
  char *study = text_visible(l->s->name, false);
  fprintf(f, "%s: ", study);
  free(study);
  print_state(f, p, true);
  print_running(l, f);
  if (l->ended_count) fprintf(f, "\n%8s %7s %7s %13s %7s  ended", "IPC", "L1 hits", "L2 hits", "cycles", "took");
  for (size_t i = 0; i < l->ended_count && i < ENDED_SHOWN; i++) {
    const struct ended *e = &l->ended[(l->ended_count - 1 - i) % ENDED_SHOWN];
    fprintf(f, "\n%s  %s", e->rates, e->name);
  }
}

static void draw(struct study_live *l, const struct study_progress *p) {
  char *text = NULL;
  size_t bytes;
  FILE *f = open_memstream(&text, &bytes);
  CHECK(f, "out of memory");
  if (l->terminal) {
    print_view(l, f, p);
  } else {
    fputs("sluice: ", f);
    print_state(f, p, false);
    print_running(l, f);
  }
  fclose(f);
  if (l->terminal) redraw_show(&l->lines, text);
  else fprintf(stderr, "%s\n", text);
  free(text);
  l->drawn_at = cli_seconds();
}

/* ---- what happens ---- */

static void run_begins(struct study_live *l, const struct study_run *r) {
  if (l->run_count == l->run_room) {
    l->run_room = 2 * l->run_room + 8;
    l->runs = mem_resize(l->runs, l->run_room, sizeof *l->runs);
  }
  l->runs[l->run_count++] = (struct begun){r, cli_seconds()};
}

static void run_ends(struct study_live *l, const struct study_run *r) {
  size_t kept = 0;
  for (size_t i = 0; i < l->run_count; i++)
    if (l->runs[i].run != r) l->runs[kept++] = l->runs[i];
  l->run_count = kept;
}

void study_live_event(void *ctx, const struct study_event *v, const struct study_progress *p) {
  struct study_live *l = ctx;
  if (!v->ended) {
    run_begins(l, v->run);
    return;
  }
  run_ends(l, v->run);
  struct ended *e = &l->ended[l->ended_count++ % ENDED_SHOWN];
  name_run(l, v->run, e->name, sizeof e->name);
  if (v->failed) snprintf(e->rates, sizeof e->rates, "%46s", "failed");
  else describe_rates(v->record, v->seconds, l->terminal, e->rates, sizeof e->rates);
  if (l->terminal || v->failed) return; /* a failure has a note */
  fprintf(stderr, "sluice: %s: %s; ", e->name, e->rates);
  print_state(stderr, p, false);
  fputc('\n', stderr);
  l->drawn_at = cli_seconds();
}

void study_live_show(void *ctx, const struct study_progress *p) {
  struct study_live *l = ctx;
  if (cli_seconds() - l->drawn_at >= l->every) draw(l, p);
}

void study_live_note(void *ctx, const char *line) {
  struct study_live *l = ctx;
  redraw_erase(&l->lines);
  text_say(stderr, "sluice: %s\n", line);
  if (l->terminal) l->drawn_at = 0; /* draw it again at the next look */
}

struct study_live *study_live_open(const struct study *s, uint32_t ms) {
  struct study_live *l = mem_zeroed(1, sizeof *l);
  *l = (struct study_live){.s = s, .terminal = isatty(STDERR_FILENO), .lines = {.f = stderr}};
  l->every = ms != LIVE_DEFAULT_MS ? ms / 1000.0 : l->terminal ? 0.5 : 10;
  l->drawn_at = l->terminal ? 0 : cli_seconds();
  return l;
}

void study_live_close(struct study_live *l) {
  if (!l) return;
  redraw_erase(&l->lines);
  free(l->runs);
  free(l);
}
