/* study_file.c - reads a study file (YAML). Every error names file:line:column and suggests the nearest valid word. */
#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/input.h"
#include "base/paths.h"
#include "base/yamltext.h"
#include "gpu/common/config.h"
#include "gpu/slots/slots.h"
#include "results/record.h"
#include "study/study.h"
#include "study/study_impl.h"

enum { MAX_KEYS = 64, MAX_VALUES = 100000 };

struct reader {
  struct study *s;
  yaml_document_t doc;
  struct err *e;
};

/* ---- nodes ---- */

static bool bad(struct reader *r, const yaml_node_t *n, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static bool bad(struct reader *r, const yaml_node_t *n, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  yaml_refuse_va(r->e, r->s->path, n, fmt, ap);
  va_end(ap);
  return false;
}

static struct study_at at(const yaml_node_t *n) {
  return (struct study_at){n->start_mark.line + 1, n->start_mark.column + 1};
}

static const char *scalar(const yaml_node_t *n) {
  return n && n->type == YAML_SCALAR_NODE ? (const char *)n->data.scalar.value : NULL;
}

static yaml_node_t *node(struct reader *r, int id) {
  return yaml_document_get_node(&r->doc, id);
}

/* Items of a list; one scalar or mapping counts as a list of one. */
static size_t item_count(const yaml_node_t *n) {
  return n->type == YAML_SEQUENCE_NODE ? (size_t)(n->data.sequence.items.top - n->data.sequence.items.start) : 1;
}
static yaml_node_t *item(struct reader *r, yaml_node_t *n, size_t i) {
  return n->type == YAML_SEQUENCE_NODE ? node(r, n->data.sequence.items.start[i]) : n;
}

static yaml_node_t *child(struct reader *r, const yaml_node_t *map, const char *key) {
  for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
    const char *k = scalar(node(r, p->key));
    if (k && !strcmp(k, key)) return node(r, p->value);
  }
  return NULL;
}

/* Every key of `map` must belong to `section` and occur once. */
static bool check_keys(struct reader *r, const yaml_node_t *map, enum study_section section) {
  const char *known[MAX_KEYS];
  size_t count = 0;
  if (map->type != YAML_MAPPING_NODE) return bad(r, map, "a mapping (key: value) is needed here");
  for (size_t i = 0; i < study_key_count && count < MAX_KEYS; i++)
    if (study_keys[i].section == section) known[count++] = study_keys[i].name;
  for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
    const yaml_node_t *n = node(r, p->key);
    const char *k = scalar(n);
    size_t i = 0;
    while (k && i < count && strcmp(known[i], k)) i++;
    if (!k || i == count) {
      const char *near = k ? err_nearest(k, known, count) : NULL;
      return bad(r, n, "unknown key '%s'; %s%s%s", k ? k : "?",
                 near ? "did you mean '" : "`sluice study --help` lists the keys", near ? near : "", near ? "'?" : "");
    }
    for (yaml_node_pair_t *q = map->data.mapping.pairs.start; q < p; q++)
      if (scalar(node(r, q->key)) && !strcmp(scalar(node(r, q->key)), k)) return bad(r, n, "'%s' stands here twice", k);
  }
  return true;
}

/* Texts appear in job scripts, reports and on terminals, one line each. */
static bool one_line(struct reader *r, const yaml_node_t *n, const char *key) {
  const char *t = scalar(n);
  if (t && *t && strlen(t) != n->data.scalar.length) return bad(r, n, "%s: a byte 0 stands in the text", key);
  for (const char *p = t ? t : ""; *p; p++)
    if ((unsigned char)*p < ' ' || *p == 0x7f)
      return bad(r, n, "%s: a line break or another control character stands in the text", key);
  return true;
}

static bool get_text(struct reader *r, yaml_node_t *map, const char *key, const char **out) {
  yaml_node_t *n = child(r, map, key);
  if (!n) return true;
  const char *t = scalar(n);
  if (!t || !*t) return bad(r, n, "%s: a text is needed here", key);
  if (!one_line(r, n, key)) return false;
  *out = arena_strdup(&r->s->arena, t);
  return true;
}

