/* accel_text.c - see accel_text.h. */
#include "trace/accel/accel_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/accel/sass.h"

/* ---- words of a line ---- */

struct words {
  const char *p, *end;
};

static bool next_word(struct words *w, const char **at, size_t *n) {
  while (w->p < w->end && (*w->p == ' ' || *w->p == '\t' || *w->p == '\r')) w->p++;
  *at = w->p;
  while (w->p < w->end && *w->p != ' ' && *w->p != '\t' && *w->p != '\r') w->p++;
  *n = (size_t)(w->p - *at);
  return *n > 0;
}

static size_t words_left(struct words w) {
  const char *at;
  size_t n, count = 0;
  while (next_word(&w, &at, &n)) count++;
  return count;
}

static int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

static bool parse_digits(const char *p, size_t n, int base, uint64_t *out) {
  uint64_t v = 0;
  if (!n || n > 20) return false;
  for (size_t i = 0; i < n; i++) {
    int d = digit(p[i]);
    if (d >= base) return false;
    v = v * (uint64_t)base + (uint64_t)d;
  }
  *out = v;
  return true;
}

/* A word that must be a number: decimal, or hexadecimal with 0x allowed. */
static bool need(struct words *w, const char *what, int base, uint64_t most, uint64_t *out, struct err *e) {
  const char *p;
  size_t n;
  if (!next_word(w, &p, &n)) return err_set(e, ERR_INPUT, "the line ends before %s", what);
  const char *d = p;
  size_t len = n;
  if (base == 16 && n > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) d += 2, len -= 2;
  if (!parse_digits(d, len, base, out) || *out > most)
    return err_set(e, ERR_INPUT, "'%.*s' where %s was expected (%s, at most %llu)", (int)(n < 40 ? n : 40), p, what,
                   base == 16 ? "hexadecimal" : "decimal", (unsigned long long)most);
  return true;
}

static bool need_signed(struct words *w, const char *what, int64_t *out, struct err *e) {
  const char *p;
  size_t n;
  uint64_t v;
  if (!next_word(w, &p, &n)) return err_set(e, ERR_INPUT, "the line ends before %s", what);
  bool minus = *p == '-';
  if (!parse_digits(p + minus, n - minus, 10, &v))
    return err_set(e, ERR_INPUT, "'%.*s' where %s was expected (a decimal number)", (int)(n < 40 ? n : 40), p, what);
  *out = minus ? (int64_t)(0 - v) : (int64_t)v;
  return true;
}

/* ---- header ---- */

static bool after(const char *line, size_t n, const char *key, const char **value) {
  size_t k = strlen(key);
  if (n < k || memcmp(line, key, k)) return false;
  const char *p = line + k, *end = line + n;
  while (p < end && *p == ' ') p++;
  if (p == end || *p != '=') return false;
  for (p++; p < end && *p == ' '; p++) continue;
  *value = p;
  return true;
}

static void copy_text(char *to, size_t size, const char *from, const char *end) {
  while (end > from && (end[-1] == ' ' || end[-1] == '\r')) end--;
  snprintf(to, size, "%.*s", (int)((size_t)(end - from) < size ? (size_t)(end - from) : size - 1), from);
}

static bool dim3(const char *what, const char *text, uint32_t out[3], uint32_t most, struct err *e) {
  unsigned long v[3];
  if (sscanf(text, "(%lu,%lu,%lu)", &v[0], &v[1], &v[2]) != 3)
    return err_set(e, ERR_INPUT, "'%.40s' where %s as (x,y,z) was expected", text, what);
  for (int i = 0; i < 3; i++) {
    if (!v[i] || v[i] > most) return err_set(e, ERR_INPUT, "%s: %lu is not in 1..%u", what, v[i], most);
    out[i] = (uint32_t)v[i];
  }
  return true;
}

static bool whole(const char *what, const char *text, uint64_t most, unsigned *out, struct err *e) {
  char *end;
  unsigned long long v = strtoull(text, &end, 10);
  if (end == text || *text == '-' || v > most)
    return err_set(e, ERR_INPUT, "'%.40s' where %s was expected (at most %llu)", text, what, (unsigned long long)most);
  *out = (unsigned)v;
  return true;
}

