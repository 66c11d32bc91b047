/* study_schema.c - the table of keys, and the JSON schema made from it for editors. */
#include "study/study_impl.h"

const struct study_key study_keys[] = {
#define SECTION_TOP STUDY_TOP
#define SECTION_PROGRAM STUDY_PROGRAM
#define SECTION_GPU STUDY_GPU
#define SECTION_RANGE STUDY_RANGE
#define SECTION_LIMIT STUDY_LIMIT
#define SECTION_CLUSTER STUDY_CLUSTER
#define KEY(section, name, kind, doc) {SECTION_##section, name, STUDY_KIND_##kind, doc},
#include "study/study_keys.def"
#undef KEY
};
const size_t study_key_count = sizeof study_keys / sizeof *study_keys;

static json_t *section(enum study_section which);

static json_t *type(const char *name) {
  return json_pack("{s:s}", "type", name);
}

static json_t *text(void) {
  return json_pack("{s:s, s:i}", "type", "string", "minLength", 1);
}

static json_t *value(void) {
  return json_pack("{s:[s,s,s]}", "type", "string", "number", "boolean");
}

static json_t *list_of(json_t *items) {
  return json_pack("{s:s, s:o}", "type", "array", "items", items);
}

static json_t *either(json_t *a, json_t *b) {
  return json_pack("{s:[o,o]}", "anyOf", a, b);
}

static json_t *map_of(json_t *values) {
  return json_pack("{s:s, s:o}", "type", "object", "additionalProperties", values);
}

static json_t *of_kind(enum study_kind kind) {
  switch (kind) {
  case STUDY_KIND_TEXT: /* 2024 or 00:30:00 are text here, although YAML types them otherwise */
    return json_pack("{s:[s,s]}", "type", "string", "number");
  case STUDY_KIND_TEXTS:
    return either(text(), list_of(text()));
  case STUDY_KIND_COUNT:
    return json_pack("{s:s, s:i}", "type", "integer", "minimum", 1);
  case STUDY_KIND_NUMBER:
    return type("number");
  case STUDY_KIND_FLAG:
    return type("boolean");
  case STUDY_KIND_MODE:
    return json_pack("{s:[s,s]}", "enum", "timing", "functional");
  case STUDY_KIND_ARGS:
    return either(type("string"), list_of(value()));
  case STUDY_KIND_SETS:
    return map_of(value());
  case STUDY_KIND_PROGRAMS:
    return list_of(either(text(), section(STUDY_PROGRAM)));
  case STUDY_KIND_GPUS:
    return list_of(either(text(), section(STUDY_GPU)));
  case STUDY_KIND_RANGES:
    return map_of(either(section(STUDY_RANGE), either(value(), list_of(value()))));
  case STUDY_KIND_LIMITS:
    return section(STUDY_LIMIT);
  case STUDY_KIND_SLURM:
    return section(STUDY_CLUSTER);
  }
  return NULL;
}

static json_t *section(enum study_section which) {
  json_t *properties = json_object();
  for (size_t i = 0; i < study_key_count; i++) {
    const struct study_key *k = &study_keys[i];
    if (k->section != which) continue;
    json_t *v = of_kind(k->kind);
    json_object_set_new(v, "description", json_string(k->doc));
    json_object_set_new(properties, k->name, v);
  }
  return json_pack("{s:s, s:b, s:o}", "type", "object", "additionalProperties", 0, "properties", properties);
}

json_t *study_schema(void) {
  json_t *top = json_object();
  json_object_set_new(top, "$schema", json_string("http://json-schema.org/draft-07/schema#"));
  json_object_set_new(top, "title", json_string("Sluice study file"));
  json_t *body = section(STUDY_TOP);
  json_object_update(top, body);
  json_decref(body);
  return top;
}
