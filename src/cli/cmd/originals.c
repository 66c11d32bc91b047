/* originals.c - see originals.h. */
#include "cli/cmd/originals.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/paths.h"
#include "base/yamltext.h"

const char *const input_sizes[INPUT_SIZES] = {"small", "medium", "large", "paper"};
static const char inputs_word[] = "{inputs}";

/* ---- the mapping file ---- */

struct reader {
  struct arena *a;
  const char *path;
  yaml_document_t doc;
  struct err *e;
};

static bool refuse_node(struct reader *r, const yaml_node_t *n, const char *what, const char *which) {
  return yaml_refuse(r->e, r->path, n, "%s%.200s", what, which);
}

/* A value by its key; marks it in `seen`. */
struct key {
  const char *name;
  bool needed;
  bool (*take)(struct reader *r, const yaml_node_t *value, void *into);
  size_t at; /* bytes into what it fills */
};

static const yaml_node_t *node(struct reader *r, int index) {
  return yaml_document_get_node(&r->doc, index);
}

static bool unknown_key(struct reader *r, const yaml_node_t *key, const struct key *keys, const char *what) {
  const char *names[16], *word = (const char *)key->data.scalar.value;
  char text[300];
  size_t n = 0;
  for (const struct key *k = keys; k->name; k++) names[n++] = k->name;
  const char *near = err_nearest(word, names, n);
  snprintf(text, sizeof text, "%s has no key '%.100s'%s%s%s", what, word, near ? ", did you mean '" : "",
           near ? near : "", near ? "'?" : "");
  return refuse_node(r, key, text, "");
}

/* The keys of a mapping into `into`. */
static bool take_keys(struct reader *r, const yaml_node_t *n, const struct key *keys, const char *what, void *into) {
  unsigned seen = 0;
  if (n->type != YAML_MAPPING_NODE) return refuse_node(r, n, what, " must be a mapping of keys to values");
  for (const yaml_node_pair_t *p = n->data.mapping.pairs.start; p < n->data.mapping.pairs.top; p++) {
    const yaml_node_t *key = node(r, p->key);
    if (key->type != YAML_SCALAR_NODE) return refuse_node(r, key, "a key must be a word", "");
    const struct key *k = keys;
    while (k->name && strcmp(k->name, (const char *)key->data.scalar.value) != 0) k++;
    if (!k->name) return unknown_key(r, key, keys, what);
    if (seen >> (k - keys) & 1) return refuse_node(r, key, "given twice: ", k->name);
    seen |= 1U << (k - keys);
    if (!k->take(r, node(r, p->value), (char *)into + k->at)) return false;
  }
  for (const struct key *k = keys; k->name; k++)
    if (k->needed && !(seen >> (k - keys) & 1)) {
      char text[120];
      snprintf(text, sizeof text, "%s lacks '", what);
      return refuse_node(r, n, text, arena_printf(r->a, "%s'", k->name));
    }
  return true;
}

static bool take_text(struct reader *r, const yaml_node_t *n, void *into) {
  if (n->type != YAML_SCALAR_NODE) return refuse_node(r, n, "must be a text", "");
  *(const char **)into = arena_strdup(r->a, (const char *)n->data.scalar.value);
  return true;
}

static bool take_count(struct reader *r, const yaml_node_t *n, void *into) {
  const char *s = n->type == YAML_SCALAR_NODE ? (const char *)n->data.scalar.value : "";
  char *end;
  double v = strtod(s, &end);
  if (!*s || *end || !(v > 0) || v > 1e18) return refuse_node(r, n, "must be a number of instructions: ", s);
  *(double *)into = v;
  return true;
}

static bool take_figures(struct reader *r, const yaml_node_t *n, void *into) {
  struct originals *o = into;
  if (n->type != YAML_SEQUENCE_NODE) return refuse_node(r, n, "must be a list of figures", "");
  for (const yaml_node_item_t *i = n->data.sequence.items.start; i < n->data.sequence.items.top; i++) {
    if (o->figure_count == sizeof o->figures / sizeof *o->figures) return refuse_node(r, n, "too many figures", "");
    if (!take_text(r, node(r, *i), &o->figures[o->figure_count++])) return false;
  }
  return true;
}

static bool take_files(struct reader *r, const yaml_node_t *n, void *into) {
  struct original *p = into;
  if (n->type != YAML_MAPPING_NODE) return refuse_node(r, n, "must map a name to a file of the inputs", "");
  for (const yaml_node_pair_t *q = n->data.mapping.pairs.start; q < n->data.mapping.pairs.top; q++) {
    if (p->files == sizeof p->file / sizeof *p->file) return refuse_node(r, n, "too many files", "");
    struct original_file *f = &p->file[p->files++];
    if (!take_text(r, node(r, q->key), &f->name) || !take_text(r, node(r, q->value), &f->input)) return false;
  }
  return true;
}

