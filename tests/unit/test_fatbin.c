/* test_fatbin.c - fat binaries built by hand: every compression, the choice of target, and every way to be damaged. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <lz4.h>
#include <zstd.h>

#include "cudart/image/fatbin.h"

#define FLAG_LZ4 0x2000u
#define FLAG_ZSTD 0x8000u

static const char ptx[] = "\n\n.version 7.8\n.target sm_35\n.address_size 64\n"
                          ".visible .entry k(.param .u64 k_param_0)\n{\nret;\n}\n"
                          ".visible .entry l(.param .u64 l_param_0)\n{\nret;\n}\n";

/* A container under construction, exactly as long as its bytes so that a sanitizer sees every step too far. */
struct builder {
  uint8_t *bytes;
  size_t len;
};

static void put(struct builder *b, size_t at, const void *v, size_t n) {
  memcpy(b->bytes + at, v, n);
}

static void put16(struct builder *b, size_t at, uint16_t v) {
  put(b, at, &v, sizeof v);
}

static void put32(struct builder *b, size_t at, uint32_t v) {
  put(b, at, &v, sizeof v);
}

static void put64(struct builder *b, size_t at, uint64_t v) {
  put(b, at, &v, sizeof v);
}

static void begin(struct builder *b) {
  b->bytes = calloc(1, 16);
  b->len = 16;
  put32(b, 0, 0xBA55ED50u);
  put16(b, 4, 1);
  put16(b, 6, 16);
}

struct entry {
  uint16_t kind;
  uint32_t sm;
  uint64_t flags;
  const void *stored;
  size_t stored_len;
  uint32_t csize;
  uint64_t usize;
};

static void add_entry(struct builder *b, const struct entry *e) {
  size_t at = b->len, padded = (e->stored_len + 7) & ~(size_t)7;
  b->bytes = realloc(b->bytes, at + 64 + padded);
  b->len = at + 64 + padded;
  memset(b->bytes + at, 0, 64 + padded);
  put16(b, at, e->kind);
  put16(b, at + 2, 0x0101);
  put32(b, at + 4, 64);
  put64(b, at + 8, padded);
  put32(b, at + 16, e->csize);
  put16(b, at + 24, 8);
  put16(b, at + 26, 7);
  put32(b, at + 28, e->sm);
  put64(b, at + 40, e->flags | 0x11);
  put64(b, at + 56, e->usize);
  put(b, at + 64, e->stored, e->stored_len);
  put64(b, 8, b->len - 16);
}

static void add_plain(struct builder *b, uint32_t sm, const char *text) {
  add_entry(b, &(struct entry){FATBIN_PTX, sm, 0, text, strlen(text) + 1, 0, 0});
}

static void add_lz4(struct builder *b, uint32_t sm, const char *text) {
  char out[4096];
  int n = LZ4_compress_default(text, out, (int)strlen(text) + 1, sizeof out);
  assert_true(n > 0);
  add_entry(b, &(struct entry){FATBIN_PTX, sm, FLAG_LZ4, out, (size_t)n, (uint32_t)n, strlen(text) + 1});
}

static void add_zstd(struct builder *b, uint32_t sm, const char *text) {
  char out[4096];
  size_t n = ZSTD_compress(out, sizeof out, text, strlen(text) + 1, 3);
  assert_false(ZSTD_isError(n));
  add_entry(b, &(struct entry){FATBIN_PTX, sm, FLAG_ZSTD, out, n, (uint32_t)n, strlen(text) + 1});
}

static void reads_every_compression(void **state) {
  (void)state;
  struct builder b;
  begin(&b);
  add_plain(&b, 35, ptx);
  add_lz4(&b, 50, ptx);
  add_zstd(&b, 75, ptx);
  struct fatbin f = {0};
  struct err e = {0};
  assert_true(fatbin_add(&f, b.bytes, b.len, &e));
  assert_int_equal(f.count, 3);
  assert_int_equal(f.containers, 1);
  for (uint32_t i = 0; i < 3; i++) {
    assert_true(fatbin_unpack(&f, &f.items[i], &e));
    assert_string_equal(f.items[i].unpacked, ptx);
    assert_int_equal(f.items[i].unpacked_len, strlen(ptx));
  }
  fatbin_free(&f);
  free(b.bytes);
}

