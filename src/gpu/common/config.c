/* config.c - the GPU configuration: the table generated from knobs.def, configuration files (YAML), and --set.
 *
 * A file is a YAML mapping; nested keys are joined with dots, so that `l2: {sets: 64}` is `l2.sets`. Two keys are not
 * knobs: `base` names the configuration that the file starts from (default: the table's defaults), `description` is
 * free text. Numbers may carry the unit of their knob (700 MHz, 48 KiB); another unit is an error.
 */
#include "gpu/common/config.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

#include "base/mem.h"
#include "base/hash.h"
#include "base/input.h"
#include "base/paths.h"

enum { MAX_DEPTH = 8, MAX_BASES = 4, MAX_KEY = 128, MAX_FILES = 64 };

const char *const sched_names[] = {"gto", "lrr", "two-level", "gty", NULL};
const char *const alloc_names[] = {"on-miss", "on-fill", NULL};
const char *const index_names[] = {"linear", "fermi-hash", "xor", "ipoly", NULL};
const char *const repl_names[] = {"lru", "fifo", NULL};
const char *const l2_org_names[] = {"line", "sector", NULL};
const char *const write_names[] = {"write-back", "write-through", NULL};
const char *const dram_names[] = {"fr-fcfs", "fcfs", NULL};
const char *const partition_names[] = {"modulo", "ipoly", "skewed", NULL};
const char *const store_names[] = {"evict", "update", "allocate", NULL};
const char *const prefetch_names[] = {"after-demand", "equal", NULL};
const char *const pipe_names[] = {"by-type", "fp32", "int", "either", "sfu", "fp64", "tensor", NULL};
const char *const code_names[] = {"ptx", "machine", NULL};
const char *const icnt_names[] = {"crossbar", "mesh", NULL};

/* Minimum entries of a miss queue. As in the reference, a miss waits until all its requests fit. At the L1 these are
 * the fetch and a write-back, at the L2 also the write itself. */
enum { PLACES_l1d = 2, PLACES_l1i = 1, PLACES_l1c = 1, PLACES_l15c = 2, PLACES_l1t = 1, PLACES_l2 = 3 };

#define AT(field) offsetof(struct gpu_config, field)
#define UINT_ROW(k, u, d, at, lo, hi) \
  {.key = k, .unit = u, .doc = d, .type = KNOB_UINT, .offset = at, .min = lo, .max = hi},
