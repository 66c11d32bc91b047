/* launchfile.c - running a .ptx or .cu kernel without a host program, from a launch file (docs/how-to/launch-files.md).
 *
 *   kernel: saxpy            # may be left out if the file has one kernel
 *   grid: [32, 1, 1]         # or one number
 *   block: 256
 *   shared: 0                # dynamic shared memory in bytes
 *   repeat: 1                # launches of it
 *   buffers:
 *     x: {type: f32, count: 8192, init: iota}
 *     y: {type: f32, count: 8192, init: random, seed: 7}
 *   args: [8192, 2.0, x, y]  # a number, or the name of a buffer; {type: s64, value: 5} overrides the width
 *   outputs:
 *     - {buffer: y, print: 8}
 *     - {buffer: y, check: [1.0, 2.0], tolerance: 1e-5}
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/input.h"
#include "base/paths.h"
#include "base/rng.h"
#include "base/text.h"
#include "base/yamltext.h"
#include "proc/child.h"
#include "cli/run/run.h"
#include "session/session.h"

enum { MAX_BUFFERS = 64, MAX_ARGS = 256, MAX_PARAM_BYTES = 4096 };

enum elem {
  ELEM_U8,
  ELEM_S8,
  ELEM_U16,
  ELEM_S16,
  ELEM_U32,
  ELEM_S32,
  ELEM_U64,
  ELEM_S64,
  ELEM_F32,
  ELEM_F64,
  ELEM_COUNT
};
static const char *const elem_names[] = {"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "f32", "f64"};
static const uint8_t elem_bytes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};

struct buffer {
  const char *name;
  enum elem type;
  uint64_t count, address;
};

struct launch_file {
  const char *path;
  yaml_document_t doc;
  struct buffer buffers[MAX_BUFFERS];
  size_t buffer_count;
  struct session *session;
  struct simt_kernel *kernel;
  struct err *e;
};

/* ---- reading nodes ---- */

static bool refuse_value(struct launch_file *l, const yaml_node_t *n, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static bool refuse_value(struct launch_file *l, const yaml_node_t *n, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  yaml_refuse_va(l->e, l->path, n, fmt, ap);
  va_end(ap);
  return false;
}

static const char *scalar_text(const yaml_node_t *n) {
  return n && n->type == YAML_SCALAR_NODE ? (const char *)n->data.scalar.value : NULL;
}

static yaml_node_t *value_of_key(struct launch_file *l, const yaml_node_t *map, const char *key) {
  if (!map || map->type != YAML_MAPPING_NODE) return NULL;
  for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
    const char *k = scalar_text(yaml_document_get_node(&l->doc, p->key));
    if (k && !strcmp(k, key)) return yaml_document_get_node(&l->doc, p->value);
  }
  return NULL;
}

/* Every key of `map` must be among `known`, and occur once. */
static bool keys_known(struct launch_file *l, const yaml_node_t *map, const char *const *known, size_t count) {
  if (map->type != YAML_MAPPING_NODE) return refuse_value(l, map, "a mapping of keys to values is needed here");
  for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
    const yaml_node_t *n = yaml_document_get_node(&l->doc, p->key);
    const char *k = scalar_text(n);
    size_t i = 0;
    while (k && i < count && strcmp(known[i], k)) i++;
    if (k && i < count) {
      const yaml_node_t *first = value_of_key(l, map, k);
      if (first != yaml_document_get_node(&l->doc, p->value)) return refuse_value(l, n, "'%s' is given twice", k);
      continue;
    }
    const char *near = k ? err_nearest(k, known, count) : NULL;
    if (near) return refuse_value(l, n, "unknown key '%s'; did you mean '%s'?", k, near);
    return refuse_value(l, n, "unknown key '%s'", k ? k : "?");
  }
  return true;
}

static bool read_number(struct launch_file *l, const yaml_node_t *n, double min, double max, uint64_t *out) {
  const char *s = scalar_text(n);
  char *end = NULL;
  errno = 0;
  unsigned long long v = s ? strtoull(s, &end, 0) : 0;
  if (!s || !isdigit((unsigned char)*s) || *end || errno || (double)v < min || (double)v > max)
    return refuse_value(l, n, "a whole number from %.0f to %.0f is needed here", min, max);
  *out = v;
  return true;
}

