/* record.c - writing the result record. Order of keys is order of insertion, so the tables decide it. */
#include "results/record.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonfile.h"
#include "base/mem.h"
#include "model/energy.h"
#include "gpu/common/observed.h"
#include "gpu/observe/l2.h"
#include "results/ledger.h"
#include "results/observed.h"

/* Enough digits to compare rates and means; few enough to be equal with every printf. */
#define RECORD_FLAGS (JSON_INDENT(1) | JSON_REAL_PRECISION(10))

/* The last added launch, until its data is complete. */
struct last {
  bool any, timing;
  uint32_t row;  /* LEDGER_ROWS: it has its own entry */
  json_t *entry; /* that entry, or the observations of a folded launch */
  char kind;     /* of the entry */
  struct gpu_stats stats;
  uint64_t scheme[LEDGER_KEYS], launches;
  uint64_t folded; /* of the launches */
  bool warm;       /* not to be counted */
  struct gpu_l2_sums l2;
};

struct record {
  struct gpu_config config;
  const char *scheme; /* owned by root */
  json_t *root;
  struct ledger *ledger;
  bool unread, every_launch;
  uint64_t warm;
  struct last last;
  /* Of folded rows: first keys, observations. */
  json_t *head[LEDGER_ROWS], *observed[LEDGER_ROWS];
  uint32_t found;        /* the row found last */
  uint64_t early_cycles; /* of launches folded before the ones they overlapped with were added */
  uint64_t early_launches;
  uint32_t early_row;
};

static json_t *text_or_null(const char *s) {
  json_t *j = json_string(s);
  return j ? j : json_string_nocheck("(not UTF-8)");
}

static void add_knob(void *ctx, const char *key, const char *value, const char *unit, const char *doc) {
  (void)unit, (void)doc;
  char *end;
  value = gpu_config_portable(key, value);
  long long n = strtoll(value, &end, 10);
  json_t *v = *value && !*end           ? json_integer(n)
              : !strcmp(value, "true")  ? json_true()
              : !strcmp(value, "false") ? json_false()
                                        : text_or_null(value);
  json_object_set_new_nocheck(ctx, key, v);
}

static struct record *new_document(const struct record_head *h) {
  struct record *r = mem_zeroed(1, sizeof *r);
  char hash[17];
  snprintf(hash, sizeof hash, "%016" PRIx64, gpu_config_hash(h->config));
  json_t *config = json_object();
  gpu_config_each(h->config, add_knob, config);
  r->root = json_object();
  r->config = *h->config;
  json_object_set_new(r->root, "format", json_integer(RECORD_FORMAT));
  json_object_set_new(r->root, "program", text_or_null(h->program ? h->program : ""));
  json_object_set_new(r->root, "mode", text_or_null(h->mode));
  json_object_set_new(r->root, "scheme", text_or_null(h->scheme));
  r->scheme = json_string_value(json_object_get(r->root, "scheme"));
  json_object_set_new(r->root, "gpu", text_or_null(h->config->name));
  json_object_set_new(r->root, "config_hash", json_string(hash));
  json_object_set_new(r->root, "config", config);
  json_object_set_new(r->root, "kernels", json_array());
  r->unread = h->unread;
  r->warm = h->warm;
  if (h->warm) json_object_set_new(r->root, "warm", json_integer((json_int_t)h->warm));
  r->every_launch = h->every_launch;
  return r;
}

struct record *record_new(const struct record_head *h) {
  struct ledger *l = ledger_new(h->unread ? NULL : h->state);
  struct record *r = new_document(h);
  r->ledger = l;
  return r;
}

void record_restart(struct record *r, const char *state) {
  for (uint32_t i = 0; i < LEDGER_ROWS; i++) {
    json_decref(r->head[i]), json_decref(r->observed[i]);
    r->head[i] = r->observed[i] = NULL;
  }
  json_decref(r->last.entry);
  r->last = (struct last){.row = LEDGER_ROWS};
  r->early_cycles = r->early_launches = 0;
  ledger_free(r->ledger);
  r->ledger = ledger_new(r->unread ? NULL : state);
}