static bool get_count(struct reader *r, yaml_node_t *map, const char *key, uint64_t *out) {
  yaml_node_t *n = child(r, map, key);
  if (!n) return true;
  const char *t = scalar(n);
  char *end = NULL;
  errno = 0;
  unsigned long long v = t ? strtoull(t, &end, 10) : 0;
  if (!t || end == t || *end || *t == '-' || errno || !v || v > UINT32_MAX)
    return bad(r, n, "%s: a whole number from 1 is needed here", key);
  *out = v;
  return true;
}

static bool get_flag(struct reader *r, yaml_node_t *map, const char *key, bool *out) {
  yaml_node_t *n = child(r, map, key);
  if (!n) return true;
  const char *t = scalar(n);
  if (!t || (strcmp(t, "true") && strcmp(t, "false"))) return bad(r, n, "%s: true or false is needed here", key);
  *out = !strcmp(t, "true");
  return true;
}

static bool get_texts(struct reader *r, yaml_node_t *map, const char *key, const char ***out, size_t *count) {
  yaml_node_t *n = child(r, map, key);
  if (!n) return true;
  *count = item_count(n);
  *out = ARENA_ARRAY(&r->s->arena, const char *, *count + 1);
  for (size_t i = 0; i < *count; i++) {
    const char *t = scalar(item(r, n, i));
    if (!t || !*t) return bad(r, item(r, n, i), "%s: a list of texts is needed here", key);
    if (!one_line(r, item(r, n, i), key)) return false;
    (*out)[i] = arena_strdup(&r->s->arena, t);
  }
  return true;
}

static bool one_of(struct reader *r, const yaml_node_t *n, const char *word, const char *const *words, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!strcmp(word, words[i])) return true;
  char all[256] = "";
  for (size_t i = 0; i < count; i++)
    snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? ", " : "", words[i]);
  const char *near = err_nearest(word, words, count);
  return bad(r, n, "unknown word '%s'; %s%s%s", word, near ? "did you mean '" : "allowed: ", near ? near : all,
             near ? "'?" : "");
}

/* "90", "90 s", "10 min", "2 h" in seconds; "500 MB", "4 GB" in bytes. */
static bool quantity(struct reader *r, const yaml_node_t *n, const char *const *units, const double *factors,
                     double *out) {
  const char *t = scalar(n);
  char *end = NULL;
  double v = t ? strtod(t, &end) : 0;
  if (t && end != t && v > 0 && isfinite(v)) {
    end += strspn(end, " ");
    for (size_t i = 0; units[i]; i++)
      if (!strcmp(end, units[i])) {
        *out = v * factors[i];
        return true;
      }
  }
  char all[128] = "";
  for (size_t i = 0; units[i]; i++)
    if (*units[i]) snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", *all ? ", " : "", units[i]);
  return bad(r, n, "'%s': a positive number with a unit is needed here (%s)", t ? t : "?", all);
}

/* ---- programs ---- */

struct study_program *study_add_program(struct study *s) {
  if (s->program_count == s->program_room) {
    size_t room = s->program_room ? 2 * s->program_room : 64;
    struct study_program *grown = ARENA_ARRAY(&s->arena, struct study_program, room);
    if (s->program_count) memcpy(grown, s->programs, s->program_count * sizeof *grown);
    s->programs = grown;
    s->program_room = room;
  }
  s->programs[s->program_count] = (struct study_program){0};
  return &s->programs[s->program_count++];
}

/* Split at spaces; 'single' and "double" quotes keep them. */
static char **split(struct reader *r, const yaml_node_t *n, const char *text) {
  char **argv = ARENA_ARRAY(&r->s->arena, char *, strlen(text) / 2 + 2), *word = arena_strdup(&r->s->arena, text);
  size_t count = 0;
  for (char *p = word; *p;) {
    p += strspn(p, " \t\n");
    if (!*p) break;
    char *to = p, quote = 0;
    argv[count++] = p;
    for (; *p && (quote || !isspace((unsigned char)*p)); p++) {
      if (quote ? *p == quote : *p == '"' || *p == '\'') quote = quote ? 0 : *p;
      else *to++ = *p;
    }
    if (quote) return bad(r, n, "a %c that does not end", quote), NULL;
    if (*p) p++;
    *to = 0;
  }
  if (!count) return bad(r, n, "a command line is needed here"), NULL;
  return argv;
}

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static bool has_dot(const char *path, const char *ending) {
  size_t n = strlen(path), k = strlen(ending);
  return n > k && !strcmp(path + n - k, ending);
}

