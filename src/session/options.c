/* options.c - the options of a simulation: copied into a session, and passed as options.json from `sluice run` to the
 * library in its child.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonfile.h"
#include "base/output.h"
#include "base/paths.h"
#include "session/session_impl.h"

static const char *copy_option(struct arena *a, const char *s) {
  return s ? arena_strdup(a, s) : NULL;
}

struct session_options session_options_copy(struct arena *a, const struct session_options *from) {
  struct session_options o = *from;
#define SESSION_TEXT(member) o.member = copy_option(a, from->member);
#include "session/options.def"
  const char **sets = ARENA_ARRAY(a, const char *, from->set_count + 1);
  for (size_t i = 0; i < from->set_count; i++) sets[i] = arena_strdup(a, from->sets[i]);
  o.sets = sets;
  return o;
}

bool session_options_write(const struct session_options *o, const char *path, struct err *e) {
  json_t *j = json_object(), *sets = json_array();
  for (size_t i = 0; i < o->set_count; i++) json_array_append_new(sets, json_string(o->sets[i]));
  json_object_set_new(j, "sets", sets);
#define SESSION_TEXT(member) \
  if (o->member) json_object_set_new(j, #member, json_string(o->member));
#define SESSION_FLAG(member) json_object_set_new(j, #member, json_boolean(o->member));
#define SESSION_NUMBER(type, member) json_object_set_new(j, #member, json_integer((json_int_t)o->member));
#include "session/options.def"
  return jsonfile_write(j, path, JSON_INDENT(1), e);
}

bool session_options_read(struct arena *a, const char *path, struct session_options *o, struct err *e) {
  json_error_t je;
  json_t *root = json_load_file(path, 0, &je);
  if (!root) return err_set(e, ERR_INPUT, "%s:%d:%d: %s", path, je.line, je.column, je.text);
  *o = (struct session_options){0};
#define SESSION_TEXT(member) o->member = copy_option(a, json_string_value(json_object_get(root, #member)));
#define SESSION_FLAG(member) o->member = json_is_true(json_object_get(root, #member));
#define SESSION_NUMBER(type, member) o->member = (type)json_integer_value(json_object_get(root, #member));
#include "session/options.def"
  const json_t *sets = json_object_get(root, "sets");
  const char **texts = ARENA_ARRAY(a, const char *, json_array_size(sets) + 1);
  for (size_t i = 0; i < json_array_size(sets); i++) {
    const char *t = json_string_value(json_array_get(sets, i));
    if (t) texts[o->set_count++] = arena_strdup(a, t);
  }
  o->sets = texts;
  json_decref(root);
  return true;
}