static json_t *triple(const uint32_t v[3]) {
  return json_pack("[I, I, I]", (json_int_t)v[0], (json_int_t)v[1], (json_int_t)v[2]);
}

/* Counters of `s`; rates of `timed`. */
static void add_stat_counters(json_t *o, const struct gpu_stats *s, const struct gpu_stats *timed) {
  for (uint32_t i = 0; i < gpu_stat_row_count; i++) {
    const struct stat_row *row = &gpu_stat_rows[i];
    json_t *v;
    if (row->kind == STAT_MEAN) v = json_real(gpu_stats_value(s, row));
    else v = json_integer((json_int_t) * (const uint64_t *)((const char *)s + row->offset));
    json_object_set_new_nocheck(o, row->key, v);
  }
  for (uint32_t i = 0; i < derived_row_count; i++)
    json_object_set_new_nocheck(o, derived_rows[i].key, json_real(derived_rows[i].value(timed)));
}

static void add_stats(json_t *o, const struct gpu_stats *s) {
  add_stat_counters(o, s, s);
}

void *record_counters(const struct gpu_stats *s) {
  json_t *o = json_object();
  add_stats(o, s);
  return o;
}

static json_t *launch_json(const struct record_launch *l) {
  json_t *k = json_object();
  json_object_set_new(k, "name", text_or_null(l->kernel));
  json_object_set_new(k, "mode", text_or_null(l->timing ? "timing" : "functional"));
  json_object_set_new(k, "grid", triple(l->grid));
  json_object_set_new(k, "block", triple(l->block));
  json_object_set_new(k, "shared_bytes", json_integer(l->shared_bytes));
  json_object_set_new(k, "registers", json_integer(l->regs));
  if (l->stream) json_object_set_new(k, "stream", json_integer(l->stream));
  return k;
}

/* Counters of a single launch while others run beside it. */
static bool is_own(const char *key) {
  static const char *const keys[] = {"kernels", "cycles", "thread_insts", "warp_insts", "ctas", "insts.", "registers."};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    size_t n = strlen(keys[i]);
    if (keys[i][n - 1] == '.' ? !strncmp(key, keys[i], n) : !strcmp(key, keys[i])) return true;
  }
  return false;
}

static void add_own_counters(json_t *k, const struct gpu_stats *s, double warps) {
  for (uint32_t i = 0; i < gpu_stat_row_count; i++) {
    const struct stat_row *row = &gpu_stat_rows[i];
    if (!is_own(row->key)) continue;
    json_object_set_new(k, row->key, json_integer((json_int_t) * (const uint64_t *)((const char *)s + row->offset)));
  }
  json_object_set_new(k, "ipc", json_real(gpu_stats_ipc(s)));
  json_object_set_new(k, "warps_per_sm", json_real(warps));
}

/* "first + second", each kernel once. */
static json_t *names_of(const struct record_launch *l, uint32_t n) {
  char all[256];
  size_t used = 0;
  for (uint32_t i = 0; i < n && used < sizeof all; i++) {
    bool known = false;
    for (uint32_t k = 0; k < i && !known; k++) known = !strcmp(l[k].kernel, l[i].kernel);
    if (!known) used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", used ? " + " : "", l[i].kernel);
  }
  return text_or_null(all);
}

/* ---- what has been counted ---- */

/* An entry as in the document, where it is nested twice. */
static char *entry_text(json_t *entry) {
  json_t *nested = json_pack("[[O]]", entry);
  char *all = json_dumps(nested, RECORD_FLAGS);
  CHECK(all, "an entry of a record that is not JSON");
  json_decref(nested);
  enum { BEFORE = 5, AFTER = 5 }; /* "[\n [\n" and "\n ]\n]" */
  size_t n = strlen(all) - BEFORE - AFTER;
  memmove(all, all + BEFORE, n);
  all[n] = 0;
  return all;
}