/* A driver takes the newest PTX that the device can run. */
static void chooses_the_best_target(void **state) {
  (void)state;
  struct builder b;
  begin(&b);
  add_plain(&b, 50, ptx);
  add_plain(&b, 35, ptx);
  add_plain(&b, 75, ptx);
  add_entry(&b, &(struct entry){FATBIN_CUBIN, 70, 0, "x", 1, 0, 0});
  add_entry(&b, &(struct entry){FATBIN_CUBIN, 50, 0, "x", 1, 0, 0});
  struct fatbin f = {0};
  assert_true(fatbin_add(&f, b.bytes, b.len, NULL));
  assert_int_equal(fatbin_choose_ptx(&f, 0, 50)->sm, 50);
  assert_int_equal(fatbin_choose_ptx(&f, 0, 62)->sm, 50);
  assert_int_equal(fatbin_choose_ptx(&f, 0, 49)->sm, 35);
  assert_int_equal(fatbin_choose_ptx(&f, 0, 90)->sm, 75);
  assert_int_equal(fatbin_choose_ptx(&f, 0, 20)->sm, 35); /* none fits: the nearest above */
  assert_null(fatbin_choose_ptx(&f, 1, 90));
  assert_int_equal(fatbin_choose_cubin(&f, 0, 50)->sm, 50);
  assert_int_equal(fatbin_choose_cubin(&f, 0, 75)->sm, 70);
  fatbin_free(&f);
  free(b.bytes);
}

static void empty_and_several_containers(void **state) {
  (void)state;
  struct builder a, b;
  begin(&a);
  begin(&b);
  add_plain(&b, 35, ptx);
  struct fatbin f = {0};
  assert_true(fatbin_add(&f, a.bytes, a.len, NULL));
  assert_true(fatbin_add(&f, b.bytes, b.len, NULL));
  assert_null(fatbin_choose_ptx(&f, 0, 35));
  assert_non_null(fatbin_choose_ptx(&f, 1, 35));
  fatbin_free(&f);
  free(a.bytes);
  free(b.bytes);
}

/* Cut at every byte: an error or fewer entries, and no access past the end (the copy is exactly that long). */
static void survives_truncation(void **state) {
  (void)state;
  struct builder b;
  begin(&b);
  add_plain(&b, 35, ptx);
  add_lz4(&b, 50, ptx);
  add_zstd(&b, 75, ptx);
  for (size_t len = 0; len < b.len; len++) {
    uint8_t *cut = malloc(len ? len : 1);
    memcpy(cut, b.bytes, len);
    struct fatbin f = {0};
    struct err e = {0};
    assert_false(fatbin_add(&f, cut, len, &e));
    assert_int_equal(e.code, ERR_INPUT);
    assert_int_equal(f.count, 0);
    fatbin_free(&f);
    free(cut);
  }
  free(b.bytes);
}

/* Every byte set to three values: whatever comes out, it comes out as an answer. */
static void survives_corruption(void **state) {
  (void)state;
  static const uint8_t values[] = {0, 0x7f, 0xff};
  struct builder b;
  begin(&b);
  add_lz4(&b, 50, ptx);
  add_zstd(&b, 75, ptx);
  uint32_t refused = 0;
  for (size_t at = 0; at < b.len; at++)
    for (size_t v = 0; v < sizeof values; v++) {
      uint8_t was = b.bytes[at];
      b.bytes[at] = values[v];
      struct fatbin f = {0};
      if (!fatbin_add(&f, b.bytes, b.len, NULL)) refused++;
      for (uint32_t i = 0; i < f.count; i++)
        if (!fatbin_unpack(&f, &f.items[i], NULL)) refused++;
      fatbin_free(&f);
      b.bytes[at] = was;
    }
  assert_true(refused > 100);
  free(b.bytes);
}

static void names_unknown_compression(void **state) {
  (void)state;
  struct builder b;
  begin(&b);
  add_entry(&b, &(struct entry){FATBIN_PTX, 80, 0x4000, "????????", 8, 8, 100});
  add_entry(&b, &(struct entry){FATBIN_PTX, 80, FLAG_LZ4 | FLAG_ZSTD, "????????", 8, 8, 100});
  struct fatbin f = {0};
  struct err e = {0};
  assert_true(fatbin_add(&f, b.bytes, b.len, &e));
  assert_false(fatbin_unpack(&f, &f.items[0], &e));
  assert_int_equal(e.code, ERR_UNSUPPORTED);
  assert_non_null(strstr(e.msg, "unknown way"));
  assert_false(fatbin_unpack(&f, &f.items[1], &e));
  assert_int_equal(e.code, ERR_UNSUPPORTED);
  fatbin_free(&f);
  free(b.bytes);
}

