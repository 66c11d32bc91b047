/* sweep.c - lists of schemes that name searches ("swl-best+bucl"): a run per value of each. See slots.h. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gpu/slots/slots_impl.h"

/* An entry of a list: its `length` bytes at `text`. The search that it names and the parameters that it gives to it
 * (no scheme where they are wrong); `sweep` is NULL where it names none. */
struct entry {
  const char *text, *next;
  size_t length;
  const struct scheme_sweep *sweep;
  struct slot_instance in;
};

static const struct scheme_sweep *entry_sweep(struct entry *w, struct err *e) {
  char text[256];
  if (w->length >= sizeof text) return NULL;
  snprintf(text, sizeof text, "%.*s", (int)w->length, w->text);
  text[strcspn(text, ":=")] = 0;
  const struct scheme *s = scheme_find(text);
  if (!s || !s->sweep) return NULL;
  snprintf(text, sizeof text, "%.*s", (int)w->length, w->text);
  if (!slots_parse_instance(&w->in, text, e)) w->in.scheme = NULL;
  return s->sweep;
}

/* The entry at w->next; false: the list has ended. `e`: what is wrong with a search's parameters, or NULL. */
static bool next_entry(struct entry *w, struct err *e) {
  if (!*w->next) return false;
  w->text = w->next;
  const char *end = slots_separator((char *)w->text);
  w->length = end ? (size_t)(end - w->text) : strlen(w->text);
  w->next = w->text + w->length + (w->text[w->length] != 0);
  w->sweep = entry_sweep(w, e);
  return true;
}

uint32_t scheme_sweep_count(const char *list) {
  uint32_t n = 1;
  for (struct entry w = {.next = list}; next_entry(&w, NULL);)
    if (w.sweep) n *= w.sweep->count;
  return n;
}

bool scheme_sweep_check(const char *list, struct err *e) {
  for (struct entry w = {.next = list}; next_entry(&w, e);)
    if (w.sweep && !w.in.scheme) return false;
  return true;
}

/* A list that is written: `used` counts what did not fit, too. */
struct text {
  char *at;
  size_t size, used;
};

static void __attribute__((format(printf, 2, 3))) say(struct text *t, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  size_t room = t->used < t->size ? t->size - t->used : 0;
  int n = vsnprintf(room ? t->at + t->used : NULL, room, fmt, ap);
  va_end(ap);
  t->used += n > 0 ? (size_t)n : 0;
}

/* The parameters that the search passes on, after those that `base` already has. */
static void say_own(struct text *t, const struct slot_instance *in) {
  for (uint32_t k = 0; k < scheme_param_count(in->scheme); k++)
    say(t, "/%s=%g", in->scheme->params[k].name, in->param[k]);
}

bool scheme_sweep_list(const char *list, uint32_t i, char *out, size_t size) {
  uint32_t left = scheme_sweep_count(list);
  struct text t = {out, size, 0};
  for (struct entry w = {.next = list}; next_entry(&w, NULL);) {
    const struct scheme_sweep *s = w.sweep;
    if (t.used) say(&t, "+");
    if (!s) {
      say(&t, "%.*s", (int)w.length, w.text);
      continue;
    }
    if (!w.in.scheme) return false;
    left /= s->count;
    say(&t, "%s:%s=%g", s->base, s->param, s->values[i / left % s->count]);
    if (s->fixed) say(&t, "/%s", s->fixed);
    say_own(&t, &w.in);
  }
  return t.used < size;
}

bool scheme_sweep_values(const char *list, uint32_t i, char *out, size_t size) {
  uint32_t left = scheme_sweep_count(list);
  struct text t = {out, size, 0};
  for (struct entry w = {.next = list}; next_entry(&w, NULL);) {
    if (!w.sweep) continue;
    left /= w.sweep->count;
    say(&t, "%s%s=%g", t.used ? " " : "", w.sweep->param, w.sweep->values[i / left % w.sweep->count]);
  }
  return t.used < size;
}

bool scheme_sweep_prepare(const char *list, char *out, size_t size) {
  struct text t = {out, size, 0};
  bool any = false;
  for (struct entry w = {.next = list}; next_entry(&w, NULL);) {
    const struct scheme_sweep *s = w.sweep;
    if (s && s->prepare && w.in.scheme) {
      say(&t, "%s%s:%s", t.used ? "+" : "", s->base, s->prepare);
      say_own(&t, &w.in);
      any = true;
    } else if (!s) { /* other searches are excluded from it */
      say(&t, "%s%.*s", t.used ? "+" : "", (int)w.length, w.text);
    }
  }
  return any && t.used < size;
}