static void write_entry(struct record *r, char kind, json_t *entry) {
  char *t = entry_text(entry);
  ledger_write(r->ledger, kind, t, strlen(t));
  *(kind == LEDGER_KERNEL ? &r->ledger->f->sums.kernels : &r->ledger->f->sums.overlaps) += 1;
  free(t);
}

void record_commit(struct record *r) {
  struct last *n = &r->last;
  if (!n->any) return;
  struct ledger_file *f = r->ledger->f;
  ledger_begin(r->ledger, n->row);
  struct ledger_sums *s = &r->ledger->f->sums;
  if (n->row < LEDGER_ROWS) {
    gpu_stats_add(&f->row[n->row].stats, &n->stats);
    for (uint32_t i = 0; i < f->keys; i++) f->row[n->row].scheme[i] += n->scheme[i];
  } else if (n->entry) {
    write_entry(r, n->kind, n->entry);
    s = &r->ledger->f->sums; /* a full disk moves it */
  }
  if (!n->warm) {
    gpu_stats_add(&s->total, &n->stats);
    if (n->timing) gpu_stats_add(&s->timed, &n->stats);
    if (n->l2.launches) gpu_l2_sums_add(&s->l2, &n->l2);
    for (uint32_t i = 0; i < r->ledger->f->keys; i++) s->scheme[i] += n->scheme[i];
  }
  s->launches += n->launches;
  s->folded += n->folded;
  ledger_commit(r->ledger);
  if (n->row < LEDGER_ROWS && n->entry) {
    if (r->observed[n->row]) observed_fold(r->observed[n->row], n->entry);
    else r->observed[n->row] = json_incref(n->entry);
  }
  json_decref(n->entry);
  n->any = false;
  n->entry = NULL;
}

/* Launches that were added alone or together: their entry is open until the next. */
static void open_last(struct record *r, const struct gpu_stats *stats, bool timing, uint64_t launches) {
  record_commit(r);
  r->last = (struct last){.any = true,
                          .timing = timing,
                          .row = LEDGER_ROWS,
                          .stats = *stats,
                          .launches = launches,
                          .warm = r->ledger->f->sums.launches < r->warm};
}

/* Has the last launch no entry? */
static bool has_no_entry(const struct record *r) {
  return r->unread || r->last.warm;
}

/* ---- folding ---- */

static bool folds(const struct record *r) {
  const struct ledger_sums *s = &r->ledger->f->sums;
  return !r->every_launch &&
         (s->folded || s->launches >= RECORD_SINGLE_LAUNCHES || s->text_bytes >= RECORD_SINGLE_BYTES);
}

/* The first keys of a row, by which launches are distinguished: fewer where there are many rows. */
static json_t *row_head(const struct record *r, const struct record_launch *l) {
  uint32_t rows = r->ledger->f->rows;
  if (rows < LEDGER_SHAPES) return launch_json(l);
  return json_pack("{s:o, s:s}", "name", rows < LEDGER_NAMED ? text_or_null(l->kernel) : json_string("(others)"),
                   "mode", l->timing ? "timing" : "functional");
}

static bool heads_agree(const json_t *head, const struct record_launch *l) {
  json_t *v;
  const char *name = json_string_value(json_object_get(head, "name"));
  if (!name || strcmp(name, l->kernel)) return !strcmp(name ? name : "", "(others)");
  if (!(v = json_object_get(head, "grid"))) return true;
  const json_t *b = json_object_get(head, "block");
  for (size_t d = 0; d < 3; d++)
    if (json_integer_value(json_array_get(v, d)) != l->grid[d] ||
        json_integer_value(json_array_get(b, d)) != l->block[d])
      return false;
  return json_integer_value(json_object_get(head, "shared_bytes")) == l->shared_bytes &&
         json_integer_value(json_object_get(head, "registers")) == l->regs &&
         json_integer_value(json_object_get(head, "stream")) == l->stream;
}