static bool read_args(struct reader *r, yaml_node_t *n, struct study_program *p) {
  size_t count = item_count(n);
  if (n->type == YAML_SCALAR_NODE) {
    if (!*scalar(n)) return true;
    char **args = split(r, n, scalar(n)), *program = p->argv[0];
    if (!args) return false;
    for (count = 0; args[count]; count++) continue;
    p->argv = ARENA_ARRAY(&r->s->arena, char *, count + 2);
    p->argv[0] = program;
    memcpy(p->argv + 1, args, count * sizeof *args);
    return true;
  }
  if (n->type != YAML_SEQUENCE_NODE) return bad(r, n, "args: a list or a text is needed here");
  char *program = p->argv[0];
  p->argv = ARENA_ARRAY(&r->s->arena, char *, count + 2);
  p->argv[0] = program;
  for (size_t i = 0; i < count; i++) {
    const char *t = scalar(item(r, n, i));
    if (!t) return bad(r, item(r, n, i), "args: a text or a number is needed here");
    p->argv[1 + i] = arena_strdup(&r->s->arena, t);
  }
  return true;
}

static bool read_program(struct reader *r, yaml_node_t *n) {
  struct study_program *p = study_add_program(r->s);
  p->at = at(n);
  if (scalar(n)) {
    if (!(p->argv = split(r, n, scalar(n)))) return false;
  } else {
    if (!check_keys(r, n, STUDY_PROGRAM)) return false;
    const char *program = NULL;
    yaml_node_t *args = child(r, n, "args");
    if (!get_text(r, n, "program", &program) || !get_text(r, n, "name", &p->name) ||
        !get_text(r, n, "launch", &p->launch))
      return false;
    if (!program) return bad(r, n, "a program needs `program: FILE`");
    p->argv = ARENA_ARRAY(&r->s->arena, char *, 2);
    p->argv[0] = arena_strdup(&r->s->arena, program);
    if (args && !read_args(r, args, p)) return false;
  }
  bool kernel = has_dot(p->argv[0], ".ptx") || has_dot(p->argv[0], ".cu");
  if (kernel && !p->launch)
    return bad(r, n, "'%s' needs a launch file: {program: %s, launch: FILE.yaml}", p->argv[0], p->argv[0]);
  if (!kernel && p->launch) return bad(r, n, "a launch file goes with a .ptx or .cu file, not with '%s'", p->argv[0]);
  if (!p->name) p->name = base_name(p->argv[0]);
  p->sized = !p->argv[1] && study_is_workload(p->argv[0]);
  return true;
}

static bool read_traces(struct reader *r, yaml_node_t *n) {
  for (size_t i = 0; i < item_count(n); i++) {
    yaml_node_t *one = item(r, n, i);
    const char *pattern = scalar(one);
    glob_t g;
    if (!pattern) return bad(r, one, "traces: a file name is needed here");
    if (glob(pattern, 0, NULL, &g)) return bad(r, one, "no trace file matches '%s'", pattern);
    for (size_t k = 0; k < g.gl_pathc; k++) {
      struct study_program *p = study_add_program(r->s);
      p->at = at(one);
      p->argv = ARENA_ARRAY(&r->s->arena, char *, 2);
      p->argv[0] = arena_strdup(&r->s->arena, g.gl_pathv[k]);
      p->name = base_name(p->argv[0]);
    }
    globfree(&g);
  }
  return true;
}

