/* code.c - addresses of functions in code space. */
#include "simt/core/code.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct code_name {
  uint32_t at, insts;
  char name[];
};

/* Where the name stands, or would. */
static uint32_t place_of(const struct code_space *s, const char *name) {
  uint32_t from = 0, to = s->count;
  while (from < to) {
    uint32_t at = from + (to - from) / 2;
    if (strcmp(s->names[at]->name, name) < 0) from = at + 1;
    else to = at;
  }
  return from;
}

/* All memory is from mem.h: a session that ends in the middle of a launch gives it back without code_free. */
uint32_t code_place(struct code_space *s, const char *name, uint32_t insts) {
  uint32_t at = place_of(s, name);
  bool known = at < s->count && !strcmp(s->names[at]->name, name);
  if (!known) {
    size_t n = strlen(name) + 1;
    s->names = mem_resize(s->names, s->count + 1, sizeof *s->names);
    memmove(s->names + at + 1, s->names + at, (s->count - at) * sizeof *s->names);
    s->count++;
    s->names[at] = mem_alloc(sizeof **s->names + n);
    memcpy(s->names[at]->name, name, n);
  }
  struct code_name *c = s->names[at];
  if (!known || c->insts != insts) { /* a different length means different code */
    c->at = s->next;
    c->insts = insts;
    s->next += insts;
  }
  return c->at;
}

void code_free(struct code_space *s) {
  for (uint32_t i = 0; i < s->count; i++) free(s->names[i]);
  free(s->names);
}