static bool triple(struct launch_file *l, const yaml_node_t *n, uint32_t out[3], double max) {
  uint64_t v;
  out[0] = out[1] = out[2] = 1;
  if (n->type != YAML_SEQUENCE_NODE) {
    if (!read_number(l, n, 1, max, &v)) return false;
    out[0] = (uint32_t)v;
    return true;
  }
  size_t count = (size_t)(n->data.sequence.items.top - n->data.sequence.items.start);
  if (count < 1 || count > 3) return refuse_value(l, n, "one to three numbers are needed here");
  for (size_t i = 0; i < count; i++) {
    if (!read_number(l, yaml_document_get_node(&l->doc, n->data.sequence.items.start[i]), 1, max, &v)) return false;
    out[i] = (uint32_t)v;
  }
  return true;
}

static bool elem_type(struct launch_file *l, const yaml_node_t *n, enum elem *out) {
  const char *s = scalar_text(n);
  for (int i = 0; s && i < ELEM_COUNT; i++)
    if (!strcmp(s, elem_names[i])) {
      *out = (enum elem)i;
      return true;
    }
  return refuse_value(l, n, "type '%s' must be one of u8 s8 u16 s16 u32 s32 u64 s64 f32 f64", s ? s : "?");
}

/* ---- values ---- */

static bool is_float(enum elem t) {
  return t == ELEM_F32 || t == ELEM_F64;
}

static bool is_signed(enum elem t) {
  return t == ELEM_S8 || t == ELEM_S16 || t == ELEM_S32 || t == ELEM_S64;
}

static void put_double(void *at, enum elem t, double v) {
  if (t == ELEM_F32) *(float *)at = (float)v;
  else *(double *)at = v;
}

/* A float; values too large for its type are errors, except inf and nan. */
static bool put_float(struct launch_file *l, const yaml_node_t *n, void *at, enum elem t) {
  const char *s = scalar_text(n);
  char *end;
  double v = strtod(s, &end);
  if (end == s || *end || isspace((unsigned char)*s))
    return refuse_value(l, n, "'%s' is not a value of type %s", s, elem_names[t]);
  bool word = isalpha((unsigned char)s[strspn(s, "+-")]);
  if (!word && (isinf(v) || (t == ELEM_F32 && isinf((float)v))))
    return refuse_value(l, n, "'%s' is too large for type %s", s, elem_names[t]);
  put_double(at, t, v);
  return true;
}

/* An integer within `t`; with `either`, of the same width signed or not. Hexadecimal digits are the bits. */
static bool put_int(struct launch_file *l, const yaml_node_t *n, void *at, enum elem t, bool either) {
  const char *s = scalar_text(n), *digits = s + (*s == '-' || *s == '+');
  char *end;
  unsigned bits = 8u * elem_bytes[t];
  uint64_t most = UINT64_MAX >> (64 - bits), half = 1ull << (bits - 1);
  errno = 0;
  uint64_t v = strtoull(digits, &end, 0);
  if (!isdigit((unsigned char)*digits) || *end)
    return refuse_value(l, n, "'%s' is not a value of type %s", s, elem_names[t]);
  bool negative = *s == '-', hex = !strncasecmp(digits, "0x", 2);
  uint64_t limit = negative ? (either || is_signed(t) ? half : 0) : is_signed(t) && !either && !hex ? half - 1 : most;
  if (errno || v > limit) {
    if (either) return refuse_value(l, n, "'%s' does not fit into %u bits", s, bits);
    if (is_signed(t))
      return refuse_value(l, n, "'%s' is not within type %s: -%" PRIu64 " to %" PRIu64, s, elem_names[t], half,
                          half - 1);
    return refuse_value(l, n, "'%s' is not within type %s: 0 to %" PRIu64, s, elem_names[t], most);
  }
  if (negative) v = -v;
  memcpy(at, &v, elem_bytes[t]); /* little-endian host */
  return true;
}

