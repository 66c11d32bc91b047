/* slots.h - the schemes that there are, and those of one machine: what the machine and the commands call. */
#ifndef GPU_SLOTS_SLOTS_H
#define GPU_SLOTS_SLOTS_H

#include "gpu/slots/scheme.h"

uint32_t scheme_count(void);
const struct scheme *scheme_at(uint32_t i); /* in order of names */
const struct scheme *scheme_find(const char *name);
uint32_t scheme_param_count(const struct scheme *s);
/* A hook, as hooks.def has it. */
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
/* Does the scheme fill the hook? */
bool scheme_fills(const struct scheme *s, const struct hook_row *h);
/* Call the hook of each selected scheme that fills it: `in` is its instance. `break` does not leave the loop; `return`
 * does. EACH_HOOK_OF takes their number, where the caller knows that it is 0. */
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

/* Each hook is a dense array of the instances that fill it; counts of zero cost one test. */
struct slots {
  struct slot_instance at[SLOTS_MAX];
  uint32_t count;
#define HOOK(name, ...) uint8_t name[SLOTS_MAX], n_##name;
#define HOOK_TABLE HOOK
#include "gpu/slots/hooks.def"
  uint64_t next_epoch; /* earliest of all, UINT64_MAX if none */
  bool finished;       /* slots_finish has been called */
};

/* A list may name searches ("swl-best+bucl"). How many machines one stands for (1 if it names none), and the list of
 * the i-th of them, e.g. "swl:warps=8+bucl", with the value tried; the last search named varies fastest. */
uint32_t scheme_sweep_count(const char *list);
bool scheme_sweep_list(const char *list, uint32_t i, char *out, size_t size);
/* The values that the i-th stands for: "warps=8", "warps=8 pd=4". */
bool scheme_sweep_values(const char *list, uint32_t i, char *out, size_t size);
/* The list of the run that must come before all others and writes profile.file; false: there is none. */
bool scheme_sweep_prepare(const char *list, char *out, size_t size);
/* Are the searches that a list names written rightly? */
bool scheme_sweep_check(const char *list, struct err *e);
/* Parse "baseline", "bucl", "swl=8+bucl:tucd=5,..." ('+' and ',' separate schemes, ':' parameters, '/' further ones)
 * into `out` and check how they combine. Errors suggest the nearest name. */
bool slots_parse(struct slots *out, const char *list, struct err *e);
/* The same for a machine whose L1 has an organisation of its own (l1d.organisation): that is added unless the list
 * decides about organisation or replacement of the L1 itself. */
bool slots_for_machine(struct slots *out, const char *list, const struct gpu_config *c, struct err *e);
/* Let the schemes change the configuration. */
bool slots_configure(const struct slots *s, struct gpu_config *c, struct err *e);
/* Allocate state for machine `gpu` and call init. */
bool slots_start(struct slots *s, struct gpu *gpu, const struct gpu_config *c, uint64_t seed, struct err *e);
/* No launch follows: the schemes write what outlives them. slots_free does it, too, if nobody has. */
void slots_finish(struct slots *s, struct err *e);
void slots_free(struct slots *s);
/* Would this list be accepted on that configuration? */
bool scheme_list_check(const char *list, const struct gpu_config *c, struct err *e);
/* What the schemes' counters grew by since the last call: key "scheme.counter". */
void slots_take_counters(struct slots *s, void (*f)(void *ctx, const char *key, uint64_t value), void *ctx);
/* Canonical text of the selection, for records: every parameter spelt out. `buf` gets at most `size` bytes. */
void slots_describe(const struct slots *s, char *buf, size_t size);

/* The memory-side hooks of the schemes as functions (slots/memory.h) in `out`: NULL if none is filled, else `out`. */
const struct mem_hooks *slots_mem_hooks(struct slots *s, struct mem_hooks *out);

#endif
