/* test_study_expand.c - a study file becomes runs: which, in what order, under which labels, and what makes two of them
 * the same run.
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/paths.h"
#include "study/study.h"

static char folder[] = "/tmp/test_study_expand.XXXXXX";

static void put(const char *name, const char *text) {
  FILE *f = fopen(name, "w");
  assert_non_null(f);
  assert_true(fputs(text, f) >= 0);
  assert_int_equal(fclose(f), 0);
}

static int enter(void **state) {
  (void)state;
  char data[PATH_MAX], configs[PATH_MAX + 16];
  path_data(data, sizeof data);
  snprintf(configs, sizeof configs, "%s/configs", data);
  if (!mkdtemp(folder) || chdir(folder) || symlink(configs, "configs")) return -1;
  put("one", "the first program");
  put("two", "the second program");
  /* The bundled workloads are these two. */
  put("workloads.json", "[{\"name\": \"bfs\", \"suites\": {\"mine\": \"B\"}, \"groups\": {\"mine\": \"left\"}},"
                        " {\"name\": \"nn\", \"suites\": {\"mine\": \"N\", \"other\": \"N\"}, \"groups\": {}}]");
  return setenv("SLUICE_DATA", folder, 1);
}

static int leave(void **state) {
  (void)state;
  static const char *const files[] = {"one", "two", "copy", "input", "s.yaml", "configs", "workloads.json"};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) unlink(files[i]);
  return chdir("/") || rmdir(folder);
}

/* Programs are files of the folder; of the bundled workloads bfs is `one`, nn is `two`. */
static bool find(const char *program, char *out, size_t size) {
  snprintf(out, size, "%s", !access(program, R_OK) ? program : !strcmp(program, "nn") ? "two" : "one");
  return strcmp(program, "nowhere") != 0;
}

struct made {
  struct study s;
  struct study_runs r;
};

static struct made expand(const char *text) {
  struct made m = {0};
  struct err e = {0};
  put("s.yaml", text);
  if (!study_load(&m.s, "s.yaml", &e) || !study_expand(&m.s, &m.r, find, &e)) fail_msg("%s", e.msg);
  return m;
}

static void refused(const char *text, const char *message) {
  struct study s = {0};
  struct study_runs r;
  struct err e = {0};
  put("s.yaml", text);
  assert_false(study_load(&s, "s.yaml", &e) && study_expand(&s, &r, find, &e));
  assert_string_equal(e.msg, message);
  study_free(&s);
}

/* The arguments of a run as one text. */
static void arguments(const struct study_run *run, const char *expected) {
  char text[1024] = "";
  for (char **a = run->args; *a; a++) strcat(strcat(text, *text ? " " : ""), *a);
  assert_string_equal(text, expected);
}

static void label(const struct db_plan *p, const char *workload, const char *gpu, const char *scheme,
                  const char *parameters) {
  assert_string_equal(p->workload, workload);
  assert_string_equal(p->gpu, gpu);
  assert_string_equal(p->scheme, scheme);
  assert_string_equal(p->parameters, parameters);
}

/* ---- which runs ---- */

