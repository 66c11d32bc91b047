/* builtin.c - functions that CUDA programs call without defining them: vprintf, __assertfail, malloc, free. */
#include <ctype.h>
#include <string.h>

#include "simt/core/machine.h"
#include "simt/core/run.h"

static const char *const names[] = {"vprintf", "__assertfail", "malloc", "free", "cudaGraphSetConditional", NULL};

bool builtin_known(const char *name) {
  for (int i = 0; names[i]; i++)
    if (!strcmp(names[i], name)) return true;
  return children_known(name);
}

/* Argument k of the call for lane i. */
uint64_t builtin_argument(struct exec *x, const struct xop *o, uint32_t k, uint32_t i) {
  const struct xaux *a = o->aux;
  uint64_t v = 0;
  if (k >= a->n) return 0;
  const struct xopnd *p = &a->v[k];
  if (p->kind == 1)
    memcpy(&v, x->cta->local + ((size_t)x->w->index * LANES + i) * x->run->local_stride + x->e->local + p->off,
           p->size > 8 ? 8 : p->size);
  else if (p->kind == 0) memcpy(&v, OPND(char, p->off) + (size_t)i * p->bytes, p->bytes);
  return v;
}

/* A structure passed by value. */
void builtin_bytes(struct exec *x, const struct xop *o, uint32_t k, uint32_t i, void *out, uint32_t bytes) {
  const struct xaux *a = o->aux;
  memset(out, 0, bytes);
  if (k < a->n && a->v[k].kind == 1)
    memcpy(out, x->cta->local + ((size_t)x->w->index * LANES + i) * x->run->local_stride + x->e->local + a->v[k].off,
           a->v[k].size < bytes ? a->v[k].size : bytes);
}

void builtin_result(struct exec *x, const struct xop *o, uint32_t i, uint64_t v) {
  const struct xaux *a = o->aux;
  if (!a->nret) return;
  const struct xopnd *p = &a->v[a->n];
  if (p->kind == 1 && x->run->check) check_local_written(x, (int)i, x->e->local + p->off, p->size);
  if (p->kind == 1)
    memcpy(x->cta->local + ((size_t)x->w->index * LANES + i) * x->run->local_stride + x->e->local + p->off, &v,
           p->size > 8 ? 8 : p->size);
  else if (p->kind == 0) memcpy(OPND(char, p->off) + (size_t)i * p->bytes, &v, p->bytes);
}

/* Byte at a lane's generic address; false outside memory. */
static bool byte_at(struct exec *x, uint32_t lane, uint64_t addr, void *out, uint32_t n) {
  struct simt_run *r = x->run;
  if (addr - SHARED_WINDOW < WINDOW_BYTES) {
    if (addr - SHARED_WINDOW + n > r->fk.shared_bytes) return false;
    memcpy(out, x->cta->shared + (addr - SHARED_WINDOW), n);
  } else if (addr - LOCAL_WINDOW < WINDOW_BYTES) {
    if (addr - LOCAL_WINDOW + n > r->local_stride) return false;
    memcpy(out, x->cta->local + ((size_t)x->w->index * LANES + lane) * r->local_stride + (addr - LOCAL_WINDOW), n);
  } else {
    void *p = simt_mem_at(r->s, addr, n);
    if (!p) return false;
    memcpy(out, p, n);
  }
  return true;
}

static uint32_t text_at(struct exec *x, uint32_t lane, uint64_t addr, char *out, uint32_t size) {
  uint32_t n = 0;
  while (n + 1 < size && byte_at(x, lane, addr + n, &out[n], 1) && out[n]) n++;
  out[n] = 0;
  return n;
}

/* printf of one lane: the arguments lie packed with natural alignment at `args` (int 4 bytes, long, double, pointer 8).
 */
