/* stray.c - accesses outside allocations in the modes that allow them.
 *
 * A GPU maps memory in pages of 2 MB, so a small index error goes unnoticed: programs read around an array and discard
 * the value. In `warn` such a read returns zero and each place is reported once. A pointer outside device memory
 * (null, host, wild index) stays a fault, as on every GPU; so does a write. In `hardware` reads and writes access the
 * address if an allocation shares its page.
 */
#include <pthread.h>
#include <string.h>

#include "base/err.h"
#include "simt/core/machine.h"
#include "simt/core/run.h"

/* Maximum distance from an allocation; farther addresses are wrong pointers rather than wrong indices. */
#define STRAY_MOST (UINT64_C(1) << 30)
#define STRAY_MOST_SYMBOL (UINT64_C(1) << 16) /* variables lie at low addresses, near null pointers with an offset */

static const char *const memory_names[] = {"strict", "warn", "hardware"};

bool simt_memory_parse(const char *word, enum simt_memory *m, struct err *e) {
  *m = SIMT_MEMORY_STRICT;
  if (!word || !*word) return true;
  for (unsigned k = 0; k < 3; k++)
    if (!strcmp(word, memory_names[k])) {
      *m = (enum simt_memory)k;
      return true;
    }
  const char *near = err_nearest(word, memory_names, 3);
  return err_set(e, ERR_USAGE, "unknown memory mode '%s'; %s%s%s", word,
                 near ? "did you mean '" : "it is strict, warn or hardware", near ? near : "", near ? "'?" : "");
}

void simt_memory(struct simt *s, enum simt_memory how, FILE *report) {
  s->memory = how;
  s->stray_found.report = report;
}

void stray_free(struct simt *s) {
  findings_free(&s->stray_found);
}

struct simt_strays simt_strays(const struct simt *s) {
  struct simt_strays n = s->strays;
  n.places = s->stray_found.count;
  return n;
}

const struct simt_finding *simt_stray(const struct simt *s, size_t i) {
  return i < s->stray_found.count ? &s->stray_found.list[i].f : NULL;
}

void simt_strays_summary(const struct simt *s, char *out, size_t size) {
  const struct simt_strays n = simt_strays(s);
  char writes[64] = "";
  if (n.writes) snprintf(writes, sizeof writes, " and %llu write%s", (unsigned long long)n.writes, &"s"[n.writes == 1]);
  snprintf(out, size, "%llu read%s%s out of bounds at %zu place%s%s", (unsigned long long)n.reads, &"s"[n.reads == 1],
           writes, n.places, &"s"[n.places == 1],
           s -> memory == SIMT_MEMORY_WARN ? " gave zeroes" : " went through: a GPU with pages of 2 MB lets them");
}

/* Count the access; report its place once. */
static void note_locked(struct exec *x, const struct xop *o, const struct lane_access *a) {
  static const char *const names[] = {"global",   "global",    "shared",  "local",
                                      "constant", "parameter", "texture", "generic"};
  struct simt *s = x->run->s;
  x->stray |= 1u << a->lane;
  if (a->write) s->strays.writes++;
  else s->strays.reads++;
  struct finding *f = finding_note(&s->stray_found, o, NULL, a->write, "bounds");
  if (!f || *f->text) return;
  char where[400] = "";
  if (a->space == SPACE_SHARED)
    snprintf(where, sizeof where, "outside the CTA's %u bytes of shared memory", x->run->fk.shared_bytes);
  else if (a->space == SPACE_LOCAL)
    snprintf(where, sizeof where, "outside the thread's %u bytes of local memory", x->run->local_stride);
  else mem_describe(s, a->addr, where, sizeof where);
  int n = fault_place(x, o, a->lane, f->text, sizeof f->text);
  if (n > 0 && (size_t)n < sizeof f->text)
    snprintf(f->text + n, sizeof f->text - (size_t)n, ": %s %s of %u bytes at 0x%llx out of bounds, %s%s",
             names[a->space], a->write ? "write" : "read", a->bytes, (unsigned long long)a->addr, where,
             s->memory == SIMT_MEMORY_WARN ? "; it gives zeroes" : "");
  finding_report(&s->stray_found, f, "warning", s->out);
}

static void note_stray(struct exec *x, const struct xop *o, const struct lane_access *a) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* workers of a launch share the list */
  pthread_mutex_lock(&lock);
  note_locked(x, o, a);
  pthread_mutex_unlock(&lock);
}

static const char zeroes[64]; /* value of such reads; never written */

char *stray_access(struct exec *x, const struct xop *o, const struct lane_access *a) {
  struct simt *s = x->run->s;
  char *host = NULL;
  if (s->memory == SIMT_MEMORY_HARDWARE) host = mem_in_page(s, a->addr, a->bytes);
  if (s->memory == SIMT_MEMORY_WARN && !a->write && a->addr >= SYMBOL_BASE && a->bytes <= sizeof zeroes &&
      mem_distance(s, a->addr) <= (a->addr < SYMBOL_LIMIT ? STRAY_MOST_SYMBOL : STRAY_MOST))
    host = (char *)(uintptr_t)zeroes;
  if (host) note_stray(x, o, a);
  return host;
}

char *stray_limited(struct exec *x, const struct xop *o, const struct lane_access *a, char *own, uint64_t there) {
  struct simt *s = x->run->s;
  char *host = NULL;
  if (a->space == SPACE_PARAM) return NULL;
  if (s->memory == SIMT_MEMORY_HARDWARE && a->addr <= there && a->bytes <= there - a->addr) host = own + a->addr;
  if (s->memory == SIMT_MEMORY_WARN && !a->write && a->bytes <= sizeof zeroes) host = (char *)(uintptr_t)zeroes;
  if (host) note_stray(x, o, a);
  return host;
}
