/* simt.h - the functional machine: device memory, loaded modules, and kernels that run one warp instruction at a time.
 *
 * Order of use: simt_new; simt_mem_* and simt_load (any order); per launch simt_begin, then either drive its feed from
 * the timing model or call simt_run; simt_end. This interface has no notion of time.
 */
#ifndef SIMT_SIMT_H
#define SIMT_SIMT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "ptx/feed.h"

#define SIMT_GLOBAL_BASE \
  0xC0000000u /* first allocation; docs/explanation/gpu-model.md "Launch and CTA dispatch": addresses decide sets and \
               * partitions                                                                                           \
               */

struct simt;        /* one device: memory + modules */
struct simt_module; /* PTX linked together, its variables placed */
struct simt_kernel;
struct simt_run; /* one launch in progress */

/* `capacity`: bytes of device memory. NULL with `e` on failure. */
struct simt *simt_new(uint64_t capacity, struct err *e);
void simt_free(struct simt *s);

/* ---- device memory. Addresses from SIMT_GLOBAL_BASE up, each allocation rounded up to 256 B; deterministic. ---- */
enum simt_mem_kind { SIMT_MEM_DEVICE, SIMT_MEM_MANAGED, SIMT_MEM_HOST /* pinned, mapped */, SIMT_MEM_SYMBOL };
struct simt_alloc {
  uint64_t base, bytes; /* bytes as requested */
  enum simt_mem_kind kind;
  const char *label; /* symbol name, or the caller's description of the allocation site; may be NULL */
  uint64_t serial;   /* order of allocation, from 1 */
};
uint64_t simt_mem_alloc(struct simt *s, uint64_t bytes, enum simt_mem_kind kind, const char *label); /* 0: no memory */
/* Device memory that maps bytes [offset, offset + bytes) of the file `fd`, shared with other mappings; `fd` may be
 * closed afterwards. 0 with errno: the file cannot be mapped, or (ENOMEM) there is no room. */
uint64_t simt_mem_import(struct simt *s, int fd, uint64_t offset, uint64_t bytes, const char *label);
bool simt_mem_release(struct simt *s, uint64_t base);                  /* false: not the start of a live allocation */
const struct simt_alloc *simt_mem_find(struct simt *s, uint64_t addr); /* live allocation containing addr, or NULL */
/* Host pointer to device bytes [addr, addr+bytes), which must lie in one live allocation; else NULL. Managed and host
 * allocations satisfy simt_mem_at(addr) == (void *)addr, so that the host program can use the pointer itself. */
void *simt_mem_at(struct simt *s, uint64_t addr, uint64_t bytes);
const struct simt_alloc *simt_mem_after(struct simt *s, uint64_t addr); /* first live allocation above addr, or NULL */
uint64_t simt_mem_used(struct simt *s);
uint64_t simt_mem_capacity(struct simt *s);

/* ---- opt-in checks, after simt_new and before anything is allocated or loaded ---- */
enum simt_checks {
  SIMT_CHECK_INIT = 1,    /* uninitialised reads */
  SIMT_CHECK_RACE = 2,    /* races on shared memory */
  SIMT_CHECK_BARRIER = 4, /* barriers that only part of a CTA reaches */
  SIMT_CHECK_ALL = 7
};
/* "init,race" to a set of checks; false lists the choices. NULL and "" are none. */
bool simt_check_parse(const char *list, unsigned *checks, struct err *e);
/* Findings are printed to `report` (NULL: only stored) as they occur, each place once. */
bool simt_check(struct simt *s, unsigned checks, FILE *report, struct err *e);
/* The host wrote device memory; the host copied it (dst 0: to host memory, where uninitialised bytes are a finding). */
void simt_mem_written(struct simt *s, uint64_t addr, uint64_t bytes);
void simt_mem_copied(struct simt *s, uint64_t dst, uint64_t src, uint64_t bytes);
struct simt_finding {
  const char *check, *text; /* "race"; complete text with place and cause */
  uint64_t count;           /* number of occurrences */
};
const struct simt_finding *simt_check_finding(const struct simt *s, size_t i); /* NULL after the last */
/* "3 uninitialised reads, 0 shared memory races" into `out`; returns the sum. */
size_t simt_check_summary(const struct simt *s, char *out, size_t size);

