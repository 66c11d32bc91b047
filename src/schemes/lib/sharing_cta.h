/* sharing_cta.h - the sharing-aware CTA scheduler: groups of consecutive CTAs, a group to an SM at a time
 * (sharing-aware paper, section IV).
 *
 * Choices: the scheduler's first fill gives each SM one CTA per cycle from its own group, the paper's "maximum allowed
 * CTAs to each SM from the group assigned to that SM". An SM takes its next group when all CTAs of its group have
 * started. With `adpt`, once fewer groups are unassigned than there are SMs, the CTAs of those groups go one by one to
 * whichever SM has room (round-robin), and an SM still finishes the group that it has; a grid of fewer groups than SMs
 * is scheduled round-robin from the start. The machine's own limit for small grids (no SM holds more than its share of
 * the grid at once) applies as in the baseline.
 */
#ifndef SCHEMES_LIB_SHARING_CTA_H
#define SCHEMES_LIB_SHARING_CTA_H

#include "gpu/scheme.h"

struct sharing_cta {
  uint32_t group; /* CTAs of a group in this launch */
  uint32_t next;  /* first CTA of no group yet, or with round-robin the next one */
};
struct sharing_cta_sm {
  uint32_t at, end; /* CTAs of its group not yet started */
};

/* The first counters of a scheme with this part. */
enum { SHARING_CTA_GROUPS, SHARING_CTA_ROBIN, SHARING_CTA_N };
#define SHARING_CTA_COUNTERS                                                          \
  {"groups", "group", "groups given to SMs", true}, {                                 \
    "round_robin", "CTA", "CTAs given out one by one near the end of the grid", false \
  }

/* A launch starts: groups of `group` CTAs, 0 for the x size of the grid. */
static inline void sharing_cta_begin(struct scheme_ctx *c, struct sharing_cta *s, uint32_t group) {
  s->group = group ? group : gpu_grid_x(c->gpu);
  s->next = 0;
  for (uint32_t i = 0; i < c->config->sms; i++) *SCHEME_SM(c, struct sharing_cta_sm, i) = (struct sharing_cta_sm){0};
}

static inline int64_t sharing_cta_pick(struct scheme_ctx *c, struct sharing_cta *s, uint32_t sm, bool adapt) {
  struct sharing_cta_sm *own = SCHEME_SM(c, struct sharing_cta_sm, sm);
  uint32_t ctas = gpu_grid_ctas(c->gpu);
  if (own->at == own->end) {
    if (s->next >= ctas) return -1;
    uint32_t left = (ctas - s->next + s->group - 1) / s->group;
    if (adapt && left < c->config->sms) {
      c->counter[SHARING_CTA_ROBIN]++;
      return s->next++;
    }
    own->at = s->next;
    own->end = ctas - s->next < s->group ? ctas : s->next + s->group;
    s->next = own->end;
    c->counter[SHARING_CTA_GROUPS]++;
  }
  return own->at++;
}

#endif