static bool is_row_of(const struct record *r, uint32_t i, const struct ledger_row *like,
                      const struct record_launch *l) {
  const struct ledger_row *row = &r->ledger->f->row[i];
  return row->overlap == like->overlap && row->own == like->own && row->timing == like->timing &&
         heads_agree(r->head[i], l);
}

/* The row for launches like `l`, where `like` gives the kind of row; created if new. */
static uint32_t find_row(struct record *r, const struct ledger_row *like, const struct record_launch *l) {
  struct ledger_file *f = r->ledger->f;
  if (r->found < f->rows && is_row_of(r, r->found, like, l)) return r->found;
  for (uint32_t i = 0; i < f->rows; i++)
    if (is_row_of(r, i, like, l)) return r->found = i;
  if (!f->rows) ledger_reserve(r->ledger);
  CHECK(r->ledger->f->rows < LEDGER_ROWS, "more kinds of folded launches than there are");
  json_t *head = row_head(r, l);
  char *t = json_dumps(head, JSON_COMPACT);
  CHECK(t, "the head of a row that is not JSON");
  ledger_begin(r->ledger, LEDGER_ROWS);
  uint64_t at = ledger_write(r->ledger, LEDGER_HEAD, t, strlen(t));
  f = r->ledger->f;
  f->row[f->rows] = *like;
  f->row[f->rows].head_at = at;
  f->row[f->rows].head_bytes = strlen(t);
  r->head[f->rows] = head;
  r->found = f->rows++;
  ledger_commit(r->ledger);
  free(t);
  return r->found;
}

/* Count a launch of which only its own counters are known; the sums follow with the launches that it overlapped with.
 */
static uint32_t fold_own(struct record *r, const struct record_launch *l) {
  struct ledger_row like = {.own = true, .timing = true, .launch = l->launch, .start = l->start};
  uint32_t at = find_row(r, &like, l);
  ledger_begin(r->ledger, at);
  struct ledger_row *row = &r->ledger->f->row[at];
  gpu_stats_add(&row->stats, &l->own);
  row->warp_cycles += l->warps * (double)l->own.cycles;
  if (l->end > row->end) row->end = l->end;
  r->ledger->f->sums.folded++;
  ledger_commit(r->ledger);
  return at;
}

/* ---- adding ---- */

void record_add(struct record *r, const struct record_launch *l, const struct gpu_stats *stats) {
  open_last(r, stats, l->timing, 1);
  if (has_no_entry(r)) return;
  if (folds(r)) {
    r->last.row = find_row(r, &(struct ledger_row){.timing = l->timing, .launch = l->launch}, l);
    r->last.folded = 1;
    return;
  }
  r->last.entry = launch_json(l);
  r->last.kind = LEDGER_KERNEL;
  add_stats(r->last.entry, stats);
}

static json_t *own_json(const struct record_launch *l, uint64_t overlap) {
  json_t *k = launch_json(l);
  json_object_set_new(k, "overlap", json_integer((json_int_t)overlap));
  json_object_set_new(k, "launch", json_integer(l->launch));
  json_object_set_new(k, "start_cycle", json_integer((json_int_t)l->start));
  json_object_set_new(k, "end_cycle", json_integer((json_int_t)l->end));
  add_own_counters(k, &l->own, l->warps);
  return k;
}

void record_fold_overlapping(struct record *r, const struct record_launch *l) {
  r->early_cycles += l->end - l->start;
  r->early_launches++;
  if (!r->unread) r->early_row = fold_own(r, l);
}

