/* sluice.h - the GPU simulator as a library, and its cache by itself. `pkg-config --cflags --libs libsluice`
 *
 * A session is one simulated GPU: sluice_open creates it from a configuration and schemes; sluice_load loads PTX;
 * sluice_alloc and sluice_write fill device memory; sluice_launch runs a kernel to its end; sluice_value reads
 * counters; sluice_close frees everything. A cache (sluice_cache_*) is the L2 of that machine alone, for use in other
 * simulators.
 *
 * Every function that can fail returns a status: SLUICE_OK, or an error that also fills *e unless `e` is NULL; it then
 * creates nothing. No function ends the process, neither on wrong input nor where memory runs out. After
 * SLUICE_NO_MEMORY or SLUICE_INTERNAL from anything but sluice_alloc, the session or cache answers every call with
 * that error and can only be closed.
 *
 * Texts and structs that are passed in are copied: the caller may free them after the call. Handles belong to their
 * session. A session or cache may be used by one thread at a time; different ones at the same time.
 *
 * The interface only grows: symbols carry the version that brought them (SLUICE_1.0, SLUICE_1.1), and structs that may get further
 * members begin with `size`, which the caller sets to sizeof of the struct.
 */
#ifndef SLUICE_H
#define SLUICE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of this header: 100 * major + minor. A program runs with a library of the same major and no smaller minor. */
#define SLUICE_INTERFACE 101
/* Version of the loaded library; *release (may be NULL) is its release, e.g. "0.1", a constant. */
uint32_t sluice_interface(const char **release);

/* ---- errors ---- */
enum sluice_status {
  SLUICE_OK = 0,
  SLUICE_USAGE = 1,       /* an unknown option, knob, scheme, GPU or name; a value out of range; a wrong argument */
  SLUICE_INPUT = 2,       /* PTX, a file or a trace that cannot be read or parsed */
  SLUICE_UNSUPPORTED = 3, /* valid but unsupported: named by the message */
  SLUICE_PROGRAM = 4,     /* a fault of the kernel: out of bounds, misaligned, a trap */
  SLUICE_STUCK = 5,       /* the kernel makes no progress */
  SLUICE_INTERNAL = 6,    /* a broken invariant of the simulator */
  SLUICE_NO_MEMORY = 7,   /* host memory, or from sluice_alloc device memory, ran out */
  SLUICE_STOPPED = 8      /* a watcher ended the launch: the session can only be closed */
};
struct sluice_error {
  int32_t status;     /* enum sluice_status */
  char message[1020]; /* one line, UTF-8, without a full stop; names file, line and column where known */
};

/* ---- sessions ---- */
struct sluice_session;
struct sluice_module; /* loaded PTX */
struct sluice_kernel;

/* `options`: texts "KEY=VALUE", a NULL at the end; NULL: none. A knob of the configuration ("l1d.sets=64"), or one of
 *   gpu=NAME|FILE        the configuration (fermi)
 *   scheme=LIST          as the command's --scheme takes it (baseline)
 *   mode=timing|functional   functional: results only, cycles and caches are not simulated
 *   memory=strict|warn|hardware   what accesses outside of allocations do (strict: they end the launch)
 *   watchdog=CYCLES      without an instruction after which a launch is stuck; functional: warp instructions
 *   program=TEXT         what the record says was run
 *   detail=yes, lines=yes, characterise=yes   more in the record
 */
int sluice_open(const char *const *options, struct sluice_session **session, struct sluice_error *e);
/* Frees the session and all that belongs to it: modules, kernels, device memory. NULL: nothing. */
void sluice_close(struct sluice_session *s);

/* ---- programs ---- */
/* PTX as text; `name` is for messages. The module lives until sluice_close. */
int sluice_load(struct sluice_session *s, const char *ptx, const char *name, struct sluice_module **module,
                struct sluice_error *e);
int sluice_load_file(struct sluice_session *s, const char *path, struct sluice_module **module, struct sluice_error *e);
int sluice_find_kernel(struct sluice_session *s, struct sluice_module *m, const char *name,
                       struct sluice_kernel **kernel, struct sluice_error *e);
