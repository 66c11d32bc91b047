/* back_text.h - the text of a kernel that a test makes at random. */
#ifndef BACK_TEXT_H
#define BACK_TEXT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/rng.h"

enum { TEXT = 1 << 16, DEEP = 3 };

struct maker {
  char text[TEXT];
  size_t at;
  struct rng rng;
  unsigned labels, loops[DEEP + 1], depth; /* labels of the loops around */
  unsigned blocks[DEEP + 1], within;       /* those of the blocks around */
};

static void say(struct maker *m, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  m->at += (size_t)vsnprintf(m->text + m->at, TEXT - m->at, fmt, ap);
  va_end(ap);
  assert_true(m->at < TEXT);
}

__attribute__((unused)) static unsigned pick(struct maker *m, unsigned n) {
  return (unsigned)(rng_next(&m->rng) % n);
}

#endif