static void fold_overlap(struct record *r, const struct record_launch *l, uint32_t n, uint64_t start, uint64_t cycles) {
  uint32_t member = r->early_row;
  for (uint32_t i = 0; i < n; i++) member = fold_own(r, &l[i]);
  json_t *names = names_of(l, n);
  struct record_launch all = {.kernel = json_string_value(names), .timing = true};
  struct ledger_row like = {.overlap = true, .timing = true, .member = member, .start = start};
  uint32_t at = r->last.row = find_row(r, &like, &all);
  json_decref(names);
  ledger_begin(r->ledger, at);
  r->ledger->f->row[at].launch_cycles += cycles;
  ledger_commit(r->ledger);
}

void record_add_overlapping(struct record *r, const struct record_launch *l, uint32_t n, uint64_t start,
                            const struct gpu_stats *stats) {
  uint64_t cycles = r->early_cycles;
  for (uint32_t i = 0; i < n; i++) cycles += l[i].end - l[i].start;
  open_last(r, stats, true, n + r->early_launches);
  bool fold = folds(r) || r->early_launches;
  r->early_cycles = r->early_launches = 0;
  if (has_no_entry(r)) return;
  if (fold) {
    fold_overlap(r, l, n, start, cycles);
    return;
  }
  json_t *o = json_object(), *members = json_array();
  struct ledger_file *f = r->ledger->f;
  uint64_t first = f->sums.kernels, overlap = f->sums.overlaps;
  ledger_begin(r->ledger, LEDGER_ROWS);
  for (uint32_t i = 0; i < n; i++) {
    json_t *k = own_json(&l[i], overlap);
    write_entry(r, LEDGER_KERNEL, k);
    json_decref(k);
    json_array_append_new(members, json_integer((json_int_t)(first + i)));
  }
  ledger_commit(r->ledger);
  json_object_set_new(o, "name", names_of(l, n));
  json_object_set_new(o, "kernels_together", members);
  json_object_set_new(o, "start_cycle", json_integer((json_int_t)start));
  json_object_set_new(o, "launch_cycles", json_integer((json_int_t)cycles));
  add_stats(o, stats);
  r->last.entry = o;
  r->last.kind = LEDGER_OVERLAP;
}

void record_add_observed(struct record *r, const struct gpu_observed *observed) {
  struct last *n = &r->last;
  if (!n->any || has_no_entry(r)) return;
  if (n->row < LEDGER_ROWS && !n->entry) n->entry = json_object();
  observed_to_json(n->entry, observed, n->row < LEDGER_ROWS);
  if (gpu_observed_l2(observed)) gpu_l2_sums_add(&n->l2, &gpu_observed_l2(observed)->sums);
}

void record_set_profile(struct record *r, const struct gpu_observed *observed) {
  json_t *profile = profile_to_json(observed);
  if (profile) json_object_set_new(r->root, "profile", profile);
}

static void add_to(json_t *o, const char *key, uint64_t value) {
  json_t *all = json_object_get(o, "scheme_counters");
  if (!all) json_object_set_new(o, "scheme_counters", all = json_object());
  json_object_set_new(all, key, json_integer(json_integer_value(json_object_get(all, key)) + (json_int_t)value));
}

void record_add_scheme_counter(struct record *r, const char *key, uint64_t value) {
  struct last *n = &r->last;
  if (!value) return;
  if (!n->any) open_last(r, &(struct gpu_stats){0}, false, 0);
  if (n->entry && n->row == LEDGER_ROWS) add_to(n->entry, key, value);
  n->scheme[ledger_key(r->ledger, key)] += value;
}

void record_add_copy(struct record *r, uint64_t bytes, bool to_device) {
  *(to_device ? &r->ledger->f->sums.to_device : &r->ledger->f->sums.from_device) += bytes;
}

void record_begin_findings(struct record *r) {
  json_object_set_new(r->root, "findings", json_array());
}

void record_add_finding(struct record *r, const char *check, const char *what, uint64_t count) {
  json_t *f = json_object();
  json_object_set_new(f, "check", text_or_null(check));
  json_object_set_new(f, "text", text_or_null(what));
  json_object_set_new(f, "count", json_integer((json_int_t)count));
  json_array_append_new(json_object_get(r->root, "findings"), f);
}

