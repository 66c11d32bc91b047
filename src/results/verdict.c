/* verdict.c - see verdict.h. */
#include "results/verdict.h"

#include <math.h>
#include <stddef.h>

const char *const verdict_names[VERDICTS] = {"reproduced", "direction", "contradicted", "not-comparable"};

static const double NEAR = 0.25, SMALL_CHANGE = 3, NO_CHANGE = 0.5; /* of the number; percent; percent */

/* Programs without any change give an interval of no width but for rounding. */
static bool claim_holds(const struct verdict_case *c, double v) {
  const double rounding = 1e-9;
  return c->has_interval && c->low - rounding <= v && v <= c->high + rounding;
}

static enum verdict give_reason(enum verdict v, const char *text, const char **why) {
  if (why) *why = text;
  return v;
}

/* Between half and twice, with the same sign. */
static bool alike(double a, double b) {
  return a / b >= 0.5 && a / b <= 2;
}

static enum verdict bound(const struct verdict_case *c, const char **why) {
  if (c->bound < 0 ? c->ours <= c->published : c->ours >= c->published)
    return give_reason(VERDICT_REPRODUCED, "keeps the bound", why);
  if (claim_holds(c, c->published)) return give_reason(VERDICT_REPRODUCED, "the bound lies in our interval", why);
  return give_reason(VERDICT_CONTRADICTED, "breaks the bound", why);
}

/* A published change from `none`. */
static enum verdict change(const struct verdict_case *c, const char **why) {
  double theirs = c->published - c->none, mine = c->ours - c->none;
  bool same = theirs > 0 ? mine > 0 : mine < 0, tie = claim_holds(c, c->none), inside = claim_holds(c, c->published);
  if (same && fabs(mine - theirs) <= NEAR * fabs(theirs)) return give_reason(VERDICT_REPRODUCED, "within 25 %", why);
  if (inside && !tie) return give_reason(VERDICT_REPRODUCED, "in our interval", why);
  if (inside && same && alike(mine, theirs))
    return give_reason(VERDICT_DIRECTION, "same direction; our interval holds no change too", why);
  if (inside)
    return give_reason(VERDICT_NOT_COMPARABLE, "our interval holds both no change and the published number", why);
  if (tie || mine == 0) return give_reason(VERDICT_CONTRADICTED, "a tie here: our interval holds no change", why);
  return same ? give_reason(VERDICT_DIRECTION,
                            fabs(mine) > fabs(theirs) ? "same direction, more" : "same direction, less", why)
              : give_reason(VERDICT_CONTRADICTED, "the other direction", why);
}

enum verdict verdict_of(const struct verdict_case *c, const char **why) {
  if (c->bound) return bound(c, why);
  if (c->has_none && fabs(c->published - c->none) > NO_CHANGE * c->percent) return change(c, why);
  if (c->has_none) {
    bool small = fabs(c->ours - c->none) <= SMALL_CHANGE * c->percent;
    if (small || claim_holds(c, c->none)) return give_reason(VERDICT_REPRODUCED, small ? "no change" : "a tie", why);
    return give_reason(VERDICT_CONTRADICTED, "a change here", why);
  }
  if (fabs(c->ours - c->published) <= NEAR * fabs(c->published))
    return give_reason(VERDICT_REPRODUCED, "within 25 %", why);
  if (claim_holds(c, c->published)) {
    if (alike(c->low, c->published) && alike(c->high, c->published))
      return give_reason(VERDICT_REPRODUCED, "in our interval", why);
    return give_reason(VERDICT_NOT_COMPARABLE, "our interval is too wide to tell", why);
  }
  return give_reason(VERDICT_CONTRADICTED, c->ours > c->published ? "more than published" : "less than published", why);
}

bool verdict_has_sign(const struct verdict_case *c) {
  return c->has_none && !c->bound && fabs(c->published - c->none) > NO_CHANGE * c->percent;
}

bool verdict_same_sign(const struct verdict_case *c) {
  return verdict_has_sign(c) && (c->published > c->none ? c->ours > c->none : c->ours < c->none);
}

bool verdict_near(const struct verdict_case *c) {
  if (c->bound || (c->has_none && !verdict_has_sign(c))) return verdict_of(c, NULL) == VERDICT_REPRODUCED;
  double none = c->has_none ? c->none : 0;
  return claim_holds(c, c->published) || fabs(c->ours - c->published) <= NEAR * fabs(c->published - none);
}
