/* api.h - what the files behind sluice.h share: how a call is made, and how an error comes out of it. */
#ifndef API_API_H
#define API_API_H

#include <sluice.h>

#include "api/memory.h"
#include "base/err.h"

/* Of a session or cache: what it has allocated, and the error after which it is of no use. */
struct api {
  struct memory memory;
  struct sluice_error broken; /* status SLUICE_OK: none */
};

/* The work of one call: false with the error, as everywhere inside. */
typedef bool api_work(void *ctx, struct err *e);
/* Do it with what it allocates noted, and come back where it breaks an invariant or memory runs out. */
int api_call(struct api *a, api_work *work, void *ctx, struct sluice_error *e);
/* Fill `e` (may be NULL) and return the status. */
int api_error(struct sluice_error *e, int status, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* "KEY=VALUE" apart: `value` begins in `option`, `key` has room for 128 bytes. False with `e`. */
bool api_option(const char *option, char *key, const char **value, struct err *e);

#endif