void record_begin_strays(struct record *r, uint64_t reads, uint64_t writes) {
  json_object_set_new(
      r->root, "out_of_bounds",
      json_pack("{s:I, s:I, s:[]}", "reads", (json_int_t)reads, "writes", (json_int_t)writes, "places"));
}

void record_add_stray(struct record *r, const char *what, uint64_t count) {
  json_t *f = json_object();
  json_object_set_new(f, "text", text_or_null(what));
  json_object_set_new(f, "count", json_integer((json_int_t)count));
  json_array_append_new(json_object_get(json_object_get(r->root, "out_of_bounds"), "places"), f);
}

/* Energy beyond the counters' dynamic energy: needs the clock, the configuration or the schemes. */
void *record_energy(const struct gpu_config *c, const char *scheme, const struct gpu_stats *timed) {
  struct energy_report e = energy_report(timed, c->core_mhz, NULL);
  struct energy_tables t;
  double seconds = (double)timed->cycles / (c->core_mhz * 1e6);
  double leakage = energy_leakage_watt(c) * seconds, refresh = energy_refresh_watt(c) * seconds;
  energy_of_tables(scheme, c, timed, &t);
  double whole = e.total + leakage + refresh + t.joule + t.leak_joule;
  return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:{s:f, s:f, s:f, s:f, s:f}}", "seconds", seconds,
                   "whole_uj", 1e6 * whole, "dynamic_uj", 1e6 * e.total, "leakage_uj", 1e6 * leakage, "refresh_uj",
                   1e6 * refresh, "watt", whole / seconds, "dram_watt", e.dram_watt + refresh / seconds,
                   "ipc_per_joule", whole > 0 ? gpu_stats_ipc(timed) / whole : 0.0, "tables", "bits", t.bits, "mm2",
                   t.mm2, "probes", t.probes, "dynamic_uj", 1e6 * t.joule, "leakage_uj", 1e6 * t.leak_joule);
}

/* ---- while it runs ---- */

const struct gpu_stats *record_total(const struct record *r) {
  return &r->ledger->f->sums.total;
}

bool record_now(const struct record *r, bool last, const char *key, double *value) {
  const struct ledger_file *f = r->ledger->f;
  const struct ledger_sums *s = &f->sums;
  const struct gpu_stats *all = last ? &r->last.stats : &s->total;
  for (uint32_t i = 0; i < gpu_stat_row_count; i++)
    if (!strcmp(gpu_stat_rows[i].key, key)) {
      *value = gpu_stats_value(all, &gpu_stat_rows[i]);
      return true;
    }
  const struct gpu_stats *rates = !last && s->timed.cycles ? &s->timed : all;
  for (uint32_t i = 0; i < derived_row_count; i++)
    if (!strcmp(derived_rows[i].key, key)) {
      *value = derived_rows[i].value(rates);
      return true;
    }
  for (uint32_t i = 0; i < f->keys; i++)
    if (!strcmp(f->key[i], key)) {
      *value = (double)(last ? r->last.scheme : s->scheme)[i];
      return true;
    }
  return false;
}

/* ---- the document ---- */

static void add_scheme_counters(json_t *o, const struct record *r, const uint64_t *values) {
  for (uint32_t i = 0; i < r->ledger->f->keys; i++)
    if (values[i]) add_to(o, r->ledger->f->key[i], values[i]);
}

static uint64_t launches_of(const struct ledger_row *row) {
  return row->stats.kernels;
}

