/* record.h - the result record: what was simulated (configuration, program, scheme) and every counter, per kernel
 * launch and in total, as one JSON document.
 *
 * The document is byte-stable: keys in the order of the tables, one number format, no times, no host names. Two runs
 * of the same command write the same bytes. src/session writes it; all commands that use results read it (sluice
 * compare, sluice calibrate, the report).
 */
#ifndef RESULTS_RECORD_H
#define RESULTS_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "gpu/common/config.h"
#include "gpu/common/stats.h"

enum { RECORD_FORMAT = 1 }; /* "format" of the document; incremented when the meaning of a key changes */

/* A rate that is 0 when nothing was counted. */
static inline double record_ratio(uint64_t part, uint64_t whole) {
  return whole ? (double)part / (double)whole : 0;
}

/* ---- writing ---- */
struct record;

struct record_head {
  const struct gpu_config *config;
  const char *program; /* path and arguments as one string; may be NULL */
  const char *mode;    /* "timing" or "functional" */
  const char *scheme;  /* as the user wrote it; "baseline" for none */
  bool unread;         /* the document will not be read: keep totals only */
  bool every_launch;   /* one entry per launch, without a limit */
  uint64_t warm;       /* the first launches: they fill the caches and are in no entry and no sum */
  const char *state;   /* the state outlives this process in the first free file of STATE-1, STATE-2, ...; for
                        * record_recover, the file itself; NULL: it does not */
};
/* Texts and configuration are copied. */
struct record *record_new(const struct record_head *h);
/* The record of a process that ended without writing it, from its state file (h->state). NULL with `e`. */
struct record *record_recover(const struct record_head *h, struct err *e);
/* That file; NULL: none. */
const char *record_state(const struct record *r);
/* A forked child continues with an empty record of its own. */
void record_restart(struct record *r, const char *state);
/* Data of a process: owner of the state, and its end. */
enum record_end { RECORD_OPEN, RECORD_CLOSED };
void record_set_end(struct record *r, enum record_end how);
struct record_process {
  int pid;
  enum record_end end;
  uint64_t launches;
  char command[2048];
};
bool record_process(const char *state, struct record_process *out);

/* Launches have separate entries up to this number, or these bytes of entries. Later ones are folded: one entry for
 * all launches with equal kernel, grid, block, shared memory, registers, stream and mode, with the sums of their
 * counters and their number as "launches". With very many of these (programs that never launch the same grid twice),
 * by kernel and mode. */
enum { RECORD_SINGLE_LAUNCHES = 4096, RECORD_SINGLE_BYTES = 32 << 20 };

struct record_launch {
  const char *kernel;
  uint32_t grid[3], block[3];
  uint32_t shared_bytes; /* static + dynamic, per CTA */
  uint32_t regs;         /* per thread */
  bool timing;           /* false: functional only, its cycle counters are 0 */
  uint32_t stream;       /* written unless 0 */
  /* Of launches that overlap. */
  uint32_t launch;      /* in the order of submission */
  uint64_t start, end;  /* core cycles of the run */
  double warps;         /* resident, mean over its cycles and all SMs */
  struct gpu_stats own; /* see gpu_ended */
};
/* Add one launch; `stats` are its own counters (stats->kernels is 1). */
void record_add(struct record *r, const struct record_launch *l, const struct gpu_stats *stats);
/* Add `n` launches that ran together from core cycle `start` of the run on, in the order of submission; `stats` are
 * the sum of all. Each gets an entry with its own counters; the shared counters are one entry of "overlaps", which
 * receives all additions until the next launch. */
/* For very many overlapping launches: fold one now, before the others are added. */
void record_fold_overlapping(struct record *r, const struct record_launch *l);
void record_add_overlapping(struct record *r, const struct record_launch *l, uint32_t n, uint64_t start,
                            const struct gpu_stats *stats);
