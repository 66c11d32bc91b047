/* table.c - names in sluice.h: counters, schemes, knobs. */
#include <stdio.h>

#include "api/api.h"
#include "gpu/common/config.h"
#include "gpu/common/stats.h"
#include "gpu/slots/slots.h"
#include "results/record.h"

static const char *cell(int column, const char *name, const char *unit, const char *meaning) {
  return column == SLUICE_NAME ? name : column == SLUICE_UNIT ? unit : column == SLUICE_MEANING ? meaning : NULL;
}

/* The machine's counters and derived metrics, then those of every scheme. */
static const char *counter(size_t row, int column) {
  static _Thread_local char name[128];
  if (row < gpu_stat_row_count) {
    const struct stat_row *r = &gpu_stat_rows[row];
    return cell(column, r->key, r->unit, r->doc);
  }
  row -= gpu_stat_row_count;
  if (row < derived_row_count)
    return cell(column, derived_rows[row].key, derived_rows[row].unit, derived_rows[row].doc);
  row -= derived_row_count;
  for (uint32_t i = 0; i < scheme_count(); i++) {
    const struct scheme *s = scheme_at(i);
    uint32_t n = scheme_counter_count(s);
    if (row < n) {
      const struct scheme_counter *c = &s->counters[row];
      snprintf(name, sizeof name, "%s.%s", s->name, c->name);
      return cell(column, name, c->unit, c->doc);
    }
    row -= n;
  }
  return NULL;
}

const char *sluice_table(int table, size_t row, int column) {
  switch (table) {
  case SLUICE_COUNTERS:
    return counter(row, column);
  case SLUICE_SCHEMES:
    if (row >= scheme_count()) return NULL;
    return cell(column, scheme_at((uint32_t)row)->name, "", scheme_at((uint32_t)row)->title);
  case SLUICE_KNOBS:
    if (row >= gpu_knob_row_count) return NULL;
    return cell(column, gpu_knob_rows[row].key, gpu_knob_rows[row].unit, gpu_knob_rows[row].doc);
  default:
    return NULL;
  }
}
