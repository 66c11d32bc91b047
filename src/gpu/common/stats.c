/* stats.c - the counter table, generated from counters.def. */
#include "gpu/common/stats.h"

#include <stddef.h>

const struct stat_row gpu_stat_rows[] = {
#define COUNTER(field, key, unit, doc) {key, unit, doc, STAT_SUM, offsetof(struct gpu_stats, field), 0},
#define MAXIMUM(field, key, unit, doc) {key, unit, doc, STAT_MAX, offsetof(struct gpu_stats, field), 0},
#define MEAN(sum, count, key, unit, doc) \
  {key, unit, doc, STAT_MEAN, offsetof(struct gpu_stats, sum), offsetof(struct gpu_stats, count)},
#include "gpu/common/counters.def"
#undef COUNTER
#undef MAXIMUM
#undef MEAN
};
const uint32_t gpu_stat_row_count = sizeof gpu_stat_rows / sizeof *gpu_stat_rows;

static uint64_t *field(struct gpu_stats *s, uint32_t offset) {
  return (uint64_t *)((char *)s + offset);
}
static uint64_t stat_at(const struct gpu_stats *s, uint32_t offset) {
  return *(const uint64_t *)((const char *)s + offset);
}

void gpu_stats_add(struct gpu_stats *total, const struct gpu_stats *s) {
  for (uint32_t i = 0; i < gpu_stat_row_count; i++) {
    const struct stat_row *r = &gpu_stat_rows[i];
    uint64_t v = stat_at(s, r->offset), *t = field(total, r->offset);
    if (r->kind == STAT_MAX) {
      if (v > *t) *t = v;
    } else {
      *t += v;
    }
    if (r->kind == STAT_MEAN) *field(total, r->count_offset) += stat_at(s, r->count_offset);
  }
}

double gpu_stats_value(const struct gpu_stats *s, const struct stat_row *r) {
  double v = (double)stat_at(s, r->offset);
  if (r->kind != STAT_MEAN) return v;
  uint64_t n = stat_at(s, r->count_offset);
  return n ? v / (double)n : 0;
}

double gpu_stats_ipc(const struct gpu_stats *s) {
  return s->cycles ? (double)s->thread_insts / (double)s->cycles : 0;
}