static bool put_text(struct launch_file *l, const yaml_node_t *n, void *at, enum elem t) {
  if (!scalar_text(n)) return refuse_value(l, n, "a number is needed here");
  return is_float(t) ? put_float(l, n, at, t) : put_int(l, n, at, t, false);
}

static double get_double(const void *at, enum elem t) {
  uint64_t u = 0;
  int64_t s;
  switch (t) {
  case ELEM_F32:
    return *(const float *)at;
  case ELEM_F64:
    return *(const double *)at;
  default:
    break;
  }
  memcpy(&u, at, elem_bytes[t]);
  unsigned shift = 64 - 8u * elem_bytes[t];
  s = (int64_t)(u << shift) >> shift;
  return is_signed(t) ? (double)s : (double)u;
}

static bool fill_file(struct launch_file *l, const yaml_node_t *n, const struct buffer *b, void *data) {
  size_t bytes, need = b->count * elem_bytes[b->type];
  struct err why = {0};
  char *text = input_read(scalar_text(n) ? scalar_text(n) : "", need > 4096 ? need : 4096, &bytes, &why);
  if (!text) return refuse_value(l, n, "%s", why.msg);
  bool ok = bytes == need || refuse_value(l, n, "'%s' has %zu bytes; the buffer has %zu", scalar_text(n), bytes, need);
  if (ok) memcpy(data, text, need);
  free(text);
  return ok;
}

static bool fill_values(struct launch_file *l, const yaml_node_t *n, const struct buffer *b, char *data) {
  if (n->type != YAML_SEQUENCE_NODE) return refuse_value(l, n, "values must be a list");
  size_t count = (size_t)(n->data.sequence.items.top - n->data.sequence.items.start);
  if (count != b->count)
    return refuse_value(l, n, "%zu values for a buffer of %llu", count, (unsigned long long)b->count);
  for (size_t i = 0; i < count; i++)
    if (!put_text(l, yaml_document_get_node(&l->doc, n->data.sequence.items.start[i]), data + i * elem_bytes[b->type],
                  b->type))
      return false;
  return true;
}

/* Integers over their whole range, floats in [0, 1). */
static void fill_random(const struct buffer *b, char *data, uint64_t seed) {
  struct rng r = rng_seed(seed);
  for (uint64_t i = 0; i < b->count; i++) {
    uint64_t v = rng_next(&r) >> 11;
    char *at = data + i * elem_bytes[b->type];
    if (is_float(b->type))
      put_double(at, b->type, b->type == ELEM_F32 ? (double)(v >> 29) * 0x1p-24 : (double)v * 0x1p-53);
    else memcpy(at, &v, elem_bytes[b->type]);
  }
}

static bool fill_buffer(struct launch_file *l, const yaml_node_t *spec, const struct buffer *b, char *data) {
  const yaml_node_t *init = value_of_key(l, spec, "init"), *file = value_of_key(l, spec, "file"),
                    *values = value_of_key(l, spec, "values");
  if (!!init + !!file + !!values > 1) return refuse_value(l, spec, "give one of init, file and values");
  if (file) return fill_file(l, file, b, data);
  if (values) return fill_values(l, values, b, data);
  const char *how = init ? scalar_text(init) : "zero";
  uint64_t seed = 1;
  const yaml_node_t *s = value_of_key(l, spec, "seed");
  if (s && !read_number(l, s, 0, 1e18, &seed)) return false;
  if (!strcmp(how ? how : "", "zero")) return true;
  if (!strcmp(how ? how : "", "iota")) {
    for (uint64_t i = 0; i < b->count; i++) {
      char *at = data + i * elem_bytes[b->type];
      if (is_float(b->type)) put_double(at, b->type, (double)i);
      else memcpy(at, &i, elem_bytes[b->type]); /* small types wrap to 0 */
    }
    return true;
  }
  if (!strcmp(how ? how : "", "random")) {
    fill_random(b, data, seed);
    return true;
  }
  return refuse_value(l, init, "init must be zero, iota or random, not '%s'", how ? how : "?");
}