static bool read_programs(struct reader *r, yaml_node_t *top) {
  yaml_node_t *programs = child(r, top, "programs"), *suites = child(r, top, "suites"),
              *traces = child(r, top, "traces");
  for (size_t i = 0; programs && i < item_count(programs); i++)
    if (!read_program(r, item(r, programs, i))) return false;
  for (size_t i = 0; suites && i < item_count(suites); i++) {
    yaml_node_t *n = item(r, suites, i);
    struct err e = {0};
    if (!scalar(n)) return bad(r, n, "suites: the name of a suite is needed here");
    if (!study_add_suite(r->s, scalar(n), at(n), &e)) return bad(r, n, "%.1000s", e.msg);
  }
  return !traces || read_traces(r, traces);
}

/* ---- machines ---- */

static bool read_sets(struct reader *r, yaml_node_t *n, struct study_gpu *g) {
  if (n->type != YAML_MAPPING_NODE) return bad(r, n, "set: a mapping (knob: value) is needed here");
  size_t count = (size_t)(n->data.mapping.pairs.top - n->data.mapping.pairs.start);
  g->sets = ARENA_ARRAY(&r->s->arena, struct study_set, count + 1);
  for (yaml_node_pair_t *p = n->data.mapping.pairs.start; p < n->data.mapping.pairs.top; p++) {
    yaml_node_t *k = node(r, p->key), *v = node(r, p->value);
    if (!scalar(k) || !scalar(v)) return bad(r, k, "set: knob: value, such as l1d.sets: 64");
    g->sets[g->set_count++] =
        (struct study_set){at(v), arena_strdup(&r->s->arena, scalar(k)), arena_strdup(&r->s->arena, scalar(v))};
  }
  return true;
}

static bool read_gpu(struct reader *r, yaml_node_t *n, struct study_gpu *g) {
  g->at = at(n);
  if (scalar(n)) {
    g->name = g->base = arena_strdup(&r->s->arena, scalar(n));
  } else {
    if (!check_keys(r, n, STUDY_GPU)) return false;
    if (!get_text(r, n, "name", &g->name) || !get_text(r, n, "base", &g->base)) return false;
    yaml_node_t *set = child(r, n, "set");
    if (set && !read_sets(r, set, g)) return false;
    if (!g->base) g->base = "fermi";
    if (!g->name && g->set_count)
      return bad(r, n, "a GPU with changed knobs needs a `name`, to tell it apart in results");
    if (!g->name) g->name = g->base;
  }
  for (const struct study_gpu *o = r->s->gpus; o < g; o++)
    if (!strcmp(o->name, g->name)) return bad(r, n, "two GPUs are called '%s'", g->name);
  struct gpu_config c;
  struct err e = {0};
  if (!gpu_config_load(&c, g->base, &e)) return bad(r, n, "%.1000s", e.msg);
  return true;
}

static bool read_gpus(struct reader *r, yaml_node_t *top) {
  struct study *s = r->s;
  yaml_node_t *n = child(r, top, "gpus");
  size_t count = n ? item_count(n) : 1;
  s->gpus = ARENA_ARRAY(&s->arena, struct study_gpu, count + 1);
  s->gpus[0] = (struct study_gpu){.name = "fermi", .base = "fermi"};
  for (size_t i = 0; n && i < count; i++)
    if (!read_gpu(r, item(r, n, i), &s->gpus[i])) return false;
  s->gpu_count = count;
  return true;
}

static bool read_schemes(struct reader *r, yaml_node_t *top) {
  struct study *s = r->s;
  yaml_node_t *n = child(r, top, "schemes");
  size_t count = n ? item_count(n) : 1;
  s->schemes = ARENA_ARRAY(&s->arena, struct study_scheme, count + 1);
  s->schemes[0] = (struct study_scheme){.list = "none"};
  for (size_t i = 0; n && i < count; i++) {
    const char *t = scalar(item(r, n, i));
    if (!t || !*t) return bad(r, item(r, n, i), "schemes: a text as after --scheme is needed here");
    s->schemes[i] = (struct study_scheme){at(item(r, n, i)), arena_strdup(&s->arena, t)};
  }
  s->scheme_count = count;
  return true;
}