/* A launch, the first and the last, or the first alone: 2, 0:8, 3: */
static bool take_range(struct reader *r, const yaml_node_t *n, void *into) {
  const char *s = n->type == YAML_SCALAR_NODE ? (const char *)n->data.scalar.value : "";
  size_t digits = strspn(s, "0123456789"), rest = digits + (s[digits] == ':');
  if (!digits || s[rest + strspn(s + rest, "0123456789") * (rest > digits)])
    return refuse_node(r, n, "must be launches as in 0:2: ", s);
  return take_text(r, n, into);
}

struct input {
  const char *program, *arguments, *launches;
  double max_insts;
};
static const struct key input_keys[] = {{"arguments", true, take_text, offsetof(struct input, arguments)},
                                        {"program", false, take_text, offsetof(struct input, program)},
                                        {"max_insts", false, take_count, offsetof(struct input, max_insts)},
                                        {"launches", false, take_range, offsetof(struct input, launches)},
                                        {.name = NULL}};

/* Of each size its arguments, or a mapping. */
static bool take_inputs(struct reader *r, const yaml_node_t *n, void *into) {
  struct original *p = into;
  if (n->type != YAML_MAPPING_NODE) return refuse_node(r, n, "must map sizes to command lines", "");
  for (const yaml_node_pair_t *q = n->data.mapping.pairs.start; q < n->data.mapping.pairs.top; q++) {
    const yaml_node_t *key = node(r, q->key), *value = node(r, q->value);
    int s = key->type == YAML_SCALAR_NODE ? originals_size((const char *)key->data.scalar.value) : -1;
    struct input in = {0};
    if (s < 0) return refuse_node(r, key, "a size is small, medium, large or paper", "");
    bool ok = value->type == YAML_SCALAR_NODE ? take_text(r, value, &in.arguments)
                                              : take_keys(r, value, input_keys, "an input", &in);
    if (!ok) return false;
    p->input[s].arguments = in.arguments;
    p->input[s].program = in.program;
    p->input[s].max_insts = in.max_insts;
    p->input[s].launches = in.launches;
  }
  return true;
}

struct program {
  struct original p;
  const char *program, *note;
};
#define AT(member) offsetof(struct program, p.member)
static const struct key program_keys[] = {{"name", true, take_text, AT(name)},
                                          {"like", true, take_text, AT(like)},
                                          {"suite", true, take_text, AT(suite)},
                                          {"version", true, take_text, AT(version)},
                                          {"program", true, take_text, offsetof(struct program, program)},
                                          {"insts", false, take_count, AT(insts)},
                                          {"inputs", true, take_inputs, offsetof(struct program, p)},
                                          {"files", false, take_files, offsetof(struct program, p)},
                                          {"make", true, take_text, AT(make)},
                                          {"rule", true, take_text, AT(rule)},
                                          {"note", false, take_text, offsetof(struct program, note)},
                                          {.name = NULL}};

static bool take_programs(struct reader *r, const yaml_node_t *n, void *into) {
  struct originals *o = into;
  if (n->type != YAML_SEQUENCE_NODE) return refuse_node(r, n, "must be a list of programs", "");
  for (const yaml_node_item_t *i = n->data.sequence.items.start; i < n->data.sequence.items.top; i++) {
    const yaml_node_t *one = node(r, *i);
    struct program q = {.p.line = one->start_mark.line + 1};
    if (!take_keys(r, one, program_keys, "a program", &q)) return false;
    if (originals_find(o, q.p.name)) return refuse_node(r, one, "a program that is there already: ", q.p.name);
    if (o->count == ORIGINALS_MAX) return refuse_node(r, one, "too many programs", "");
    for (int s = 0; s < INPUT_SIZES; s++)
      if (!q.p.input[s].program) q.p.input[s].program = q.program;
    o->at[o->count++] = q.p;
  }
  return true;
}

struct file {
  struct originals o;
  const char *paper;
};
static const struct key file_keys[] = {{"paper", true, take_text, offsetof(struct file, paper)},
                                       {"figures", true, take_figures, offsetof(struct file, o)},
                                       {"programs", true, take_programs, offsetof(struct file, o)},
                                       {.name = NULL}};

struct originals *originals_load_file(struct arena *a, const char *path, const char *paper, struct err *e) {
  struct reader r = {.a = a, .path = arena_strdup(a, path), .e = e};
  struct file *f = ARENA_NEW(a, struct file);
  if (!yaml_file_load(&r.doc, path, e)) return NULL;
  const yaml_node_t *root = yaml_document_get_root_node(&r.doc);
  bool ok = root ? take_keys(&r, root, file_keys, "the file", f) : err_set(e, ERR_INPUT, "%s: the file is empty", path);
  if (ok && strcmp(f->paper, paper) != 0) ok = refuse_node(&r, root, "the mapping is of another paper: ", f->paper);
  yaml_document_delete(&r.doc);
  f->o.path = r.path;
  return ok ? &f->o : NULL;
}

