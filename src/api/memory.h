/* memory.h - the allocations of a session or cache of the library, so that all can be freed when memory runs out in
 * the middle of a call.
 *
 * libsluice is linked with wrapped malloc functions (room.mk): between memory_enter and memory_leave, allocations and
 * mappings of this thread are recorded in a ledger, and removed when freed. Allocations by other libraries (streams,
 * trees, JSON) are not recorded: a call that runs out of memory may leak some kB of them.
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
/* Free all recorded allocations. */
void memory_drop(struct memory *m);
/* Outside the ledger, in and between calls. */
void *memory_outside(size_t bytes);
void memory_outside_free(void *p);

/* For tests: the n-th allocation between memory_enter and memory_leave fails; 0: none. */
extern size_t memory_fails_at;

#endif
