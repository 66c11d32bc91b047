/* ops.c - see ops.h. */
#include "ops.h"

#include <string.h>

void (*op_of(const char *name, size_t n))(struct step *) {
  static const struct {
    const char *name;
    void (*run)(struct step *);
  } table[] = {
#define SASS_OP(name, function) {name, op_##function},
#define SASS_ALSO SASS_OP
#include "ops.def"
#undef SASS_OP
  };
  for (size_t k = 0; k < sizeof table / sizeof *table; k++)
    if (strlen(table[k].name) == n && !memcmp(table[k].name, name, n)) return table[k].run;
  return NULL;
}