static void every_combination(void **state) {
  (void)state;
  struct made m = expand("programs: [one x, {program: two, args: [\"a b\"], name: second}]\n"
                         "gpus: [fermi, {name: big, base: fermi, set: {l1d.sets: 64}}]\n"
                         "schemes: [none, swl]\n"
                         "parameters:\n"
                         "  l1d.mshrs: [16, 8]\n"
                         "  swl.warps: {from: 2, to: 8, times: 2}\n");
  /* 2 programs; 2 machines with 2 numbers of MSHRs; none, and swl with 2, 4 and 8 warps */
  assert_true(study_size(&m.s) == 2 * (2 * 2) * (1 + 3));
  assert_int_equal(m.r.plan_count, 32);
  assert_int_equal(m.r.count, 32);
  assert_string_equal(m.s.name, "s");
  assert_string_equal(m.s.results, "s.db");
  /* The scheme changes first, then the machine, then the program. */
  label(&m.r.plan[0], "one", "fermi", "none", "{\"l1d.mshrs\": 16}");
  label(&m.r.plan[1], "one", "fermi", "swl", "{\"l1d.mshrs\": 16, \"swl.warps\": 2}");
  label(&m.r.plan[3], "one", "fermi", "swl", "{\"l1d.mshrs\": 16, \"swl.warps\": 8}");
  label(&m.r.plan[4], "one", "fermi", "none", "{\"l1d.mshrs\": 8}");
  label(&m.r.plan[8], "one", "big", "none", "{\"l1d.mshrs\": 16}");
  label(&m.r.plan[16], "second", "fermi", "none", "{\"l1d.mshrs\": 16}");
  label(&m.r.plan[31], "second", "big", "swl", "{\"l1d.mshrs\": 8, \"swl.warps\": 8}");
  for (size_t i = 0; i < 32; i++) assert_string_equal(m.r.plan[i].hash, m.r.run[i].hash);
  arguments(&m.r.run[0], "--scheme baseline --gpu fermi --set l1d.mshrs=16 --mode timing -- one x");
  arguments(&m.r.run[31],
            "--scheme swl:warps=8 --gpu fermi --set l1d.sets=64 --set l1d.mshrs=8 --mode timing -- two a b");
  assert_string_equal(m.r.run[0].program, "one x");
  study_free(&m.s);
}

static void parameters_of_lists(void **state) {
  (void)state;
  struct made m = expand("programs: [one]\nschemes: [\"swl=4+bucl:merge=2\", tsc, tsc+]\n"
                         "parameters: {bucl.tucd: [3], tsc.private: [5, 6]}\n");
  assert_int_equal(m.r.plan_count, 1 + 2 + 1); /* tsc+ is not tsc */
  assert_string_equal(m.r.run[0].scheme, "swl=4+bucl:merge=2/tucd=3");
  assert_string_equal(m.r.run[2].scheme, "tsc:private=6");
  assert_string_equal(m.r.run[3].scheme, "tsc+");
  label(&m.r.plan[3], "one", "fermi", "tsc+", "{}");
  study_free(&m.s);
}

static void searches(void **state) {
  (void)state;
  struct made m = expand("programs: [one]\nschemes: [none, swl-best]\n");
  /* every limit that an SM of 48 warps can have */
  assert_int_equal(m.r.plan_count, 1 + 48);
  label(&m.r.plan[0], "one", "fermi", "none", "{}");
  label(&m.r.plan[3], "one", "fermi", "swl-best", "{\"machine\": \"swl:warps=3\"}");
  label(&m.r.plan[48], "one", "fermi", "swl-best", "{\"machine\": \"swl:warps=48\"}");
  arguments(&m.r.run[48], "--scheme swl:warps=48 --gpu fermi --mode timing -- one");
  study_free(&m.s);
}

static void sizes_and_replicas(void **state) {
  (void)state;
  struct made m = expand("programs: [bfs, \"one --seed {replica}/{replica}\"]\nsizes: [small, large]\n");
  assert_int_equal(m.r.plan_count, 3); /* a bundled workload has sizes, another program has none */
  assert_string_equal(m.r.plan[1].size, "large");
  assert_null(m.r.plan[2].size);
  arguments(&m.r.run[1], "--scheme baseline --gpu fermi --mode timing -- bfs --size large");
  study_free(&m.s);
  m = expand("programs: [\"one --seed {replica}/{replica}\"]\nreplicas: 3\n");
  assert_int_equal(m.r.count, 3);
  assert_int_equal(m.r.plan[2].replica, 2);
  arguments(&m.r.run[2], "--scheme baseline --gpu fermi --mode timing -- one --seed 2/2");
  study_free(&m.s);
  m = expand(
      "programs: [one]\nmode: functional\ntiming-kernels: \"1:2\"\nwatchdog: 9\nsample: 100\ncharacterise: true\n"
      "lines: true\ndetail: true\n");
  arguments(&m.r.run[0],
            "--scheme baseline --gpu fermi --mode functional --timing-kernels 1:2 --watchdog=9 --sample=100 "
            "--characterise --lines --detail -- one");
  study_free(&m.s);
}

