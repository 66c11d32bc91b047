/* matrix.c - warp-level matrix instructions: wmma and mma. */
#include <string.h>

#include "simt/machine.h"

bool lower_matrix(struct lowering *l, const struct ptx_inst *i, struct xop *o);
bool lower_matrix(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  (void)o;
  return lower_refuse(l, i, "");
}
void simt_matrix_handlers(xop_fn *table);
void simt_matrix_handlers(xop_fn *table) {
  (void)table;
}
