/* sm_kind.h - for which machines an SM's step is compiled: SM_KIND is one of
 *   SM_ANY      any at all (sm_any.c)
 *   SM_SCHEMES  the knobs of sm_plain.def as they are there but those that schemes change, nobody watching, one launch
 * at a time (sm_schemes.c) SM_PLAIN    all of them as they are there, and no scheme (sm_plain.c)
 *
 * What a step asks about these is then answered by the compiler, and the code behind it is not there: a twentieth of
 * the instructions of a whole run. sm_choose_step (sm.c) decides for all SMs of a machine.
 *
 * Included by the parts of the step (sm_step.h).
 */
#include "gpu/gpu_impl.h"
#include "gpu/sm.h"

enum {
#define PLAIN(field, value, keep) PLAIN_##field = value, KEPT_##field = keep,
#include "gpu/sm_plain.def"
#undef PLAIN
};

static const struct sm_plan plain_plan = {.turns = UINT64_MAX / ((1u << PLAIN_schedulers) - 1),
                                          .col_sfu = PLAIN_oc_sp,
                                          .col_mem = PLAIN_oc_sp + PLAIN_oc_sfu,
                                          .set_sp = (1ull << PLAIN_oc_sp) - 1,
                                          .set_sfu = ((1ull << PLAIN_oc_sfu) - 1) << PLAIN_oc_sp,
                                          .set_mem = ((1ull << PLAIN_oc_mem) - 1) << (PLAIN_oc_sp + PLAIN_oc_sfu)};
_Static_assert(64 % PLAIN_schedulers == 0, "the turns of schedulers are not a repeating pattern of a word");

/* Of a function that one place calls. */
#define ONCE static inline __attribute__((always_inline))
/* A knob of sm_plain.def. */
#define KNOWN(field) (SM_KIND == SM_PLAIN || (SM_KIND == SM_SCHEMES && KEPT_##field))
#define KNOB(s, field) (KNOWN(field) ? (uint32_t)PLAIN_##field : (uint32_t)(s)->c->field)
/* Of struct sm_plan, and the width of a pipe register set. */
#define PLAN(s, field) (SM_KIND != SM_ANY ? plain_plan.field : (s)->g->plan.field)
#define WIDTH(of, known) (SM_KIND != SM_ANY ? (uint32_t)(known) : (of).width)
#define SUB_CORES(s) (SM_KIND == SM_ANY && RARE((s)->c->sub_cores))
#define TWO_LEVEL(s) (SM_KIND != SM_PLAIN && RARE((s)->score_long))
/* Is somebody watching? Have several launches run at a time? */
#define SEEN(s, what) (SM_KIND == SM_ANY && RARE((s)->g->seen.what))
#define OVERLAP(s) (SM_KIND == SM_ANY && RARE((s)->g->overlap))
/* How many schemes are there, and how many of them fill a hook? */
#define SCHEMES(s) (SM_KIND != SM_PLAIN && RARE((s)->g->slots.count))
#define HOOKS(s, hook) (SM_KIND != SM_PLAIN ? (uint32_t)(s)->g->slots.n_##hook : 0u)
/* Is a refusal by the memory unit certain to be repeated until something has changed? */
#define MEMORY_STEADY(s) (SM_KIND == SM_PLAIN || (s)->g->memory_steady)
/* An organisation in the place of the L1's lines; queues in front of it. */
#define L1_ORG(s) (SM_KIND != SM_PLAIN && RARE((s)->l1d.org))
#define L1_QUEUES(s) (SM_KIND != SM_PLAIN && (s)->l1d.order.queues)
