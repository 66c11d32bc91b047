/* code.c - addresses of functions in code space. */
#include "simt/core/code.h"

#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

struct code_name {
  uint32_t at, insts;
  char name[];
};

static int order_by_name(const void *a, const void *b) {
  return strcmp(((const struct code_name *)a)->name, ((const struct code_name *)b)->name);
}

uint32_t code_place(struct code_space *s, const char *name, uint32_t insts) {
  size_t n = strlen(name) + 1;
  struct code_name *c = mem_alloc(sizeof *c + n);
  memcpy(c->name, name, n);
  struct code_name **at = tsearch(c, &s->names, order_by_name);
  CHECK(at, "out of memory");
  bool known = *at != c;
  if (known) free(c), c = *at;
  if (!known || c->insts != insts) { /* a different length means different code */
    c->at = s->next;
    c->insts = insts;
    s->next += insts;
  }
  return c->at;
}

void code_free(struct code_space *s) {
  tdestroy(s->names, free);
}
