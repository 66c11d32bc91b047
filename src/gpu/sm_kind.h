/* sm_kind.h - for which machines an SM's step is compiled: for any (SM_PLAIN 0, sm_any.c) or for the plain one (1,
 * sm_plain.c), of which much is known beforehand.
 *
 * Plain is the machine of the papers' tables with nothing added: the knobs below as they are there, no scheme, nobody
 * watching, one launch at a time. What a step asks about these is then answered by the compiler, and the code behind
 * it is not there: a twentieth of the instructions of a whole run. gpu_step_kind (sm.c) decides for the whole machine.
 *
 * Included by the parts of the step (sm_step.h).
 */
#include "gpu/gpu_impl.h"
#include "gpu/sm.h"

enum {
#define PLAIN(field, value) PLAIN_##field = value,
#include "gpu/sm_plain.def"
#undef PLAIN
};

/* A knob. */
#define KNOB(s, field) (SM_PLAIN ? (uint32_t)PLAIN_##field : (uint32_t)(s)->c->field)
/* How many schemes fill a hook. */
#define HOOKS(s, hook) (SM_PLAIN ? 0u : (uint32_t)(s)->g->slots.n_##hook)
#define SCHEMES(s) (!SM_PLAIN && RARE((s)->g->slots.count))
/* Is somebody watching? */
#define SEEN(s, what) (!SM_PLAIN && RARE((s)->g->seen.what))
#define SUB_CORES(s) (!SM_PLAIN && RARE((s)->c->sub_cores))
#define TWO_LEVEL(s) (!SM_PLAIN && RARE((s)->score_long))
/* An organisation in the place of the L1's lines; queues in front of it. */
#define L1_ORG(s) (!SM_PLAIN && RARE((s)->l1d.org))
#define L1_QUEUES(s) (!SM_PLAIN && (s)->l1d.order.queues)