static void suites(void **state) {
  (void)state;
  struct made m = expand("suites: [other, mine]\nsizes: [medium]\nschemes: [none, swl]\n");
  assert_int_equal(m.r.plan_count, 2 * (1 + 2));
  assert_int_equal(m.r.count, 2 * 2); /* nn is in both, and runs once */
  label(&m.r.plan[0], "nn", "fermi", "none", "{}");
  label(&m.r.plan[2], "bfs", "fermi", "none", "{}");
  label(&m.r.plan[5], "nn", "fermi", "swl", "{}");
  assert_string_equal(m.r.plan[0].suite, "other");
  assert_string_equal(m.r.plan[2].suite, "mine");
  assert_string_equal(m.r.plan[2].group, "left");
  assert_null(m.r.plan[4].group);
  arguments(&m.r.run[2], "--scheme baseline --gpu fermi --mode timing -- bfs --size medium");
  study_free(&m.s);
  refused("suites: [min]\n", "s.yaml:1:10: unknown suite 'min'; did you mean 'mine'?");
}

/* ---- the same run ---- */

/* The identity of the only run of a study. */
static void only(const char *text, char hash[STUDY_HASH]) {
  struct made m = expand(text);
  assert_int_equal(m.r.count, 1);
  strcpy(hash, m.r.run[0].hash);
  assert_int_equal(strspn(hash, "0123456789abcdef"), STUDY_HASH - 1);
  study_free(&m.s);
}

static void same(const char *a, const char *b, bool equal) {
  char x[STUDY_HASH], y[STUDY_HASH];
  only(a, x);
  only(b, y);
  if (!strcmp(x, y) != equal) fail_msg("%s run:\n%s%s", equal ? "not the same" : "the same", a, b);
}

static void what_says_the_same(void **state) {
  (void)state;
  put("copy", "the first program");
  const char plain[] = "programs: [one]\n";
  same(plain, plain, true);
  same(plain, "name: other\nprograms: [{program: one, name: label}]\nresults: x.db\nmetrics: [cycles]\n", true);
  same(plain, "limits: {time: 10 min}\nprograms: [one]\nschemes: [none]\n", true);
  same(plain, "programs: [copy]\n", true); /* what a program is, not where */
  same(plain, "programs: [one]\nschemes: [baseline]\n", true);
  same(plain, "programs: [one]\ngpus: [{name: x, base: fermi, set: {l1d.sets: 32}}]\n", true); /* as it was */
  same("programs: [one]\nschemes: [swl]\n", "programs: [one]\nschemes: [\"swl:warps=8\"]\n", true);
  same("programs: [one]\nschemes: [\"swl=3\"]\n", "programs: [one]\nschemes: [swl]\nparameters: {swl.warps: [3]}\n",
       true);
  same("programs: [one]\ngpus: [{name: x, base: fermi, set: {l1d.mshrs: 8}}]\n",
       "programs: [one]\nparameters: {l1d.mshrs: [8]}\n", true);
}

static void what_says_another(void **state) {
  (void)state;
  const char plain[] = "programs: [one]\n";
  static const char *const others[] = {"programs: [two]\n",
                                       "programs: [one x]\n",
                                       "programs: [one]\nmode: functional\n",
                                       "programs: [one]\nsample: 100\n",
                                       "programs: [one]\nwatchdog: 100\n",
                                       "programs: [one]\ncharacterise: true\n",
                                       "programs: [one]\nlines: true\n",
                                       "programs: [one]\ndetail: true\n",
                                       "programs: [one]\ntiming-kernels: \"0:1\"\n",
                                       "programs: [one]\nschemes: [swl]\n",
                                       "programs: [one]\ngpus: [volta]\n",
                                       "programs: [one]\nparameters: {l1d.mshrs: [8]}\n"};
  enum { OTHERS = sizeof others / sizeof *others };
  char hash[OTHERS + 1][STUDY_HASH];
  only(plain, hash[OTHERS]);
  for (size_t i = 0; i < OTHERS; i++) {
    only(others[i], hash[i]);
    for (size_t k = 0; k < i; k++) assert_string_not_equal(hash[i], hash[k]);
    assert_string_not_equal(hash[i], hash[OTHERS]);
  }
  same("programs: [{program: one, args: [a, b]}]\n", "programs: [{program: one, args: [\"a b\"]}]\n", false);
}

