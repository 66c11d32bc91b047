/* record_fold.c - observations of many launches as one: adds values that observed_to_json marked `to_fold`, by key. */
#include <string.h>

#include "base/err.h"
#include "results/observed.h"
#include "base/text.h"

/* Numbers that describe the quantity and are equal in every launch. */
static bool is_name(const char *key) {
  return !strcmp(key, "ptx_line") || !strcmp(key, "line") || !strcmp(key, "line_bytes") || !strcmp(key, "every_cycles");
}

static json_int_t folded(const char *key, json_int_t a, json_int_t b) {
  if (is_name(key)) return a;
  if (text_ends_with(key, ".max") || text_ends_with(key, ".longest")) return a > b ? a : b;
  if (text_ends_with(key, ".shortest")) return a < b ? a : b;
  return a + b;
}

static bool same_place(const json_t *a, const json_t *b) {
  return json_equal(json_object_get(a, "ptx_line"), json_object_get(b, "ptx_line")) &&
         json_equal(json_object_get(a, "line"), json_object_get(b, "line")) &&
         json_equal(json_object_get(a, "file"), json_object_get(b, "file"));
}

static void fold_lines(json_t *into, const json_t *more) {
  json_t *line;
  size_t i, at = 0;
  json_array_foreach(more, i, line) {
    size_t n = json_array_size(into), tried = 0;
    for (; tried < n && !same_place(json_array_get(into, at % n), line); tried++) at++; /* usually the next one */
    if (tried < n) observed_fold(json_array_get(into, at++ % n), line);
    else json_array_append_new(into, json_deep_copy(line));
  }
}

static void add_array(json_t *into, const json_t *more) {
  json_t *v;
  size_t i;
  json_array_foreach(more, i, v) {
    json_t *old = json_array_get(into, i);
    if (!old) json_array_append_new(into, json_deep_copy(v));
    else if (json_is_object(v)) observed_fold(old, v);
    else json_integer_set(old, json_integer_value(old) + json_integer_value(v));
  }
}

void observed_fold(json_t *into, const json_t *more) {
  const char *key;
  json_t *v;
  json_object_foreach((json_t *)more, key, v) {
    json_t *old = json_object_get(into, key);
    if (!old) json_object_set_new(into, key, json_deep_copy(v));
    else if (json_is_object(v)) observed_fold(old, v);
    else if (json_is_array(v)) (strcmp(key, "lines") ? add_array : fold_lines)(old, v);
    else if (json_is_integer(v)) json_integer_set(old, folded(key, json_integer_value(old), json_integer_value(v)));
  }
}

static double mean_of(const json_t *pair) {
  double n = json_number_value(json_array_get(pair, 1));
  return n > 0 ? json_number_value(json_array_get(pair, 0)) / n : 0;
}

void observed_fold_end(json_t *o) {
  const char *key;
  json_t *v;
  size_t i;
  if (json_is_array(o)) {
    json_array_foreach(o, i, v) observed_fold_end(v);
    return;
  }
  json_object_foreach(o, key, v) {
    if (!text_ends_with(key, ".mean")) observed_fold_end(v);
    else if (json_is_array(v)) json_object_set_new(o, key, json_real(mean_of(v)));
  }
}