static const struct buffer *find_buffer(struct launch_file *l, const char *name) {
  for (size_t i = 0; i < l->buffer_count; i++)
    if (!strcmp(l->buffers[i].name, name)) return &l->buffers[i];
  return NULL;
}

static bool make_buffers(struct launch_file *l, const yaml_node_t *map) {
  static const char *const known[] = {"type", "count", "init", "seed", "file", "values"};
  if (!map) return true;
  if (map->type != YAML_MAPPING_NODE)
    return refuse_value(l, map, "buffers: a mapping of names to descriptions is needed");
  struct simt *simt = session_simt(l->session);
  for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
    const yaml_node_t *key = yaml_document_get_node(&l->doc, p->key), *spec = yaml_document_get_node(&l->doc, p->value);
    if (l->buffer_count == MAX_BUFFERS) return refuse_value(l, key, "more than %d buffers", MAX_BUFFERS);
    struct buffer *b = &l->buffers[l->buffer_count];
    b->name = scalar_text(key);
    if (!b->name || !keys_known(l, spec, known, sizeof known / sizeof *known))
      return b->name ? false : refuse_value(l, key, "a buffer needs a name");
    if (find_buffer(l, b->name)) return refuse_value(l, key, "buffer '%s' is given twice", b->name);
    const yaml_node_t *type = value_of_key(l, spec, "type"), *count = value_of_key(l, spec, "count");
    if (!type || !count) return refuse_value(l, spec, "buffer '%s' needs type and count", b->name);
    if (!elem_type(l, type, &b->type) || !read_number(l, count, 1, 1e12, &b->count)) return false;
    uint64_t bytes = b->count * elem_bytes[b->type];
    b->address = simt_mem_alloc(simt, bytes, SIMT_MEM_DEVICE, b->name);
    char *data = b->address ? simt_mem_at(simt, b->address, bytes) : NULL;
    if (!data)
      return refuse_value(l, spec, "no device memory left for '%s' (%llu bytes)", b->name, (unsigned long long)bytes);
    memset(data, 0, bytes);
    simt_mem_written(simt, b->address, bytes); /* zero where the file does not say */
    if (!fill_buffer(l, spec, b, data)) return false;
    l->buffer_count++;
  }
  return true;
}

/* ---- arguments ---- */

static bool unknown_buffer(struct launch_file *l, const yaml_node_t *n, const char *name) {
  const char *names[MAX_BUFFERS];
  for (size_t i = 0; i < l->buffer_count; i++) names[i] = l->buffers[i].name;
  const char *near = err_nearest(name, names, l->buffer_count);
  return refuse_value(l, n, "'%s' is neither a number nor a buffer%s%s%s", name, near ? "; did you mean '" : "",
                      near ? near : "", near ? "'?" : "");
}

/* A number without a type has the parameter's width: with a point or exponent it is a float, else an integer. */
static bool put_argument(struct launch_file *l, const yaml_node_t *n, uint32_t bytes, char *at) {
  static const char *const known[] = {"type", "value"};
  const char *s = scalar_text(n);
  if (!s) {
    enum elem t = ELEM_U8;
    const yaml_node_t *type, *value;
    if (!keys_known(l, n, known, 2)) return false;
    type = value_of_key(l, n, "type"), value = value_of_key(l, n, "value");
    if (!type || !value) return refuse_value(l, n, "an argument is a number, a buffer's name, or {type: T, value: V}");
    if (!elem_type(l, type, &t)) return false;
    if (elem_bytes[t] != bytes)
      return refuse_value(l, n, "the kernel's parameter has %u bytes, %s has %u", bytes, elem_names[t], elem_bytes[t]);
    return put_text(l, value, at, t);
  }
  const struct buffer *b = find_buffer(l, s);
  if (b) {
    if (bytes != 8)
      return refuse_value(l, n, "buffer '%s' is an address of 8 bytes; the kernel's parameter has %u", s, bytes);
    memcpy(at, &b->address, 8);
    return true;
  }
  if (!strchr("+-.0123456789", *s) || !*s) return unknown_buffer(l, n, s);
  const char *digits = s + (*s == '-' || *s == '+');
  bool floating = strncasecmp(digits, "0x", 2) && strpbrk(s, ".eE");
  if (floating && bytes != 4 && bytes != 8) return refuse_value(l, n, "'%s' for a parameter of %u bytes", s, bytes);
  if (floating) return put_float(l, n, at, bytes == 4 ? ELEM_F32 : ELEM_F64);
  enum elem t = bytes == 8 ? ELEM_S64 : bytes == 4 ? ELEM_S32 : bytes == 2 ? ELEM_S16 : ELEM_S8;
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
    return refuse_value(l, n, "a parameter of %u bytes (a struct) cannot be given as one number", bytes);
  return put_int(l, n, at, t, true);
}

