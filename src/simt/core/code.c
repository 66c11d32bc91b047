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

/* The place of a name, or the free one where it belongs. FNV-1a. */
static struct code_name **place_of(const struct code_space *s, const char *name) {
  uint32_t h = 2166136261u;
  for (const char *p = name; *p; p++) h = (h ^ (uint8_t)*p) * 16777619u;
  while (s->names[h & (s->places - 1)] && strcmp(s->names[h & (s->places - 1)]->name, name)) h++;
  return &s->names[h & (s->places - 1)];
}

static void grow(struct code_space *s) {
  struct code_space more = {.places = s->places ? 2 * s->places : 64};
  more.names = mem_zeroed(more.places, sizeof *more.names);
  for (uint32_t i = 0; i < s->places; i++)
    if (s->names[i]) *place_of(&more, s->names[i]->name) = s->names[i];
  free(s->names);
  s->names = more.names;
  s->places = more.places;
}

/* All memory is from mem.h: a session that ends in the middle of a launch gives it back without code_free. */
uint32_t code_place(struct code_space *s, const char *name, uint32_t insts, bool machine) {
  enum { LINE = 8 /* instructions of 16 B */ };
  if (2 * s->count >= s->places) grow(s);
  struct code_name **at = place_of(s, name);
  bool known = *at;
  if (!known) {
    size_t n = strlen(name) + 1;
    *at = mem_alloc(sizeof **at + n);
    memcpy((*at)->name, name, n);
    s->count++;
  }
  struct code_name *c = *at;
  if (!known || c->insts != insts) { /* a different length means different code */
    if (machine) s->next = (s->next + LINE - 1) / LINE * LINE;
    c->at = s->next;
    c->insts = insts;
    s->next += machine ? (insts + LINE) / LINE * LINE + LINE : insts; /* a branch to itself, and a line at least */
  }
  return c->at;
}

void code_free(struct code_space *s) {
  for (uint32_t i = 0; i < s->places; i++) free(s->names[i]);
  free(s->names);
}