/* A launch is stuck if no CTA ends within this many warp instructions of simt_run; 0: FEED_WATCHDOG. */
void simt_set_watchdog(struct simt *s, uint64_t warp_insts);
/* The clock of %globaltimer: nanoseconds are cycles of so many MHz. A new machine has 1000. */
void simt_set_clock(struct simt *s, uint32_t core_mhz);

/* ---- accesses outside of allocations ---- */
enum simt_memory {
  SIMT_MEMORY_STRICT,  /* all accesses out of bounds are faults */
  SIMT_MEMORY_WARN,    /* reads return zero and are counted; writes and wrong pointers are faults */
  SIMT_MEMORY_HARDWARE /* allocations lie in pages of 2 MB: accesses within a page that an allocation shares are
                        * performed */
};
bool simt_memory_parse(const char *word, enum simt_memory *m, struct err *e); /* NULL and "": strict */
/* Before the first launch. Allowed accesses are reported to `report` (NULL: only stored), each place once. */
void simt_memory(struct simt *s, enum simt_memory how, FILE *report);
struct simt_strays {
  uint64_t reads, writes; /* allowed accesses, by threads */
  size_t places;
};
struct simt_strays simt_strays(const struct simt *s);
const struct simt_finding *simt_stray(const struct simt *s, size_t i); /* NULL after the last place */
/* "3 reads out of bounds at 1 place gave zeroes" into `out`. */
void simt_strays_summary(const struct simt *s, char *out, size_t size);

/* ---- the order of functional mode ---- */
/* "none": CTA by CTA. "fair", "fair=N": all resident CTAs take turns of about N warp instructions. NULL and "": fair.
 */
bool simt_interleave_parse(const char *text, uint32_t *turn, struct err *e);
void simt_interleave(struct simt *s, uint32_t turn); /* before modules are loaded; the default of a new machine is CTA
                                                      * by CTA */

/* ---- host threads of functional mode ---- */
/* simt_run uses up to `n` host threads for the CTAs of a launch. What a launch computes is the same if it does not
 * depend on the order of CTAs. A kernel runs on one thread if it uses clocks, SM numbers, printf, malloc, launches of
 * other kernels, clusters, surface and bulk reductions, results of atomics on global memory, atomics on floats there,
 * or volatile loads, or if a check is on. */
void simt_set_threads(struct simt *s, uint32_t n);

/* Host threads that are worth while for the launch: 1 if it is short; 0 if its kernel must run on one thread, in the
 * order of simt_run or of the timing model. */
uint32_t simt_workers(const struct simt_run *r);
/* `n` feeds of the launch, each with slot 0 only, for as many threads that drive them at the same time. They use CTA
 * slots `first` to first + n - 1 of the launch, last until simt_end, and finish CTAs one after the other; the launch's
 * own feed rests meanwhile. Not if simt_workers is 0. */
void simt_share(struct simt_run *r, uint32_t first, uint32_t n, struct feed **out);
/* A fault of one of them becomes that of the launch's own feed. */
void simt_fault(struct simt_run *r, const struct feed_fault *f);
/* The launch has executed so many warp instructions: simt_workers of the kernel's next one uses it. */
void simt_note(struct simt_run *r, uint64_t warp_insts);

/* ---- the back end (src/back) ---- */
/* Before modules are loaded: kernels run as the machine code of compute capability `sm` (70), 0: as their PTX is
 * written. */
void simt_back_end(struct simt *s, uint32_t sm);
struct simt_kernel;
struct simt_machine {
  const char *name, *cls;                  /* mnemonic; class of mixes */
  uint32_t cls_number, depth, bytes, line; /* loops around it; of a memory access, per lane; of the PTX */
};
enum { SIMT_MACHINE_CLASSES = 26 };
const char *simt_machine_class(uint32_t number);
/* Machine instruction `i` of a kernel; false after the last, and if the kernel runs as its PTX is written. */
bool simt_machine_at(const struct simt_kernel *k, uint32_t i, struct simt_machine *out);
/* Why a kernel runs as its PTX is written, NULL if it does not. */
const char *simt_machine_refused(const struct simt_kernel *k);

