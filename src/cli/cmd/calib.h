/* calib.h - the arithmetic of `sluice calibrate`: reference tables, errors, goals. No processes, no printing. */
#ifndef CLI_CMD_CALIB_H
#define CLI_CMD_CALIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "results/record.h"

enum { CALIB_COLUMNS = 64 };

struct calib_case {
  char name[48];
  double reference[CALIB_COLUMNS], ours[CALIB_COLUMNS];
  double cpu_seconds;
  bool ran;
};

struct calib_table {
  char *text; /* the file */
  const char *column[CALIB_COLUMNS];
  size_t columns;
  struct calib_case *at;
  size_t count;
};

/* Read a CSV whose first column is the case. */
bool calib_read(struct calib_table *t, const char *path, struct err *e);
void calib_free(struct calib_table *t);
void calib_fill(const struct calib_table *t, struct calib_case *c, const struct record_file *r);
/* Value of a column by name; 0 if the table has none. */
double calib_get(const struct calib_table *t, const double *row, const char *column);

/* (measured - reference) / reference; for a reference of 0, measured / 1. */
double calib_relative(double ours, double reference);
double calib_cycle_error(const struct calib_table *t, const struct calib_case *c);

/* The column, except cycles, with the largest error; counts too small to be meaningful are skipped. */
struct calib_worst {
  const char *column;
  double error;
};
struct calib_worst calib_worst(const struct calib_table *t, const struct calib_case *c);

struct calib_column {
  size_t cases; /* cases with a meaningful count */
  double mean, worst;
  const char *worst_case;
};
struct calib_column calib_column_stats(const struct calib_table *t, size_t column);

struct calib_overall {
  double mean, worst, correlation; /* of cycles; correlation of their logarithms */
  const char *worst_case;
};
struct calib_overall calib_overall(const struct calib_table *t);

const char *calib_goal_text(const char *column); /* NULL: no goal for this column */
/* Number of missed goals, with a line for each in `lines` (as many as fit). */
unsigned calib_goals_missed(const struct calib_table *t, char *lines, size_t size);

#endif
