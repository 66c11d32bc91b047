/* config.h - the GPU configuration: one struct generated from knobs.def, read from configs/NAME.yaml or a file.
 *
 * Units are in the table. A configuration is checked as a whole (geometry, queue sizes) before anything runs; every
 * error names file:line and what is allowed.
 */
#ifndef GPU_COMMON_CONFIG_H
#define GPU_COMMON_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "ptx/inst.h"

enum gpu_sched { SCHED_GTO, SCHED_LRR, SCHED_TWO_LEVEL, SCHED_GTY };
enum gpu_alloc { ALLOC_ON_MISS, ALLOC_ON_FILL };
/* modulo: the channel by its number of line blocks, the sub-partition by bank bits; ipoly: both by polynomial hashing
 * of the whole address (Rau, "Pseudo-Randomly Interleaved Memory", ISCA 1991), for powers of two; skewed: both, for any
 * number n of sub-partitions: each round of n blocks begins one further, n - 1 rounds later at the first again
 * (Budnik and Kuck, "The Organization and Use of Parallel Memories", 1971): strides of powers of two meet all. */
enum gpu_partition_hash { PARTITION_MODULO, PARTITION_IPOLY, PARTITION_SKEWED };
enum gpu_index { INDEX_LINEAR, INDEX_FERMI_HASH, INDEX_XOR, INDEX_IPOLY };
enum gpu_repl { REPL_LRU, REPL_FIFO };
enum gpu_write { WRITE_BACK, WRITE_THROUGH };
enum gpu_l2_org { L2_LINES, L2_SECTORS };
enum gpu_dram { DRAM_FRFCFS, DRAM_FCFS };
enum gpu_store { STORE_EVICTS, STORE_UPDATES, STORE_PLACES };
enum gpu_prefetch_priority { PREFETCH_AFTER_DEMAND, PREFETCH_EQUAL };
enum gpu_code { CODE_PTX, CODE_MACHINE };
enum gpu_icnt { ICNT_CROSSBAR, ICNT_MESH };
/* NULL-terminated words, index = enum value. */
extern const char *const sched_names[];
extern const char *const alloc_names[];
extern const char *const index_names[];
extern const char *const repl_names[];
extern const char *const write_names[];
extern const char *const l2_org_names[];
extern const char *const dram_names[];
extern const char *const icnt_names[];
extern const char *const code_names[];
extern const char *const partition_names[];
extern const char *const pipe_names[];
extern const char *const store_names[];
extern const char *const prefetch_names[];

struct cache_config {
  uint32_t sets, ways, line; /* line in bytes */
  uint32_t mshrs, merges, miss_queue;
};
/* The pipe of a sub-core that a class of instructions takes; either: INT or FP32, whichever is free. */
enum gpu_pipe { PIPE_BY_TYPE, PIPE_FP32, PIPE_INT, PIPE_EITHER, PIPE_XU, PIPE_FP64, PIPE_TENSOR };
struct latency_config {
  uint32_t latency, interval;
  uint32_t pipe; /* enum gpu_pipe */
};

struct gpu_config {
#define KNOB_U(field, key, dflt, min, max, unit, doc) uint32_t field;
#define KNOB_B(field, key, dflt, doc) bool field;
#define KNOB_E(field, key, dflt, names, doc) uint32_t field;
#define KNOB_S(field, key, dflt, doc) char field[96];
#define LATENCY(cls, key, lat, every, doc)
#define CACHE(field, key, sets, ways, line, mshrs, merges, missq, doc) struct cache_config field;
#include "gpu/common/knobs.def"
  struct latency_config lat[LAT_COUNT];
};

/* One row per knob, generated from knobs.def: the caches and latencies expand to one row per number. */
enum knob_type { KNOB_UINT, KNOB_BOOL, KNOB_WORD, KNOB_TEXT };
struct knob_row {
  const char *key, *unit, *doc;
  enum knob_type type;
  uint32_t offset;          /* bytes into struct gpu_config */
  uint32_t min, max;        /* KNOB_UINT */
  const char *const *words; /* KNOB_WORD */
};
extern const struct knob_row gpu_knob_rows[];
extern const uint32_t gpu_knob_row_count;

/* The defaults of knobs.def. */
void gpu_config_defaults(struct gpu_config *c);
/* `name`: a configuration in configs/ (searched beside the executable, then in the data directory) or a file path.
 * Unknown names suggest the nearest. */
bool gpu_config_load(struct gpu_config *c, const char *name, struct err *e);
/* One "key=value"; `where` prefixes errors ("--set" or "file:line"). */
bool gpu_config_set(struct gpu_config *c, const char *key, const char *value, const char *where, struct err *e);
/* Check the whole configuration: impossible geometries, sizes that do not fit. */
bool gpu_config_check(const struct gpu_config *c, struct err *e);
/* Every knob in table order as key, value text, for the record and the hash. `value` is valid during the call. */
void gpu_config_each(const struct gpu_config *c,
                     void (*f)(void *ctx, const char *key, const char *value, const char *unit, const char *doc),
                     void *ctx);
/* The value of a knob for records and the hash, independent of file locations. */
const char *gpu_config_portable(const char *key, const char *value);
uint64_t gpu_config_hash(const struct gpu_config *c);

#endif
