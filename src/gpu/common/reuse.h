/* reuse.h - reuse of lines in a stream of accesses: exact reuse distances in O(log n).
 *
 * The reuse distance of an access is the number of distinct other lines accessed since the last access to its line. A
 * fully associative LRU cache of N lines hits exactly the accesses with a distance below N, so the histogram also
 * gives the hit rate over capacity (Mattson et al., IBM Systems Journal 1970).
 */
#ifndef GPU_COMMON_REUSE_H
#define GPU_COMMON_REUSE_H

#include <stdbool.h>
#include <stdint.h>

/* Distances 0, 1, 2-3, 4-7, ..., 2^(REUSE_DISTANCES - 2) and more; reuses of a line 0, 1, 2, 3, 4-7, 8-15, 16 and more.
 */
enum { REUSE_DISTANCES = 16, REUSE_COUNTS = 7 };
extern const char *const reuse_count_names[REUSE_COUNTS];

struct reuse_histogram {
  uint64_t first;                     /* accesses to a line not accessed before */
  uint64_t distance[REUSE_DISTANCES]; /* the others */
  uint64_t lines[REUSE_COUNTS];       /* lines by how often they were accessed again */
  uint64_t accesses[REUSE_COUNTS];    /* accesses to such lines */
};

struct reuse_stream {
  struct reuse_line *line; /* hash table, `size` a power of two */
  uint32_t size, used;
  uint32_t *tree; /* Fenwick tree over times 1..times: 1 where a line was accessed last */
  uint32_t times, now;
};

#define REUSE_FIRST UINT64_MAX
/* Record an access; returns its distance, REUSE_FIRST for the first to this line. Counted in `h`. A stream of zeros is
 * empty. */
uint64_t reuse_access(struct reuse_stream *s, uint64_t line, struct reuse_histogram *h);
/* A store evicted the line; the next access queries this. */
void reuse_store(struct reuse_stream *s, uint64_t line);
bool reuse_stored(const struct reuse_stream *s, uint64_t line);
/* End the stream: add lines and accesses by reuses to `h`; the stream is empty afterwards. */
void reuse_end(struct reuse_stream *s, struct reuse_histogram *h);
void reuse_free(struct reuse_stream *s);

#endif
