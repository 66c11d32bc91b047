/* code.h - code space: addresses of all modules' functions, for the instruction cache.
 *
 * Functions of all texts follow one another in loading order, without gaps and declarations. As in the reference,
 * which identifies functions by name, a function keeps the address of its first definition.
 */
#ifndef SIMT_CORE_CODE_H
#define SIMT_CORE_CODE_H

#include <stdint.h>

struct code_space {
  struct code_name **names; /* of functions: a hash table of `places`, at most half full */
  uint32_t count, places;
  uint32_t next; /* instructions in use */
};

/* Address of the function's first instruction, in instructions. */
uint32_t code_place(struct code_space *s, const char *name, uint32_t insts);
void code_free(struct code_space *s);

#endif