bool accel_header_line(struct accel_header *h, const char *line, size_t n, bool *end, struct err *e) {
  const char *v;
  char text[ACCEL_NAME];
  *end = n && *line == '#';
  if (*end || !n || *line != '-') return true;
  if (after(line, n, "-kernel name", &v)) {
    copy_text(h->name, sizeof h->name, v, line + n);
    return true;
  }
  const char *eq = memchr(line, '=', n);
  if (!eq) return true; /* unknown: skipped, as by the reference's reader */
  for (v = eq + 1; v < line + n && *v == ' '; v++) continue;
  copy_text(text, sizeof text, v, line + n);
  if (after(line, n, "-kernel id", &v)) return whole("the kernel id", text, UINT32_MAX, &h->id, e);
  if (after(line, n, "-grid dim", &v)) return (h->seen_grid = dim3("grid dim", text, h->grid, INT32_MAX, e));
  if (after(line, n, ACCEL_CLUSTER, &v)) return dim3("the cluster", text, h->cluster, INT32_MAX, e);
  if (after(line, n, "-block dim", &v)) return (h->seen_block = dim3("block dim", text, h->block, 1024, e));
  if (after(line, n, "-shmem", &v)) return whole("the bytes of shared memory", text, 1u << 28, &h->shmem, e);
  if (after(line, n, "-nregs", &v)) return whole("the registers per thread", text, 1024, &h->nregs, e);
  if (after(line, n, "-binary version", &v)) return whole("the binary version", text, 1000, &h->binary_version, e);
  if (after(line, n, "-cuda stream id", &v)) h->stream = strtol(text, NULL, 10);
  else if (after(line, n, "-shmem base_addr", &v)) h->shmem_base = strtoull(text, NULL, 16);
  else if (after(line, n, "-local mem base_addr", &v)) h->local_base = strtoull(text, NULL, 16);
  else if (after(line, n, "-nvbit version", &v)) copy_text(h->nvbit, sizeof h->nvbit, text, text + strlen(text));
  else if (after(line, n, "-accelsim tracer version", &v)) h->version = strtod(text, NULL);
  else if (after(line, n, "-enable lineinfo", &v)) h->lineinfo = *text == '1';
  if (h->version >= 7)
    return err_set(e, ERR_INPUT, "tracer version %g is newer than 6, the newest that is known here", h->version);
  return true;
}

/* ---- instruction lines ---- */

/* R12 is 13; RZ (R255) and uniform, predicate and other registers are 0: the model does not wait for them. */
static bool reg(struct words *w, const char *what, uint16_t *out, struct err *e) {
  const char *p;
  size_t n;
  uint64_t v;
  if (!next_word(w, &p, &n)) return err_set(e, ERR_INPUT, "the line ends before %s", what);
  *out = 0;
  if (*p == 'U' || *p == 'P' || (n == 2 && !memcmp(p, "RZ", 2))) return true;
  if (*p != 'R' || !parse_digits(p + 1, n - 1, 10, &v) || v > 255)
    return err_set(e, ERR_INPUT, "'%.*s' where %s was expected (R0 to R255)", (int)(n < 40 ? n : 40), p, what);
  *out = v == 255 ? 0 : (uint16_t)(v + 1);
  return true;
}

static bool registers(struct words *w, bool dst, struct accel_inst *i, struct err *e) {
  uint64_t n;
  uint8_t kept = 0;
  if (!need(w, dst ? "the number of destinations" : "the number of sources", 10, 16, &n, e)) return false;
  for (uint64_t k = 0; k < n; k++) {
    uint16_t r;
    if (!reg(w, dst ? "a destination register" : "a source register", &r, e)) return false;
    if (r && kept < ACCEL_REGS) (dst ? i->dst : i->src)[kept++] = r;
  }
  *(dst ? &i->ndst : &i->nsrc) = kept;
  return true;
}

static bool is_hex(const char *p, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (digit(p[i]) > 15) return false;
  return n > 0;
}

/* Columns before the PC: four ids before version 3, SM and hardware warp with TOOL_TRACE_CORE=1 (not stated in the
 * header), the source line. The columns are counted from the mask, which has eight hexadecimal digits and follows the
 * PC. */
