/* memory.h - what a session or cache of the library has allocated, so that all of it can be freed where memory ran out
 * in the middle of building something.
 *
 * libsluice is linked with malloc and its like wrapped (room.mk): between memory_enter and memory_leave, what this
 * thread allocates and maps is noted in a ledger. Whoever frees a block in the usual way takes it out again. What other
 * libraries allocate for themselves (streams, trees, JSON) is not noted: of a call that memory ended that may stay
 * behind, some kB.
 */
#ifndef API_MEMORY_H
#define API_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

struct memory_block {
  void *at;
  size_t mapped; /* bytes of a mapping; 0: from malloc */
};

struct memory {
  struct memory_block *block; /* hashed by address, open addressing; `room` is a power of two */
  size_t count, room;
  bool failed; /* an allocation has failed since memory_enter */
};

void memory_enter(struct memory *m);
void memory_leave(void);
/* Free all that is noted. */
void memory_drop(struct memory *m);
/* Not noted anywhere, from within and without. */
void *memory_outside(size_t bytes);
void memory_outside_free(void *p);

/* For tests: the n-th allocation from now on between memory_enter and memory_leave fails; 0: none. */
extern size_t memory_fails_at;

#endif
