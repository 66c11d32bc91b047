/* fault.c - complete messages for errors of the simulated program: kernel, source and PTX line, CTA, thread, address.
 */
#include <stdarg.h>
#include <string.h>

#include "simt/core/machine.h"
#include "simt/core/run.h"

int fault_place(struct exec *x, const struct xop *o, int lane, char *out, size_t size) {
  struct simt_run *r = x->run;
  const struct inst *in = &r->m->code[o - x->ops];
  const uint32_t *c = x->cta->ctaid;
  uint32_t t = x->w->index * LANES + (uint32_t)lane, bx = r->fk.block[0], by = r->fk.block[1];
  char src[256] = "";
  const char *file = in->src_file < r->fk.nfiles ? r->fk.files[in->src_file] : NULL;
  if (in->src_line && file) snprintf(src, sizeof src, "%.200s:%u, ", file, in->src_line);
  else if (in->src_line) snprintf(src, sizeof src, "source line %u, ", in->src_line);
  return snprintf(out, size, "kernel %s, %sPTX line %u, CTA (%u,%u,%u), thread (%u,%u,%u)", r->fk.name, src,
                  in->ptx_line, c[0], c[1], c[2], t % bx, t / bx % by, t / bx / by);
}

void fault_text(struct exec *x, const struct xop *o, int lane, int code, const char *fmt, ...) {
  struct feed_fault *f = &x->run->fault;
  char place[560], what[900];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(what, sizeof what, fmt, ap);
  va_end(ap);
  fault_place(x, o, lane, place, sizeof place);
  if (!x->fault) {
    f->cuda_error = code;
    if (code == FEED_UNSUPPORTED) snprintf(f->text, sizeof f->text, "%s\n  executed by %s", what, place);
    else snprintf(f->text, sizeof f->text, "%s: %s", place, what);
  }
  x->fault = true;
}

void fault_address(struct exec *x, const struct xop *o, int lane, uint64_t addr, uint32_t bytes, const char *what,
                   int code) {
  char where[400] = "";
  if (code == 700 && o->space != SPACE_SHARED && o->space != SPACE_LOCAL && o->space != SPACE_PARAM) {
    if (addr < SYMBOL_BASE) snprintf(where, sizeof where, ": a null pointer");
    else {
      where[0] = ',', where[1] = ' ';
      mem_describe(x->run->s, addr, where + 2, sizeof where - 2);
    }
  }
  fault_text(x, o, lane, code, "%s of %u bytes at 0x%llx%s", what, bytes, (unsigned long long)addr, where);
}