static bool leading(const struct accel_header *h, struct words *w, struct accel_inst *i, struct err *e) {
  size_t ids = h->version < 3 ? 4 : 0, columns = ids + h->lineinfo;
  struct words ahead = *w;
  const char *p = "";
  size_t n = 0;
  for (size_t k = 0; k < columns + 2; k++)
    if (!next_word(&ahead, &p, &n)) return err_set(e, ERR_INPUT, "the line ends before the PC and the mask");
  if (n != 8 || !is_hex(p, n)) {
    for (int k = 0; k < 2; k++)
      if (!next_word(&ahead, &p, &n)) n = 0;
    if (n == 8 && is_hex(p, n)) columns += 2, ids += 2;
  }
  uint64_t v;
  for (size_t k = 0; k < columns; k++) {
    if (!need(w, k < ids ? "a CTA, warp or SM number" : "the source line", 10, INT32_MAX, &v, e)) return false;
    if (k == ids) i->line = (uint32_t)v;
  }
  if (!need(w, "the PC", 16, UINT32_MAX, &v, e)) return false;
  i->pc = (uint32_t)v;
  while (w->p < w->end && *w->p == ' ') w->p++;
  i->head = w->p;
  if (!need(w, "the active mask", 16, UINT32_MAX, &v, e)) return false;
  i->mask = (uint32_t)v;
  return true;
}

/* `count` addresses were recorded for the active lanes; `mask` has those whose predicate also held. */
static void keep_active(struct accel_inst *i, const uint64_t *all, uint32_t count) {
  uint32_t lanes = (uint32_t)__builtin_popcount(i->mask);
  i->naddr = lanes;
  if (count == ACCEL_LANES) {
    uint32_t k = 0;
    for (uint32_t m = i->mask; m; m &= m - 1) i->addr[k++] = all[__builtin_ctz(m)];
    return;
  }
  i->lossy = count > lanes;
  for (uint32_t k = 0; k < lanes; k++) i->addr[k] = all[k < count ? k : count - 1];
}

static bool lane_addresses(const struct accel_header *h, struct words *w, struct accel_inst *i, struct err *e) {
  uint64_t all[ACCEL_LANES] = {0}, v;
  uint32_t lanes = (uint32_t)__builtin_popcount(i->mask), count = lanes ? lanes : 0;
  int64_t step = 0;
  if (i->mode == 1) {
    if (!need(w, "the base address", 16, UINT64_MAX, &v, e) || !need_signed(w, "the stride", &step, e)) return false;
    uint32_t first = i->mask ? (uint32_t)__builtin_ctz(i->mask) : 0, k = 0;
    for (uint32_t m = i->mask; m; m &= m - 1) i->addr[k++] = v + (uint64_t)step * ((uint32_t)__builtin_ctz(m) - first);
    i->naddr = lanes;
    return true;
  }
  /* Before November 2020 addresses were written for all active lanes, more than `mask` has. Those versions have no
   * immediate, so the rest of the line gives the count. */
  if (h->version < 4) {
    size_t left = words_left(*w);
    if (left > count && left <= ACCEL_LANES) count = (uint32_t)left;
  }
  if (!count) return true;
  if (i->mode == 2 && !need(w, "the base address", 16, UINT64_MAX, &all[0], e)) return false;
  for (uint32_t k = i->mode == 2; k < count; k++) {
    if (i->mode == 0 && !need(w, "an address for every active lane", 16, UINT64_MAX, &all[k], e)) return false;
    if (i->mode == 2 && !need_signed(w, "a delta for every active lane after the first", &step, e)) return false;
    if (i->mode == 2) all[k] = all[k - 1] + (uint64_t)step;
  }
  keep_active(i, all, count);
  return true;
}

static bool is_bulk(const struct accel_inst *i) {
  return sass_unit_of(i->opcode, i->opcode_len) == U_BULK;
}

/* Bulk copies of version 6: mem_width, mbarrier, multicast [CTA mask], bytes, bytes out of bounds, mode, addresses. */
static bool bulk_addresses(struct words *w, struct accel_inst *i, const char *mask, struct err *e) {
  uint64_t v, count = 0, multicast, mode;
  int64_t step;
  if (!need(w, "the mbarrier address", 16, UINT64_MAX, &v, e) || !need(w, "is_multicast", 10, 1, &multicast, e))
    return false;
  if (multicast && !need(w, "the CTA mask", 16, UINT64_MAX, &v, e)) return false;
  if (!need(w, "the byte count", 10, UINT64_MAX, &v, e) || !need(w, "the bytes out of bounds", 10, UINT64_MAX, &v, e))
    return false;
  i->head = mask;
  i->head_len = (size_t)(w->p - mask);
  if (!need(w, "the address mode", 10, 4, &mode, e)) return false;
  i->mode = (uint8_t)mode;
  if (mode != 3 && mode != 4)
    return err_set(e, ERR_INPUT, "address mode %u of a bulk copy: 3 and 4 are known", i->mode);
  if (mode == 4 && !need(w, "the base address", 16, UINT64_MAX, &v, e)) return false;
  if (!need(w, "the number of addresses", 10, 1u << 20, &count, e)) return false;
  for (uint64_t k = 0; k < count; k++) {
    if (mode == 3 && !need(w, "an address", 16, UINT64_MAX, &v, e)) return false;
    if (mode == 4 && k && !need_signed(w, "a delta", &step, e)) return false;
    if (mode == 4 && k) v += (uint64_t)step;
    if (k < ACCEL_LANES) i->addr[k] = v;
  }
  i->naddr = count < ACCEL_LANES ? (uint32_t)count : ACCEL_LANES;
  i->lossy = count > ACCEL_LANES;
  i->mask = i->naddr == ACCEL_LANES ? UINT32_MAX : (1u << i->naddr) - 1;
  return true;
}

