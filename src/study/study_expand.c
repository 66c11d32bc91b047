/* study_expand.c - from a study to its runs: machines x schemes x programs x inputs x replicas, each with its identity.
 */
#include <errno.h>
#include <limits.h>
#include <sha256.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "gpu/common/config.h"
#include "gpu/slots/slots.h"
#include "study/study_impl.h"

/* A machine with one combination of knob values. */
struct machine {
  const struct study_gpu *gpu;
  char **args; /* --gpu NAME --set ... */
  json_t *parameters;
  struct gpu_config config;
  char hash[STUDY_HASH];
};
/* A list of schemes with one combination of parameter values. */
struct variant {
  const struct study_scheme *scheme;
  const char *list; /* for --scheme */
  json_t *parameters;
  char canonical[1024];
};
/* A program with one size and replica. */
struct input {
  const struct study_program *program;
  const char *size;
  uint64_t replica;
  char **argv;
  const char *text;
  char hash[STUDY_HASH], program_hash[STUDY_HASH];
};

struct expansion {
  struct study *s;
  struct arena *a;
  struct machine *machine;
  struct variant *variant;
  struct input *input;
  size_t machines, variants, inputs;
  study_find_fn find;
  struct err *e;
};

static bool bad(struct expansion *x, struct study_at at, const struct err *why) {
  return err_set(x->e, why->code, "%s:%zu:%zu: %.1500s", x->s->path, at.line, at.column, why->msg);
}

/* ---- counting ---- */

/* The entry of a list with this scheme's name; NULL if none. A '+' before another separator or the end belongs to a
 * name ("tsc+"). */
static const char *entry_of(const char *list, const char *scheme) {
  size_t n = strlen(scheme);
  for (const char *p = list; (p = strstr(p, scheme)); p++) {
    if (p != list && !strchr("+,", p[-1])) continue;
    if (p[n] == '+' && (!p[n + 1] || strchr(",+:=", p[n + 1]))) continue;
    if (!p[n] || strchr("+,:=", p[n])) return p;
  }
  return NULL;
}

static bool applies(const struct study_range *v, const struct study_scheme *c) {
  return v->scheme && entry_of(c->list, v->scheme);
}

/* Machines that a list stands for. One whose runs need what an earlier run wrote stays a search, which `sluice run`
 * makes. */
static uint32_t sweeps_of(const char *list, bool *search) {
  char first[1024];
  *search = scheme_sweep_prepare(list, first, sizeof first);
  return *search ? 1 : scheme_sweep_count(list);
}

static double variants_of(const struct study *s, const struct study_scheme *c) {
  bool search;
  double n = sweeps_of(c->list, &search);
  for (size_t i = 0; i < s->range_count; i++)
    if (applies(&s->ranges[i], c)) n *= (double)s->ranges[i].count;
  return n;
}

static double machines_of(const struct study *s) {
  double n = 1;
  for (size_t i = 0; i < s->range_count; i++)
    if (!s->ranges[i].scheme) n *= (double)s->ranges[i].count;
  return n;
}

double study_size(const struct study *s) {
  double inputs = 0, variants = 0;
  for (size_t i = 0; i < s->program_count; i++) inputs += s->programs[i].sized ? (double)s->size_count : 1;
  for (size_t i = 0; i < s->scheme_count; i++) variants += variants_of(s, &s->schemes[i]);
  return inputs * (double)s->replicas * variants * machines_of(s) * (double)s->gpu_count;
}

/* ---- machines ---- */

static json_t *value_of(const char *text) {
  char *end;
  long long i = strtoll(text, &end, 10);
  if (*text && !*end) return json_integer(i);
  double d = strtod(text, &end);
  return *text && !*end ? json_real(d) : json_string(text);
}

static void hash_knob(void *ctx, const char *key, const char *value, const char *unit, const char *doc) {
  (void)unit, (void)doc;
  char line[512];
  int n = snprintf(line, sizeof line, "%s=%s\n", key, value);
  SHA256Update(ctx, (const uint8_t *)line, (size_t)n);
}

