/* scheme_claims.h - which test stands for which scheme. A test says beside its name that it is a paper test of some
 * schemes (the paper's example, or a hand-computed sequence) or the one in which they never act; it fails if it then
 * does not run them. `test_x --claims` prints what a program's tests claim, which test_scheme_audit.c adds up.
 */
#ifndef TESTS_SCHEME_CLAIMS_H
#define TESTS_SCHEME_CLAIMS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/slots/slots.h"

/* `names`: schemes, a space between them. */
#define PAPER_TEST(f, names) \
  { #f, f, claims_begin, claims_end, (void *)("paper " names) }
#define NEVER_TEST(f, names) \
  { #f, f, claims_begin, claims_end, (void *)("never " names) }

enum { CLAIMS_MAX = 128 };
static const struct scheme *claims_seen[CLAIMS_MAX];
static uint32_t claims_count;

static inline void claims_saw_one(const struct scheme *s) {
  for (uint32_t i = 0; i < claims_count; i++)
    if (claims_seen[i] == s) return;
  if (s && claims_count < CLAIMS_MAX) claims_seen[claims_count++] = s;
}

/* A list that the test in progress runs, or takes apart if it is a search. */
static inline void claims_saw(const char *list) {
  struct slots s;
  struct err e = {0};
  if (!list) return;
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(list, "=:,"), list);
  if (scheme_find(name) && scheme_find(name)->sweep) claims_saw_one(scheme_find(name));
  else if (slots_parse(&s, list, &e))
    for (uint32_t i = 0; i < s.count; i++) claims_saw_one(s.at[i].scheme);
}

static inline int claims_begin(void **state) {
  (void)state;
  claims_count = 0;
  return 0;
}

/* Every claimed scheme occurred. */
static inline int claims_end(void **state) {
  char names[512], *save = NULL;
  int bad = 0;
  snprintf(names, sizeof names, "%s", strchr((const char *)*state, ' ') + 1);
  for (char *n = strtok_r(names, " ", &save); n; n = strtok_r(NULL, " ", &save)) {
    bool seen = false;
    for (uint32_t i = 0; i < claims_count; i++) seen |= !strcmp(claims_seen[i]->name, n);
    if (!seen) print_error("this test claims to be one of %s, which it did not run\n", n);
    bad |= !seen;
  }
  return bad ? -1 : 0;
}

static inline bool claims_asked(int argc, char **argv) {
  return argc > 1 && !strcmp(argv[1], "--claims");
}

static inline int claims_print(const struct CMUnitTest *tests, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (tests[i].setup_func == claims_begin) printf("%s\n", (const char *)tests[i].initial_state);
  return 0;
}

/* What main does with its table. */
#define scheme_tests(tests, argc, argv)                                               \
  (claims_asked(argc, argv) ? claims_print(tests, sizeof(tests) / sizeof((tests)[0])) \
                            : cmocka_run_group_tests(tests, NULL, NULL))

#endif
