/* study_progress.c - progress of a study on a terminal. */
#include "cli/cmd/study_progress.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
void screen_seconds(char *buf, size_t size, double s) {
  if (s < 100) snprintf(buf, size, "%.0f s", s);
  else if (s < 6000) snprintf(buf, size, "%.0f min", s / 60);
  else snprintf(buf, size, "%.1f h", s / 3600);
}

void screen_clear(struct screen *s) {
  if (s->drawn) fputs("\r\033[K", stderr);
  s->drawn = false;
}

void screen_show(void *ctx, const struct study_progress *p) {
  struct screen *s = ctx;
  double now = cli_seconds();
  if (!s->terminal || s->quiet || now - s->shown < 0.2) return;
  s->shown = now;
  s->drawn = true;
  size_t ended = p->done + p->failed, ours = p->done - p->before + p->failed;
  char bar[128], left[32] = "?", failed[64] = "", waiting[64] = "";
  double rate = p->since > 0 ? (double)ours / p->since : 0;
  cli_bar(bar, p->total ? (double)ended / (double)p->total : 1, 20);
  if (rate > 0) screen_seconds(left, sizeof left, (double)(p->total - ended) / rate);
  if (p->failed) snprintf(failed, sizeof failed, ", %zu failed", p->failed);
  if (p->waiting) snprintf(waiting, sizeof waiting, ", %zu queued", p->waiting);
  fprintf(stderr, "\r\033[K%s %zu of %zu done, %zu running%s%s, %.3g runs/s, %s left", bar, p->done, p->total,
          p->running, waiting, failed, rate, left);
  fflush(stderr);
}

void screen_note(void *ctx, const char *line) {
  struct screen *s = ctx;
  screen_clear(s);
  if (!s->quiet) text_say(stderr, "sluice: %s\n", line);
}

bool screen_absolute(const char *path, char *out, size_t size, struct err *e) {
  char cwd[PATH_MAX];
  if (*path == '/') cwd[0] = 0;
  else if (!getcwd(cwd, sizeof cwd)) return err_set(e, ERR_INPUT, "getcwd: %s", strerror(errno));
  int n = snprintf(out, size, "%s%s%s", cwd, *cwd ? "/" : "", path);
  return (size_t)n < size || err_set(e, ERR_INPUT, "the path '%s' is too long", path);
}
