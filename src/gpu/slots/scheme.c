/* scheme.c - the registry of schemes, and the flattening of selected schemes into slots. See slots.h. */
#include "gpu/slots/slots_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

extern const struct scheme *const __start_sluice_schemes[] __attribute__((weak));
extern const struct scheme *const __stop_sluice_schemes[] __attribute__((weak));

/* Those of scheme_add, of this thread. */
enum { ADDED_MAX = 8 };
static _Thread_local const struct scheme *added[ADDED_MAX];
static _Thread_local uint32_t added_count;

static uint32_t compiled_count(void) {
  return (uint32_t)(__stop_sluice_schemes - __start_sluice_schemes);
}

/* In any order. */
static const struct scheme *registered(uint32_t i) {
  return i < compiled_count() ? __start_sluice_schemes[i] : added[i - compiled_count()];
}

uint32_t scheme_count(void) {
  return compiled_count() + added_count;
}

const struct scheme *scheme_at(uint32_t i) {
  /* The i-th in order of names; counting is fast enough. */
  for (uint32_t a = 0; a < scheme_count(); a++) {
    uint32_t before = 0;
    for (uint32_t b = 0; b < scheme_count(); b++) before += strcmp(registered(b)->name, registered(a)->name) < 0;
    if (before == i) return registered(a);
  }
  return NULL;
}

const struct scheme *scheme_find(const char *name) {
  for (uint32_t i = 0; i < scheme_count(); i++)
    if (!strcmp(registered(i)->name, name)) return registered(i);
  return NULL;
}

bool scheme_add(const struct scheme *s, struct err *e) {
  if (scheme_find(s->name) || !strcmp(s->name, "baseline") || !strcmp(s->name, "none"))
    return err_set(e, ERR_USAGE, "there is a scheme '%s' already; choose another name", s->name);
  if (scheme_param_count(s) > SCHEME_PARAMS_MAX || scheme_counter_count(s) > SCHEME_COUNTERS_MAX)
    return err_set(e, ERR_USAGE, "scheme %s: at most %d parameters and %d counters", s->name, SCHEME_PARAMS_MAX,
                   SCHEME_COUNTERS_MAX);
  if (added_count == ADDED_MAX) return err_set(e, ERR_USAGE, "more than %d schemes were added", ADDED_MAX);
  added[added_count++] = s;
  return true;
}

void scheme_remove(const struct scheme *s) {
  for (uint32_t i = 0; i < added_count; i++)
    if (added[i] == s) {
      added[i] = added[--added_count];
      return;
    }
}

uint32_t scheme_param_count(const struct scheme *s) {
  uint32_t n = 0;
  while (s->params && s->params[n].name) n++;
  return n;
}

uint32_t scheme_counter_count(const struct scheme *s) {
  uint32_t n = 0;
  while (s->counters && s->counters[n].name) n++;
  return n;
}

/* ---- hooks ---- */

const struct hook_row hook_rows[] = {
#define ROW(n, s, r, o, e, a, f, w) \
  {.name = #n,                      \
   .slot = s,                       \
   .owns = o,                       \
   .fires = f,                      \
   .answer = w,                     \
   .rule = RULE_##r,                \
   .site = SITE_##e,                \
   .again = a,                      \
   .offset = offsetof(struct scheme, n)},
#define HOOK(name, type, arguments, slot, rule, owns, site, again, fires, answer) \
  ROW(name, slot, rule, owns, site, again, fires, answer)
#define HOOK_TABLE(name, type, slot, rule, owns, site, fires, answer) \
  ROW(name, slot, rule, owns, site, false, fires, answer)
#include "gpu/slots/hooks.def"
#undef ROW
};
const uint32_t hook_count = sizeof hook_rows / sizeof *hook_rows;
const char *const hook_rule_names[] = {"observe", "observe", "any", "all", "narrow", "decide", "decide"};

bool scheme_fills(const struct scheme *s, const struct hook_row *h) {
  void *filled;
  memcpy(&filled, (const char *)s + h->offset, sizeof filled);
  return filled != NULL;
}

const char *scheme_hook(const struct scheme *s, uint32_t k, const char **slot) {
  uint32_t n = 0;
  if (s->configure && n++ == k) return *slot = "configuration", "configure";
  for (uint32_t i = 0; i < hook_count; i++)
    if (scheme_fills(s, &hook_rows[i]) && n++ == k) return *slot = hook_rows[i].slot, hook_rows[i].name;
  return NULL;
}