/* ---- ranges ---- */

static bool number(struct reader *r, yaml_node_t *map, const char *key, bool needed, double *out) {
  yaml_node_t *n = child(r, map, key);
  const char *t = n ? scalar(n) : NULL;
  char *end = NULL;
  if (!n) return !needed || bad(r, map, "a range needs `from` and `to`");
  *out = t ? strtod(t, &end) : 0;
  return (t && end != t && !*end && isfinite(*out)) || bad(r, n, "%s: a number is needed here", key);
}

static bool read_values(struct reader *r, yaml_node_t *n, struct study_range *v) {
  if (n->type != YAML_MAPPING_NODE) {
    v->count = item_count(n);
    v->values = ARENA_ARRAY(&r->s->arena, const char *, v->count + 1);
    if (!v->count) return bad(r, n, "no values to try");
    for (size_t i = 0; i < v->count; i++) {
      const char *t = scalar(item(r, n, i));
      if (!t || !*t) return bad(r, item(r, n, i), "a value is needed here");
      v->values[i] = arena_strdup(&r->s->arena, t);
    }
    return true;
  }
  double from = 0, to = 0, step = 1, times = 0;
  if (!check_keys(r, n, STUDY_RANGE) || !number(r, n, "from", true, &from) || !number(r, n, "to", true, &to) ||
      !number(r, n, "step", false, &step) || !number(r, n, "times", false, &times))
    return false;
  if (to < from) return bad(r, n, "the range is empty: from %g to %g", from, to);
  if (child(r, n, "times") && (times <= 1 || from <= 0))
    return bad(r, n, "times: a factor above 1, and `from` above 0");
  if (step <= 0) return bad(r, n, "step: a number above 0 is needed here");
  double count = times > 1 ? floor(log(to / from) / log(times) + 1e-9) + 1 : floor((to - from) / step + 1e-9) + 1;
  if (count > MAX_VALUES) return bad(r, n, "%.0f values are too many for one parameter", count);
  v->count = (size_t)count;
  v->values = ARENA_ARRAY(&r->s->arena, const char *, v->count + 1);
  for (size_t i = 0; i < v->count; i++)
    v->values[i] =
        arena_printf(&r->s->arena, "%.10g", times > 1 ? from * pow(times, (double)i) : from + step * (double)i);
  return true;
}

