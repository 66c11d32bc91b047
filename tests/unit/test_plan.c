/* Plans: clusters of a log, the order of drawing, the file and what is wrong with others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/paths.h"
#include "sample/plan.h"

static void add(struct launchlog *l, const char *kernel, uint64_t insts, uint32_t shape) {
  struct logged_launch *q = launchlog_at(l, l->n);
  *q = (struct logged_launch){.kernel = mem_text(kernel), .grid = {4, 1, 1}, .block = {64, 1, 1}, .signed_ = true};
  q->sig = (struct signature){.warp_insts = insts, .thread_insts = 32 * insts, .shape = shape};
}

/* 20 launches of a, of which 8 are ten times as long; 5 of b; one of a that is 29 % longer and has another
 * shape. */
static struct launchlog a_log(void) {
  struct launchlog l = {0};
  for (int i = 0; i < 12; i++) add(&l, "a", 1000 + (uint64_t)i, 0);
  for (int i = 0; i < 8; i++) add(&l, "a", 10000, 0);
  for (int i = 0; i < 5; i++) add(&l, "b", 1000, 20);
  add(&l, "a", 1300, 25);
  return l;
}

static struct sample_plan a_plan(const struct launchlog *l, uint64_t seed) {
  struct sample_plan p = {.error = 0.02, .confidence = 0.95, .seed = seed, .program = mem_text("prog -x")};
  plan_cluster_launches(&p, l, (struct plan_range){0, l->n});
  plan_first_samples(&p, l);
  return p;
}

static void clusters(void **state) {
  (void)state;
  struct launchlog l = a_log();
  struct sample_plan p = a_plan(&l, 1), q = a_plan(&l, 2);
  static const uint32_t members[] = {1, 11, 8, 1, 4, 1}, timed[] = {1, 5, 3, 1, 3, 1};
  bool differs = false, seen[26] = {false};
  assert_int_equal(p.clusters, 6);
  for (uint32_t c = 0; c < 6; c++) {
    assert_int_equal(p.cluster[c].members, members[c]);
    assert_int_equal(p.cluster[c].timed, timed[c]);
    differs |= memcmp(p.cluster[c].launch, q.cluster[c].launch, members[c] * sizeof(uint32_t)) != 0;
    for (uint32_t i = 0; i < members[c]; i++) seen[p.cluster[c].launch[i]] = true;
  }
  for (int i = 0; i < 26; i++) assert_true(seen[i]);
  assert_true(differs);                         /* the seed decides */
  assert_int_equal(p.cluster[1].launch[0], 11); /* the largest of those that differ */
  assert_non_null(plan_times(&p, p.cluster[1].launch[4]));
  assert_null(plan_times(&p, p.cluster[1].launch[5]));
  plan_free(&p);
  plan_free(&q);
  launchlog_free(&l);
}

/* Launches that shrink by 8 % each are one series; the largest and any number drawn, spread over the others, are in the
 * order of size. */
static void series(void **state) {
  (void)state;
  struct launchlog l = {0};
  struct sample_plan p = {.error = 0.02, .confidence = 0.95, .seed = 5};
  double x[33], insts = 100000;
  size_t place[33];
  uint32_t timed[33];
  for (int i = 0; i < 34; i++, insts *= 0.92) add(&l, "a", (uint64_t)insts, (uint32_t)i / 4);
  plan_cluster_launches(&p, &l, (struct plan_range){0, l.n});
  assert_int_equal(p.clusters, 2);
  assert_int_equal(p.cluster[1].members, 33);
  for (uint32_t n = 4; n <= 16; n *= 2) {
    for (uint32_t i = 0; i <= n; i++) l.at[p.cluster[1].launch[i]].timed = true;
    assert_int_equal(plan_series(&p.cluster[1], &l, x, place, timed), n + 1);
    for (uint32_t i = 0; i < n; i++) assert_int_equal(place[i] / (32 / n), i); /* one of each part */
    assert_int_equal(place[n], 32);
  }
  for (int i = 1; i < 33; i++) assert_true(x[i] > x[i - 1]);
  assert_int_equal(timed[0], 33 - place[0]);
  plan_free(&p);
  launchlog_free(&l);
}