/* Observations of the last launch, if any: its "sms", "partitions", "channels", "lines", "samples", "loads". */
struct gpu_observed;
void record_add_observed(struct record *r, const struct gpu_observed *observed);
/* The whole run over time (gpu_watch.profile), as "profile" beside the totals; the last call counts. */
void record_set_profile(struct record *r, const struct gpu_observed *observed);
/* A counter of a scheme (key "bucl.bypassed_loads"), added to the last launch and to the total. Zeros are omitted. */
void record_add_scheme_counter(struct record *r, const char *key, uint64_t value);
/* Bytes copied between host and device. */
void record_add_copy(struct record *r, uint64_t bytes, bool to_device);
/* Results of the opt-in checks of the program ("findings", absent without checks). */
void record_begin_findings(struct record *r);
void record_add_finding(struct record *r, const char *check, const char *text, uint64_t count);
/* Allowed accesses out of bounds ("out_of_bounds", absent if there were none). */
void record_begin_strays(struct record *r, uint64_t reads, uint64_t writes);
void record_add_stray(struct record *r, const char *text, uint64_t count);
/* The data of the last launch is complete: from now on it survives the process. */
void record_commit(struct record *r);
/* Counters and rates of `s`, and the energy of a run, as in the document (a json_t; a new reference). */
void *record_counters(const struct gpu_stats *s);
void *record_energy(const struct gpu_config *c, const char *scheme, const struct gpu_stats *s);
/* Write atomically (a temporary file beside `path`, then rename). `path` "-" is standard output. */
bool record_write(struct record *r, const char *path, struct err *e);
/* Any document (a json_t of jansson) in the same form. */
bool record_write_json(const void *document, const char *path, struct err *e);
/* A value of the last committed launch or of all: a counter, a derived value, or a non-zero counter of a scheme, by
 * key. */
bool record_now(const struct record *r, bool last, const char *key, double *value);
/* The sums of all committed launches. */
const struct gpu_stats *record_total(const struct record *r);
/* The document as text; the caller frees it. */
char *record_text(struct record *r);
void record_free(struct record *r);

/* ---- derived values: rates computed from counters, in kernels[] and totals beside them ---- */
struct derived_row {
  const char *key, *unit, *doc;
  double (*value)(const struct gpu_stats *s);
};
extern const struct derived_row derived_rows[];
extern const uint32_t derived_row_count;

/* ---- reading ---- */
struct record_file;

/* Any JSON file (a json_t of jansson, owned by the caller); NULL with `e`. */
void *record_document(const char *path, struct err *e);
struct record_file *record_open(const char *path, struct err *e);
/* A record that is part of another document (a json_t), with a reference to it; NULL if it is none. */
struct record_file *record_wrap(void *document);
/* Top-level text such as "scheme", "program", "mode", "config_hash"; NULL if absent. */
const char *record_field(const struct record_file *f, const char *key);
size_t record_kernels(const struct record_file *f); /* entries: of a launch, or of folded launches */
uint64_t record_launches(const struct record_file *f);
const char *record_kernel_name(const struct record_file *f, size_t kernel);
/* Counter or derived value by its key, of one launch or in total; false if the record has none. */
#define RECORD_TOTALS SIZE_MAX
bool record_value(const struct record_file *f, size_t kernel, const char *key, double *value);
/* Findings of the checks; 0 without checks. */
size_t record_findings(const struct record_file *f);
/* Allowed accesses out of bounds, by threads. */
struct record_strays {
  uint64_t reads, writes;
  size_t places;
};
struct record_strays record_strays(const struct record_file *f);
/* All sums and maxima of one launch or in total; means stay 0. */
void record_stats_of(const void *counters /* a json_t: a launch or the totals */, struct gpu_stats *out);
void record_stats(const struct record_file *f, size_t kernel, struct gpu_stats *out);
/* The parsed document (a json_t of jansson), owned by `f`. */
void *record_json(const struct record_file *f);
/* The entries with observations, as a json_t array: the launches, then the shared parts of overlapping launches. Owned
 * by `f`; of a document, a new reference (NULL without launches). */
const void *record_entries(const struct record_file *f);
void *record_entries_of(const void *document);
void record_close(struct record_file *f);

#endif
