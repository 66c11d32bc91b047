/* api.c - calls into the library. See api.h. */
#include "api/api.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int api_error(struct sluice_error *e, int status, const char *fmt, ...) {
  if (!e) return status;
  va_list ap;
  va_start(ap, fmt);
  e->status = status;
  vsnprintf(e->message, sizeof e->message, fmt, ap);
  va_end(ap);
  return status;
}

static int status_of(const struct err *e) {
  switch (e->code) {
  case ERR_INPUT:
  case ERR_OUTPUT:
    return SLUICE_INPUT;
  case ERR_UNSUPPORTED:
    return SLUICE_UNSUPPORTED;
  case ERR_PROGRAM:
    return SLUICE_PROGRAM;
  case ERR_STUCK:
    return SLUICE_STUCK;
  case ERR_INTERNAL:
    return SLUICE_INTERNAL;
  default:
    return SLUICE_USAGE;
  }
}

/* A separate function: only `c` lives across the jump. */
static bool caught(struct api *a, struct err_catch *c, api_work *work, void *ctx, bool *good) {
  if (setjmp(c->at)) return true;
  a->inside = c;
  err_catch(c);
  *good = work(ctx, c->err);
  err_catch(NULL);
  return false;
}

int api_call(struct api *a, api_work *work, void *ctx, struct sluice_error *e) {
  if (a->inside) return api_error(e, SLUICE_USAGE, "a watcher must not use the session that it watches");
  if (a->broken.status != SLUICE_OK) return api_error(e, a->broken.status, "%s", a->broken.message);
  struct err inner = {0};
  struct err_catch c = {.err = &inner};
  bool good = false;
  memory_enter(&a->memory);
  bool broke = caught(a, &c, work, ctx, &good);
  a->inside = NULL;
  memory_leave();
  if (good && !broke) return SLUICE_OK;
  /* For every cause: a file that cannot be parsed, a broken invariant. */
  int status = a->stopped ? SLUICE_STOPPED : a->memory.failed ? SLUICE_NO_MEMORY : status_of(&inner);
  bool says = status != SLUICE_NO_MEMORY || strstr(inner.msg, "memory");
  struct sluice_error reason;
  api_error(&reason, status, "%s%.1000s", says ? "" : "out of memory: ", inner.msg);
  if (broke) a->broken = reason;
  if (e) *e = reason;
  return status;
}

int api_outside(struct api *a, int (*function)(void *ctx), void *ctx) {
  bool failed = a->memory.failed;
  memory_leave();
  err_catch(NULL);
  int answer = function(ctx);
  err_catch(a->inside);
  memory_enter(&a->memory);
  a->memory.failed = failed;
  return answer;
}

void api_stop(struct api *a, const char *message) {
  struct err_catch *c = a->inside;
  a->stopped = true;
  err_catch(NULL);
  err_set(c->err, ERR_PROGRAM, "%s", message);
  longjmp(c->at, 1);
}

bool api_option(const char *option, char *key, const char **value, struct err *e) {
  const char *eq = strchr(option, '=');
  if (!eq || eq == option || eq - option >= 128)
    return err_set(e, ERR_USAGE, "option '%s': expected KEY=VALUE", option);
  memcpy(key, option, (size_t)(eq - option));
  key[eq - option] = 0;
  *value = eq + 1;
  return true;
}
