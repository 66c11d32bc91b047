/* test_scheme_audit.c - every registered scheme has all that a scheme must have: a citation, an explanation, parameters
 * whose ranges are checked, counters where it acts, storage item by item or the reason why there is none, a test in
 * which it never acts and a paper test. The tests are those that the other test programs beside this one claim
 * (scheme_claims.h); what `sluice schemes NAME` prints is looked at as a user sees it.
 */
#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "gpu/common/config.h"
#include "gpu/slots/slots.h"

enum { TEXT_MAX = 64 * 1024, GAP_MAX = 256 };
static char claims[TEXT_MAX]; /* "\nnever NAME\n..." of all programs */
static char sluice[PATH_MAX];

/* ---- what the other programs say ---- */

static bool read_command(const char *command, char *out, size_t size) {
  FILE *f = popen(command, "r");
  assert_non_null(f);
  size_t n = fread(out, 1, size - 1, f);
  out[n] = 0;
  return !pclose(f) && n < size - 1;
}

/* Lines "KIND NAME NAME ..." become one line for each name. */
static void add_claims(char *text) {
  char *lines = NULL, *words = NULL;
  for (char *l = strtok_r(text, "\n", &lines); l; l = strtok_r(NULL, "\n", &lines)) {
    const char *kind = strtok_r(l, " ", &words);
    for (const char *n = strtok_r(NULL, " ", &words); n; n = strtok_r(NULL, " ", &words)) {
      size_t have = strlen(claims);
      snprintf(claims + have, sizeof claims - have, "%s %s\n", kind, n);
    }
  }
  assert_true(strlen(claims) < sizeof claims - 1);
}

static int gather(void **state) {
  char self[PATH_MAX], command[2 * PATH_MAX];
  static char text[TEXT_MAX];
  (void)state;
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  assert_true(n > 0);
  self[n] = 0;
  char *name = strrchr(self, '/');
  *name++ = 0;
  strcpy(claims, "\n");
  DIR *d = opendir(self);
  assert_non_null(d);
  for (struct dirent *e; (e = readdir(d));) {
    if (strncmp(e->d_name, "test_scheme_", 12) || strchr(e->d_name, '.') || !strcmp(e->d_name, name)) continue;
    snprintf(command, sizeof command, "'%s/%s' --claims", self, e->d_name);
    if (!read_command(command, text, sizeof text)) fail_msg("%s failed", command);
    add_claims(text);
  }
  closedir(d);
  /* The command is built beside the tests, but for an instrumented build, which has the default one further up. */
  for (const char *const *at = (const char *const[]){"../sluice", "../../sluice", NULL}; *at && !*sluice; at++) {
    bool whole = snprintf(sluice, sizeof sluice, "%s/%s", self, *at) < (int)sizeof sluice;
    if (!whole || access(sluice, X_OK)) *sluice = 0;
  }
  return *sluice ? 0 : -1;
}

static bool claimed(const char *kind, const char *name) {
  char line[128];
  snprintf(line, sizeof line, "\n%s %s\n", kind, name);
  return strstr(claims, line) != NULL;
}

/* ---- what a scheme must have; false and what is missing ---- */

static bool gap(char *out, const char *what, const char *which) {
  int n = snprintf(out, GAP_MAX, "%s%s%s", what, which ? ": " : "", which ? which : "");
  assert_true(n < GAP_MAX);
  return false;
}

static bool has_year(const char *text) {
  for (; *text; text++)
    if ((!strncmp(text, "19", 2) || !strncmp(text, "20", 2)) && isdigit(text[2]) && isdigit(text[3])) return true;
  return false;
}

static bool has_words(const struct scheme *s, char *out) {
  uint32_t lines = 1;
  if (!s->title || strlen(s->title) < 10 || strchr(s->title, '\n')) return gap(out, "a title of one line", NULL);
  if (!s->paper || strlen(s->paper) < 30 || !has_year(s->paper)) return gap(out, "a citation with its year", NULL);
  if (!s->idea || strlen(s->idea) < 60) return gap(out, "an explanation", NULL);
  for (const char *p = s->idea; *p; p++) lines += *p == '\n';
  return lines <= 10 || gap(out, "an explanation of ten lines at most", NULL);
}