static bool set_knob(struct expansion *x, struct machine *m, size_t *n, const char *key, const char *value,
                     struct study_at at) {
  struct err why = {0};
  if (!gpu_config_set(&m->config, key, value, key, &why)) return bad(x, at, &why);
  m->args[(*n)++] = "--set";
  m->args[(*n)++] = arena_printf(x->a, "%s=%s", key, value);
  return true;
}

static bool make_machine(struct expansion *x, const struct study_gpu *g, size_t combination) {
  struct study *s = x->s;
  struct machine *m = &x->machine[x->machines++];
  struct err why = {0};
  size_t n = 0;
  m->gpu = g;
  m->args = ARENA_ARRAY(x->a, char *, 2 * (g->set_count + s->range_count) + 4);
  m->parameters = json_object();
  m->args[n++] = "--gpu";
  m->args[n++] = (char *)g->base;
  if (!gpu_config_load(&m->config, g->base, &why)) return bad(x, g->at, &why);
  for (size_t i = 0; i < g->set_count; i++)
    if (!set_knob(x, m, &n, g->sets[i].key, g->sets[i].value, g->sets[i].at)) return false;
  struct study_at last = g->at;
  for (size_t i = 0; i < s->range_count; i++) {
    const struct study_range *v = &s->ranges[i];
    if (v->scheme) continue;
    const char *value = v->values[combination % v->count];
    combination /= v->count;
    last = v->at;
    if (!set_knob(x, m, &n, v->key, value, v->at)) return false;
    json_object_set_new(m->parameters, v->key, value_of(value));
  }
  if (!gpu_config_check(&m->config, &why)) return bad(x, last, &why);
  SHA2_CTX c;
  SHA256Init(&c);
  gpu_config_each(&m->config, hash_knob, &c);
  SHA256End(&c, m->hash);
  return true;
}

/* ---- schemes ---- */

/* `list` with PARAM=VALUE added to its entry `scheme`. */
static const char *with_param(struct arena *a, const char *list, const char *scheme, const char *param,
                              const char *value) {
  const char *p = entry_of(list, scheme);
  if (!p) return list;
  size_t n = strlen(scheme), entry = n + strcspn(p + n, "+,");
  return arena_printf(a, "%.*s%c%s=%s%s", (int)(p - list + (ptrdiff_t)entry), list, memchr(p, ':', entry) ? '/' : ':',
                      param, value, p + entry);
}

static bool make_variant(struct expansion *x, const struct study_scheme *c, uint32_t sweep, size_t combination) {
  struct study *s = x->s;
  struct variant *v = &x->variant[x->variants++];
  struct err why = {0};
  char list[1024];
  v->scheme = c;
  v->parameters = json_object();
  const char *plain = !strcmp(c->list, "none") ? "baseline" : c->list;
  bool search;
  bool several = sweeps_of(plain, &search) > 1;
  if (!search && !scheme_sweep_list(plain, sweep, list, sizeof list)) {
    err_set(&why, ERR_INPUT, "the list of schemes is too long");
    return bad(x, c->at, &why);
  }
  if (several) json_object_set_new(v->parameters, "machine", json_string(list));
  v->list = arena_strdup(x->a, search ? plain : list);
  for (size_t i = 0; i < s->range_count; i++) {
    const struct study_range *r = &s->ranges[i];
    if (!applies(r, c)) continue;
    const char *value = r->values[combination % r->count];
    combination /= r->count;
    v->list = with_param(x->a, v->list, r->scheme, r->param, value);
    json_object_set_new(v->parameters, r->key, value_of(value));
  }
  if (search) {
    snprintf(v->canonical, sizeof v->canonical, "%s", v->list);
    return true;
  }
  for (size_t i = 0; i < x->machines; i++) /* a scheme may reject some machine of the study */
    if (!scheme_list_check(v->list, &x->machine[i].config, &why)) return bad(x, c->at, &why);
  struct slots slots;
  if (!slots_parse(&slots, v->list, &why)) return bad(x, c->at, &why);
  slots_describe(&slots, v->canonical, sizeof v->canonical);
  slots_free(&slots);
  return true;
}

