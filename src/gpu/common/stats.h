/* stats.h - the counters of one kernel launch (or of any sum of them), generated from counters.def. */
#ifndef GPU_COMMON_STATS_H
#define GPU_COMMON_STATS_H

#include <stdint.h>

struct gpu_stats {
#define COUNTER(field, key, unit, doc) uint64_t field;
#define MAXIMUM(field, key, unit, doc) uint64_t field;
#define MEAN(sum, count, key, unit, doc) uint64_t sum, count;
#include "gpu/common/counters.def"
#undef COUNTER
#undef MAXIMUM
#undef MEAN
};

enum stat_kind { STAT_SUM, STAT_MAX, STAT_MEAN };
struct stat_row {
  const char *key, *unit, *doc;
  enum stat_kind kind;
  uint32_t offset, count_offset; /* bytes into struct gpu_stats; count_offset for means */
};
extern const struct stat_row gpu_stat_rows[];
extern const uint32_t gpu_stat_row_count;

/* total += s, row by row. */
void gpu_stats_add(struct gpu_stats *total, const struct gpu_stats *s);
/* Printed value of row `r`: sums and maxima exactly, means as sum / count (0 if empty). */
double gpu_stats_value(const struct gpu_stats *s, const struct stat_row *r);
/* Thread instructions per core cycle. */
double gpu_stats_ipc(const struct gpu_stats *s);

#endif
