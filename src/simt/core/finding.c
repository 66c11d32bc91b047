/* finding.c - findings by place, in a hash table of fixed size: the number of findings is bounded, their counts are
 * not. */
#include "simt/core/finding.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/hash.h"
#include "base/text.h"

enum { SLOTS = 4 * FINDINGS_KEPT };

struct finding *finding_note(struct findings *s, const void *at, const void *other, unsigned kind, const char *check) {
  if (!s->list) {
    s->list = mem_zeroed(FINDINGS_KEPT, sizeof *s->list);
    s->table = mem_zeroed(SLOTS, sizeof *s->table);
  }
  uint64_t h = hash_u64((uintptr_t)at + 31 * hash_u64((uintptr_t)other + kind));
  uint32_t slot = h % SLOTS;
  for (; s->table[slot]; slot = (slot + 1) % SLOTS) {
    struct finding *f = &s->list[s->table[slot] - 1];
    if (f->at != at || f->other != other || f->kind != kind) continue;
    f->f.count++;
    return f;
  }
  if (s->count == FINDINGS_KEPT) return NULL;
  struct finding *f = &s->list[s->count++];
  s->table[slot] = (uint16_t)s->count;
  *f = (struct finding){.at = at, .other = other, .kind = kind, .f = {.check = check, .count = 1}};
  f->f.text = f->text;
  return f;
}

void finding_report(const struct findings *s, const struct finding *f, const char *prefix, FILE *out) {
  if (!s->report || s->count > FINDINGS_TOLD) return;
  fflush(out);
  text_say(s->report, "sluice: %s: %s\n", prefix, f->text);
  if (s->count == FINDINGS_TOLD)
    fprintf(s->report, "sluice: further places are only counted; the record (--json) keeps the first %d\n",
            FINDINGS_KEPT);
  fflush(s->report);
}

uint32_t findings_of(const struct findings *s, unsigned kind) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < s->count; i++) n += s->list[i].kind == kind;
  return n;
}

void findings_free(struct findings *s) {
  free(s->list);
  free(s->table);
  *s = (struct findings){0};
}