/* Entry of a row. `place`: of rows of launches among the kernels. */
static json_t *row_json(const struct record *r, uint32_t i, const uint64_t *place) {
  const struct ledger_row *row = &r->ledger->f->row[i];
  json_t *o = json_deep_copy(r->head[i]);
  if (row->overlap) {
    json_object_clear(o);
    json_object_set(o, "name", json_object_get(r->head[i], "name"));
    json_object_set_new(o, "kernels_together", json_pack("[I]", (json_int_t)place[row->member]));
    json_object_set_new(o, "start_cycle", json_integer((json_int_t)row->start));
    json_object_set_new(o, "launch_cycles", json_integer((json_int_t)row->launch_cycles));
  } else {
    json_object_set_new(o, "launch", json_integer((json_int_t)row->launch));
  }
  json_object_set_new(o, "launches", json_integer((json_int_t)launches_of(row)));
  if (row->own) {
    double cycles = (double)row->stats.cycles;
    json_object_set_new(o, "start_cycle", json_integer((json_int_t)row->start));
    json_object_set_new(o, "end_cycle", json_integer((json_int_t)row->end));
    add_own_counters(o, &row->stats, cycles > 0 ? row->warp_cycles / cycles : 0);
  } else {
    add_stats(o, &row->stats);
  }
  if (r->observed[i]) {
    json_t *observed = json_deep_copy(r->observed[i]);
    observed_fold_end(observed);
    json_object_update(o, observed);
    json_decref(observed);
  }
  add_scheme_counters(o, r, row->scheme);
  return o;
}

/* A list of entries in the document. */
struct list {
  FILE *f;
  char *text;
  size_t bytes, n;
};

static void list_add(struct list *l, const char *entry, size_t bytes) {
  if (!l->f) l->f = open_memstream(&l->text, &l->bytes);
  CHECK(l->f, "out of memory");
  if (l->n++) fputs(",\n", l->f);
  fwrite(entry, 1, bytes, l->f);
}

/* The entries of single launches, in the order in which they were written. */
static void list_single(const struct record *r, struct list *kernels, struct list *overlaps) {
  char *all = ledger_text(r->ledger), *end = all ? all + r->ledger->f->sums.text_bytes : NULL;
  CHECK(all, "the entries of the record cannot be read");
  for (char *p = all, *t; p < end; p = t + 1) {
    char kind = *p;
    size_t n = strtoull(p + 1, &t, 10);
    if (kind == LEDGER_KERNEL) list_add(kernels, t + 1, n);
    if (kind == LEDGER_OVERLAP) list_add(overlaps, t + 1, n);
    t += 1 + n;
  }
  free(all);
}

static void list_rows(const struct record *r, struct list *kernels, struct list *overlaps) {
  const struct ledger_file *f = r->ledger->f;
  uint64_t place[LEDGER_ROWS], n = f->sums.kernels;
  for (uint32_t i = 0; i < f->rows; i++) place[i] = f->row[i].overlap || !launches_of(&f->row[i]) ? 0 : n++;
  for (uint32_t i = 0; i < f->rows; i++) {
    if (!launches_of(&f->row[i])) continue; /* created for a launch that was never committed */
    json_t *o = row_json(r, i, place);
    char *t = entry_text(o);
    list_add(f->row[i].overlap ? overlaps : kernels, t, strlen(t));
    free(t);
    json_decref(o);
  }
}

/* `all` with the entries in place of the empty list of that name. */
static char *put_list(char *all, const char *key, struct list *l) {
  char mark[64], *out = NULL;
  snprintf(mark, sizeof mark, "\n \"%s\": []",
           key); /* texts contain no line breaks: only a key of the document has this form */
  if (!l->f) return all;
  fclose(l->f);
  char *at = strstr(all, mark);
  CHECK(at, "a record without a list of %s", key);
  size_t before = (size_t)(at - all) + strlen(mark) - 2, n = strlen(all);
  out = mem_alloc(n + l->bytes + 8);
  memcpy(out, all, before);
  char *p = out + before;
  memcpy(p, "[\n", 2), p += 2;
  memcpy(p, l->text, l->bytes), p += l->bytes;
  memcpy(p, "\n ]", 3), p += 3;
  strcpy(p, all + before + 2);
  free(l->text);
  free(all);
  return out;
}

