/* slots.h - registered schemes and those of one machine: the interface for the machine and the commands. */
#ifndef GPU_SLOTS_SLOTS_H
#define GPU_SLOTS_SLOTS_H

#include "gpu/slots/scheme.h"

uint32_t scheme_count(void);
const struct scheme *scheme_at(uint32_t i); /* in order of names */
const struct scheme *scheme_find(const char *name);
/* A scheme that is not compiled in: known to this thread until scheme_remove, and to be removed after the machines that
 * use it. False with `e`: its name is taken, its tables are too long, or there are too many. */
bool scheme_add(const struct scheme *s, struct err *e);
void scheme_remove(const struct scheme *s);
uint32_t scheme_param_count(const struct scheme *s);
/* A hook, as in hooks.def. */
enum hook_rule { RULE_OBSERVE, RULE_OBSERVE_LINE, RULE_ANY, RULE_ALL, RULE_NARROW, RULE_DECIDE, RULE_DECIDE_LINE };
enum hook_site { SITE_NONE, SITE_LOAD, SITE_L1, SITE_L2, SITE_DRAM, SITE_CTA, SITE_ISSUE, HOOK_SITES };
struct hook_row {
  const char *name, *slot, *owns, *fires, *answer;
  enum hook_rule rule;
  enum hook_site site;
  bool again;
  size_t offset; /* in struct scheme */
};
extern const struct hook_row hook_rows[];
extern const uint32_t hook_count;
extern const char *const hook_rule_names[]; /* by enum hook_rule */
/* True if the scheme fills the hook. */
bool scheme_fills(const struct scheme *s, const struct hook_row *h);
/* Call the hook of each selected scheme that fills it: `in` is its instance. `return` leaves the loop, `break` does
 * not. EACH_HOOK_OF takes the number of instances, if the caller knows that it is 0. */
/* clang-format off */
#define EACH_HOOK(in, slots, hook) EACH_HOOK_OF(in, slots, hook, (slots)->n_##hook)
#define EACH_HOOK_OF(in, slots, hook, count)                                       \
  for (uint32_t hook##_i = 0, hook##_n = (count); hook##_i < hook##_n; hook##_i++) \
    for (struct slot_instance *in = &(slots)->at[(slots)->hook[hook##_i]]; in; in = NULL)
/* clang-format on */
/* The k-th hook that a scheme fills, and the slot it belongs to; `configure` first. NULL after the last. */
const char *scheme_hook(const struct scheme *s, uint32_t k, const char **slot);
uint32_t scheme_counter_count(const struct scheme *s);

/* ---- the selected schemes of one machine ---- */
enum { SLOTS_MAX = 8, SCHEME_PARAMS_MAX = 16, SCHEME_COUNTERS_MAX = 32 };

struct slot_instance {
  const struct scheme *scheme;
  struct scheme_ctx ctx;
  double param[SCHEME_PARAMS_MAX];
  uint64_t counter[SCHEME_COUNTERS_MAX], taken[SCHEME_COUNTERS_MAX];
  uint64_t next_epoch, epoch;
};

/* Each hook is a dense array of the instances that fill it; an empty one costs one test. */
struct slots {
  struct slot_instance at[SLOTS_MAX];
  uint32_t count;
#define HOOK(name, ...) uint8_t name[SLOTS_MAX], n_##name;
#define HOOK_TABLE HOOK
#include "gpu/slots/hooks.def"
  uint64_t next_epoch; /* minimum over all schemes, UINT64_MAX if none */
  bool finished;       /* slots_finish has been called */
};

/* A list may name searches ("swl-best+bucl"). The number of machines of a list (1 without a search), and the list of
 * the i-th, e.g. "swl:warps=8+bucl", with the value tried; the last search varies fastest. */
uint32_t scheme_sweep_count(const char *list);
bool scheme_sweep_list(const char *list, uint32_t i, char *out, size_t size);
/* The values of the i-th: "warps=8", "warps=8 pd=4". */
bool scheme_sweep_values(const char *list, uint32_t i, char *out, size_t size);
/* The list of the preceding run that writes profile.file; false: none. */
bool scheme_sweep_prepare(const char *list, char *out, size_t size);
/* True if the searches of a list are valid. */
bool scheme_sweep_check(const char *list, struct err *e);
/* Parse "baseline", "bucl", "swl=8+bucl:tucd=5,..." ('+' and ',' separate schemes, ':' parameters, '/' further ones)
 * into `out` and check how they combine. Errors suggest the nearest name. */
bool slots_parse(struct slots *out, const char *list, struct err *e);
/* The same for a machine whose L1 has its own organisation (l1d.organisation), which is added unless the list itself
 * sets the organisation or replacement of the L1. */
bool slots_for_machine(struct slots *out, const char *list, const struct gpu_config *c, struct err *e);
/* Let the schemes change the configuration. */
bool slots_configure(const struct slots *s, struct gpu_config *c, struct err *e);
/* Allocate state for machine `gpu` and call init. */
bool slots_start(struct slots *s, struct gpu *gpu, const struct gpu_config *c, uint64_t seed, struct err *e);
/* Last call of a run: the schemes write their files. slots_free does it otherwise. */
void slots_finish(struct slots *s, struct err *e);
void slots_free(struct slots *s);
/* True if this list is valid on that configuration. */
bool scheme_list_check(const char *list, const struct gpu_config *c, struct err *e);
/* Increments of the schemes' counters since the last call: key "scheme.counter". */
void slots_take_counters(struct slots *s, void (*f)(void *ctx, const char *key, uint64_t value), void *ctx);
/* Canonical text of the selection, for records: every parameter spelt out. `buf` gets at most `size` bytes. */
void slots_describe(const struct slots *s, char *buf, size_t size);

/* The memory-side hooks of the schemes as functions (slots/memory.h) in `out`; NULL if none is filled, else `out`. */
const struct mem_hooks *slots_mem_hooks(struct slots *s, struct mem_hooks *out);

#endif