static bool make_params(struct launch_file *l, const yaml_node_t *args, const yaml_node_t *root, char *block) {
  const struct simt_kernel_info *k = simt_kernel_info(l->kernel);
  size_t count = 0;
  if (args && args->type != YAML_SEQUENCE_NODE)
    return refuse_value(l, args, "args must be a list, in the order of the kernel's parameters");
  if (args) count = (size_t)(args->data.sequence.items.top - args->data.sequence.items.start);
  if (count != k->params)
    return refuse_value(l, args ? args : root, "kernel '%s' has %u parameters, args has %zu", k->name, k->params,
                        count);
  if (k->param_block_bytes > MAX_PARAM_BYTES)
    return refuse_value(l, root, "parameters of %u bytes", k->param_block_bytes);
  for (size_t i = 0; i < count; i++)
    if (!put_argument(l, yaml_document_get_node(&l->doc, args->data.sequence.items.start[i]), k->param_bytes[i],
                      block + k->param_offset[i]))
      return false;
  return true;
}

/* ---- outputs ---- */

/* True if the element at `a` equals the expected value. Integers of 64 bits have more digits than a double. */
static bool as_wanted(const void *a, const void *want, enum elem t, double tolerance) {
  double x = get_double(a, t), w = get_double(want, t);
  if (!memcmp(a, want, elem_bytes[t]) || (isnan(x) && isnan(w))) return true;
  if (!isfinite(w) || (!is_float(t) && !(tolerance > 0))) return false;
  return fabs(x - w) <= tolerance * fmax(1, fabs(w));
}

static const char *value_text(char *out, size_t size, const void *at, enum elem t) {
  uint64_t u = 0;
  unsigned shift = 64 - 8u * elem_bytes[t];
  memcpy(&u, at, elem_bytes[t]);
  if (is_float(t)) snprintf(out, size, "%.9g", get_double(at, t));
  else if (is_signed(t)) snprintf(out, size, "%" PRId64, (int64_t)(u << shift) >> shift);
  else snprintf(out, size, "%" PRIu64, u);
  return out;
}

static void print_output(const struct buffer *b, const char *data, uint64_t count) {
  text_say(stdout, "%s:", b->name);
  char text[40];
  for (uint64_t i = 0; i < count && i < b->count; i++)
    printf(" %s", value_text(text, sizeof text, data + i * elem_bytes[b->type], b->type));
  puts(count < b->count ? " ..." : "");
}

static bool check_output(struct launch_file *l, const yaml_node_t *n, const struct buffer *b, const char *data,
                         double tolerance, unsigned *wrong) {
  if (n->type != YAML_SEQUENCE_NODE)
    return refuse_value(l, n, "check: a list of expected values, from the first element on");
  size_t count = (size_t)(n->data.sequence.items.top - n->data.sequence.items.start);
  if (count > b->count)
    return refuse_value(l, n, "%zu values for a buffer of %llu", count, (unsigned long long)b->count);
  for (size_t i = 0; i < count; i++) {
    char want[8], is_text[40], want_text[40];
    const char *at = data + i * elem_bytes[b->type];
    if (!put_text(l, yaml_document_get_node(&l->doc, n->data.sequence.items.start[i]), want, b->type)) return false;
    if (as_wanted(at, want, b->type, tolerance) || (*wrong)++ >= 4) continue;
    text_say(stdout, "%s[%zu] is %s, expected %s\n", b->name, i, value_text(is_text, sizeof is_text, at, b->type),
             value_text(want_text, sizeof want_text, want, b->type));
  }
  return true;
}