static json_t *folded_json(const struct ledger_sums *s, uint64_t entries) {
  return json_pack("{s:I, s:I, s:I}", "after", (json_int_t)s->kernels, "launches", (json_int_t)s->folded, "rows",
                   (json_int_t)(entries - s->kernels));
}

char *record_text(struct record *r) {
  record_commit(r);
  struct list kernels = {0}, overlaps = {0};
  const struct ledger_sums *s = &r->ledger->f->sums;
  list_single(r, &kernels, &overlaps);
  list_rows(r, &kernels, &overlaps);
  json_t *totals = json_object(), *whole = json_object(), *v;
  const char *key;
  json_object_foreach(r->root, key, v) {
    json_object_set(whole, key, v);
    if (strcmp(key, "kernels")) continue;
    if (overlaps.n) json_object_set_new(whole, "overlaps", json_array());
    if (s->folded) json_object_set_new(whole, "folded", folded_json(s, kernels.n));
  }
  /* With --timing-kernels most launches have no cycles: rates use those that have. */
  add_stat_counters(totals, &s->total, s->timed.cycles ? &s->timed : &s->total);
  if (s->l2.launches) observed_l2_to_totals(totals, &s->l2);
  add_scheme_counters(totals, r, s->scheme);
  json_object_set_new(whole, "copies",
                      json_pack("{s:I, s:I}", "to_device_bytes", (json_int_t)s->to_device, "from_device_bytes",
                                (json_int_t)s->from_device));
  json_object_set_new(whole, "totals", totals);
  if (s->total.cycles) json_object_set_new(whole, "energy", record_energy(&r->config, r->scheme, &s->timed));
  char *out = json_dumps(whole, RECORD_FLAGS);
  json_decref(whole);
  CHECK(out, "a record that is not JSON");
  return put_list(put_list(out, "kernels", &kernels), "overlaps", &overlaps);
}

/* ---- of other processes ---- */

struct record *record_recover(const struct record_head *h, struct err *e) {
  struct ledger *l = ledger_open(h->state, e);
  char *all = l ? ledger_text(l) : NULL;
  if (l && !all) err_set(e, ERR_INPUT, "%s: its entries cannot be read", h->state);
  if (!all) return ledger_free(l), NULL;
  struct record *r = new_document(h);
  r->ledger = l;
  for (uint32_t i = 0; i < l->f->rows; i++) {
    const struct ledger_row *row = &l->f->row[i];
    bool there = row->head_at <= l->f->sums.text_bytes && row->head_bytes <= l->f->sums.text_bytes - row->head_at;
    r->head[i] = there ? json_loadb(all + row->head_at, row->head_bytes, 0, NULL) : NULL;
    if (!r->head[i]) r->head[i] = json_pack("{s:s}", "name", "(unknown)");
  }
  free(all);
  return r;
}

const char *record_state(const struct record *r) {
  return r->ledger->state;
}

void record_set_end(struct record *r, enum record_end how) {
  r->ledger->f->ended = how;
}

bool record_process(const char *state, struct record_process *out) {
  struct ledger *l = ledger_open(state, NULL);
  if (!l) return false;
  *out = (struct record_process){.pid = l->f->pid, .end = l->f->ended, .launches = l->f->sums.launches};
  snprintf(out->command, sizeof out->command, "%.*s", (int)sizeof l->f->command - 1, l->f->command);
  ledger_free(l);
  return true;
}

bool record_write(struct record *r, const char *path, struct err *e) {
  return jsonfile_write_text(record_text(r), path, e);
}

bool record_write_json(const void *document, const char *path, struct err *e) {
  return jsonfile_write(json_incref((json_t *)document), path, RECORD_FLAGS, e);
}

void record_free(struct record *r) {
  if (!r) return;
  for (uint32_t i = 0; i < LEDGER_ROWS; i++) json_decref(r->head[i]), json_decref(r->observed[i]);
  json_decref(r->last.entry);
  json_decref(r->root);
  ledger_free(r->ledger);
  free(r);
}