static void part_of_the_run(void **state) {
  (void)state;
  struct launchlog l = a_log();
  struct sample_plan p = {.error = 0.02, .confidence = 0.95};
  plan_cluster_launches(&p, &l, (struct plan_range){12, 22});
  assert_int_equal(p.clusters, 4); /* the first of a and of b, the others */
  plan_free(&p);
  launchlog_free(&l);
}

/* A plan that would leave little out times all; others stay. */
static void round_up(void **state) {
  (void)state;
  struct launchlog l = a_log(), few = {0};
  struct sample_plan p = a_plan(&l, 1), q;
  plan_round_up(&p, &l);
  assert_int_equal(p.cluster[1].timed, 5);
  add(&few, "a", 10000, 0);
  for (int i = 0; i < 10; i++) add(&few, "b", 100, 1);
  q = a_plan(&few, 1);
  assert_int_equal(q.cluster[2].timed, 3);
  q.cluster[0].blocks = 13; /* of groups that are not there: all CTAs are timed */
  plan_round_up(&q, &few);
  assert_int_equal(q.cluster[2].timed, 9);
  assert_int_equal(q.cluster[0].blocks, 0);
  /* Half of the CTAs of the first launch: less is timed. */
  q.cluster[2].timed = 2;
  q.cluster[0].blocks = 13;
  few.at[0].resident = 1;
  few.at[0].grid[0] = 26;
  few.at[0].orderly = true;
  few.at[0].sig.longest = 10000 / 26;
  plan_round_up(&q, &few);
  assert_int_equal(q.cluster[2].timed, 2);
  assert_int_equal(q.cluster[0].blocks, 13);
  plan_free(&p);
  plan_free(&q);
  launchlog_free(&l);
  launchlog_free(&few);
}

/* Before a short launch another one is timed, unless that is the larger one, or timed anyway, or one of its kernel and
 * grid was timed before it; not before a long one. */
static void one_before(void **state) {
  (void)state;
  struct launchlog l = {0};
  for (int i = 0; i < 12; i++) add(&l, i % 2 ? "big" : "small", i % 2 ? 400 : 100, i % 2);
  for (int i = 0; i < 8; i++) add(&l, "long", 40000, 2);
  for (uint32_t i = 0; i < l.n; i++) l.at[i].resident = 4;
  struct sample_plan p = a_plan(&l, 1);
  plan_add_before(&p, &l);
  assert_int_equal(p.befores, 0); /* launch 0 was timed */
  for (uint32_t i = 2; i < 12; i += 2) l.at[i].block[1] = l.at[i].grid[1] = i;
  plan_add_before(&p, &l);
  assert_int_equal(p.clusters, 6);
  uint32_t odd = 0;
  for (uint32_t i = 0; i < p.befores; i++) {
    uint32_t at = p.before[i];
    assert_true(plan_precedes(&p, at) && !plan_times(&p, at) && plan_times(&p, at + 1));
    assert_int_equal(at % 2, 0); /* before a big one */
    assert_true(at < 12);
    odd++;
  }
  assert_true(odd > 0 && !plan_precedes(&p, 13));
  p.cold = true; /* nothing is kept warm */
  plan_add_before(&p, &l);
  assert_int_equal(p.befores, 0);
  plan_free(&p);
  launchlog_free(&l);
}