static bool register_values(struct words *w, struct err *e) {
  uint64_t n, v;
  while (words_left(*w)) { /* registers that were recorded: 1 value, or 32 */
    if (!need(w, "the number of distinct values", 10, 32, &n, e)) return false;
    for (uint64_t k = 0; k < n; k++)
      if (!need(w, "a register value", 16, UINT64_MAX, &v, e)) return false;
  }
  return true;
}

static bool rest_of_line(const struct accel_header *h, struct words *w, struct accel_inst *i, struct err *e) {
  const char *p;
  size_t n;
  i->tail = w->p;
  i->tail_len = 0;
  for (int k = 0; next_word(w, &p, &n); k++) {
    uint64_t v;
    if (h->version >= 6 && ((n == 3 && !memcmp(p, "Val", 3)) || (n == 5 && !memcmp(p, "NoVal", 5))))
      return n == 5 || register_values(w, e);
    bool minus = *p == '-', hex = n > 2 && p[0] == '0' && p[1] == 'x';
    if (k >= 2 || !(hex ? parse_digits(p + 2, n - 2, 16, &v) : parse_digits(p + minus, n - minus, 10, &v)))
      return err_set(e, ERR_INPUT, "'%.*s' after the end of the instruction%s", (int)(n < 40 ? n : 40), p,
                     k >= 2 ? "" : ": an immediate is a decimal number");
    if (!k) i->tail = p;
    i->tail_len = (size_t)(p + n - i->tail);
  }
  return true;
}

/* The mask has eight digits, the number of destinations fewer. */
bool accel_head_is_bulk(const char *head) {
  return strspn(head, "0123456789abcdefABCDEF") == 8;
}

bool accel_inst_line(const struct accel_header *h, const char *line, size_t n, struct accel_inst *i, struct err *e) {
  struct words w = {line, line + n};
  uint64_t v;
  i->line = 0;
  i->addresses = i->lossy = false;
  i->naddr = 0;
  i->mode = 0;
  if (!leading(h, &w, i, e)) return false;
  const char *mask = i->head;
  while (w.p < w.end && *w.p == ' ') w.p++;
  i->head = w.p;
  if (!registers(&w, true, i, e)) return false;
  if (!next_word(&w, &i->opcode, &i->opcode_len)) return err_set(e, ERR_INPUT, "the line ends before the opcode");
  if (i->opcode_len > 100 || *i->opcode < 'A' || *i->opcode > 'Z')
    return err_set(e, ERR_INPUT, "'%.*s' where an opcode was expected", (int)(i->opcode_len < 40 ? i->opcode_len : 40),
                   i->opcode);
  if (!registers(&w, false, i, e)) return false;
  if (h->version >= 6 && memmem(i->opcode, i->opcode_len, "GMMA", 4) && !need(&w, "is_gmma_commit_group", 10, 1, &v, e))
    return false;
  if (!need(&w, "the memory width", 10, 4096, &v, e)) return false;
  i->width = (uint32_t)v;
  i->head_len = (size_t)(w.p - i->head);
  if (i->width) {
    i->addresses = true;
    if (h->version >= 6 && is_bulk(i)) {
      if (!bulk_addresses(&w, i, mask, e)) return false;
    } else {
      if (!need(&w, "the address mode", 10, 2, &v, e)) return false;
      i->mode = (uint8_t)v;
      if (!lane_addresses(h, &w, i, e)) return false;
    }
  }
  return rest_of_line(h, &w, i, e);
}