/* Something that acts in a hook counts what it does; at least one of the counters moves on random traffic, which
 * test_gpu_harness.c demands. A scheme that is a configuration changes the machine's own counters. */
static bool has_counters(const struct scheme *s, char *out) {
  const char *slot, *hook;
  bool acts = false, moves = false;
  for (uint32_t k = 0; (hook = scheme_hook(s, k, &slot)); k++) acts |= strcmp(hook, "configure") != 0;
  for (uint32_t k = 0; k < scheme_counter_count(s); k++) {
    if (!s->counters[k].doc || !s->counters[k].unit || !*s->counters[k].unit)
      return gap(out, "unit and meaning of a counter", s->counters[k].name);
    moves |= s->counters[k].must_move;
  }
  return !acts || moves || gap(out, "a counter that must move", NULL);
}

static bool has_storage(const struct scheme *s, char *out) {
  struct gpu_config c;
  struct scheme_bits row[32];
  double param[SCHEME_PARAMS_MAX] = {0};
  if (s->sweep) return true; /* it has its base's */
  if (s->no_storage) return !s->storage || gap(out, "storage or the reason for none, not both", NULL);
  if (!s->storage) return gap(out, "storage, or the reason why there is none", NULL);
  gpu_config_defaults(&c);
  for (uint32_t i = 0; i < scheme_param_count(s); i++) param[i] = s->params[i].dflt;
  uint32_t n = s->storage(&c, param, row, 32);
  double bits = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (!row[i].item || !*row[i].item || row[i].bits != row[i].bits) return gap(out, "an item of storage", NULL);
    bits += row[i].bits;
  }
  return bits > 0 || gap(out, "bits of storage", NULL);
}

/* The next value beyond either end is refused with both ends in the message. */
static bool checks_ranges(const struct scheme *s, char *out) {
  const char *base = s->sweep ? s->sweep->base : s->name;
  for (uint32_t p = 0; p < scheme_param_count(s); p++) {
    const struct scheme_param *q = &s->params[p];
    if (!q->doc || !*q->doc || q->dflt < q->min || q->dflt > q->max) return gap(out, "a parameter", q->name);
    for (uint32_t end = 0; end < 2; end++) {
      double v = end ? q->max + (q->integer ? 1 : 0.001) : q->min - (q->integer ? 1 : 0.001);
      struct slots slots;
      struct err e = {0};
      char list[128], range[64];
      snprintf(list, sizeof list, "%s:%s=%.17g", base, q->name, v);
      snprintf(range, sizeof range, "allowed is %g to %g", q->min, q->max);
      if (slots_parse(&slots, list, &e) || e.code != ERR_USAGE || !strstr(e.msg, range))
        return gap(out, "a refusal with the allowed range", list);
    }
  }
  return true;
}

static bool has_tests(const struct scheme *s, char *out) {
  /* A search runs nothing but its base, which never acts in its own test. */
  if (!claimed("never", s->sweep ? s->sweep->base : s->name)) return gap(out, "a test in which it never acts", NULL);
  return claimed("paper", s->name) || gap(out, "a paper test", NULL);
}

static bool complete(const struct scheme *s, char *out) {
  return has_words(s, out) && has_counters(s, out) && has_storage(s, out) && checks_ranges(s, out) && has_tests(s, out);
}

static void every_scheme_is_complete(void **state) {
  (void)state;
  uint32_t bad = 0;
  for (uint32_t i = 0; i < scheme_count(); i++) {
    char what[GAP_MAX];
    if (complete(scheme_at(i), what)) continue;
    print_error("scheme %s lacks %s\n", scheme_at(i)->name, what);
    bad++;
  }
  assert_int_equal(bad, 0);
}

