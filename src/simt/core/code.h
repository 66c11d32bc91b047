/* code.h - code space: addresses of all modules' functions, for the instruction cache.
 *
 * Functions of all texts follow one another in loading order, without gaps (PTX) and declarations. As in the reference,
 * which identifies functions by name, a function keeps the address of its first definition.
 */
#ifndef SIMT_CORE_CODE_H
#define SIMT_CORE_CODE_H

#include <stdbool.h>
#include <stdint.h>

struct code_space {
  struct code_name **names; /* of functions: a hash table of `places`, at most half full */
  uint32_t count, places;
  uint32_t next; /* instructions in use */
};

/* Address of the function's first instruction, in instructions. Machine code begins and ends as ptxas places it: on a
 * line of 128 B, with a branch to itself and a line of padding behind it. */
uint32_t code_place(struct code_space *s, const char *name, uint32_t insts, bool machine);
void code_free(struct code_space *s);

#endif
