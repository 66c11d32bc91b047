/* check.c - common code of the opt-in checks (enabling, findings, report) and the check for uninitialised reads, with
 * one shadow byte per byte of global, shared and local memory.
 *
 * A read is reported if any of its bytes was never written by a store, an atomic, a copy, a memset or the host
 * (NVIDIA, "Compute Sanitizer User Manual", Initcheck: global memory only). Copies within the device copy the state of
 * their bytes. Host-accessible memory, module variables and parameters count as written.
 */
#include "simt/check/check_impl.h"
#include "simt/core/run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"

static const char *const check_names[] = {"init", "race", "barrier", "same-value"};
static const char *const check_titles[] = {"uninitialised reads", "races", "divergent barriers",
                                           "races of writes that changed nothing"};

/* ---- switching on ---- */

bool simt_check_parse(const char *list, unsigned *checks, struct err *e) {
  *checks = 0;
  for (const char *p = list ? list : ""; *p;) {
    size_t n = strcspn(p, ",+");
    char word[32];
    snprintf(word, sizeof word, "%.*s", (int)(n < 31 ? n : 31), p);
    unsigned bit = 0;
    for (unsigned k = 0; k < CHECK_KINDS_ASKED; k++)
      if (!strcmp(word, check_names[k])) bit = 1u << k;
    if (!strcmp(word, "all")) bit = SIMT_CHECK_ALL;
    if (!bit && strcmp(word, "none"))
      return err_set(e, ERR_USAGE, "unknown check '%s'; the checks are init, race, barrier, all", word);
    *checks |= bit;
    p += n + (p[n] != 0);
  }
  return true;
}