/* The content of a file among the arguments counts, and that of the program. */
static void content(void **state) {
  (void)state;
  char before[STUDY_HASH], after[STUDY_HASH], again[STUDY_HASH];
  put("input", "data");
  only("programs: [one input]\n", before);
  put("input", "other data");
  only("programs: [one input]\n", after);
  put("input", "data");
  only("programs: [one input]\n", again);
  assert_string_not_equal(before, after);
  assert_string_equal(before, again);
  put("copy", "a program");
  only("programs: [copy]\n", before);
  put("copy", "a program, compiled anew");
  only("programs: [copy]\n", after);
  assert_string_not_equal(before, after);
  assert_true(study_hash_file("one", before));
  /* printf 'the first program' | sha256sum */
  assert_string_equal(before, "cd993c575380eae3639a218b91a34f0bd31f279e733b0138f03aad972e483107");
}

static void shared_runs(void **state) {
  (void)state;
  struct made m =
      expand("programs: [one, two, {program: one, name: again}]\nschemes: [none, baseline, swl, \"swl=8\"]\n");
  assert_int_equal(m.r.plan_count, 12);
  assert_int_equal(m.r.count, 4); /* two programs, with and without swl */
  assert_string_equal(m.r.plan[0].hash, m.r.plan[1].hash);
  assert_string_equal(m.r.plan[2].hash, m.r.plan[3].hash);
  assert_string_equal(m.r.plan[0].hash, m.r.plan[8].hash);
  assert_string_equal(m.r.run[2].hash, m.r.plan[4].hash); /* runs stand where they come first */
  label(&m.r.plan[8], "again", "fermi", "none", "{}");
  study_free(&m.s);
}

/* ---- errors ---- */

static void errors(void **state) {
  (void)state;
  refused("programs: [nowhere]\n",
          "s.yaml:1:12: cannot run 'nowhere': no such program here, among the bundled workloads or "
          "in PATH");
  refused(
      "programs: [one]\nreplicas: 2\n",
      "s.yaml:1:12: replicas of 'one' would be the same run again, bit for bit: put {replica} into its arguments, such "
      "as --seed {replica}");
  refused("programs: [one]\nschemes: [none]\nparameters:\n  bucl.tucd: [1]\n",
          "s.yaml:4:3: no scheme of the study has the parameter bucl.tucd");
  refused("programs: [one]\nparameters: {l1d.sets: {from: 1, to: 2000}, l1d.mshrs: {from: 1, to: 2000}}\n",
          "s.yaml: the study has 4e+06 runs; at most 2000000 fit into one");
  refused("programs: [one]\nlimits: {memory: 1e300 GB}\n",
          "s.yaml:2:18: '1e300 GB': at most 1000000000 GB can be given");
  struct err e = {0};
  struct study s = {0};
  struct study_runs r;
  put("s.yaml", "programs: [one]\nschemes:\n  - none\n  - bucl+nonsense\n");
  assert_false(study_load(&s, "s.yaml", &e) && study_expand(&s, &r, find, &e));
  assert_ptr_equal(strstr(e.msg, "s.yaml:4:5: "), e.msg);
  assert_non_null(strstr(e.msg, "nonsense"));
  study_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_combination),
                                     cmocka_unit_test(parameters_of_lists),
                                     cmocka_unit_test(searches),
                                     cmocka_unit_test(sizes_and_replicas),
                                     cmocka_unit_test(suites),
                                     cmocka_unit_test(what_says_the_same),
                                     cmocka_unit_test(what_says_another),
                                     cmocka_unit_test(content),
                                     cmocka_unit_test(shared_runs),
                                     cmocka_unit_test(errors)};
  return cmocka_run_group_tests(tests, enter, leave);
}