/* A few bytes that claim to unpack to gigabytes are refused before anything is allocated. */
static void refuses_forged_sizes(void **state) {
  (void)state;
  struct builder b;
  begin(&b);
  add_entry(&b, &(struct entry){FATBIN_PTX, 80, FLAG_LZ4, "????????", 8, 8, UINT64_C(1) << 40});
  add_entry(&b, &(struct entry){FATBIN_PTX, 80, FLAG_LZ4, "????????", 8, 8, 1 << 20});
  add_entry(&b, &(struct entry){FATBIN_PTX, 80, FLAG_LZ4, "????????", 8, 4096, 100});
  struct fatbin f = {0};
  struct err e = {0};
  size_t before = mallinfo2().uordblks;
  assert_true(fatbin_add(&f, b.bytes, b.len, &e));
  for (uint32_t i = 0; i < f.count; i++) {
    assert_false(fatbin_unpack(&f, &f.items[i], &e));
    assert_int_equal(e.code, ERR_INPUT);
  }
  assert_true(mallinfo2().uordblks - before < 1 << 16);
  fatbin_free(&f);
  free(b.bytes);
}

static void refuses_other_versions(void **state) {
  (void)state;
  struct builder b;
  begin(&b);
  put16(&b, 4, 2);
  struct fatbin f = {0};
  struct err e = {0};
  assert_false(fatbin_add(&f, b.bytes, b.len, &e));
  assert_int_equal(e.code, ERR_UNSUPPORTED);
  put16(&b, 4, 1);
  put32(&b, 0, 0x12345678);
  assert_false(fatbin_add(&f, b.bytes, b.len, &e));
  assert_int_equal(e.code, ERR_INPUT);
  fatbin_free(&f);
  free(b.bytes);
}

/* ---- registers of machine code: a small ELF file with one .text section per kernel ---- */

struct found {
  uint32_t k, total;
};

static void note(void *ctx, const char *kernel, uint32_t regs) {
  struct found *f = ctx;
  if (strcmp(kernel, "k") == 0) f->k = regs;
  f->total++;
}

enum { ELF_BYTES = 64 + 3 * 64 + 32 };
static void make_cubin(uint8_t *p) {
  static const char names[] = "\0.text.k\0.shstrtab";
  memset(p, 0, ELF_BYTES);
  memcpy(p, "\177ELF\2\1\1", 7);
  p[16] = 2;   /* executable */
  p[18] = 190; /* EM_CUDA */
  p[20] = 1;
  p[40] = 64; /* section headers follow the file header */
  p[52] = 64;
  p[58] = 64, p[60] = 3, p[62] = 2; /* size, number, names */
  uint8_t *text = p + 128, *strings = p + 192;
  text[0] = 1, text[4] = 1, text[44 + 3] = 37; /* sh_info: 37 registers in the top byte */
  text[24] = 0, text[25] = 1, text[48] = 1;
  strings[0] = 9, strings[4] = 3, strings[32] = sizeof names; /* SHT_STRTAB */
  strings[24] = 0, strings[25] = 1, strings[48] = 1;          /* at 256 */
  memcpy(p + 256, names, sizeof names);
}

static void reads_registers(void **state) {
  (void)state;
  uint8_t image[ELF_BYTES];
  struct found f = {0};
  make_cubin(image);
  assert_true(cubin_registers(image, sizeof image, note, &f));
  assert_int_equal(f.k, 37);
  assert_int_equal(f.total, 1);
  for (size_t len = 0; len < sizeof image; len++) { /* cut anywhere */
    uint8_t *cut = malloc(len ? len : 1);
    memcpy(cut, image, len);
    cubin_registers(cut, len, note, &f);
    free(cut);
  }
  image[18] = 62; /* machine code, but of the host */
  f = (struct found){0};
  assert_false(cubin_registers(image, sizeof image, note, &f));
  assert_int_equal(f.total, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_every_compression),
      cmocka_unit_test(chooses_the_best_target),
      cmocka_unit_test(empty_and_several_containers),
      cmocka_unit_test(survives_truncation),
      cmocka_unit_test(survives_corruption),
      cmocka_unit_test(names_unknown_compression),
      cmocka_unit_test(refuses_forged_sizes),
      cmocka_unit_test(refuses_other_versions),
      cmocka_unit_test(reads_registers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
