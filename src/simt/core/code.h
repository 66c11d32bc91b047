/* code.h - code space: where the functions of all modules lie, as the instruction cache sees them.
 *
 * The functions of every text follow one another in the order of loading, without a gap, declarations left out. As in
 * the reference, which knows functions by name alone, one that an earlier text defined has its code there.
 */
#ifndef SIMT_CODE_H
#define SIMT_CODE_H

#include <stdint.h>

struct code_space {
  void *names;   /* of functions, by tsearch */
  uint32_t next; /* instructions in use */
};

/* The first instruction, in instructions, of the function's code. */
uint32_t code_place(struct code_space *s, const char *name, uint32_t insts);
void code_free(struct code_space *s);

#endif
