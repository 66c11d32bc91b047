/* ledger.h - the state of a record, which outlives the process: sums and folded rows in a mapped file, entries of
 * single launches as text in another. The parent can finish the record however the process ended (record_recover).
 * Without a file the state is in memory. Private to src/results.
 *
 * A process may be killed at any instruction. A commit therefore first copies the data that it will change, and takes
 * effect when it is complete; text counts up to the length stored by the last complete commit.
 */
#ifndef RESULTS_LEDGER_H
#define RESULTS_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "gpu/observe/l2.h"
#include "gpu/common/stats.h"
#include "results/record.h"

enum {
  LEDGER_ROWS = 256,   /* rows of folded launches */
  LEDGER_SHAPES = 192, /* beyond these, launches are distinguished by kernel only */
  LEDGER_NAMED = 248,  /* and beyond these not at all */
  LEDGER_KEYS = 192,   /* counters of schemes */
  LEDGER_KEY = 72      /* bytes of a key */
};

/* Kinds of text. */
enum { LEDGER_KERNEL = 'K', LEDGER_OVERLAP = 'O', LEDGER_HEAD = 'H' };

struct ledger_sums {
  struct gpu_stats total, timed; /* timed: of launches with the timing model, beside functional ones */
  struct gpu_l2_sums l2;         /* with --characterise */
  uint64_t to_device, from_device;
  uint64_t scheme[LEDGER_KEYS];
  uint64_t launches, folded;  /* folded: launches without an entry of their own */
  uint64_t kernels, overlaps; /* entries written as text */
  uint64_t text_bytes;
};

/* Launches with equal attributes, or the shared counters of such launches while they overlapped. */
struct ledger_row {
  uint64_t head_at, head_bytes; /* its first keys, as text */
  bool overlap;                 /* of counters that several launches share */
  bool own;                     /* only counters that belong to a single launch while others run */
  bool timing;
  uint32_t member;             /* overlap: the row of one of its launches */
  uint64_t launch, start, end; /* the first launch, its begin, and the last end */
  uint64_t launch_cycles;      /* overlap: cycles of its launches, each by itself */
  double warp_cycles;          /* own: resident warps per SM, times cycles */
  struct gpu_stats stats;
  uint64_t scheme[LEDGER_KEYS];
};

struct ledger_file {
  char magic[8];
  uint32_t bytes;
  int32_t pid;
  uint32_t ended;     /* enum record_end */
  uint32_t unwritten; /* a commit is in progress: `undo` is the state before it */
  uint32_t rows, keys, undo_row;
  char command[2048];
  char key[LEDGER_KEYS][LEDGER_KEY];
  struct ledger_sums sums, undo;
  struct ledger_row row_undo;
  struct ledger_row row[LEDGER_ROWS];
};

struct ledger {
  struct ledger_file *f;
  bool mapped;
  char *state, *text_path; /* NULL: in memory, the text in `text` */
  char *text;
  size_t text_room;
};

/* In PATH-1, or the next free name; without a file (NULL, full disk): in memory. */
struct ledger *ledger_new(const char *path);
/* Of an ended or ending process, restored to its last complete commit. */
struct ledger *ledger_open(const char *path, struct err *e);
/* Between ledger_begin and ledger_commit: append `n` bytes. Returns their offset in the text. */
uint64_t ledger_write(struct ledger *l, char kind, const char *text, size_t n);
/* All text up to the last commit; the caller frees it. NULL if it cannot be read. */
char *ledger_text(const struct ledger *l);
/* Between these two, `sums` and row `row` (LEDGER_ROWS: none) may change. */
void ledger_begin(struct ledger *l, uint32_t row);
void ledger_commit(struct ledger *l);
/* Before the first row: allocate all rows, in the file or else in memory. */
void ledger_reserve(struct ledger *l);
/* Number of a scheme's counter. */
uint32_t ledger_key(struct ledger *l, const char *key);
void ledger_free(struct ledger *l);

#endif
