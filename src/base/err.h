/* err.h - one error value: a code and a message that names file, line and column where they are known.
 *
 * A function that can fail on user input takes a `struct err *` as its last argument, fills it and returns false (or
 * NULL). The caller owns the struct; no allocation happens. Only src/cli turns an error into an exit code.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

enum err_code {
  ERR_NONE = 0,
  ERR_USAGE,       /* unknown option, scheme, knob, GPU: exit 2 */
  ERR_INPUT,       /* unreadable or malformed input file, PTX that does not parse: exit 2 */
  ERR_UNSUPPORTED, /* valid input that Sluice does not support: exit 3 */
  ERR_PROGRAM,     /* an error of the simulated program (out of bounds, misaligned, ...): exit 4 */
  ERR_STUCK,       /* a kernel makes no progress: exit 5 */
  ERR_OUTPUT,      /* a file or standard output that could not be written: exit 8 */
  ERR_INTERNAL,    /* a broken invariant of Sluice: exit 70 */
};

struct err {
  enum err_code code;
  char msg[2048];
};

/* Fill `e` (may be NULL) and return false, so that `return err_set(...)` reads well. */
bool err_set(struct err *e, enum err_code code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Put "prefix: " before the message already there. */
bool err_prefix(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The candidate nearest to `word` by edit distance, or NULL when none is near enough to suggest. */
const char *err_nearest(const char *word, const char *const *candidates, size_t count);
/* Broken invariant: print where and what, then exit with 70 (abort if SLUICE_CORE is set). Never for user input. In a
 * thread that catches, fill its error instead and jump. */
_Noreturn void err_die(const char *file, int line, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#define CHECK(cond, ...)                                                        \
  do {                                                                          \
    if (__builtin_expect(!(cond), 0)) err_die(__FILE__, __LINE__, __VA_ARGS__); \
  } while (0)

/* For the library, which must not end the program that embeds it. After a jump, the caller must free what the
 * interrupted work used. One err_catch per thread at a time:
 *   struct err_catch c = {.err = e};
 *   if (setjmp(c.at)) ...; else err_catch(&c), work(), err_catch(NULL); */
struct err_catch {
  jmp_buf at;
  struct err *err;
};
void err_catch(struct err_catch *c);

#endif