static int print_lane(struct exec *x, uint32_t lane, uint64_t format, uint64_t args) {
  char f[4096], spec[64], text[4096];
  FILE *out = x->run->s->out;
  uint64_t at = args;
  int count = 0;
  text_at(x, lane, format, f, sizeof f);
  for (const char *p = f; *p;) {
    if (*p != '%') {
      const char *q = strchrnul(p, '%');
      fwrite(p, 1, (size_t)(q - p), out);
      p = q;
      continue;
    }
    if (p[1] == '%') {
      fputc('%', out);
      p += 2;
      continue;
    }
    uint32_t n = 0;
    int longs = 0;
    spec[n++] = *p++;
    while (*p && !isalpha((unsigned char)*p) && n < 40) {
      if (*p == '*') { /* width or precision from the arguments */
        int w = 0;
        at = (at + 3) & ~3ull;
        byte_at(x, lane, at, &w, 4);
        at += 4;
        n += (uint32_t)snprintf(spec + n, 12, "%d", w);
        p++;
      } else {
        spec[n++] = *p++;
      }
    }
    for (; *p == 'l' || *p == 'h' || *p == 'z' || *p == 'j' || *p == 't'; p++)
      longs += *p == 'l' || *p == 'z' || *p == 'j' || *p == 't';
    char conv = *p ? *p++ : 's';
    bool wide = longs || strchr("fFeEgGaApsn", conv);
    uint64_t v = 0;
    at = wide ? (at + 7) & ~7ull : (at + 3) & ~3ull;
    byte_at(x, lane, at, &v, wide ? 8 : 4);
    at += wide ? 8 : 4;
    count++;
    if (strchr("fFeEgGaA", conv)) {
      double d;
      memcpy(&d, &v, 8);
      snprintf(spec + n, 4, "%c", conv);
      fprintf(out, spec, d);
    } else if (conv == 's') {
      text_at(x, lane, v, text, sizeof text);
      snprintf(spec + n, 4, "s");
      fprintf(out, spec, text);
    } else if (conv == 'p') {
      snprintf(spec + n, 4, "p");
      fprintf(out, spec, (void *)(uintptr_t)v);
    } else if (conv == 'c') {
      snprintf(spec + n, 4, "c");
      fprintf(out, spec, (int)v);
    } else {
      snprintf(spec + n, 8, "ll%c", conv);
      if (conv == 'd' || conv == 'i') fprintf(out, spec, wide ? (long long)v : (long long)(int32_t)v);
      else if (strchr("uoxX", conv)) fprintf(out, spec, (unsigned long long)v);
    }
  }
  return count;
}

bool builtin_call(struct exec *x, const struct xop *o, uint32_t mask, const char *name) {
  bool changed = false;
  for (uint32_t m = mask; m && !x->fault; m &= m - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(m);
    if (!strcmp(name, "vprintf")) {
      builtin_result(x, o, i, (uint64_t)print_lane(x, i, builtin_argument(x, o, 0, i), builtin_argument(x, o, 1, i)));
    } else if (!strcmp(name, "malloc")) {
      builtin_result(x, o, i,
                     simt_mem_alloc(x->run->s, builtin_argument(x, o, 0, i), SIMT_MEM_DEVICE, "malloc in a kernel"));
      changed = true;
    } else if (!strcmp(name, "free")) {
      uint64_t p = builtin_argument(x, o, 0, i);
      if (p && !simt_mem_release(x->run->s, p))
        fault_text(x, o, (int)i, 719, "free of 0x%llx, which malloc did not return", (unsigned long long)p);
      changed = true;
    } else if (!strcmp(name, "cudaGraphSetConditional")) {
      uint64_t at = builtin_argument(x, o, 0, i);
      uint32_t value = (uint32_t)builtin_argument(x, o, 1, i);
      void *p = simt_mem_at(x->run->s, at, sizeof value);
      if (!p) {
        fault_text(x, o, (int)i, 700, "0x%llx is no handle of a conditional node", (unsigned long long)at);
        break;
      }
      memcpy(p, &value, sizeof value);
    } else if (!strcmp(name, "__assertfail")) {
      char what[200], file[120], fn[120];
      text_at(x, i, builtin_argument(x, o, 0, i), what, sizeof what);
      text_at(x, i, builtin_argument(x, o, 1, i), file, sizeof file);
      text_at(x, i, builtin_argument(x, o, 3, i), fn, sizeof fn);
      fault_text(x, o, (int)i, 710, "assertion failed: %s:%u: %s: `%s'", file, (uint32_t)builtin_argument(x, o, 2, i),
                 fn, what);
    } else {
      changed |= children_call(x, o, i, name);
    }
  }
  if (changed) memset(x->run->ranges, 0, x->run->m->members * sizeof *x->run->ranges);
  return !x->fault;
}