/* ---- parsing ---- */

static bool unknown_scheme(const char *name, struct err *e) {
  const char *names[256];
  uint32_t n = scheme_count() < 255 ? scheme_count() : 255;
  for (uint32_t i = 0; i < n; i++) names[i] = registered(i)->name;
  names[n] = "baseline";
  const char *near = err_nearest(name, names, n + 1);
  return err_set(e, ERR_USAGE, "unknown scheme '%s'%s%s%s; `sluice schemes` lists them", name,
                 near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* True if the values of this parameter may be written as `words`. */
static bool is_worded(const struct scheme *s, const char *name) {
  const char *of = s->worded ? s->worded : s->positional;
  return s->words && of && !strcmp(name, of);
}

static bool not_a_number(const struct scheme *s, const char *name, const char *value, struct err *e) {
  char words[128] = "";
  for (uint32_t k = 0; is_worded(s, name) && s->words[k]; k++)
    snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s", k ? ", " : " nor one of ", s->words[k]);
  return err_set(e, ERR_USAGE, "scheme %s: %s=%s is not a number%s", s->name, name, value, words);
}

static bool set_param(struct slot_instance *in, const char *name, const char *value, struct err *e) {
  const struct scheme *s = in->scheme;
  uint32_t n = scheme_param_count(s);
  const char *names[SCHEME_PARAMS_MAX];
  for (uint32_t i = 0; i < n; i++) {
    const struct scheme_param *p = &s->params[i];
    names[i] = p->name;
    if (strcmp(p->name, name)) continue;
    char *end;
    double v = strtod(value, &end);
    if (s->word && !strcmp(value, s->word) && s->positional && !strcmp(name, s->positional)) {
      in->param[i] = s->word_value;
      return true;
    }
    for (uint32_t k = 0; is_worded(s, name) && s->words[k]; k++)
      if (!strcmp(value, s->words[k])) {
        in->param[i] = k;
        return true;
      }
    if (!*value || *end) return not_a_number(s, name, value, e);
    if (p->integer && v != (double)(long long)v)
      return err_set(e, ERR_USAGE, "scheme %s: %s=%s is not a whole number", s->name, name, value);
    if (v < p->min || v > p->max)
      return err_set(e, ERR_USAGE, "scheme %s: %s=%s is out of range, allowed is %g to %g %s", s->name, name, value,
                     p->min, p->max, p->unit);
    in->param[i] = v;
    return true;
  }
  const char *near = err_nearest(name, names, n);
  return err_set(e, ERR_USAGE, "scheme %s has no parameter '%s'%s%s%s; `sluice schemes %s` lists them", s->name, name,
                 near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "", s->name);
}

/* Enable a parameter that is 0 or 1, named without a value. False: no such parameter. */
static bool set_flag(struct slot_instance *in, const char *name) {
  const struct scheme *s = in->scheme;
  for (uint32_t i = 0; i < scheme_param_count(s); i++) {
    const struct scheme_param *p = &s->params[i];
    if (strcmp(p->name, name) || !p->integer || p->min != 0 || p->max != 1) continue;
    in->param[i] = 1;
    return true;
  }
  return false;
}

bool slots_parse_instance(struct slot_instance *in, char *text, struct err *e) {
  char *params = strchr(text, ':');
  if (params) *params++ = 0;
  char *value = strchr(text, '=');
  if (value) *value++ = 0;
  *in = (struct slot_instance){0};
  if (!strcmp(text, "baseline")) return true;
  const struct scheme *s = in->scheme = scheme_find(text);
  if (!s) return unknown_scheme(text, e);
  for (uint32_t i = 0; i < scheme_param_count(s); i++) in->param[i] = s->params[i].dflt;
  if (value) {
    if (!s->positional)
      return err_set(e, ERR_USAGE, "scheme %s takes no value; write %s:PARAMETER=VALUE", s->name, s->name);
    if (!set_param(in, s->positional, value, e)) return false;
  }
  for (char *p = params; p && *p;) {
    char *next = strpbrk(p, "/:");
    if (next) *next++ = 0;
    char *eq = strchr(p, '=');
    if (!eq && set_flag(in, p)) {
      p = next;
      continue;
    }
    if (!eq) return err_set(e, ERR_USAGE, "scheme %s: '%s' is not PARAMETER=VALUE", s->name, p);
    *eq++ = 0;
    if (!set_param(in, p, eq, e)) return false;
    p = next;
  }
  return true;
}

static bool parse_one(struct slots *out, char *text, struct err *e) {
  struct slot_instance in;
  if (!slots_parse_instance(&in, text, e)) return false;
  const struct scheme *s = in.scheme;
  if (!s) return true;
  if (out->count == SLOTS_MAX) return err_set(e, ERR_USAGE, "more than %d schemes at once", SLOTS_MAX);
  for (uint32_t i = 0; i < out->count; i++)
    if (out->at[i].scheme == s) return err_set(e, ERR_USAGE, "scheme %s is named twice", s->name);
  if (s->sweep)
    return err_set(e, ERR_USAGE,
                   "scheme %s is a search over %s of %s: `sluice run` and `sluice compare` make it, one machine cannot",
                   s->name, s->sweep->param, s->sweep->base);
  out->at[out->count++] = in;
  return true;
}

/* ---- flattening ---- */

/* True for a hook on the lines of the L1. */
static bool of_lines(const struct hook_row *h) {
  return h->rule == RULE_OBSERVE_LINE || h->rule == RULE_DECIDE_LINE;
}

/* True if a filled hook is never called. */
static bool is_idle(const struct slot_instance *in, size_t hook) {
  return in->scheme->idle && in->scheme->idle(in->param, hook);
}

/* True if a hook is called. `org`: beside an organisation, which does its own replacement. */
static bool is_called(const struct slot_instance *in, const struct hook_row *h, bool org) {
  return scheme_fills(in->scheme, h) && !is_idle(in, h->offset) && !(org && in->scheme->yields_l1 && of_lines(h));
}

/* True if no hook of a scheme that fills some is called: it is switched off, and not started. */
static bool is_off(const struct slot_instance *in) {
  bool filled = false;
  for (uint32_t i = 0; i < hook_count; i++) {
    if (is_called(in, &hook_rows[i], false)) return false;
    filled |= scheme_fills(in->scheme, &hook_rows[i]);
  }
  return filled;
}

/* True if the scheme keeps compressed lines in the L1, by an organisation of the machine. */
static bool compresses(const struct slot_instance *in) {
  return in->scheme->line_size && !is_idle(in, offsetof(struct scheme, line_size));
}

/* True if the scheme provides an organisation of the L1. */
static bool organises(const struct slot_instance *in) {
  return in->scheme->l1 && !is_idle(in, offsetof(struct scheme, l1));
}

/* The k-th exclusive part of a scheme, declared or implied by its hooks; NULL after the last. */
static const char *owned_part(const struct slot_instance *in, uint32_t k, bool org) {
  const struct scheme *s = in->scheme;
  uint32_t n = 0;
  for (uint32_t i = 0; i < SCHEME_OWNS && s->owns[i]; i++)
    if (n++ == k) return s->owns[i];
  for (uint32_t i = 0; i < hook_count; i++) {
    const struct hook_row *h = &hook_rows[i];
    if (h->owns && is_called(in, h, org) && n++ == k) return h->owns;
  }
  return ((organises(in) && !s->l1->way) || compresses(in)) && n == k ? OWNS_L1_REPLACEMENT : NULL;
}

/* True if one of them provides the L1's organisation. */
static bool has_organisation(const struct slots *s) {
  for (uint32_t i = 0; i < s->count; i++)
    if (organises(&s->at[i]) || compresses(&s->at[i])) return true;
  return false;
}

static bool check_owners(const struct slots *s, struct err *e) {
  bool org = has_organisation(s);
  for (uint32_t i = 0; i < s->count; i++)
    for (uint32_t j = i + 1; j < s->count; j++) {
      const char *a, *b;
      for (uint32_t k = 0; (a = owned_part(&s->at[i], k, org)); k++)
        for (uint32_t m = 0; (b = owned_part(&s->at[j], m, org)); m++)
          if (!strcmp(a, b))
            return err_set(e, ERR_USAGE, "schemes %s and %s cannot be combined: both decide %s", s->at[i].scheme->name,
                           s->at[j].scheme->name, a);
    }
  return true;
}

/* A scheme that only configures the machine, such as the latency of the L1. */
static bool is_setting(const struct scheme *s) {
  return s->configure && s->no_storage;
}

/* Order of two schemes of a list: configurations of the machine come last, so that they hold whatever the others do;
 * otherwise by name. */
static int by_rank(const void *a, const void *b) {
  const struct scheme *p = ((const struct slot_instance *)a)->scheme, *q = ((const struct slot_instance *)b)->scheme;
  return is_setting(p) != is_setting(q) ? is_setting(p) - is_setting(q) : strcmp(p->name, q->name);
}

/* The instances that fill a hook, in `list`; returns their number. */
static uint8_t fill_hook(const struct slots *s, const struct hook_row *h, bool org, uint8_t *list) {
  uint8_t n = 0;
  for (uint32_t i = 0; i < s->count; i++)
    if (is_called(&s->at[i], h, org)) list[n++] = (uint8_t)i;
  return n;
}

static bool fill_hooks(struct slots *s, struct err *e) {
  if (!check_owners(s, e)) return false;
  qsort(s->at, s->count, sizeof *s->at, by_rank); /* the order of the list has no effect */
  bool org = has_organisation(s);
  const struct hook_row *row = hook_rows;
#define HOOK(hook, ...)                                                                  \
  s->n_##hook = fill_hook(s, row, org, s->hook);                                         \
  if (row++->rule == RULE_DECIDE && s->n_##hook > 1)                                     \
    return err_set(e, ERR_USAGE, "schemes %s and %s cannot be combined: both decide %s", \
                   s->at[s->hook[0]].scheme->name, s->at[s->hook[1]].scheme->name, #hook);
#define HOOK_TABLE HOOK
#include "gpu/slots/hooks.def"
  if (s->n_line_size && s->n_place)
    return err_set(e, ERR_USAGE, "schemes %s and %s cannot be combined: lines of other L1s come uncompressed",
                   s->at[s->line_size[0]].scheme->name, s->at[s->place[0]].scheme->name);
  return true;
}

static bool start_instance(struct slots *s, uint32_t i, struct gpu *gpu, const struct gpu_config *c, uint64_t seed,
                           struct err *e) {
  struct slot_instance *in = &s->at[i];
  const struct scheme *sc = in->scheme;
  size_t sm_state = sc->sm_state_bytes + (sc->more_sm_state ? sc->more_sm_state(c, in->param) : 0);
  in->ctx = (struct scheme_ctx){.gpu = gpu,
                                .config = c,
                                .param = in->param,
                                .counter = in->counter,
                                .sm_state_bytes = (sm_state + 63) & ~(size_t)63,
                                .rng = rng_seed(seed), /* a scheme's draws do not depend on the others */
                                .index = i};
  size_t state = sc->state_bytes + (sc->more_state ? sc->more_state(c, in->param) : 0);
  if (state) in->ctx.state = mem_zeroed(1, state);
  if (sc->sm_state_bytes) in->ctx.sm_state = mem_zeroed(c->sms, in->ctx.sm_state_bytes);
  CHECK((in->ctx.state || !state) && (in->ctx.sm_state || !sc->sm_state_bytes), "out of memory for scheme %s",
        sc->name);
  in->epoch = sc->epoch;
  for (uint32_t p = 0; sc->epoch_param && p < scheme_param_count(sc); p++)
    if (!strcmp(sc->params[p].name, sc->epoch_param)) in->epoch = (uint64_t)in->param[p];
  bool off = is_off(in);
  in->next_epoch = sc->on_epoch && in->epoch && !off ? in->epoch : UINT64_MAX;
  if (in->next_epoch < s->next_epoch) s->next_epoch = in->next_epoch;
  return off || !sc->init || sc->init(&in->ctx, e);
}

char *slots_separator(char *p) {
  for (p = strpbrk(p, ",+"); p && *p == '+' && strchr(",+:=", p[1]); p = strpbrk(p + 1, ",+"))
    ;
  return p;
}

bool slots_parse(struct slots *out, const char *list, struct err *e) {
  *out = (struct slots){.next_epoch = UINT64_MAX};
  if (!list) return true;
  char text[1024];
  if (strlen(list) >= sizeof text) return err_set(e, ERR_USAGE, "the list of schemes is too long");
  strcpy(text, list);
  for (char *p = text, *next; p; p = next) {
    next = slots_separator(p);
    if (next) *next++ = 0;
    if (out->count && !scheme_find(p) && set_flag(&out->at[out->count - 1], p)) continue; /* "sharing-cta=x,adpt" */
    if (!*p) return err_set(e, ERR_USAGE, "an empty name in the list of schemes '%s'", list);
    if (!parse_one(out, p, e)) return false;
  }
  return fill_hooks(out, e);
}

static bool owns(const struct slots *s, const char *part) {
  const char *p;
  for (uint32_t i = 0; i < s->count; i++)
    for (uint32_t k = 0; (p = owned_part(&s->at[i], k, has_organisation(s))); k++)
      if (!strcmp(p, part)) return true;
  return false;
}

bool slots_for_machine(struct slots *out, const char *list, const struct gpu_config *c, struct err *e) {
  char text[1200];
  if (!slots_parse(out, list, e)) return false;
  if (!*c->l1d_org || owns(out, OWNS_L1_ORGANISATION)) return true;
  const struct scheme *org = scheme_find(c->l1d_org);
  if (owns(out, OWNS_L1_REPLACEMENT) && !(org && org->l1 && org->l1->way)) return true;
  snprintf(text, sizeof text, "%s+%s", list && *list ? list : "baseline", c->l1d_org);
  return slots_parse(out, text, e);
}

bool slots_configure(const struct slots *s, struct gpu_config *c, struct err *e) {
  for (uint32_t i = 0; i < s->count; i++)
    if (s->at[i].scheme->configure && !s->at[i].scheme->configure(c, s->at[i].param, e)) return false;
  return true;
}

bool slots_start(struct slots *s, struct gpu *gpu, const struct gpu_config *c, uint64_t seed, struct err *e) {
  if (s->n_find_victim && c->l1d.ways > 64) {
    slots_free(s);
    return err_set(e, ERR_USAGE,
                   "a replacement scheme sees at most 64 ways; the L1 has %u (l1d.ways); --set l1d.ways=64 fits",
                   c->l1d.ways);
  }
  const uint32_t most = s->n_l2_narrow ? 32 : 64;
  if ((s->n_l2_find_victim || s->n_l2_narrow) && c->l2.ways > most) {
    slots_free(s);
    return err_set(e, ERR_USAGE,
                   "a replacement scheme sees at most %u ways; the L2 has %u (l2.ways); --set l2.ways=%u fits", most,
                   c->l2.ways, most);
  }
  for (uint32_t i = 0; i < s->count; i++)
    if (!start_instance(s, i, gpu, c, seed, e)) {
      slots_free(s);
      return false;
    }
  return true;
}

bool scheme_list_check(const char *list, const struct gpu_config *c, struct err *e) {
  struct slots s;
  struct gpu_config copy = *c;
  return slots_for_machine(&s, list, &copy, e) && slots_configure(&s, &copy, e) && gpu_config_check(&copy, e);
}

void slots_finish(struct slots *s, struct err *e) {
  for (uint32_t i = 0; i < s->count && !s->finished; i++)
    if (s->at[i].scheme->finish && s->at[i].ctx.config) s->at[i].scheme->finish(&s->at[i].ctx, e);
  s->finished = true;
}

void slots_free(struct slots *s) {
  slots_finish(s, NULL);
  for (uint32_t i = 0; i < s->count; i++) {
    free(s->at[i].ctx.state);
    free(s->at[i].ctx.sm_state);
  }
  *s = (struct slots){.next_epoch = UINT64_MAX};
}

void slots_describe(const struct slots *s, char *buf, size_t size) {
  size_t n = 0;
  if (!s->count) {
    snprintf(buf, size, "baseline");
    return;
  }
  for (uint32_t i = 0; i < s->count && n < size; i++) {
    const struct scheme *sc = s->at[i].scheme;
    n += (size_t)snprintf(buf + n, size - n, "%s%s", i ? "+" : "", sc->name);
    for (uint32_t p = 0; p < scheme_param_count(sc) && n < size; p++)
      n += (size_t)snprintf(buf + n, size - n, "%c%s=%g", p ? '/' : ':', sc->params[p].name, s->at[i].param[p]);
  }
}

void slots_take_counters(struct slots *s, void (*f)(void *ctx, const char *key, uint64_t value), void *ctx) {
  for (uint32_t i = 0; i < s->count; i++) {
    struct slot_instance *in = &s->at[i];
    for (uint32_t k = 0; k < scheme_counter_count(in->scheme); k++) {
      char key[128];
      snprintf(key, sizeof key, "%s.%s", in->scheme->name, in->scheme->counters[k].name);
      f(ctx, key, in->counter[k] - in->taken[k]);
      in->taken[k] = in->counter[k];
    }
  }
}