static void file(void **state) {
  (void)state;
  char path[] = "/tmp/sluice-plan-XXXXXX";
  struct err e = {0};
  struct launchlog l = a_log();
  struct sample_plan p = a_plan(&l, 3), q;
  close(mkstemp(path));
  p.cluster[1].blocks = 7;
  p.before = mem_zeroed(2, sizeof *p.before);
  p.before[p.befores++] = 7, p.before[p.befores++] = 12;
  p.cold = true;
  assert_true(plan_write(&p, path, &e));
  assert_true(plan_read(&q, path, &e));
  assert_int_equal(q.clusters, p.clusters);
  assert_int_equal(q.launches, 26);
  assert_int_equal(q.seed, 3);
  assert_true(q.cold && q.error == p.error && q.confidence == p.confidence && !strcmp(q.program, p.program));
  assert_int_equal(q.befores, p.befores);
  assert_memory_equal(q.before, p.before, p.befores * sizeof(uint32_t));
  for (uint32_t c = 0; c < p.clusters; c++) {
    assert_int_equal(q.cluster[c].timed, p.cluster[c].timed);
    assert_int_equal(q.cluster[c].blocks, p.cluster[c].blocks);
    assert_int_equal(q.cluster[c].members, p.cluster[c].members);
    assert_memory_equal(q.cluster[c].launch, p.cluster[c].launch, p.cluster[c].members * sizeof(uint32_t));
  }
  plan_free(&q);
  plan_free(&p);
  launchlog_free(&l);
  unlink(path);
}

static void damaged(void **state) {
  (void)state;
  static const char *const texts[] = {
      "",
      "{",
      "[]",
      "{}",
      "{\"format\": 2}",
      "{\"format\": 1, \"error\": 0.02, \"confidence\": 0.95, \"launches\": 3, \"clusters\": [{\"kernel\": \"a\", "
      "\"timed\": 2, "
      "\"blocks\": 0, \"launches\": [3]}]}",
      "{\"format\": 1, \"error\": 0.02, \"confidence\": 0.95, \"launches\": 3, \"clusters\": [{\"kernel\": \"a\", "
      "\"timed\": 2, "
      "\"blocks\": 0, \"launches\": [0]}]}",
      "{\"format\": 1, \"error\": 0, \"confidence\": 0.95, \"launches\": 3, \"clusters\": []}"};
  char path[] = "/tmp/sluice-plan-XXXXXX";
  close(mkstemp(path));
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    struct err e = {0};
    struct sample_plan p;
    assert_true(path_write_whole(path, texts[i], strlen(texts[i])));
    if (plan_read(&p, path, &e)) fail_msg("text %zu was read as a plan", i);
    assert_int_equal(e.code, ERR_INPUT);
    assert_non_null(strstr(e.msg, path));
  }
  unlink(path);
}

static void log_file(void **state) {
  (void)state;
  char path[] = "/tmp/sluice-log-XXXXXX";
  struct err e = {0};
  struct launchlog l = a_log(), m;
  close(mkstemp(path));
  l.at[3].timed = true;
  l.at[3].stats.cycles = 12345;
  l.at[3].stats.mem_latency_sum = 99, l.at[3].stats.mem_latency_count = 3;
  launchlog_add_counter(&l.at[3], "x.y", 5);
  launchlog_add_counter(&l.at[3], "x.y", 6);
  l.at[3].inside = (struct logged_inside){.ctas = 9, .warp_insts = 10, .cycles = 1.5, .variance = 2.5, .freedom = 4};
  assert_true(launchlog_write(&l, path, &e));
  assert_true(launchlog_read(&m, path, &e));
  assert_int_equal(m.n, l.n);
  assert_int_equal(m.at[15].sig.warp_insts, 10000);
  assert_false(m.at[2].timed);
  assert_memory_equal(&m.at[3].stats, &l.at[3].stats, sizeof l.at[3].stats);
  assert_int_equal(m.at[3].schemes, 1);
  assert_int_equal(m.at[3].scheme[0].value, 11);
  assert_true(m.at[3].inside.variance == 2.5 && m.at[3].inside.ctas == 9 && m.at[3].inside.freedom == 4);
  launchlog_free(&m);
  launchlog_free(&l);
  unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(clusters),        cmocka_unit_test(series),
                                     cmocka_unit_test(part_of_the_run), cmocka_unit_test(round_up),
                                     cmocka_unit_test(one_before),      cmocka_unit_test(file),
                                     cmocka_unit_test(damaged),         cmocka_unit_test(log_file)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