/* Kernel `row` (from 0) of a module, as in the PTX; NULL after the last. Valid as long as the module. */
const char *sluice_kernel_name(struct sluice_session *s, struct sluice_module *m, size_t row);
struct sluice_parameter {
  size_t size;    /* sizeof (struct sluice_parameter), set by the caller; the rest by the library */
  uint32_t bytes; /* of an argument */
  char type[12];  /* as in the PTX: "u64", "f32"; "b8" for a struct or an array */
};
/* Parameter `index` (from 0) of a kernel; SLUICE_USAGE after the last. */
int sluice_find_parameter(struct sluice_session *s, struct sluice_kernel *k, uint32_t index,
                          struct sluice_parameter *parameter, struct sluice_error *e);
/* Device address and size in bytes of a .global or .const variable. Either pointer may be NULL. */
int sluice_find_variable(struct sluice_session *s, struct sluice_module *m, const char *name, uint64_t *address,
                         uint64_t *bytes, struct sluice_error *e);

/* ---- device memory: addresses of the simulated GPU, sizes in bytes ---- */
/* `label` (may be NULL) is for messages about accesses nearby. Contents: zeros. SLUICE_NO_MEMORY: the GPU's memory
 * (memory.size_mb) is full; the session remains usable. */
int sluice_alloc(struct sluice_session *s, uint64_t bytes, const char *label, uint64_t *address,
                 struct sluice_error *e);
/* `address` as returned by sluice_alloc. */
int sluice_free(struct sluice_session *s, uint64_t address, struct sluice_error *e);
/* Host to device and device to host, within one allocation or variable. Takes no simulated time. */
int sluice_write(struct sluice_session *s, uint64_t address, const void *from, uint64_t bytes, struct sluice_error *e);
int sluice_read(struct sluice_session *s, void *to, uint64_t address, uint64_t bytes, struct sluice_error *e);

/* ---- launches ---- */
struct sluice_launch {
  size_t size;                  /* sizeof (struct sluice_launch) */
  uint32_t grid[3], block[3];   /* blocks; threads of a block; 0 stands for 1 */
  uint32_t shared_bytes;        /* dynamic shared memory of a block */
  uint32_t argument_count;      /* must be the kernel's number of parameters */
  const void *const *arguments; /* pointers to the arguments, each with the size of its parameter */
};
/* Run a kernel to its end. After SLUICE_PROGRAM, SLUICE_STUCK, or SLUICE_UNSUPPORTED from a running kernel, memory and
 * counters can be read but nothing can be launched: every further launch returns the same error. */
int sluice_launch(struct sluice_session *s, struct sluice_kernel *k, const struct sluice_launch *launch,
                  struct sluice_error *e);
/* Run every launch of a recorded trace (.slt, kernelslist.g, .traceg) in order. */
int sluice_replay(struct sluice_session *s, const char *path, struct sluice_error *e);

/* ---- progress ---- */
struct sluice_progress {
  size_t size;            /* of the struct that the library has */
  uint64_t launch;        /* number of the launch, from 0 */
  const char *kernel;     /* as in the PTX */
  uint32_t blocks, ended; /* of the launch; those of them that have ended */
};
/* What it returns: 0 to continue, anything else ends the launch with SLUICE_STOPPED. It must return, must not keep the
 * struct, and must not use the session. */
typedef int sluice_watcher(void *context, const struct sluice_progress *progress);
/* Call `watcher` about ten times a second while launches run; NULL: no longer. Functional mode: only where a block
 * ends. Watching changes no result. */
int sluice_watch(struct sluice_session *s, sluice_watcher *watcher, void *context, struct sluice_error *e);

/* ---- results ---- */
enum sluice_scope { SLUICE_LAST_LAUNCH, SLUICE_ALL_LAUNCHES };
/* A counter or a rate by its name in sluice_table, e.g. "cycles", "l1d.read.hit_rate". */
int sluice_value(struct sluice_session *s, int scope, const char *name, double *value, struct sluice_error *e);
/* The record of all launches so far, as written by `sluice run --json`. Owned by the session: valid until the next
 * sluice_record or sluice_close. */
int sluice_record(struct sluice_session *s, const char **json, struct sluice_error *e);

/* Names of counters, schemes and knobs: row 0, 1, ... of a table. NULL after the last row. The text is valid until the
 * next call in this thread. */
