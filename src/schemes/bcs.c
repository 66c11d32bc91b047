/* bcs.c - block CTA scheduling: consecutive CTAs go to an SM in pairs, held until it has room for both.
 *
 * Paper: Lee, Song, Moon, Kim, Seo, Cho, Ryu, "Improving GPGPU Resource Utilization through Alternative Thread Block
 * Scheduling", HPCA 2014, as the sharing-aware paper (IPDPS 2017, section VII-A) describes it: "schedules sequential
 * set of CTAs for each SM during kernel initiation and then it schedules CTA in pairs".
 *
 * Choices: the initial set is as many consecutive CTAs as an SM holds (`initial`; 0: pairs from the start). An SM that
 * holds one CTA gets single ones, and so does the last of an odd number. Lee's companion warp scheduler (BAWS) is not
 * included; the sharing-aware paper does not mention it.
 */
#include "gpu/scheme.h"

enum { BLOCK, INITIAL };
static const struct scheme_param params[] = {
    {"block", "CTA", "consecutive CTAs given to an SM at a time; 1: round-robin", 1, 32, 2, true},
    {"initial", "", "1: the first CTAs of an SM are one consecutive set", 0, 1, 1, true},
    {0},
};
enum { SETS, BLOCKS };
static const struct scheme_counter counters[] = {
    {"initial_sets", "set", "sets of CTAs that filled an SM at first", true},
    {"blocks", "block", "blocks of CTAs given out later", false},
    {0},
};

struct bcs {
  uint32_t next; /* CTA not yet given to an SM */
};
struct bcs_sm {
  uint32_t at, end; /* CTAs given to it and not yet started */
  bool filled;
};

static void bcs_on_kernel(struct scheme_ctx *c) {
  ((struct bcs *)c->state)->next = 0;
  for (uint32_t i = 0; i < c->config->sms; i++) *SCHEME_SM(c, struct bcs_sm, i) = (struct bcs_sm){0};
}

static int64_t bcs_pick_cta(struct scheme_ctx *c, uint32_t sm, uint32_t room) {
  struct bcs *b = c->state;
  struct bcs_sm *s = SCHEME_SM(c, struct bcs_sm, sm);
  if (s->at != s->end) return s->at++;
  uint32_t left = gpu_grid_ctas(c->gpu) - b->next, limit = gpu_sm_cta_limit(c->gpu);
  if (!left) return -1;
  bool first = !s->filled && c->param[INITIAL] != 0;
  uint32_t n = first ? limit : (uint32_t)c->param[BLOCK];
  if (n > limit) n = limit;
  if (n > left) n = left;
  if (room < n) return -1;
  s->filled = true;
  s->at = b->next;
  s->end = b->next += n;
  c->counter[first ? SETS : BLOCKS]++;
  return s->at++;
}

/* Blocks of one CTA are the grid's order. */
static bool bcs_idle(const double *param, size_t hook) {
  (void)hook;
  return param[BLOCK] == 1 && !param[INITIAL];
}

SCHEME_STORAGE(bcs_storage, {"next and end of the CTAs given to an SM, 2 x 32 bits per SM", 64.0 * g->sms})

static const struct scheme bcs = {
    .name = "bcs",
    .title = "block CTA scheduling: pairs of consecutive CTAs",
    .paper = "Lee, Song, Moon, Kim, Seo, Cho, Ryu: Improving GPGPU Resource Utilization through Alternative Thread "
             "Block Scheduling. HPCA 2014",
    .idea = "Consecutive CTAs share lines. They are given to an SM two at a time, when it has room for both.",
    .params = params,
    .counters = counters,
    .positional = "block",
    .state_bytes = sizeof(struct bcs),
    .sm_state_bytes = sizeof(struct bcs_sm),
    .idle = bcs_idle,
    .storage = bcs_storage,
    .on_kernel = bcs_on_kernel,
    .pick_cta = bcs_pick_cta,
};
SCHEME(bcs);