/* ---- programs ---- */

static const char *replaced(struct arena *a, const char *text, const char *word, const char *by) {
  const char *at = strstr(text, word);
  return at ? replaced(a, arena_printf(a, "%.*s%s%s", (int)(at - text), text, by, at + strlen(word)), word, by) : text;
}

static bool hash_line(SHA2_CTX *c, const char *key, const char *value) {
  SHA256Update(c, (const uint8_t *)key, strlen(key));
  SHA256Update(c, (const uint8_t *)"=", 1);
  SHA256Update(c, (const uint8_t *)value, strlen(value) + 1); /* with its terminator: values may hold any character */
  return true;
}

/* The content of a file that the run reads, if `path` is one. */
static bool hash_input(SHA2_CTX *c, const char *key, const char *path) {
  char hash[STUDY_HASH];
  struct stat st;
  if (stat(path, &st) || !S_ISREG(st.st_mode)) return true;
  return study_hash_file(path, hash) && hash_line(c, key, hash);
}

static bool make_input(struct expansion *x, const struct study_program *p, const char *size, uint64_t replica) {
  struct input *in = &x->input[x->inputs++];
  struct err why = {0};
  char number[32], file[PATH_MAX];
  size_t n = 0, count = 0;
  *in = (struct input){.program = p, .size = size, .replica = replica};
  while (p->argv[count]) count++;
  in->argv = ARENA_ARRAY(x->a, char *, count + 3);
  snprintf(number, sizeof number, "%llu", (unsigned long long)replica);
  for (size_t i = 0; i < count; i++) in->argv[n++] = (char *)replaced(x->a, p->argv[i], "{replica}", number);
  if (size) in->argv[n++] = "--size", in->argv[n++] = (char *)size;
  const char *text = in->argv[0];
  for (size_t i = 1; i < n; i++) text = arena_printf(x->a, "%s %s", text, in->argv[i]);
  in->text = text;
  SHA2_CTX c;
  SHA256Init(&c);
  /* Kernel files and traces are read by Sluice, other programs executed. */
  struct stat st;
  bool plain = p->launch || (strstr(p->argv[0], ".slt") && !stat(p->argv[0], &st));
  bool there = plain ? snprintf(file, sizeof file, "%s", p->argv[0]) > 0 && !stat(file, &st)
                     : x->find(p->argv[0], file, sizeof file);
  if (!there || !study_hash_file(file, in->program_hash)) {
    err_set(&why, ERR_INPUT, "cannot run '%s': %s", p->argv[0],
            there ? strerror(errno) : "no such program here, among the bundled workloads or in PATH");
    return bad(x, p->at, &why);
  }
  hash_line(&c, "program", in->program_hash);
  bool ok = !p->launch || hash_input(&c, "launch", p->launch);
  for (size_t i = 1; ok && i < n; i++) ok = hash_line(&c, "arg", in->argv[i]) && hash_input(&c, "content", in->argv[i]);
  if (!ok) {
    err_set(&why, ERR_INPUT, "cannot read an input of '%s': %s", text, strerror(errno));
    return bad(x, p->at, &why);
  }
  SHA256End(&c, in->hash);
  return true;
}

static bool check_replicas(struct expansion *x, const struct study_program *p) {
  struct err why = {0};
  bool uses = false;
  for (size_t i = 0; p->argv[i]; i++) uses |= strstr(p->argv[i], "{replica}") != NULL;
  if (x->s->replicas == 1 || uses) return true;
  err_set(&why, ERR_INPUT,
          "replicas of '%s' would be the same run again, bit for bit: put {replica} into its arguments, such as "
          "--seed {replica}",
          p->name);
  return bad(x, p->at, &why);
}

