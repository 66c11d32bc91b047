/* tex.c - texture fetches, surface loads and stores. */
#include <stdlib.h>
#include <string.h>

#include "simt/machine.h"

bool lower_texture(struct lowering *l, const struct ptx_inst *i, struct xop *o);
bool lower_texture(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  (void)o;
  return lower_refuse(l, i, "");
}
void simt_tex_handlers(xop_fn *table);
void simt_tex_handlers(xop_fn *table) {
  (void)table;
}