/* ---- what the user sees ---- */

static bool shows(const char *text, const char *part, char *out) {
  return strstr(text, part) || gap(out, "in its page", part);
}

static bool shows_all(const struct scheme *s, const char *text, char *out) {
  struct gpu_config c;
  struct scheme_bits row[32];
  char part[256];
  double param[SCHEME_PARAMS_MAX] = {0};
  bool ok = shows(text, s->title, out) && shows(text, s->paper, out) && shows(text, s->idea, out) &&
            shows(text, s->sweep ? "\nA search over " : "\nSlots: ", out) && shows(text, "\nStorage on this GPU", out);
  for (uint32_t i = 0; ok && i < scheme_param_count(s); i++) {
    const struct scheme_param *p = &s->params[i];
    snprintf(part, sizeof part, "  %-16s default %g, from %g to %g", p->name, p->dflt, p->min, p->max);
    ok = shows(text, part, out) && shows(text, p->doc, out);
  }
  for (uint32_t i = 0; ok && i < scheme_counter_count(s); i++) ok = shows(text, s->counters[i].doc, out);
  if (s->sweep) s = scheme_find(s->sweep->base);
  if (s->no_storage) return ok && shows(text, s->no_storage, out);
  gpu_config_defaults(&c);
  for (uint32_t i = 0; i < scheme_param_count(s); i++) param[i] = s->params[i].dflt;
  uint32_t n = s->storage(&c, param, row, 32);
  for (uint32_t i = 0; ok && i < n; i++) ok = shows(text, row[i].item, out);
  return ok;
}

static void every_page_is_complete(void **state) {
  (void)state;
  static char text[TEXT_MAX];
  char command[PATH_MAX + 64], what[GAP_MAX];
  uint32_t bad = 0;
  for (uint32_t i = 0; i < scheme_count(); i++) {
    snprintf(command, sizeof command, "'%s' schemes --long '%s'", sluice, scheme_at(i)->name);
    if (!read_command(command, text, sizeof text)) fail_msg("%s failed", command);
    if (shows_all(scheme_at(i), text, what)) continue;
    print_error("sluice schemes %s lacks %s\n", scheme_at(i)->name, what);
    bad++;
  }
  assert_int_equal(bad, 0);
}

/* ---- the audit finds what is taken away ---- */

static void finds(const struct scheme *s, const char *what) {
  char out[GAP_MAX] = "";
  if (complete(s, out)) fail_msg("the audit does not see that %s lacks %s", s->name, what);
  if (!strstr(out, what)) fail_msg("the audit finds '%s' where %s is missing", out, what);
}

static void gaps_are_found(void **state) {
  (void)state;
  char what[GAP_MAX];
  const struct scheme *whole = scheme_find("bucl");
  assert_true(complete(whole, what));
  struct scheme s = *whole;
  s.paper = "Somebody: Some paper. Some conference";
  finds(&s, "citation");
  s = *whole, s.idea = "Short.";
  finds(&s, "explanation");
  s = *whole, s.counters = NULL;
  finds(&s, "a counter");
  s = *whole, s.storage = NULL;
  finds(&s, "storage, or the reason");
  s = *whole, s.no_storage = "a reason beside the items";
  finds(&s, "not both");
  s = *whole, s.name = "bucl-without-tests";
  struct scheme_param none = {0};
  s.params = &none;
  finds(&s, "never acts");
  s = *whole;
  struct scheme_param wide[2] = {{"tucd", "access", "threshold, said to go further than it does", 1, 64, 5, true}};
  s.params = wide;
  finds(&s, "allowed range");
  assert_true(claimed("never", "bucl") && claimed("paper", "bucl") && !claimed("paper", "buc"));
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_scheme_is_complete),
      cmocka_unit_test(every_page_is_complete),
      cmocka_unit_test(gaps_are_found),
  };
  (void)argc, (void)argv;
  return cmocka_run_group_tests(tests, gather, NULL);
}