static bool tolerance_of(struct launch_file *l, const yaml_node_t *n, double *out) {
  *out = 0;
  if (!n) return true;
  if (!scalar_text(n) || !put_float(l, n, out, ELEM_F64) || !(*out >= 0) || isinf(*out))
    return refuse_value(l, n, "tolerance must be a number from 0 on");
  return true;
}

static bool do_outputs(struct launch_file *l, const yaml_node_t *list, unsigned *wrong) {
  static const char *const known[] = {"buffer", "print", "check", "tolerance"};
  if (!list) return true;
  if (list->type != YAML_SEQUENCE_NODE) return refuse_value(l, list, "outputs must be a list");
  for (yaml_node_item_t *i = list->data.sequence.items.start; i < list->data.sequence.items.top; i++) {
    const yaml_node_t *o = yaml_document_get_node(&l->doc, *i), *name, *print, *check, *tol;
    if (!keys_known(l, o, known, 4)) return false;
    name = value_of_key(l, o, "buffer"), print = value_of_key(l, o, "print"), check = value_of_key(l, o, "check"),
    tol = value_of_key(l, o, "tolerance");
    const struct buffer *b = scalar_text(name) ? find_buffer(l, scalar_text(name)) : NULL;
    if (!b) return refuse_value(l, o, "an output needs `buffer: NAME` of a buffer above");
    char *data = simt_mem_at(session_simt(l->session), b->address, b->count * elem_bytes[b->type]);
    uint64_t count = 8;
    if (print && !read_number(l, print, 1, 1e9, &count)) return false;
    if (print) print_output(b, data, count);
    double tolerance;
    if (!tolerance_of(l, tol, &tolerance)) return false;
    if (check && !check_output(l, check, b, data, tolerance, wrong)) return false;
  }
  return true;
}

/* ---- the whole ---- */

/* The PTX text of the kernel file; .cu goes through tools' sluice-cc. */
static char *kernel_text(const char *file, struct err *e) {
  const char *dot = strrchr(file, '.');
  char *text;
  if (!strcmp(dot, ".ptx")) return input_read(file, INPUT_PTX_MOST, NULL, e);
  char cc[PATH_MAX], out[600];
  struct tempdir t;
  uint64_t bytes;
  int fd = input_open(file, &bytes, e); /* the compiler would block on a pipe */
  if (fd < 0) return NULL;
  close(fd);
  if (!path_find(cc, sizeof cc, "sluice-cc"))
    return err_set(e, ERR_INPUT,
                   "'%s' needs the compiler driver sluice-cc in Sluice's data directory, which is not there", file),
           NULL;
  if (!tempdir_make(&t, e)) return NULL;
  tempdir_file(&t, "kernel.ptx", out, sizeof out);
  char *const argv[] = {cc, "--ptx", (char *)file, "-o", out, NULL};
  struct ended end;
  text = child_run(&t, argv, &end, e) && end.status == 0 ? path_read_whole(out, NULL) : NULL;
  if (!text && !e->code) err_set(e, ERR_INPUT, "'%s' does not compile (the messages are above)", file);
  tempdir_remove(&t);
  return text;
}