/* ---- all of it ---- */

static bool make_all(struct expansion *x) {
  struct study *s = x->s;
  double inputs = 0, variants = 0, machines = machines_of(s) * (double)s->gpu_count;
  for (size_t i = 0; i < s->program_count; i++)
    inputs += (s->programs[i].sized ? (double)s->size_count : 1) * (double)s->replicas;
  for (size_t i = 0; i < s->scheme_count; i++) variants += variants_of(s, &s->schemes[i]);
  x->machine = ARENA_ARRAY(x->a, struct machine, machines + 1);
  x->variant = ARENA_ARRAY(x->a, struct variant, variants + 1);
  x->input = ARENA_ARRAY(x->a, struct input, inputs + 1);
  for (size_t g = 0; g < s->gpu_count; g++)
    for (size_t k = 0; k < (size_t)machines_of(s); k++)
      if (!make_machine(x, &s->gpus[g], k)) return false;
  for (size_t c = 0; c < s->scheme_count; c++) {
    bool search;
    uint32_t sweeps = sweeps_of(s->schemes[c].list, &search);
    size_t combinations = (size_t)(variants_of(s, &s->schemes[c]) / sweeps);
    for (uint32_t w = 0; w < sweeps; w++)
      for (size_t k = 0; k < combinations; k++)
        if (!make_variant(x, &s->schemes[c], w, k)) return false;
  }
  for (size_t p = 0; p < s->program_count; p++) {
    if (!check_replicas(x, &s->programs[p])) return false;
    for (size_t z = 0; z < (s->programs[p].sized ? s->size_count : 1); z++)
      for (uint64_t r = 0; r < s->replicas; r++)
        if (!make_input(x, &s->programs[p], s->programs[p].sized ? s->sizes[z] : NULL, r)) return false;
  }
  for (size_t i = 0; i < s->range_count; i++) {
    bool used = !s->ranges[i].scheme;
    for (size_t c = 0; c < s->scheme_count; c++) used |= applies(&s->ranges[i], &s->schemes[c]);
    struct err why = {0};
    if (used) continue;
    err_set(&why, ERR_INPUT, "no scheme of the study has the parameter %s", s->ranges[i].key);
    return bad(x, s->ranges[i].at, &why);
  }
  return true;
}

static char **run_args(struct expansion *x, const struct machine *m, const struct variant *v, const struct input *in) {
  struct study *s = x->s;
  size_t n = 0, machine = 0, program = 0;
  while (m->args[machine]) machine++;
  while (in->argv[program]) program++;
  char **args = ARENA_ARRAY(x->a, char *, machine + program + 24);
  args[n++] = "--scheme", args[n++] = (char *)v->list;
  for (size_t i = 0; i < machine; i++) args[n++] = m->args[i];
  args[n++] = "--mode", args[n++] = (char *)s->mode;
  if (s->timing_kernels) args[n++] = "--timing-kernels", args[n++] = (char *)s->timing_kernels;
  if (s->estimate) args[n++] = arena_printf(x->a, "--estimate=%s", s->estimate);
  if (s->watchdog) args[n++] = arena_printf(x->a, "--watchdog=%llu", (unsigned long long)s->watchdog);
  if (s->sample) args[n++] = arena_printf(x->a, "--sample=%llu", (unsigned long long)s->sample);
  if (s->characterise) args[n++] = "--characterise";
  if (s->lines) args[n++] = "--lines";
  if (s->detail) args[n++] = "--detail";
  if (in->program->launch) args[n++] = "--launch", args[n++] = (char *)in->program->launch;
  args[n++] = "--";
  for (size_t i = 0; i < program; i++) args[n++] = in->argv[i];
  return args;
}

