/* mrpb.c - memory request prioritization buffer: queues by warp in front of the L1, and bypassing of refused accesses.
 *
 * Paper: Jia, Shaw, Martonosi, "MRPB: Memory Request Prioritization for Massively Parallel Processors", HPCA 2014,
 * sections 4 and 5. Compared with by BUCL, Tag-Split Cache and the decoupled L1D.
 *
 * Choices: number and depth of the queues are not published; the defaults make the storage the 1.21 KB of Table 3 of
 * the Tag-Split Cache paper. The signature is the warp slot modulo the number of queues. Draining: the queue being
 * drained until it is empty, then the longest (drain=0), or the lowest non-empty one (drain=1). All accesses that use
 * the L1 take the queues, including stores and local memory; atomics and cache operators that skip the L1 do not. Any
 * refusal bypasses (BUCL, section V); with assoc=1 only a refusal for lack of a line, the paper's case of thrashing
 * within a set.
 */
#include "gpu/scheme.h"

enum { MRPB_QUEUES, MRPB_DEPTH, MRPB_DRAIN, MRPB_BYPASS, MRPB_ASSOC };
static const struct scheme_param params[] = {
    {"queues", "queue", "queues of an SM (section 4.2)", 1, 64, 16, true},
    {"depth", "access", "depth of a queue; 0: no queues (section 4.2)", 0, 256, 8, true},
    {"drain", "", "0: empty one queue, then the longest; 1: fixed priority (section 4.3)", 0, 1, 0, true},
    {"bypass", "", "1: refused accesses bypass the L1 (section 5)", 0, 1, 1, true},
    {"assoc", "", "1: only those that find no line to reserve (section 5.2)", 0, 1, 0, true},
    {0},
};
enum { BYPASSED_LINE, BYPASSED_RESOURCE, QUEUED, SWITCHES };
static const struct scheme_counter counters[] = {
    {"bypassed_no_line", "access", "bypasses of accesses refused for lack of a line", false},
    {"bypassed_no_resource", "access",
     "bypasses of accesses refused for lack of an MSHR, merge entry or miss-queue entry", true},
    {"drained", "access", "accesses that left a queue for the L1", true},
    {"switches", "time", "times another queue began to be drained", true},
    {0},
};

struct mrpb_sm {
  uint32_t draining;
};

static uint32_t mrpb_queues(struct scheme_ctx *c, uint32_t *depth) {
  *depth = (uint32_t)c->param[MRPB_DEPTH];
  return *depth ? (uint32_t)c->param[MRPB_QUEUES] : 0;
}

static uint32_t mrpb_queue_of(struct scheme_ctx *c, const struct l1_event *e) {
  return e->warp % (uint32_t)c->param[MRPB_QUEUES];
}

static int mrpb_pick_queue(struct scheme_ctx *c, uint32_t sm, const uint32_t *lengths) {
  struct mrpb_sm *s = SCHEME_SM(c, struct mrpb_sm, sm);
  uint32_t n = (uint32_t)c->param[MRPB_QUEUES], next = s->draining;
  if (c->param[MRPB_DRAIN] == 1) {
    for (next = 0; next < n && !lengths[next];) next++;
  } else if (!lengths[next]) {
    for (uint32_t i = 0; i < n; i++)
      if (lengths[i] > lengths[next]) next = i;
  }
  if (next == n || !lengths[next]) return -1;
  c->counter[SWITCHES] += next != s->draining;
  c->counter[QUEUED]++;
  s->draining = next;
  return (int)next;
}

static bool mrpb_on_stall(struct scheme_ctx *c, const struct l1_event *e, enum l1_outcome why) {
  (void)e;
  if (c->param[MRPB_BYPASS] != 1 || (c->param[MRPB_ASSOC] == 1 && why != L1_NO_LINE)) return false;
  c->counter[why == L1_NO_LINE ? BYPASSED_LINE : BYPASSED_RESOURCE]++;
  return true;
}

static bool mrpb_idle(const double *param, size_t hook) {
  return hook == offsetof(struct scheme, on_stall) ? param[MRPB_BYPASS] != 1 : !param[MRPB_DEPTH];
}

static uint32_t mrpb_storage(const struct gpu_config *g, const double *param, struct scheme_bits *out, uint32_t max) {
  double entries = param[MRPB_QUEUES] * param[MRPB_DEPTH], pointer = 0;
  while (1u << (uint32_t)pointer < (uint32_t)param[MRPB_DEPTH]) pointer++;
  const struct scheme_bits rows[] = {
      {"queue entries per SM: line address 25, lane mask 32, warp 6, register 8, quarters 4, store, local",
       77 * entries * g->sms},
      {"head and tail of each queue", 2 * pointer * param[MRPB_QUEUES] * g->sms},
  };
  return SCHEME_ROWS(rows, out, max);
}

static const struct scheme mrpb = {
    .name = "mrpb",
    .title = "memory request prioritization buffer",
    .paper = "Jia, Shaw, Martonosi: MRPB: Memory Request Prioritization for Massively Parallel Processors. HPCA 2014",
    .idea = "Accesses wait in queues by warp in front of the L1, and one queue is drained at a time, so that few warps "
            "use\n"
            "the cache at once. A refused access bypasses the L1 instead of blocking the pipe.",
    .params = params,
    .counters = counters,
    .sm_state_bytes = sizeof(struct mrpb_sm),
    .by_sm = true,
    .idle = mrpb_idle,
    .storage = mrpb_storage,
    .queues = mrpb_queues,
    .queue_of = mrpb_queue_of,
    .pick_queue = mrpb_pick_queue,
    .on_stall = mrpb_on_stall,
};
SCHEME(mrpb);