#define WORD_ROW(k, d, at, w) {.key = k, .unit = "", .doc = d, .type = KNOB_WORD, .offset = at, .words = w},
const struct knob_row gpu_knob_rows[] = {
#define KNOB_U(field, key, dflt, min, max, unit, doc) UINT_ROW(key, unit, doc, AT(field), min, max)
#define KNOB_B(field, k, dflt, d) {.key = k, .unit = "", .doc = d, .type = KNOB_BOOL, .offset = AT(field)},
#define KNOB_E(field, k, dflt, names, d) \
  {.key = k, .unit = "", .doc = d, .type = KNOB_WORD, .offset = AT(field), .words = names},
#define KNOB_S(field, k, dflt, d) {.key = k, .unit = "", .doc = d, .type = KNOB_TEXT, .offset = AT(field)},
#define LATENCY(cls, key, lat_, every, doc)                                                                         \
  UINT_ROW("latency." key, "cycle", doc ": cycles until the result", AT(lat[cls].latency), 1, 1000)                 \
  UINT_ROW("interval." key, "cycle", doc ": cycles until the pipe takes the next", AT(lat[cls].interval), 1, 10000) \
  WORD_ROW("pipe." key, doc ": pipe of a sub-core", AT(lat[cls].pipe), pipe_names)
#define CACHE(field, key, sets_, ways_, line_, mshrs_, merges_, missq_, doc)                              \
  UINT_ROW(key ".sets", "set", doc ": sets", AT(field.sets), 1, 65536)                                    \
  UINT_ROW(key ".ways", "way", doc ": lines of a set", AT(field.ways), 1, 4096)                           \
  UINT_ROW(key ".line_bytes", "B", doc ": line size", AT(field.line), 32, 256)                            \
  UINT_ROW(key ".mshrs", "entry", doc ": miss status holding registers", AT(field.mshrs), 1, 4096)        \
  UINT_ROW(key ".mshr_merges", "access", doc ": accesses that one MSHR holds", AT(field.merges), 1, 4096) \
  UINT_ROW(key ".miss_queue", "request", doc ": misses that wait to leave", AT(field.miss_queue), PLACES_##field, 4096)
#include "gpu/common/knobs.def"
};
const uint32_t gpu_knob_row_count = sizeof gpu_knob_rows / sizeof *gpu_knob_rows;

void gpu_config_defaults(struct gpu_config *c) {
  memset(c, 0, sizeof *c);
#define KNOB_U(field, key, dflt, min, max, unit, doc) c->field = (dflt);
#define KNOB_B(field, key, dflt, doc) c->field = (dflt);
#define KNOB_E(field, key, dflt, names, doc) c->field = (dflt);
#define KNOB_S(field, key, dflt, doc) snprintf(c->field, sizeof c->field, "%s", dflt);
#define LATENCY(cls, key, lat_, every, doc) c->lat[cls] = (struct latency_config){lat_, every, PIPE_BY_TYPE};
#define CACHE(field, key, sets_, ways_, line_, mshrs_, merges_, missq_, doc) \
  c->field = (struct cache_config){sets_, ways_, line_, mshrs_, merges_, missq_};
#include "gpu/common/knobs.def"
}

/* ---- one value ---- */

static void *field(struct gpu_config *c, const struct knob_row *r) {
  return (char *)c + r->offset;
}

static const struct knob_row *find_knob(const char *key) {
  for (uint32_t i = 0; i < gpu_knob_row_count; i++)
    if (gpu_knob_rows[i].key[0] == key[0] && !strcmp(gpu_knob_rows[i].key, key)) return &gpu_knob_rows[i];
  return NULL;
}

static bool unknown_key(const char *key, const char *where, struct err *e) {
  const char *keys[sizeof gpu_knob_rows / sizeof *gpu_knob_rows];
  for (uint32_t i = 0; i < gpu_knob_row_count; i++) keys[i] = gpu_knob_rows[i].key;
  const char *near = err_nearest(key, keys, gpu_knob_row_count);
  if (near) return err_set(e, ERR_USAGE, "%s: unknown key '%s'; did you mean '%s'?", where, key, near);
  return err_set(e, ERR_USAGE, "%s: unknown key '%s'; `sluice knobs` lists them", where, key);
}

/* The factor of a unit suffix on a knob measured in `unit`; 0: not a unit of this knob. */
static uint64_t unit_factor(const char *suffix, const char *unit) {
  static const struct {
    const char *unit, *suffix;
    uint64_t factor;
  } table[] = {
      {"B", "B", 1},        {"B", "KiB", 1024},   {"B", "KB", 1024},    {"B", "MiB", 1 << 20},
      {"B", "MB", 1 << 20}, {"MHz", "MHz", 1},    {"MHz", "GHz", 1000}, {"MiB", "MiB", 1},
      {"MiB", "MB", 1},     {"MiB", "GiB", 1024}, {"MiB", "GB", 1024},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (!strcmp(unit, table[i].unit) && !strcasecmp(suffix, table[i].suffix)) return table[i].factor;
  size_t n = strlen(unit);
  if (n && !strncasecmp(suffix, unit, n) && (!suffix[n] || !strcmp(suffix + n, "s") || !strcmp(suffix + n, "es")))
    return 1;
  const char *last = strrchr(unit, ' '); /* "cycles" suffices for "L2 cycle" */
  return last ? unit_factor(suffix, last + 1) : 0;
}

static bool set_uint(uint32_t *out, const struct knob_row *r, const char *value, const char *where, struct err *e) {
  char *end;
  errno = 0;
  uint64_t v = strtoull(value, &end, value[0] == '0' && (value[1] | 32) == 'x' ? 16 : 10);
  if (!isdigit((unsigned char)*value) || errno || *end == '.')
    return err_set(e, ERR_USAGE, "%s: '%s' needs a whole number from %u to %u%s%s, not '%s'", where, r->key, r->min,
                   r->max, *r->unit ? " " : "", r->unit, value);
  while (isspace((unsigned char)*end)) end++;
  if (*end) {
    uint64_t factor = unit_factor(end, r->unit);
    if (!factor && *r->unit)
      return err_set(e, ERR_USAGE, "%s: '%s': '%s' is not a unit of this knob; its unit is %s", where, r->key, end,
                     r->unit);
    if (!factor) return err_set(e, ERR_USAGE, "%s: '%s': '%s' after the number; it has no unit", where, r->key, end);
    v = v > UINT32_MAX ? v : v * factor;
  }
  if (v < r->min || v > r->max)
    return err_set(e, ERR_USAGE, "%s: '%s' must be from %u to %u%s%s, not %llu", where, r->key, r->min, r->max,
                   *r->unit ? " " : "", r->unit, (unsigned long long)v);
  *out = (uint32_t)v;
  return true;
}

static bool set_word(uint32_t *out, const struct knob_row *r, const char *value, const char *where, struct err *e) {
  char all[256];
  size_t used = 0;
  for (uint32_t i = 0; r->words[i]; i++) {
    if (!strcmp(value, r->words[i])) {
      *out = i;
      return true;
    }
    used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", r->words[i]);
  }
  return err_set(e, ERR_USAGE, "%s: '%s' must be one of %s, not '%s'", where, r->key, all, value);
}

static bool set_bool(bool *out, const struct knob_row *r, const char *value, const char *where, struct err *e) {
  static const char *const yes[] = {"true", "yes", "on", "1"}, *const no[] = {"false", "no", "off", "0"};
  for (size_t i = 0; i < 4; i++) {
    if (!strcasecmp(value, yes[i])) return *out = true;
    if (!strcasecmp(value, no[i])) {
      *out = false;
      return true;
    }
  }
  return err_set(e, ERR_USAGE, "%s: '%s' must be true or false, not '%s'", where, r->key, value);
}

static bool set_row(struct gpu_config *c, const struct knob_row *r, const char *value, const char *where,
                    struct err *e) {
  switch (r->type) {
  case KNOB_UINT:
    return set_uint(field(c, r), r, value, where, e);
  case KNOB_WORD:
    return set_word(field(c, r), r, value, where, e);
  case KNOB_BOOL:
    return set_bool(field(c, r), r, value, where, e);
  case KNOB_TEXT:
    if (strlen(value) >= sizeof c->name)
      return err_set(e, ERR_USAGE, "%s: '%s' is longer than %zu characters", where, r->key, sizeof c->name - 1);
    snprintf(field(c, r), sizeof c->name, "%s", value);
    return true;
  }
  return false;
}

bool gpu_config_set(struct gpu_config *c, const char *key, const char *value, const char *where, struct err *e) {
  const struct knob_row *r = find_knob(key);
  return r ? set_row(c, r, value, where, e) : unknown_key(key, where, e);
}

/* ---- files ---- */

struct reader {
  struct gpu_config *c;
  const char *path;
  yaml_parser_t *p;
  struct err *e;
  struct origins *origins;
  bool top_seen_knob; /* `base` after a knob would undo the knob: an error */
  bool base_seen;     /* at most one `base`: files naming each other would be read again and again */
  bool seen[sizeof gpu_knob_rows / sizeof *gpu_knob_rows];
};

/* Source of each knob's value, for errors of the whole-configuration check. */
struct origins {
  struct {
    uint32_t file, line; /* line 0: the default */
  } at[sizeof gpu_knob_rows / sizeof *gpu_knob_rows];
  char path[MAX_BASES][PATH_MAX];
};

static bool load_named(struct gpu_config *c, const char *name, struct origins *o, unsigned depth, struct err *e);

static bool yaml_failed(struct reader *r) {
  return err_set(r->e, ERR_INPUT, "%s:%zu:%zu: %s%s%s", r->path, r->p->problem_mark.line + 1,
                 r->p->problem_mark.column + 1, r->p->problem ? r->p->problem : "not YAML", r->p->context ? ", " : "",
                 r->p->context ? r->p->context : "");
}

static bool apply_scalar(struct reader *r, const char *key, const char *value, size_t line, unsigned depth) {
  char where[PATH_MAX + 32];
  snprintf(where, sizeof where, "%s:%zu", r->path, line);
  if (!strcmp(key, "description")) return true;
  if (!strcmp(key, "base")) {
    if (r->base_seen) return err_set(r->e, ERR_INPUT, "%s: 'base' is given twice", where);
    r->base_seen = true;
    if (r->top_seen_knob) return err_set(r->e, ERR_INPUT, "%s: 'base' must come before every knob", where);
    if (depth + 1 >= MAX_BASES)
      return err_set(r->e, ERR_INPUT, "%s: more than %d configurations deep", where, MAX_BASES);
    return load_named(r->c, value, r->origins, depth + 1, r->e) || err_prefix(r->e, "%s: base", where);
  }
  r->top_seen_knob = true;
  const struct knob_row *row = find_knob(key);
  if (!row) return unknown_key(key, where, r->e);
  bool *seen = &r->seen[row - gpu_knob_rows];
  if (*seen) return err_set(r->e, ERR_INPUT, "%s: '%s' is given twice", where, key);
  *seen = true;
  r->origins->at[row - gpu_knob_rows].file = depth;
  r->origins->at[row - gpu_knob_rows].line = (uint32_t)line;
  return set_row(r->c, row, value, where, r->e);
}

static bool read_mapping(struct reader *r, const char *prefix, unsigned nesting, unsigned depth) {
  for (;;) {
    yaml_event_t k, v;
    if (!yaml_parser_parse(r->p, &k)) return yaml_failed(r);
    yaml_event_type_t kt = k.type;
    if (kt == YAML_MAPPING_END_EVENT) {
      yaml_event_delete(&k);
      return true;
    }
    size_t line = k.start_mark.line + 1;
    char key[MAX_KEY];
    bool fits = kt == YAML_SCALAR_EVENT && (size_t)snprintf(key, sizeof key, "%s%s%s", prefix, *prefix ? "." : "",
                                                            k.data.scalar.value) < sizeof key;
    yaml_event_delete(&k);
    if (!fits) return err_set(r->e, ERR_INPUT, "%s:%zu: a key must be a short word", r->path, line);
    if (!yaml_parser_parse(r->p, &v)) return yaml_failed(r);
    bool ok;
    if (v.type == YAML_SCALAR_EVENT)
      ok = apply_scalar(r, key, (const char *)v.data.scalar.value, v.start_mark.line + 1, depth);
    else if (v.type == YAML_MAPPING_START_EVENT && nesting < MAX_DEPTH) ok = read_mapping(r, key, nesting + 1, depth);
    else ok = err_set(r->e, ERR_INPUT, "%s:%zu: '%s' needs a value or a mapping", r->path, v.start_mark.line + 1, key);
    yaml_event_delete(&v);
    if (!ok) return false;
  }
}

static bool read_document(struct reader *r, unsigned depth) {
  for (;;) {
    yaml_event_t ev;
    if (!yaml_parser_parse(r->p, &ev)) return yaml_failed(r);
    yaml_event_type_t t = ev.type;
    size_t line = ev.start_mark.line + 1;
    yaml_event_delete(&ev);
    if (t == YAML_STREAM_END_EVENT) return true;
    if (t == YAML_MAPPING_START_EVENT && !read_mapping(r, "", 0, depth)) return false;
    if (t == YAML_SCALAR_EVENT || t == YAML_SEQUENCE_START_EVENT)
      return err_set(r->e, ERR_INPUT, "%s:%zu: a configuration is a mapping of keys to values", r->path, line);
  }
}

static bool load_file(struct gpu_config *c, const char *path, struct origins *o, unsigned depth, struct err *e) {
  if (strlen(path) >= sizeof o->path[0]) return err_set(e, ERR_USAGE, "a path of %zu characters", strlen(path));
  strcpy(o->path[depth], path);
  size_t bytes;
  char *text = input_read(path, INPUT_YAML_MOST, &bytes, e);
  if (!text) return false;
  yaml_parser_t p;
  CHECK(yaml_parser_initialize(&p), "libyaml: out of memory");
  yaml_parser_set_input_string(&p, (const unsigned char *)text, bytes);
  struct reader r = {.c = c, .path = path, .p = &p, .e = e, .origins = o};
  bool ok = read_document(&r, depth);
  yaml_parser_delete(&p);
  free(text);
  return ok;
}

static bool unknown_name(const char *name, struct err *e) {
  char dir[PATH_MAX];
  char names[MAX_FILES][64];
  const char *list[MAX_FILES];
  size_t n = 0;
  path_find(dir, sizeof dir, "configs");
  DIR *d = opendir(dir);
  for (struct dirent *de; d && n < MAX_FILES && (de = readdir(d));) {
    char *dot = strrchr(de->d_name, '.');
    if (!dot || strcmp(dot, ".yaml")) continue;
    snprintf(names[n], sizeof names[n], "%.*s", (int)(dot - de->d_name), de->d_name);
    list[n] = names[n];
    n++;
  }
  if (d) closedir(d);
  const char *near = err_nearest(name, list, n);
  if (near) return err_set(e, ERR_USAGE, "unknown GPU '%s'; did you mean '%s'?", name, near);
  return err_set(e, ERR_USAGE, "unknown GPU '%s'; `sluice gpus` lists them, and a file can be named by its path", name);
}

static bool load_named(struct gpu_config *c, const char *name, struct origins *o, unsigned depth, struct err *e) {
  if (strchr(name, '/') || strstr(name, ".yaml") || strstr(name, ".yml")) return load_file(c, name, o, depth, e);
  char rel[256], path[PATH_MAX];
  if ((size_t)snprintf(rel, sizeof rel, "configs/%s.yaml", name) < sizeof rel && path_find(path, sizeof path, rel))
    return load_file(c, path, o, depth, e);
  return unknown_name(name, e);
}

/* Put file:line before a message of the whole-configuration check: of the first key in it that a file set, since the
 * key at fault comes first. */
static bool name_origin(const struct origins *o, struct err *e) {
  for (const char *p = e->msg; *p;) {
    size_t n = strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");
    char key[MAX_KEY];
    snprintf(key, sizeof key, "%.*s", (int)n, p);
    const struct knob_row *r = n ? find_knob(key) : NULL;
    uint32_t i = r ? (uint32_t)(r - gpu_knob_rows) : 0;
    if (r && o->at[i].line) {
      err_prefix(e, "%s:%u", o->path[o->at[i].file], o->at[i].line);
      break;
    }
    p += n ? n : 1;
  }
  return false;
}

bool gpu_config_load(struct gpu_config *c, const char *name, struct err *e) {
  struct err local;
  if (!e) e = &local;
  struct origins *o = mem_zeroed(1, sizeof *o);
  gpu_config_defaults(c);
  bool ok = load_named(c, name, o, 0, e) && (gpu_config_check(c, e) || name_origin(o, e));
  free(o);
  return ok;
}

/* ---- the whole ---- */

static bool is_pow2(uint32_t v) {
  return v && !(v & (v - 1));
}

static bool check_cache(const struct cache_config *k, const char *name, uint32_t index, struct err *e) {
  if (!is_pow2(k->line)) return err_set(e, ERR_USAGE, "%s.line_bytes is %u: a line is a power of two", name, k->line);
  if (!is_pow2(k->sets))
    return err_set(e, ERR_USAGE,
                   "%s.sets is %u: the set index is taken from address bits, so it must be a power of two", name,
                   k->sets);
  if (index == INDEX_FERMI_HASH && k->sets > 1 && k->sets != 32 && k->sets != 64)
    return err_set(
        e, ERR_USAGE,
        "%s.sets is %u: the index fermi-hash is defined for 32 and 64 sets; choose %s.index: linear, xor or ipoly",
        name, k->sets, name);
  if ((uint64_t)k->sets * k->ways > 1u << 20)
    return err_set(e, ERR_USAGE, "%s.ways is %u: with %u sets (%s.sets) that is more than 1048576 lines", name, k->ways,
                   k->sets, name);
  return true;
}

/* Knobs of the operand collectors, which machines with fixed latencies lack. */
static bool check_collectors(const struct gpu_config *c, struct err *e) {
  struct gpu_config unset;
  if (!c->sub_cores || !c->fixed_issue) return true;
  gpu_config_defaults(&unset);
  const struct {
    const char *key;
    uint32_t value, unset;
  } of[] = {{"sm.register_banks", c->reg_banks, unset.reg_banks}, {"sm.collectors", c->oc_gen, unset.oc_gen}};
  for (size_t i = 0; i < sizeof of / sizeof *of; i++)
    if (of[i].value != of[i].unset)
      return err_set(e, ERR_USAGE,
                     "%s is %u, but has no effect with sm.fixed_latency: operands are read at a fixed time, without "
                     "conflicts; leave it away or set sm.fixed_latency=false",
                     of[i].key, of[i].value);
  return true;
}

/* Buffers of more than two instructions are those of front.inc. */
static bool check_buffer(const struct gpu_config *c, struct err *e) {
  if (c->ibuffer <= 2 || (c->sub_cores && c->fixed_issue)) return true;
  return err_set(e, ERR_USAGE,
                 "sm.ibuffer is %u, but more than 2 entries have no effect without sm.sub_cores and sm.fixed_latency; "
                 "set sm.ibuffer=2, or both to true",
                 c->ibuffer);
}

static bool check_sm(const struct gpu_config *c, struct err *e) {
  if (c->sm_threads % 32)
    return err_set(e, ERR_USAGE, "sm.threads is %u: it must be a multiple of the warp size, 32", c->sm_threads);
  if (c->sm_threads > 64 * 32)
    return err_set(e, ERR_USAGE, "sm.threads is %u: at most 2048 (64 warps on an SM)", c->sm_threads);
  if (c->sm_cta_threads > c->sm_threads)
    return err_set(e, ERR_USAGE, "sm.cta_threads is %u, but an SM holds %u (sm.threads)", c->sm_cta_threads,
                   c->sm_threads);
  if (c->schedulers > c->sm_threads / 32)
    return err_set(e, ERR_USAGE, "sm.schedulers is %u, but an SM has only %u warps", c->schedulers, c->sm_threads / 32);
  if (c->sub_cores && (c->oc_gen % c->schedulers || c->reg_banks % c->schedulers))
    return err_set(e, ERR_USAGE,
                   "sm.collectors (%u) and sm.register_banks (%u) must be multiples of sm.schedulers (%u): "
                   "sub-cores share them out evenly",
                   c->oc_gen, c->reg_banks, c->schedulers);
  if (!check_collectors(c, e) || !check_buffer(c, e)) return false;
  if (!is_pow2(c->shared_banks))
    return err_set(e, ERR_USAGE, "sm.shared_banks is %u: a power of two is needed", c->shared_banks);
  return check_cache(&c->l1d, "l1d", c->l1d_index, e) && check_cache(&c->l1i, "l1i", INDEX_LINEAR, e) &&
         check_cache(&c->l1c, "l1c", INDEX_LINEAR, e) && check_cache(&c->l15c, "l15c", INDEX_LINEAR, e) &&
         check_cache(&c->l1t, "l1t", INDEX_LINEAR, e);
}

static bool check_map(const struct gpu_config *c, struct err *e) {
  uint32_t bits[4] = {0}, total = 0; /* R, B, C, S */
  for (const char *p = c->dram_map; *p; p++) {
    const char *at = strchr("RBCS", *p);
    if (*p == ' ') continue;
    if (!at && *p != '0')
      return err_set(e, ERR_USAGE, "dram.address_map: '%c' is not one of 0, R (row), B (bank), C (column), S (burst)",
                     *p);
    if (at) bits[at - "RBCS"]++;
    total++;
  }
  if (total != 64) return err_set(e, ERR_USAGE, "dram.address_map has %u bits, not 64", total);
  if (bits[1] > 31 || c->dram_banks != 1u << bits[1])
    return err_set(e, ERR_USAGE, "dram.address_map has %u bank bits, but dram.banks is %u", bits[1], c->dram_banks);
  if (!bits[0] || bits[0] > 31 || !bits[2] || bits[2] > 31)
    return err_set(e, ERR_USAGE, "dram.address_map needs from 1 to 31 row bits and column bits; it has %u and %u",
                   bits[0], bits[2]);
  uint32_t atom = c->dram_bus_bytes * c->dram_chips * c->dram_burst;
  if (bits[3] > 31 || atom != 1u << bits[3])
    return err_set(e, ERR_USAGE,
                   "dram.address_map has %u burst bits, but dram.bus_bytes x dram.chips x dram.burst is %u bytes",
                   bits[3], atom);
  if (c->l2.line % atom && atom % c->l2.line)
    return err_set(e, ERR_USAGE, "l2.line_bytes is %u, which DRAM bursts of %u bytes do not fill evenly", c->l2.line,
                   atom);
  return true;
}

static bool check_memory(const struct gpu_config *c, struct err *e) {
  if (!check_cache(&c->l2, "l2", c->l2_index, e)) return false;
  if (!is_pow2(c->subparts))
    return err_set(e, ERR_USAGE, "memory.subpartitions is %u: a power of two is needed", c->subparts);
  if (c->subparts > c->dram_banks)
    return err_set(e, ERR_USAGE, "memory.subpartitions is %u, more than dram.banks (%u)", c->subparts, c->dram_banks);
  if (c->l1d.line > c->l2.line)
    return err_set(e, ERR_USAGE, "l1d.line_bytes is %u, larger than l2.line_bytes (%u): a fill would need two L2 lines",
                   c->l1d.line, c->l2.line);
  if (c->l2_org == L2_SECTORS && (c->l2.line < 32 || c->l2.line > 256))
    return err_set(e, ERR_USAGE, "l2.line_bytes is %u: sectors of 32 B need lines of 32 to 256", c->l2.line);
  if (!is_pow2(c->l2_port_bytes))
    return err_set(e, ERR_USAGE, "l2.port_bytes is %u: a power of two is needed", c->l2_port_bytes);
  if (c->partition_hash == PARTITION_IPOLY && !is_pow2(c->channels))
    return err_set(e, ERR_USAGE, "memory.partition_hash ipoly needs a power of two of memory.channels, not %u",
                   c->channels);
  if (!is_pow2(c->l1d_bypass_segment))
    return err_set(e, ERR_USAGE, "l1d.bypass_segment is %u: 32, 64 or 128 are possible", c->l1d_bypass_segment);
  if (!is_pow2(c->l1d_atomic_segment))
    return err_set(e, ERR_USAGE, "l1d.atomic_segment is %u: 32, 64 or 128 are possible", c->l1d_atomic_segment);
  if (c->dram_banks % c->dram_groups)
    return err_set(e, ERR_USAGE, "dram.banks (%u) is not a multiple of dram.bank_groups (%u)", c->dram_banks,
                   c->dram_groups);
  if (c->dram_burst % c->dram_rate)
    return err_set(e, ERR_USAGE, "dram.burst (%u) is not a multiple of dram.transfers_per_cycle (%u)", c->dram_burst,
                   c->dram_rate);
  if (c->tREFI && c->tRFC >= c->tREFI)
    return err_set(e, ERR_USAGE, "dram.tRFC is %u: a refresh must be shorter than dram.tREFI (%u)", c->tRFC, c->tREFI);
  if (c->tRC < c->tRAS + c->tRP)
    return err_set(e, ERR_USAGE, "dram.tRC is %u: a row cycle cannot be shorter than tRAS + tRP = %u", c->tRC,
                   c->tRAS + c->tRP);
  if (c->tRAS < c->tRCD)
    return err_set(e, ERR_USAGE, "dram.tRAS (%u) is shorter than dram.tRCD (%u)", c->tRAS, c->tRCD);
  return check_map(c, e);
}

static bool check_network(const struct gpu_config *c, struct err *e) {
  uint32_t nodes = c->sms + c->channels * c->subparts * c->icnt_ports;
  if (nodes > 512) {
    char ports[48] = "";
    if (c->icnt_ports > 1) snprintf(ports, sizeof ports, ", each with %u nodes,", c->icnt_ports);
    return err_set(e, ERR_USAGE,
                   "sms is %u: with memory.channels x memory.subpartitions = %u x %u%s that makes %u nodes of the "
                   "interconnect, which has at most 512",
                   c->sms, c->channels, c->subparts, ports, nodes);
  }
  if (c->icnt_back_to_back && (c->icnt_kind != ICNT_CROSSBAR || c->icnt_vcs > 1 || c->icnt_wire > 2))
    return err_set(
        e, ERR_USAGE,
        "icnt.back_to_back needs icnt.topology=crossbar, icnt.virtual_channels=1 and an icnt.channel_latency "
        "of at most 2 (here %s, %u, %u)",
        icnt_names[c->icnt_kind], c->icnt_vcs, c->icnt_wire);
  /* The largest packet is a whole line with header. */
  uint32_t line = c->l2.line > c->l1d.line ? c->l2.line : c->l1d.line;
  bool reply = c->icnt_reply_flit && c->icnt_reply_flit < c->icnt_flit;
  uint32_t bytes = reply ? c->icnt_reply_flit : c->icnt_flit, flits = (line + 8 + bytes - 1) / bytes;
  const struct {
    const char *key;
    uint32_t flits;
  } buffers[] = {{"injection", c->icnt_in_buf}, {"ejection", c->icnt_ej_buf}, {"boundary", c->icnt_bnd_buf}};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
    if (flits > buffers[i].flits)
      return err_set(e, ERR_USAGE,
                     "icnt.%s_buffer is %u flits, but a packet of one line has %u (l1d.line_bytes, l2.line_bytes, "
                     "icnt.%s)",
                     buffers[i].key, buffers[i].flits, flits, reply ? "reply_flit_bytes" : "flit_bytes");
  return true;
}

bool gpu_config_check(const struct gpu_config *c, struct err *e) {
  return check_sm(c, e) && check_memory(c, e) && check_network(c, e);
}

/* ---- listing ---- */

static const char *value_text(const struct gpu_config *c, const struct knob_row *r, char *buf, size_t size) {
  const void *p = (const char *)c + r->offset;
  switch (r->type) {
  case KNOB_UINT:
    snprintf(buf, size, "%u", *(const uint32_t *)p);
    return buf;
  case KNOB_BOOL:
    return *(const bool *)p ? "true" : "false";
  case KNOB_WORD:
    return r->words[*(const uint32_t *)p];
  case KNOB_TEXT:
    return p;
  }
  return "";
}

void gpu_config_each(const struct gpu_config *c,
                     void (*f)(void *ctx, const char *key, const char *value, const char *unit, const char *doc),
                     void *ctx) {
  char buf[32];
  for (uint32_t i = 0; i < gpu_knob_row_count; i++) {
    const struct knob_row *r = &gpu_knob_rows[i];
    f(ctx, r->key, value_text(c, r, buf, sizeof buf), r->unit, r->doc);
  }
}

const char *gpu_config_portable(const char *key, const char *value) {
  const char *slash = strcmp(key, "profile.file") ? NULL : strrchr(value, '/');
  return slash ? slash + 1 : value;
}

static void hash_one(void *ctx, const char *key, const char *value, const char *unit, const char *doc) {
  (void)unit, (void)doc;
  uint64_t *h = ctx;
  value = gpu_config_portable(key, value);
  *h = hash_bytes(*h, key, strlen(key) + 1);
  *h = hash_bytes(*h, value, strlen(value) + 1);
}

uint64_t gpu_config_hash(const struct gpu_config *c) {
  uint64_t h = HASH_INIT;
  gpu_config_each(c, hash_one, &h);
  return h;
}
