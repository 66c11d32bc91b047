/* api.h - shared by the files behind sluice.h: entry of a call, and its error on return. */
#ifndef API_API_H
#define API_API_H

#include <sluice.h>

#include "api/memory.h"
#include "base/err.h"

/* Of a session or cache: its allocations, and the error that made it unusable. */
struct api {
  struct memory memory;
  struct sluice_error broken; /* status SLUICE_OK: none */
  struct err_catch *inside;   /* where api_stop goes; NULL: no call is running */
  bool stopped;
};

/* The work of one call: false with the error. */
typedef bool api_work(void *ctx, struct err *e);
/* Run it with its allocations recorded; returns also after a broken invariant or without memory. */
int api_call(struct api *a, api_work *work, void *ctx, struct sluice_error *e);
/* Within the work of a call: run a function of the program that embeds the library, return what it returns. */
int api_outside(struct api *a, int (*function)(void *ctx), void *ctx);
/* Within the work of a call: end it with SLUICE_STOPPED. */
_Noreturn void api_stop(struct api *a, const char *message);
/* Fill `e` (may be NULL) and return the status. */
int api_error(struct sluice_error *e, int status, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* The same for a handle or pointer that is NULL. */
static inline int api_null(struct sluice_error *e, const char *function) {
  return api_error(e, SLUICE_USAGE, "%s: a pointer is NULL", function);
}
/* Split "KEY=VALUE": `value` points into `option`, `key` has 128 bytes. False with `e`. */
bool api_option(const char *option, char *key, const char **value, struct err *e);

#endif