/* A knob, or SCHEME.PARAMETER. */
static bool find_range(struct reader *r, const yaml_node_t *n, struct study_range *v) {
  const char *names[512];
  size_t count = 0;
  for (uint32_t i = 0; i < gpu_knob_row_count; i++) {
    if (!strcmp(gpu_knob_rows[i].key, v->key)) return true;
    if (count < 512) names[count++] = gpu_knob_rows[i].key;
  }
  for (uint32_t i = 0; i < scheme_count(); i++) {
    const struct scheme *s = scheme_at(i);
    for (uint32_t k = 0; k < scheme_param_count(s); k++) {
      char *name = arena_printf(&r->s->arena, "%s.%s", s->name, s->params[k].name);
      if (count < 512) names[count++] = name;
      if (strcmp(name, v->key)) continue;
      v->scheme = s->name;
      v->param = s->params[k].name;
      return true;
    }
  }
  const char *near = err_nearest(v->key, names, count);
  return bad(r, n, "'%s' is neither a knob (`sluice knobs`) nor SCHEME.PARAMETER (`sluice schemes`)%s%s%s", v->key,
             near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static bool read_ranges(struct reader *r, yaml_node_t *top) {
  yaml_node_t *n = child(r, top, "parameters");
  if (!n) return true;
  if (n->type != YAML_MAPPING_NODE) return bad(r, n, "parameters: a mapping (key: values) is needed here");
  size_t count = (size_t)(n->data.mapping.pairs.top - n->data.mapping.pairs.start);
  r->s->ranges = ARENA_ARRAY(&r->s->arena, struct study_range, count + 1);
  for (yaml_node_pair_t *p = n->data.mapping.pairs.start; p < n->data.mapping.pairs.top; p++) {
    struct study_range *v = &r->s->ranges[r->s->range_count++];
    yaml_node_t *k = node(r, p->key);
    v->at = at(k);
    v->key = arena_strdup(&r->s->arena, scalar(k) ? scalar(k) : "?");
    if (!find_range(r, k, v) || !read_values(r, node(r, p->value), v)) return false;
  }
  return true;
}

/* ---- the rest ---- */

static bool read_limits(struct reader *r, yaml_node_t *top) {
  static const char *const times[] = {"", "s", "min", "h", NULL}, *const sizes[] = {"MB", "GB", "MiB", "GiB", NULL};
  static const double seconds[] = {1, 1, 60, 3600}, bytes[] = {1e6, 1e9, 1048576, 1073741824};
  yaml_node_t *n = child(r, top, "limits"), *v;
  double memory = 0;
  if (!n) return true;
  if (!check_keys(r, n, STUDY_LIMIT)) return false;
  if ((v = child(r, n, "time")) && !quantity(r, v, times, seconds, &r->s->time_limit)) return false;
  if ((v = child(r, n, "memory")) && !quantity(r, v, sizes, bytes, &memory)) return false;
  if (memory > 1e18) return bad(r, v, "'%s': at most 1000000000 GB can be given", scalar(v));
  r->s->memory_limit = (uint64_t)memory;
  return true;
}

/* A value of an #SBATCH line; sbatch splits at blanks and quotes. */
static bool slurm_word(struct reader *r, yaml_node_t *map, const char *key, const char **out) {
  if (!get_text(r, map, key, out)) return false;
  const char *t = *out ? *out : "", *odd = t + strcspn(t, " \"'`\\$;<>#");
  return !*odd || bad(r, child(r, map, key), "%s: '%c' cannot stand here; further options of sbatch go under `options`",
                      key, *odd);
}

static bool read_slurm(struct reader *r, yaml_node_t *top) {
  yaml_node_t *n = child(r, top, "slurm");
  struct study_slurm *s = &r->s->slurm;
  *s = (struct study_slurm){.cpus = 1, .runs_per_task = 1};
  if (!n) return true;
  if (!check_keys(r, n, STUDY_CLUSTER) || !slurm_word(r, n, "partition", &s->partition) ||
      !slurm_word(r, n, "account", &s->account) || !slurm_word(r, n, "qos", &s->qos) ||
      !slurm_word(r, n, "constraint", &s->constraint) || !slurm_word(r, n, "time", &s->time) ||
      !slurm_word(r, n, "memory", &s->memory) || !get_count(r, n, "cpus", &s->cpus) ||
      !get_count(r, n, "runs-per-task", &s->runs_per_task) || !get_count(r, n, "max-running", &s->max_running) ||
      !get_texts(r, n, "options", &s->options, &s->option_count))
    return false;
  for (size_t i = 0; i < s->option_count; i++)
    if (*s->options[i] != '-')
      return bad(r, item(r, child(r, n, "options"), i),
                 "options: '%s' does not begin with '-', as options of sbatch do", s->options[i]);
  return true;
}

static bool check_metrics(struct reader *r, yaml_node_t *n) {
  const char *names[512];
  size_t count = 0;
  for (uint32_t i = 0; i < gpu_stat_row_count && count < 512; i++) names[count++] = gpu_stat_rows[i].key;
  for (uint32_t i = 0; i < derived_row_count && count < 512; i++) names[count++] = derived_rows[i].key;
  for (size_t i = 0; n && i < item_count(n); i++) {
    const char *m = scalar(item(r, n, i));
    const char *dot = strchr(m, '.');
    char scheme[64];
    snprintf(scheme, sizeof scheme, "%.*s", dot ? (int)(dot - m) : 0, m);
    if (!scheme_find(scheme) && !one_of(r, item(r, n, i), m, names, count)) {
      const char *near = err_nearest(m, names, count);
      return bad(r, item(r, n, i), "unknown metric '%s'; %s%s%s", m,
                 near ? "did you mean '" : "`sluice stats` lists them", near ? near : "", near ? "'?" : "");
    }
  }
  return true;
}

static bool read_words(struct reader *r, yaml_node_t *top) {
  static const char *const modes[] = {"timing", "functional"}, *const sizes[] = {"small", "medium", "large"};
  struct study *s = r->s;
  if (!get_text(r, top, "mode", &s->mode) || !get_texts(r, top, "sizes", &s->sizes, &s->size_count) ||
      !get_texts(r, top, "metrics", &s->metrics, &s->metric_count))
    return false;
  if (s->mode && !one_of(r, child(r, top, "mode"), s->mode, modes, 2)) return false;
  for (size_t i = 0; i < s->size_count; i++)
    if (!one_of(r, item(r, child(r, top, "sizes"), i), s->sizes[i], sizes, 3)) return false;
  return check_metrics(r, child(r, top, "metrics"));
}

static bool read_top(struct reader *r, yaml_node_t *top) {
  struct study *s = r->s;
  if (!check_keys(r, top, STUDY_TOP) || !get_text(r, top, "name", &s->name) ||
      !get_text(r, top, "results", &s->results))
    return false;
  if (s->name && strlen(s->name) > 100) return bad(r, child(r, top, "name"), "the name is longer than 100 characters");
  if (!get_text(r, top, "timing-kernels", &s->timing_kernels) || !get_text(r, top, "estimate", &s->estimate) ||
      !get_count(r, top, "replicas", &s->replicas) || !get_count(r, top, "watchdog", &s->watchdog) ||
      !get_count(r, top, "sample", &s->sample) || !get_flag(r, top, "characterise", &s->characterise) ||
      !get_flag(r, top, "lines", &s->lines) || !get_flag(r, top, "detail", &s->detail))
    return false;
  if (!read_words(r, top) || !read_limits(r, top) || !read_slurm(r, top) || !read_programs(r, top) ||
      !read_gpus(r, top) || !read_schemes(r, top) || !read_ranges(r, top))
    return false;
  if (!s->program_count)
    return bad(r, top, "the study has no runs: it names no program (keys `programs`, `suites`, `traces`)");
  if (!s->scheme_count || !s->gpu_count)
    return bad(r, top, "the study has no runs: `schemes` or `gpus` is an empty list");
  return true;
}

static void set_defaults(struct study *s) {
  static const char *small[] = {"small", NULL}, *ipc[] = {"ipc", NULL};
  if (!s->name) {
    char *name = arena_strdup(&s->arena, s->file), *dot = strrchr(name, '.');
    if (dot && dot > name) *dot = 0;
    s->name = name;
  }
  if (!s->results) s->results = arena_printf(&s->arena, "%s.db", s->name);
  if (!s->size_count) s->sizes = small, s->size_count = 1;
  if (!s->metric_count) s->metrics = ipc, s->metric_count = 1;
  if (!s->replicas) s->replicas = 1;
  if (!s->mode) s->mode = "timing";
}

bool study_read(struct study *s, const char *path, struct err *e) {
  *s = (struct study){0};
  s->path = arena_strdup(&s->arena, path);
  s->file = base_name(s->path);
  char *text = input_read(path, INPUT_YAML_MOST, &s->bytes, e);
  if (text) s->text = memcpy(arena_alloc(&s->arena, s->bytes + 1), text, s->bytes + 1);
  free(text);
  return s->text != NULL;
}

bool study_parse(struct study *s, struct err *e) {
  struct reader r = {.s = s, .e = e};
  if (!yaml_text_load(&r.doc, s->path, s->text, s->bytes, e)) return false;
  yaml_node_t *top = yaml_document_get_root_node(&r.doc);
  bool ok = top ? read_top(&r, top) : err_set(e, ERR_INPUT, "%s:1:1: the file is empty", s->path);
  yaml_document_delete(&r.doc);
  if (ok) set_defaults(s);
  return ok;
}

bool study_load(struct study *s, const char *path, struct err *e) {
  return study_read(s, path, e) && study_parse(s, e);
}

void study_free(struct study *s) {
  arena_free(&s->arena);
}
