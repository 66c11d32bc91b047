/* meter.c - see meter.h. Only this line reads the clock; no result depends on it. */
#include "session/meter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
enum { BAR = 20 };
static const double quiet_seconds = 2, between = 0.2, between_looks = 0.1;

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

const char *meter_kernel(const char *mangled, int *length) {
  char *end;
  const char *name = mangled;
  size_t n = strlen(mangled);
  if (!strncmp(mangled, "_Z", 2)) {
    long k = strtol(mangled + 2, &end, 10);
    if (k > 0 && (size_t)k <= strlen(end)) name = end, n = (size_t)k;
  }
  *length = n > 32 ? 32 : (int)n;
  return name;
}

/* "12,345" */
static const char *grouped(char *to, uint32_t v) {
  if (v < 1000) sprintf(to, "%u", v);
  else if (v < 1000000) sprintf(to, "%u,%03u", v / 1000, v % 1000);
  else sprintf(to, "%u,%03u,%03u", v / 1000000, v / 1000 % 1000, v % 1000);
  return to;
}

static void draw_bar(struct meter *m, const char *what, double part, double spent) {
  char bar[3 * BAR + 1] = "", left[48] = "";
  for (int i = 0; i < BAR; i++) strcat(bar, i < (int)(part * BAR + 0.5) ? "█" : "░");
  if (part > 0.02) snprintf(left, sizeof left, ", about %.0f s left", spent * (1 - part) / part);
  char *shown = text_visible(what, false);
  fprintf(stderr, "\r\033[K%s %s %.0f %%, %.0f s%s", shown, bar, 100 * part, spent, left);
  free(shown);
  fflush(stderr);
  m->drawn = true;
}

/* True when what began at `since` is due for drawing. */
static bool due(struct meter *m, double since, double *now) {
  *now = seconds();
  if (*now - (m->launches ? m->start : since) < quiet_seconds || *now - m->shown < between) return false;
  m->shown = *now;
  return true;
}

static void look(void *ctx, const struct feed_kernel *k, uint32_t ended) {
  struct meter_launch *l = ctx;
  struct meter *m = l->meter;
  double now;
  if (m->look) {
    if (m->every > 0 && seconds() - m->shown < m->every) return;
    m->look(m->ctx, l->number, k->name, ended, k->ctas);
    if (m->every > 0) m->shown = seconds();
    return;
  }
  if (!due(m, l->start, &now)) return;
  char what[160], of[24] = "", done[16], all[16];
  int length;
  const char *name = meter_kernel(k->name, &length);
  double part = (double)ended / k->ctas;
  if (m->launches) snprintf(of, sizeof of, " of %u", m->launches);
  snprintf(what, sizeof what, "launch %u%s, %.*s: %s of %s CTAs", l->number + 1, of, length, name, grouped(done, ended),
           grouped(all, k->ctas));
  if (m->launches > m->from) draw_bar(m, what, (l->number - m->from + part) / (m->launches - m->from), now - m->start);
  else draw_bar(m, what, part, now - l->start);
}

void meter_reading(void *meter, uint64_t done, uint64_t total) {
  struct meter *m = meter;
  double now;
  if (!m->on || m->look || !total || !due(m, m->read_from, &now)) return;
  char what[64], of[24] = "";
  if (m->launches) snprintf(of, sizeof of, " of %u", m->launches);
  snprintf(what, sizeof what, "reading launch %u%s:", m->next + 1, of);
  draw_bar(m, what, (double)done / (double)total, now - m->read_from);
}

void meter_init(struct meter *m, bool wanted) {
  *m = (struct meter){.on = wanted && isatty(STDERR_FILENO)};
  if (m->on) m->start = m->read_from = seconds();
}

void meter_watch(struct meter *m, meter_look *look, void *ctx) {
  meter_end(m);
  *m = (struct meter){.on = look != NULL, .look = look, .ctx = ctx, .every = between_looks, .next = m->next};
  if (m->on) m->start = m->read_from = seconds();
}

void meter_expect(struct meter *m, uint32_t from, uint32_t launches) {
  m->from = m->next = from;
  m->launches = launches;
}

void meter_begin(struct meter *m, struct meter_launch *l, struct feed *f, uint32_t number) {
  if (!m->on) return;
  *l = (struct meter_launch){.watch = {.look = look, .ctx = l}, .meter = m, .number = number, .start = seconds()};
  f->watch = &l->watch;
  m->next = number + 1;
}

void meter_end(struct meter *m) {
  if (m->drawn) fputs("\r\033[K", stderr), fflush(stderr);
  m->drawn = false;
  if (m->look && m->end) m->end(m->ctx);
  if (m->on) m->read_from = seconds();
}
