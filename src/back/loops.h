/* loops.h - loops that unroll.c makes copies of: with a counter that an addition changes and a comparison of it at the
 * end, the only place where they are left; branches within lead ahead.
 */
#ifndef BACK_LOOPS_H
#define BACK_LOOPS_H

#include "back/back_impl.h"

struct loop {
  uint32_t head, block; /* first and last block */
  struct bblock body;   /* the nodes of all of them */
  const uint8_t *spine; /* by block from the first: every turn executes it; NULL: all of them */
  bool deep;            /* a branch that another one decides about */
  uint32_t trips;       /* 0 not known */
  enum ptx_mod cond;    /* M_NE, M_LT, M_LE, M_GT, M_GE: the loop continues while the counter is that to the bound */
  uint32_t setp;        /* node that decides */
  uint16_t counter;
  int64_t first, step;
  uint32_t copies; /* of the body */
  uint32_t turn;   /* instructions of a turn; of the innermost loop in it, where that is straight code already */
  bool whole;      /* becomes straight code */
  bool nest;       /* has such an innermost loop */
};

/* The loop that block `q` ends, and what becomes of it; false: it stays as it is. */
bool loop_find(struct back *k, uint32_t q, struct loop *l);
/* The node that adds the constant: r = r + c, or x = r + c and later r = x. NODE_NONE: the body changes r otherwise. */
uint32_t loop_induction(const struct back *k, const struct loop *l, uint16_t r, int64_t *step);
bool loop_each_turn(const struct back *k, const struct loop *l, uint32_t node);
/* From which value on not all of n copies run: the bound less their steps but one, if that is a number. */
bool loop_number_of_last(const struct loop *l, const struct ptx_inst *setp, uint32_t n, int64_t *last);
/* Block `q` is the first of a loop of two blocks, the text before it goes to the second, which tests, and the first
 * test is known to succeed. */
bool loop_entered_at_test(const struct back *k, uint32_t q);

#endif