static uint8_t *shadow_pages(uint64_t bytes) {
  void *p = mmap(NULL, bytes ? bytes : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

bool simt_check(struct simt *s, unsigned checks, FILE *report, struct err *e) {
  if (!checks) return true;
  struct check *c = mem_zeroed(1, sizeof *c);
  c->on = checks;
  c->found.report = report;
  if (checks & SIMT_CHECK_INIT && !(c->global = shadow_pages(s->map_bytes))) {
    free(c);
    return err_set(e, ERR_INTERNAL, "cannot reserve %llu bytes of address space for --check init",
                   (unsigned long long)s->map_bytes);
  }
  s->check = c;
  if (checks & SIMT_CHECK_RACE && !race_shadow_new(s)) {
    check_free(s);
    s->check = NULL;
    return err_set(e, ERR_INTERNAL, "cannot reserve address space for --check race");
  }
  if (checks & SIMT_CHECK_RACE && !(checks & SIMT_CHECK_INIT)) race_handlers(s);
  return true;
}

void check_free(struct simt *s) {
  if (!s->check) return;
  race_shadow_free(s);
  if (s->check->global) munmap(s->check->global, s->map_bytes);
  findings_free(&s->check->found);
  free(s->check);
}

/* ---- findings ---- */

static struct finding *note_finding(struct check *c, const void *at, const void *other, enum check_kind kind) {
  c->count[kind]++;
  return finding_note(&c->found, at, other, kind, check_names[kind]);
}

static void tell_finding(const struct simt *s, const struct finding *f) {
  char prefix[64];
  snprintf(prefix, sizeof prefix, "check %s", f->f.check);
  finding_report(&s->check->found, f, prefix, s->out);
}

struct finding *check_note(struct exec *x, const struct xop *o, const struct xop *other, enum check_kind kind) {
  struct finding *f = note_finding(x->run->s->check, o, other, kind);
  return f && !*f->text ? f : NULL;
}

void check_describe(struct exec *x, const struct xop *o, int lane, struct finding *f, const char *what) {
  int n = fault_place(x, o, lane, f->text, sizeof f->text);
  if (n > 0 && (size_t)n < sizeof f->text) snprintf(f->text + n, sizeof f->text - (size_t)n, ": %s", what);
  tell_finding(x->run->s, f);
}

void check_report(struct exec *x, const struct xop *o, const struct xop *other, int lane, enum check_kind kind,
                  const char *what) {
  struct finding *f = check_note(x, o, other, kind);
  if (f) check_describe(x, o, lane, f, what);
}

const struct simt_finding *simt_check_finding(const struct simt *s, size_t i) {
  return s->check && i < s->check->found.count ? &s->check->found.list[i].f : NULL;
}

size_t simt_check_summary(const struct simt *s, char *out, size_t size) {
  size_t at = 0, found = 0;
  if (size) *out = 0;
  for (unsigned k = 0; s->check && k < CHECK_KINDS; k++) {
    if (k == CHECK_SAME ? !s->check->count[k] : !(s->check->on >> k & 1)) continue;
    uint32_t places = findings_of(&s->check->found, k);
    if (k != CHECK_SAME) found += s->check->count[k];
    if (at < size)
      at += (size_t)snprintf(out + at, size - at, "%s%llu %s%s", at ? ", " : "", (unsigned long long)s->check->count[k],
                             check_titles[k], places > 1 ? " at " : "");
    if (places > 1 && at < size) at += (size_t)snprintf(out + at, size - at, "%u places", places);
  }
  return found;
}

/* ---- the state of global memory ---- */

/* Shadow of device bytes at addr; NULL if the state is not tracked. */
static uint8_t *global_shadow(const struct simt *s, uint64_t addr) {
  if (!s->check || !s->check->global || addr < SIMT_GLOBAL_BASE || addr - SIMT_GLOBAL_BASE >= s->map_bytes) return NULL;
  return s->check->global + (addr - SIMT_GLOBAL_BASE);
}

void simt_mem_written(struct simt *s, uint64_t addr, uint64_t bytes) {
  uint8_t *p = global_shadow(s, addr);
  if (p) memset(p, 1, bytes);
}

/* ", byte 4 of the allocation ..." */
static void describe_place(struct simt *s, uint64_t addr, char *out, size_t size) {
  const struct simt_alloc *a = simt_mem_find(s, addr);
  *out = 0;
  if (!a) return;
  snprintf(out, size, ", byte %llu of the allocation of %llu bytes at 0x%llx%s%s%s (number %llu)",
           (unsigned long long)(addr - a->base), (unsigned long long)a->bytes, (unsigned long long)a->base,
           a->label ? " '" : "", a->label ? a->label : "", a->label ? "'" : "", (unsigned long long)a->serial);
}

void simt_mem_copied(struct simt *s, uint64_t dst, uint64_t src, uint64_t bytes) {
  uint8_t *d = dst ? global_shadow(s, dst) : NULL, *f = global_shadow(s, src);
  if (d && f) memmove(d, f, bytes);
  else if (d) memset(d, 1, bytes);
  const uint8_t *gap = !d && f ? memchr(f, 0, bytes) : NULL;
  if (!gap) return;
  const struct simt_alloc *a = simt_mem_find(s, src);
  struct finding *k = note_finding(s->check, NULL, a ? (const void *)(uintptr_t)a->base : NULL, CHECK_INIT);
  if (!k || *k->text) return;
  char where[400];
  describe_place(s, src + (uint64_t)(gap - f), where, sizeof where);
  snprintf(k->text, sizeof k->text, "copy of %llu bytes to the host from 0x%llx: nothing has written 0x%llx%s",
           (unsigned long long)bytes, (unsigned long long)src, (unsigned long long)(src + (uint64_t)(gap - f)), where);
  tell_finding(s, k);
}

void check_allocated(struct simt *s, uint64_t base, uint64_t bytes, bool initialised) {
  uint8_t *p = global_shadow(s, base);
  if (!p) return;
  if (initialised) memset(p, 1, bytes);
  else if (memchr(p, 1, bytes)) memset(p, 0, bytes);
}

/* ---- launches ---- */

struct check_run *check_run_new(struct simt_run *r) {
  const struct check *c = r->s->check;
  if (!c) return NULL;
  struct check_run *k = mem_zeroed(1, sizeof *k);
  k->on = c->on;
  k->shared_bytes = r->shareds_bytes;
  k->local_bytes = r->locals_bytes;
  if (k->on & SIMT_CHECK_INIT) {
    k->shared = shadow_pages(k->shared_bytes);
    k->local = shadow_pages(k->local_bytes);
    CHECK(k->shared && k->local, "out of address space");
  }
  if (k->on & SIMT_CHECK_RACE) race_new(k, r), race_grid_new(k, r);
  return k;
}

bool check_is_fast(const struct simt *s) {
  return s->check->fast;
}

void check_run_free(struct check_run *k, struct simt *s) {
  if (!k) return;
  if (k->shared) munmap(k->shared, k->shared_bytes ? k->shared_bytes : 1);
  if (k->local) munmap(k->local, k->local_bytes ? k->local_bytes : 1);
  race_free(k, s);
  race_grid_free(k, s);
  free(k);
}

void check_cta_start(struct simt_run *r, const struct cta *c) {
  struct check_run *k = r->check;
  if (k->on & SIMT_CHECK_INIT) {
    if (r->fk.shared_bytes) memset(k->shared + (size_t)c->slot * r->shared_stride, 0, r->fk.shared_bytes);
    uint32_t high = c->local_high < r->local_stride ? c->local_high : r->local_stride;
    for (uint32_t t = 0; high && t < r->fk.warps_per_cta * LANES; t++)
      memset(k->local + (c->local - r->locals) + (size_t)t * r->local_stride, 0, high);
  }
  if (k->on & SIMT_CHECK_RACE) race_cta_start(r, c), race_grid_start(r, c);
}

static uint8_t *shadow_of(struct exec *x, int lane, uint8_t space, uint64_t addr) {
  const struct simt_run *r = x->run;
  switch (space) {
  case SPACE_SHARED:
    return r->check->shared + (size_t)x->cta->slot * r->shared_stride + addr;
  case SPACE_LOCAL:
    return r->check->local + (x->cta->local - r->locals) +
           ((size_t)x->w->index * LANES + (size_t)lane) * r->local_stride + addr;
  case SPACE_GLOBAL:
  case SPACE_TEX:
    return global_shadow(r->s, addr);
  default:
    return NULL;
  }
}

static void report_unwritten(struct exec *x, const struct xop *o, int lane, uint8_t space, uint64_t addr,
                             uint32_t bytes, const uint8_t *state) {
  char where[400] = "", which[64] = "", what[560];
  uint32_t first = 0, last = bytes - 1;
  while (state[first]) first++;
  while (state[last]) last--;
  if (last - first + 1 != bytes)
    snprintf(which, sizeof which, first == last ? " (its byte %u)" : " (its bytes %u to %u)", first, last);
  if (space == SPACE_GLOBAL || space == SPACE_TEX) describe_place(x->run->s, addr, where, sizeof where);
  snprintf(what, sizeof what, "read of %u bytes at %s 0x%llx that nothing has written%s%s", bytes,
           space == SPACE_SHARED  ? "shared"
           : space == SPACE_LOCAL ? "local"
                                  : "global",
           (unsigned long long)addr, which, where);
  check_report(x, o, NULL, lane, CHECK_INIT, what);
}

void check_touch(struct exec *x, const struct xop *o, int lane, uint8_t space, uint64_t addr, uint32_t bytes,
                 enum check_access kind) {
  const struct check_run *k = x->run->check;
  if (k->on & SIMT_CHECK_RACE) race_access(x, o, &(struct checked){lane, space, addr, bytes, kind, true});
  if (!(k->on & SIMT_CHECK_INIT)) return;
  uint8_t *state = shadow_of(x, lane, space, addr);
  if (!state) return;
  if (kind != CHECK_WRITE && memchr(state, 0, bytes)) report_unwritten(x, o, lane, space, addr, bytes, state);
  if (kind != CHECK_READ) memset(state, 1, bytes);
}

void check_store(struct exec *x, const struct xop *o, int lane, uint8_t space, uint64_t addr, uint32_t bytes,
                 bool changed) {
  const struct check_run *k = x->run->check;
  if (k->on & SIMT_CHECK_RACE) race_access(x, o, &(struct checked){lane, space, addr, bytes, CHECK_WRITE, changed});
  uint8_t *state = k->on & SIMT_CHECK_INIT ? shadow_of(x, lane, space, addr) : NULL;
  if (state) memset(state, 1, bytes);
}

void check_frame(struct exec *x, uint32_t mask, uint32_t at, uint32_t bytes) {
  if (!(x->run->check->on & SIMT_CHECK_INIT)) return;
  for (uint32_t left = mask; left; left &= left - 1)
    memset(shadow_of(x, __builtin_ctz(left), SPACE_LOCAL, at), 0, bytes);
}

void check_local_written(struct exec *x, int lane, uint32_t at, uint32_t bytes) {
  if (x->run->check->on & SIMT_CHECK_INIT) memset(shadow_of(x, lane, SPACE_LOCAL, at), 1, bytes);
}