/* ---- modules ---- */
struct simt_text {
  const char *ptx;  /* NUL-terminated */
  const char *name; /* for messages: file name, or "program(module 1)" */
  bool compiled;    /* embedded by a compiler: instructions that do not parse count as unsupported and fail when
                     * executed */
};
/* Parse, check and link `count` PTX texts into one module and place its variables. Errors name file:line:column. */
struct simt_module *simt_load(struct simt *s, const struct simt_text *texts, size_t count, struct err *e);
/* Unsupported instructions of the module: executing one ends the launch with ERR_UNSUPPORTED. *first (may be NULL):
 * name and place of the first. */
size_t simt_refusals(const struct simt_module *m, const char **first);
/* The newest PTX ISA version (times 10) of the module's texts if it is newer than Sluice's tables, else 0. Such a
 * module is loaded; unknown instructions fail when executed. The caller warns once. */
uint32_t simt_newer_isa(const struct simt_module *m);
/* "FILE is PTX of ISA version ..., newer than ..." for that warning. */
void simt_newer_text(const struct simt_module *m, char *out, size_t size);
void simt_unload(struct simt *s, struct simt_module *m);
/* Reset variables to their values at load time. */
void simt_reset_variables(struct simt_module *m);
/* Set the registers per thread stated by machine code beside the PTX; otherwise liveness decides. False: no such
 * kernel. */
bool simt_set_registers(struct simt_module *m, const char *kernel, uint32_t regs);
struct simt_kernel *simt_find_kernel(struct simt_module *m, const char *name); /* NULL if absent */
/* Device address and size of a .global or .const variable; false if absent. */
bool simt_find_symbol(struct simt_module *m, const char *name, uint64_t *addr, uint64_t *bytes);

struct simt_kernel_info {
  const char *name;
  uint32_t params;
  const uint32_t *param_offset, *param_bytes; /* per parameter, in the parameter block */
  uint32_t param_block_bytes;
  uint32_t regs, static_shared, local_bytes, const_bytes, max_threads; /* max_threads from .maxntid, else 1024 */
  uint32_t resident;   /* threads per SM that .maxntid and .minnctapersm promise, 0 if absent */
  uint32_t cluster[3]; /* CTAs of a cluster, from .reqnctapercluster; 0 if absent */
  bool in_clusters;    /* must be launched in clusters */
  uint32_t target_sm;  /* 35 */
};
const struct simt_kernel_info *simt_kernel_info(struct simt_kernel *k);
/* Maximum registers per thread that a compiler gives a kernel with CTAs of `threads` on SMs with sm_regs registers: it
 * spills the rest so that one CTA fits, or as many as the kernel promises. 0: no thread fits. */
uint32_t simt_register_limit(const struct simt_kernel_info *k, uint32_t threads, uint32_t sm_regs);
size_t simt_kernel_count(struct simt_module *m);
struct simt_kernel *simt_kernel_at(struct simt_module *m, size_t i);

/* ---- launch ---- */
struct simt_launch {
  struct simt_kernel *kernel;
  uint32_t grid[3], block[3];
  uint32_t dynamic_shared;
  const void *params;      /* parameter block, param_block_bytes, copied */
  uint32_t reg_limit;      /* registers per thread that fit; a compiler would spill the rest. 0: no limit */
  uint32_t cluster[3];     /* CTAs of a cluster, which divide the grid; {0}: one */
  bool in_clusters;        /* %is_explicit_cluster; simt_begin sets it if `cluster` is set */
  uint64_t now;            /* %clock at cycle 0 of the driver of the feed */
  uint64_t grid_workspace; /* cooperative launch: device address that %envreg1 and 2 give, else 0 */
};
/* `cta_slots`: CTA slots of the machine that drives the feed; also sufficient for simt_run. NULL with `e`. */
struct simt_run *simt_begin(struct simt *s, const struct simt_launch *l, uint32_t cta_slots, struct err *e);
struct feed *simt_feed(struct simt_run *r);
/* Functional mode: run the whole grid, in the order of simt_interleave. */
struct simt_counts {
  uint64_t warp_insts, thread_insts;
};
bool simt_run(struct simt_run *r, struct simt_counts *out, struct err *e);
/* Grids launched by the kernel, in launch order; the caller runs and frees them. */
struct simt_child {
  struct simt_child *next;
  struct simt_launch launch;
  uint64_t stream; /* the device runtime's handle */
  uint32_t cta;    /* the launching CTA */
  uint64_t params[];
};
struct simt_child *simt_take_children(struct simt_run *r);
void simt_free_children(struct simt_child *c);
void simt_end(struct simt_run *r);

#endif
