/* figurefile.c - see figurefile.h. */
#include "cli/cmd/figurefile.h"

#include <stdlib.h>
#include <string.h>

#include "base/yamltext.h"

enum { DEEPEST = 8, VALUES = 100000 /* anchors let a short file expand to very many */ };

struct reader {
  const char *path;
  yaml_document_t doc;
  unsigned values;
  struct err *e;
};

static bool refuse_node(struct reader *r, const yaml_node_t *n, const char *what, const char *which) {
  return yaml_refuse(r->e, r->path, n, "%s%s", what, which);
}

static json_t *convert(struct reader *r, const yaml_node_t *n, int depth);

static json_t *scalar_json(const yaml_node_t *n) {
  const char *s = (const char *)n->data.scalar.value;
  char *end;
  if (n->data.scalar.style == YAML_PLAIN_SCALAR_STYLE) {
    if (!strcmp(s, "true") || !strcmp(s, "false")) return json_boolean(!strcmp(s, "true"));
    double v = strtod(s, &end);
    if (*s && !*end) return v == (double)(json_int_t)v ? json_integer((json_int_t)v) : json_real(v);
  }
  return json_string(s);
}

static json_t *mapping(struct reader *r, const yaml_node_t *n, int depth) {
  json_t *o = json_object();
  for (const yaml_node_pair_t *p = n->data.mapping.pairs.start; p < n->data.mapping.pairs.top; p++) {
    const yaml_node_t *key = yaml_document_get_node(&r->doc, p->key);
    json_t *v = NULL;
    if (key->type != YAML_SCALAR_NODE) refuse_node(r, key, "a key must be a word", "");
    else if (json_object_get(o, (const char *)key->data.scalar.value))
      refuse_node(r, key, "given twice: ", (const char *)key->data.scalar.value);
    else v = convert(r, yaml_document_get_node(&r->doc, p->value), depth);
    if (!v) {
      json_decref(o);
      return NULL;
    }
    json_object_set_new(o, (const char *)key->data.scalar.value, v);
  }
  return o;
}

static json_t *convert(struct reader *r, const yaml_node_t *n, int depth) {
  if (depth == DEEPEST) return refuse_node(r, n, "nested too deeply", ""), NULL;
  if (++r->values > VALUES) return refuse_node(r, n, "too many values", ""), NULL;
  if (n->type == YAML_SCALAR_NODE) {
    json_t *v = scalar_json(n);
    if (!v) refuse_node(r, n, "not UTF-8", "");
    return v;
  }
  if (n->type == YAML_MAPPING_NODE) return mapping(r, n, depth + 1);
  json_t *a = json_array();
  for (const yaml_node_item_t *i = n->data.sequence.items.start; i < n->data.sequence.items.top; i++) {
    json_t *v = convert(r, yaml_document_get_node(&r->doc, *i), depth + 1);
    if (!v) {
      json_decref(a);
      return NULL;
    }
    json_array_append_new(a, v);
  }
  return a;
}

/* Keys of a figure; those that start with '*' are required. */
static const char *const keys[] = {"*figure",   "*paper",       "*where",  "*title",    "*kind",   "*suite",  "gpu",
                                   "set",       "*schemes",     "metric",  "normalise", "hide",    "groups",  "means",
                                   "published", "item",         "bins",    "parts",     "axis",    "columns", "value",
                                   "workloads", "characterise", "percent", "reason",    "maximum", "rows",    "from",
                                   "metrics",   "scale",        "small",   "order"};
enum { KEYS = sizeof keys / sizeof *keys };

static bool keys_are_known(struct reader *r, const yaml_node_t *root) {
  const char *names[KEYS];
  for (size_t i = 0; i < KEYS; i++) names[i] = keys[i] + (*keys[i] == '*');
  for (const yaml_node_pair_t *p = root->data.mapping.pairs.start; p < root->data.mapping.pairs.top; p++) {
    const yaml_node_t *key = yaml_document_get_node(&r->doc, p->key);
    const char *word = key->type == YAML_SCALAR_NODE ? (const char *)key->data.scalar.value : "";
    bool found = false;
    for (size_t i = 0; i < KEYS; i++) found |= !strcmp(word, names[i]);
    if (found) continue;
    const char *near = err_nearest(word, names, KEYS);
    char text[256];
    snprintf(text, sizeof text, "%.100s%s%s%s", word, near ? ", did you mean '" : "", near ? near : "",
             near ? "'?" : "");
    return refuse_node(r, key, "figures have no key ", text);
  }
  return true;
}

static bool has_needed_keys(struct reader *r, const yaml_node_t *root, const json_t *o) {
  for (size_t i = 0; i < KEYS; i++)
    if (*keys[i] == '*' && !json_object_get(o, keys[i] + 1))
      return refuse_node(r, root, "the figure lacks ", keys[i] + 1);
  return json_is_object(json_object_get(o, "schemes")) ||
         refuse_node(r, root, "schemes: must map the paper's labels to scheme lists", "");
}

static json_t *load_figure_file(const char *path, bool figure, struct err *e) {
  struct reader r = {.path = path, .e = e};
  json_t *o = NULL;
  if (!yaml_file_load(&r.doc, path, e)) return NULL;
  const yaml_node_t *root = yaml_document_get_root_node(&r.doc);
  if (!root) err_set(e, ERR_INPUT, "%s: the file is empty", path);
  else if (root->type != YAML_MAPPING_NODE) refuse_node(&r, root, "the file is no mapping of keys to values", "");
  else if (!figure || keys_are_known(&r, root)) o = convert(&r, root, 0);
  if (o && figure && !has_needed_keys(&r, root, o)) {
    json_decref(o);
    o = NULL;
  }
  yaml_document_delete(&r.doc);
  return o;
}

json_t *figure_load(const char *path, struct err *e) {
  return load_figure_file(path, true, e);
}

json_t *yaml_load(const char *path, struct err *e) {
  return load_figure_file(path, false, e);
}
