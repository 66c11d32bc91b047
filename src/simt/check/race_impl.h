/* race_impl.h - what the check of races keeps of an access, shared by race_global.c and the fast path,
 * race_fast.inc. */
#ifndef SIMT_CHECK_RACE_IMPL_H
#define SIMT_CHECK_RACE_IMPL_H

#include "simt/check/check_impl.h"
#include "simt/check/race_words.h"

enum { RACE_MOST = 1 << RACE_ID_BITS };
enum { KIND_WRITES = 1, KIND_STRONG = 2, KIND_SAME = 4 /* the value that was there */, KIND_SHARED = 8 };

enum { RACE_CLOCK_BITS = 13, RACE_PC_BITS = 22 };

struct context { /* a million of them: packed. Clock and pc count from those of the epoch */
  uint64_t clock : RACE_CLOCK_BITS, pc : RACE_PC_BITS, epoch : RACE_ID_BITS, warp : 5, kind : 4;
};
_Static_assert(sizeof(struct context) == 8, "contexts take more memory than they need");

struct epoch { /* of a CTA: from its start or a release to the next release */
  uint32_t launch, cta;
  uint64_t released;  /* by the count of releases; 0: not yet */
  uint32_t clock, pc; /* of its contexts, at least */
  uint32_t
      part; /* the epoch that this one continues without a release, as its clocks or pcs did not suffice; 0: none */
};

/* Memory of a launch that has ended, for the next one: fresh pages would cost more than the work of a small launch. */
struct spare {
  void *p;
  size_t bytes;
};

struct race_shadow {       /* of a device */
  struct race_words words; /* of the mapping of device memory */
  uint64_t *symbols;       /* cells of variables */
  size_t symbols_bytes;
  struct context *context;
  struct epoch *epoch;
  uint32_t contexts, context_room, epochs, epoch_room;
  uint32_t settled;        /* contexts below it are of launches that have ended */
  uint32_t generation;     /* how often all was dropped */
  uint32_t launches, live; /* begun; not ended yet */
  uint64_t releases;
  struct spare shared, recent, clocks;
};

struct grid_cta {
  uint32_t epoch, generation;
  uint32_t floor;    /* contexts below it, if of this CTA, lie before its last barrier */
  uint64_t acquired; /* releases that its accesses come after */
  bool fenced;
};

struct recent;
struct race_grid {                    /* of a launch */
  uint32_t launch, first, generation; /* contexts below `first` of that generation are of launches before it */
  uint32_t shared_generation;
  struct spare shared;  /* uint64_t cells of all CTA slots' shared memory */
  struct spare recent;  /* struct recent, RECENT by warp and slot */
  struct grid_cta *cta; /* by slot */
};

/* A mark, from the top: 0, whether it is a write, 0, the context, the lane, the bytes. */
#define MARK_WRITES (1u << 30)

static inline uint32_t race_mark(uint32_t id, uint8_t how, uint32_t lane, uint32_t bytes) {
  return (how & KIND_WRITES ? MARK_WRITES : 0) | id << RACE_ID_SHIFT | lane << RACE_LANE_SHIFT | bytes;
}

static inline uint32_t race_mark_id(uint32_t mark) {
  return mark >> RACE_ID_SHIFT & (RACE_MOST - 1);
}

static inline uint8_t race_kind(const struct xop *o, uint8_t space, enum check_access kind) {
  return (kind != CHECK_READ ? KIND_WRITES : 0) | (kind == CHECK_ATOMIC || o->strong ? KIND_STRONG : 0) |
         (space == SPACE_SHARED ? KIND_SHARED : 0);
}

/* At least so many bytes of any content, from `kept` if that has them; and back. */
struct spare race_take(struct spare *kept, size_t bytes);
void race_give(struct spare *kept, struct spare *s);

/* The context of an access, a new one where there is none yet; that may drop all marks. */
uint32_t race_context(struct exec *x, const struct xop *o, uint8_t kind);
/* The cell of an address of shared memory or a variable; NULL where there is none. */
uint64_t *race_cell(const struct exec *x, uint8_t space, uint64_t addr);
/* Whether race_words has the cell of an address of global memory, and which it is. */
static inline bool race_mapped(const struct race_shadow *d, uint64_t addr) {
  return addr - SIMT_GLOBAL_BASE < 4 * d->words.words;
}
static inline uint64_t race_word_of(uint64_t addr) {
  return (addr - SIMT_GLOBAL_BASE) / 4;
}
/* A cell without the second mark if that is of a launch that has ended. */
static inline uint64_t race_settled(uint64_t cell, uint32_t settled) {
  return race_mark_id((uint32_t)(cell >> 32)) < settled ? (uint32_t)cell : cell;
}
/* Whether the accesses of a context are ordered before one of `kind` on x now, wherever they were. */
bool race_ordered(const struct exec *x, uint32_t id, uint8_t kind);
enum race_verdict { ORDERED, SAME_VALUE, RACES };
/* One cell: the marks it holds against a new one, then the new one in the place of an old one. */
enum race_verdict race_touch(struct exec *x, const struct xop *o, const struct checked *word, uint8_t how,
                             uint32_t mark, uint64_t *cell, bool reported);

/* Put the fast path of an instruction set into a table of handlers. */
void race_fast_v2(xop_fn *handlers);
void race_fast_v3(xop_fn *handlers);
void race_fast_v4(xop_fn *handlers);

#endif
