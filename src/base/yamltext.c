/* yamltext.c - see yamltext.h. */
#include "base/yamltext.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/input.h"

static void begin_parser(yaml_parser_t *p, const char *text, size_t bytes) {
  CHECK(yaml_parser_initialize(p), "libyaml: out of memory");
  yaml_parser_set_input_string(p, (const unsigned char *)text, bytes);
}

static bool not_yaml(const yaml_parser_t *p, const char *path, struct err *e) {
  return err_set(e, ERR_INPUT, "%s:%zu:%zu: %s", path, p->problem_mark.line + 1, p->problem_mark.column + 1,
                 p->problem ? p->problem : "not YAML");
}

/* One pass over the events; stops at the first that is nested too deep. */
static bool depth_fits(const char *path, const char *text, size_t bytes, struct err *e) {
  yaml_parser_t p;
  yaml_event_type_t type = YAML_NO_EVENT;
  unsigned depth = 0;
  bool ok = true;
  begin_parser(&p, text, bytes);
  while (ok && type != YAML_STREAM_END_EVENT) {
    yaml_event_t ev;
    if (!yaml_parser_parse(&p, &ev)) {
      ok = not_yaml(&p, path, e);
      break;
    }
    type = ev.type;
    if (type == YAML_SEQUENCE_END_EVENT || type == YAML_MAPPING_END_EVENT) depth--;
    if ((type == YAML_SEQUENCE_START_EVENT || type == YAML_MAPPING_START_EVENT) && ++depth > YAML_DEPTH)
      ok = err_set(e, ERR_INPUT, "%s:%zu:%zu: lists and mappings more than %d deep", path, ev.start_mark.line + 1,
                   ev.start_mark.column + 1, YAML_DEPTH);
    yaml_event_delete(&ev);
  }
  yaml_parser_delete(&p);
  return ok;
}

bool yaml_text_load(yaml_document_t *doc, const char *path, const char *text, size_t bytes, struct err *e) {
  if (!depth_fits(path, text, bytes, e)) return false;
  yaml_parser_t p;
  begin_parser(&p, text, bytes);
  bool ok = yaml_parser_load(&p, doc) || not_yaml(&p, path, e);
  yaml_parser_delete(&p);
  return ok;
}

bool yaml_file_load(yaml_document_t *doc, const char *path, struct err *e) {
  size_t bytes;
  char *text = input_read(path, INPUT_YAML_MOST, &bytes, e);
  bool ok = text && yaml_text_load(doc, path, text, bytes, e);
  free(text);
  return ok;
}

bool yaml_refuse_va(struct err *e, const char *path, const yaml_node_t *n, const char *fmt, va_list ap) {
  char text[1200];
  vsnprintf(text, sizeof text, fmt, ap);
  return err_set(e, ERR_INPUT, "%s:%zu:%zu: %s", path, n->start_mark.line + 1, n->start_mark.column + 1, text);
}

bool yaml_refuse(struct err *e, const char *path, const yaml_node_t *n, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  yaml_refuse_va(e, path, n, fmt, ap);
  va_end(ap);
  return false;
}