static void identify(const struct study *s, const struct machine *m, const struct variant *v, const struct input *in,
                     char out[STUDY_HASH]) {
  SHA2_CTX c;
  char what[160];
  SHA256Init(&c);
  hash_line(&c, "sluice run", "1"); /* increased when the meaning of a record changes */
  hash_line(&c, "machine", m->hash);
  hash_line(&c, "scheme", v->canonical);
  hash_line(&c, "input", in->hash);
  hash_line(&c, "mode", s->mode);
  hash_line(&c, "timing-kernels", s->timing_kernels ? s->timing_kernels : "");
  if (s->estimate) hash_line(&c, "estimate", s->estimate);
  snprintf(what, sizeof what, "%llu %llu %d %d %d", (unsigned long long)s->watchdog, (unsigned long long)s->sample,
           s->characterise, s->lines, s->detail);
  hash_line(&c, "recorded", what);
  SHA256End(&c, out);
}

static const char *parameters(struct arena *a, const struct machine *m, const struct variant *v) {
  json_t *all = json_copy(m->parameters);
  json_object_update(all, v->parameters);
  char *text = json_dumps(all, JSON_REAL_PRECISION(10));
  const char *out = arena_strdup(a, text);
  free(text);
  json_decref(all);
  return out;
}

/* Rows with the same run share it. Open addressing over the hashes. */
static void keep_once(struct study_runs *r) {
  size_t room = 64;
  while (room < 2 * r->count) room *= 2;
  uint32_t *table = mem_zeroed(room, sizeof *table);
  size_t kept = 0;
  for (size_t i = 0; i < r->count; i++) {
    char first[17] = {0};
    memcpy(first, r->run[i].hash, 16);
    size_t k = strtoull(first, NULL, 16) & (room - 1);
    while (table[k] && strcmp(r->run[table[k] - 1].hash, r->run[i].hash)) k = (k + 1) & (room - 1);
    if (table[k]) continue;
    table[k] = (uint32_t)kept + 1;
    r->run[kept++] = r->run[i];
  }
  r->count = kept;
  free(table);
}

static void cross(struct expansion *x, struct study_runs *r) {
  size_t all = x->inputs * x->machines * x->variants, n = 0;
  r->run = ARENA_ARRAY(x->a, struct study_run, all);
  r->plan = ARENA_ARRAY(x->a, struct db_plan, all);
  for (size_t i = 0; i < x->inputs; i++) {
    for (size_t m = 0; m < x->machines; m++) {
      for (size_t v = 0; v < x->variants; v++, n++) {
        const struct input *in = &x->input[i];
        const struct machine *machine = &x->machine[m];
        const struct variant *variant = &x->variant[v];
        struct study_run *run = &r->run[n];
        identify(x->s, machine, variant, in, run->hash);
        run->args = run_args(x, machine, variant, in);
        run->program = in->text, run->program_hash = in->program_hash;
        run->gpu = machine->gpu->name, run->scheme = variant->list, run->mode = x->s->mode;
        r->plan[n] = (struct db_plan){.hash = arena_strdup(x->a, run->hash),
                                      .workload = in->program->name,
                                      .suite = in->program->suite,
                                      .group = in->program->group,
                                      .size = in->size,
                                      .gpu = machine->gpu->name,
                                      .scheme = variant->scheme->list,
                                      .parameters = parameters(x->a, machine, variant),
                                      .replica = (int64_t)in->replica};
      }
    }
  }
  r->plan_count = r->count = all;
  keep_once(r);
}

bool study_expand(struct study *s, struct study_runs *r, study_find_fn find, struct err *e) {
  *r = (struct study_runs){0};
  double size = study_size(s);
  if (size > STUDY_RUNS_MAX)
    return err_set(e, ERR_INPUT, "%s: the study has %.3g runs; at most %d fit into one", s->path, size, STUDY_RUNS_MAX);
  struct expansion x = {.s = s, .a = &s->arena, .find = find, .e = e};
  bool ok = make_all(&x);
  if (ok) cross(&x, r);
  for (size_t i = 0; i < x.machines; i++) json_decref(x.machine[i].parameters);
  for (size_t i = 0; i < x.variants; i++) json_decref(x.variant[i].parameters);
  return ok;
}