static bool pick_kernel(struct launch_file *l, struct simt_module *m, const yaml_node_t *name,
                        const yaml_node_t *root) {
  size_t n = simt_kernel_count(m);
  if (!name) {
    if (n != 1) return refuse_value(l, root, "the file has %zu kernels; say which with `kernel:`", n);
    l->kernel = simt_kernel_at(m, 0);
    return true;
  }
  l->kernel = scalar_text(name) ? simt_find_kernel(m, scalar_text(name)) : NULL;
  const char *names[64];
  size_t listed = 0;
  for (size_t i = 0; i < n && !l->kernel; i++) { /* the name inside a mangled one: _Z5saxpyifPf is saxpy */
    const char *k = simt_kernel_info(simt_kernel_at(m, i))->name;
    char mangled[256];
    if (!scalar_text(name)) break;
    snprintf(mangled, sizeof mangled, "_Z%zu%s", strlen(scalar_text(name)), scalar_text(name));
    if (!strncmp(k, mangled, strlen(mangled))) l->kernel = simt_kernel_at(m, i);
    if (listed < 64) names[listed++] = k;
  }
  if (l->kernel) return true;
  const char *near = scalar_text(name) ? err_nearest(scalar_text(name), names, listed) : NULL;
  return refuse_value(l, name, "no kernel '%s'%s%s%s", scalar_text(name) ? scalar_text(name) : "?",
                      near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static bool launch_all(struct launch_file *l, const yaml_node_t *root, struct simt_module *m) {
  static const char *const known[] = {"kernel", "grid", "block", "shared", "repeat", "buffers", "args", "outputs"};
  if (!keys_known(l, root, known, sizeof known / sizeof *known)) return false;
  if (!pick_kernel(l, m, value_of_key(l, root, "kernel"), root)) return false;
  const yaml_node_t *grid = value_of_key(l, root, "grid"), *block = value_of_key(l, root, "block");
  const yaml_node_t *shared = value_of_key(l, root, "shared"), *repeat = value_of_key(l, root, "repeat");
  if (!grid || !block) return refuse_value(l, root, "a launch needs grid and block");
  char params[MAX_PARAM_BYTES] = {0};
  struct simt_launch launch = {.kernel = l->kernel, .params = params};
  uint64_t times = 1, dynamic = 0;
  if (!triple(l, grid, launch.grid, 0x7fffffff) || !triple(l, block, launch.block, 1024)) return false;
  if (shared && !read_number(l, shared, 0, 262144, &dynamic)) return false;
  if (repeat && !read_number(l, repeat, 1, 1000000, &times)) return false;
  launch.dynamic_shared = (uint32_t)dynamic;
  if (!make_buffers(l, value_of_key(l, root, "buffers"))) return false;
  if (!make_params(l, value_of_key(l, root, "args"), root, params)) return false;
  for (uint64_t i = 0; i < times; i++) {
    int cuda_error;
    if (!session_launch(l->session, &launch, &cuda_error, l->e)) return false;
  }
  return true;
}

static bool with_document(struct launch_file *l, struct simt_module *m, unsigned *wrong) {
  if (!yaml_file_load(&l->doc, l->path, l->e)) return false;
  const yaml_node_t *root = yaml_document_get_root_node(&l->doc);
  bool ok = root || err_set(l->e, ERR_INPUT, "%s: the launch file is empty", l->path);
  ok = ok && launch_all(l, root, m) && do_outputs(l, value_of_key(l, root, "outputs"), wrong);
  yaml_document_delete(&l->doc);
  return ok;
}

int launch_file_run(const char *kernel_file, const struct sim_options *o, const char *record_path, struct err *e) {
  struct launch_file *l = mem_zeroed(1, sizeof *l);
  *l = (struct launch_file){.path = o->launch, .e = e};
  char *text = kernel_text(kernel_file, e);
  struct session_options so;
  unsigned wrong = 0;
  if (text && sim_session_options(o, kernel_file, record_path, &so, e)) l->session = session_open(&so, e);
  if (l->session) {
    struct simt_text t = {.ptx = text, .name = kernel_file};
    struct simt_module *m = simt_load(session_simt(l->session), &t, 1, e);
    if (m && simt_newer_isa(m)) {
      char newer[1024];
      simt_newer_text(m, newer, sizeof newer);
      text_say(stderr, "sluice: warning: %s\n", newer);
    }
    bool ok = m && with_document(l, m, &wrong);
    struct err ignored;
    session_close(l->session, ok ? e : &ignored);
  }
  free(text);
  free(l);
  return wrong ? EXIT_CHECK : EXIT_OK;
}