struct originals *originals_load(struct arena *a, const char *paper, struct err *e) {
  char path[PATH_MAX];
  if (path_find(path, sizeof path, arena_printf(a, "originals/%s.yaml", paper)))
    return originals_load_file(a, path, paper, e);
  return err_set(e, ERR_INPUT, "there is no mapping of %s to original programs: '%s' is missing", paper, path), NULL;
}

const struct original *originals_find(const struct originals *o, const char *name) {
  for (size_t i = 0; i < o->count; i++)
    if (!strcmp(o->at[i].name, name)) return &o->at[i];
  return NULL;
}

int originals_size(const char *size) {
  for (int s = 0; s < INPUT_SIZES; s++)
    if (!strcmp(size, input_sizes[s])) return s;
  return -1;
}

/* ---- the folder ---- */

/* Arguments name inputs as {inputs}/FILE: calls `each` with the path below the folder. */
static bool each_input(struct arena *a, const char *arguments, bool (*each)(void *ctx, const char *path), void *ctx) {
  for (const char *s = arguments; (s = strstr(s, inputs_word)); s += sizeof inputs_word - 1) {
    const char *file = s + sizeof inputs_word - 1;
    if (!each(ctx, arena_printf(a, "inputs%.*s", (int)strcspn(file, " ,"), file))) return false;
  }
  return true;
}

struct look {
  struct arena *a;
  const char *folder, *lacks;
  double bytes;
};

static bool look_at(void *ctx, const char *path) {
  struct look *l = ctx;
  struct stat s;
  if (stat(arena_printf(l->a, "%s/%s", l->folder, path), &s)) l->lacks = path;
  else l->bytes += (double)s.st_size;
  return !l->lacks;
}

static bool look_for(struct arena *a, const struct originals *o, const struct original *p, int size, struct look *l) {
  *l = (struct look){.a = a, .folder = o->folder};
  each_input(a, p->input[size].arguments, look_at, l);
  for (size_t i = 0; i < p->files && !l->lacks; i++) look_at(l, arena_printf(a, "inputs/%s", p->file[i].input));
  return !l->lacks;
}

bool originals_in(struct arena *a, struct originals *o, const char *folder, const char *size, struct err *e) {
  char whole[PATH_MAX];
  int s = originals_size(size);
  size_t have = 0, wanted = 0;
  if (!realpath(folder, whole))
    return err_set(e, ERR_INPUT, "no folder '%s' with the original programs: %s", folder, strerror(errno));
  o->folder = arena_strdup(a, whole);
  for (size_t i = 0; i < o->count; i++) {
    struct original *p = &o->at[i];
    struct look l = {0};
    if (!p->input[s].arguments) continue;
    wanted++;
    const char *program = arena_printf(a, "%s/%s", o->folder, p->input[s].program);
    bool built = !access(program, X_OK), inputs = look_for(a, o, p, s, &l);
    p->input[s].missing = !built || !inputs;
    have += !p->input[s].missing;
    if (!built) printf("missing: %s, %s of %s (github.com/%s)\n", p->name, p->input[s].program, p->suite, p->version);
    if (!inputs) printf("missing: %s, %s (to make it: %s)\n", p->name, l.lacks, p->make);
  }
  if (have) return true;
  return err_set(e, ERR_INPUT,
                 "'%s' has none of the %zu original programs that %s names with %s inputs; the first is '%s'", folder,
                 wanted, o->path, size, o->at[0].input[s].program);
}

/* ---- a run ---- */

static json_t *words(struct arena *a, const struct originals *o, const char *arguments) {
  json_t *all = json_array();
  char *copy = arena_strdup(a, arguments), *save = NULL;
  for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
    const char *text = "", *at;
    for (; (at = strstr(w, inputs_word)); w = (char *)at + sizeof inputs_word - 1)
      text = arena_printf(a, "%s%.*s%s/inputs", text, (int)(at - w), w, o->folder ? o->folder : "FOLDER");
    json_array_append_new(all, json_string(arena_printf(a, "%s%s", text, w)));
  }
  return all;
}

json_t *originals_run(struct arena *a, const struct originals *o, const struct original *p, const char *size) {
  int s = originals_size(size);
  struct look l = {0};
  if (s < 0 || !p->input[s].arguments || p->input[s].missing) return NULL;
  json_t *files = json_object();
  for (size_t i = 0; i < p->files; i++)
    json_object_set_new(files, p->file[i].name,
                        json_string(arena_printf(a, "%s/inputs/%s", o->folder ? o->folder : "", p->file[i].input)));
  if (o->folder) look_for(a, o, p, s, &l);
  const char *program = p->input[s].program;
  return json_pack("{s:s, s:s, s:s, s:o, s:o, s:f, s:f, s:s*}", "from",
                   arena_printf(a, "%s (%s)", p->suite, p->version), "command",
                   arena_printf(a, "%s %s", program, p->input[s].arguments), "program",
                   o->folder ? arena_printf(a, "%s/%s", o->folder, program) : program, "arguments",
                   words(a, o, p->input[s].arguments), "files", files, "max_insts", p->input[s].max_insts, "bytes",
                   l.bytes, "launches", p->input[s].launches);
}