enum sluice_table { SLUICE_COUNTERS, SLUICE_SCHEMES, SLUICE_KNOBS };
enum sluice_column {
  SLUICE_NAME,
  SLUICE_UNIT,   /* of one: "cycle", "B"; "" for none, and for schemes */
  SLUICE_MEANING /* one line */
};
const char *sluice_table(int table, size_t row, int column);

/* ---- a cache ----
 * The L2 of one sub-partition: tags, MSHRs that merge, a miss queue; write-back or write-through, fetch on a write miss
 * (whole lines) or none (sectors of 32 B). The caller is the clock and the level below it:
 *   sluice_cache_access   an access: a hit, or it waits (pending, miss), or it is refused and must be tried again
 *   sluice_cache_next     takes the oldest request to the level below; some want an answer
 *   sluice_cache_answer   the level below has answered one
 *   sluice_cache_done     takes an access that has waited and is complete
 * A cycle is any time that never goes back; the least recently used line is the one whose last access has the least.
 */
struct sluice_cache;

/* `options` as for sluice_open:
 *   sets, ways, line (B), mshrs, merges (accesses that one MSHR holds), miss_queue (entries; a miss needs up to three)
 *   index=linear|fermi-hash|xor|ipoly   set index function
 *   replacement=lru|fifo, write=write-back|write-through, organisation=line|sector
 *   gpu=NAME|FILE   take all of them from the L2 of this configuration, if it comes first
 * The defaults are those of fermi. */
int sluice_cache_open(const char *const *options, struct sluice_cache **cache, struct sluice_error *e);
void sluice_cache_close(struct sluice_cache *c); /* NULL: nothing */

enum sluice_outcome {
  SLUICE_HIT,     /* complete; a write-through waits for its answer, see `waits` */
  SLUICE_PENDING, /* its line is already being fetched */
  SLUICE_MISS,    /* it was absent; a write to sectors does not wait */
  SLUICE_REFUSED  /* no line, MSHR, merge entry or miss queue entry: only the counter changes */
};
struct sluice_access {
  size_t size;      /* sizeof (struct sluice_access) */
  uint64_t address; /* first byte */
  uint32_t bytes;   /* within one line */
  uint32_t write;   /* 0: a read */
  uint64_t cycle;
  uint64_t id;    /* chosen by the caller: returned by sluice_cache_done */
  uint32_t waits; /* out: sluice_cache_done will return it */
};
/* *outcome: enum sluice_outcome. */
int sluice_cache_access(struct sluice_cache *c, struct sluice_access *access, int *outcome, struct sluice_error *e);

enum sluice_request_kind {
  SLUICE_FETCH,     /* bytes of a line, or of some sectors of it */
  SLUICE_WRITE,     /* bytes of an access that bypasses or writes through the cache */
  SLUICE_WRITE_BACK /* a replaced line, or its dirty sectors: needs no answer */
};
struct sluice_request {
  size_t size; /* sizeof (struct sluice_request), set by the caller; the rest by the cache */
  uint64_t address;
  uint32_t bytes;
  uint32_t kind;    /* enum sluice_request_kind */
  uint32_t sectors; /* organisation=sector, fetches and write-backs: which of the line, bit 0 is the lowest */
  uint32_t answer;  /* argument of sluice_cache_answer; 0: no answer needed */
};
/* *any: 0 if there is no request; *request is then undefined. */
int sluice_cache_next(struct sluice_cache *c, struct sluice_request *request, int *any, struct sluice_error *e);
int sluice_cache_answer(struct sluice_cache *c, uint32_t answer, uint64_t cycle, struct sluice_error *e);
/* *any: 0 if none is complete. An MSHR is free when all accesses waiting in it have been taken. */
int sluice_cache_done(struct sluice_cache *c, uint64_t *id, int *any, struct sluice_error *e);

struct sluice_cache_counts {
  size_t size;                              /* sizeof (struct sluice_cache_counts), set by the caller */
  uint64_t accesses, hits, pending, misses; /* accesses = hits + pending + misses */
  uint64_t refused, evictions, write_backs;
  uint64_t fetches, fetched_bytes; /* requested from the level below */
};
int sluice_cache_count(struct sluice_cache *c, struct sluice_cache_counts *counts, struct sluice_error *e);

#ifdef __cplusplus
}
#endif
#endif
