/* fatbin.c - reader of CUDA fat binaries.
 *
 * Layout as measured on nvcc 11.8, nvcc 13.0 and clang 14 to 22 output: a 16-byte container header, then entries back
 * to back, each a header of at least 64 bytes (its size is in it) and a payload padded to 8. PTX is stored
 * uncompressed, as a raw LZ4 block (nvcc 11) or as a zstd frame (nvcc 13). Headers are read with memcpy, since a
 * container in a file may be unaligned.
 */
#include "cudart/image/fatbin.h"

#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { CONTAINER_HEADER = 16, ENTRY_HEADER = 64, MAX_ENTRIES = 1 << 16 };
#define FLAG_LZ4 UINT64_C(0x2000)
#define FLAG_ZSTD UINT64_C(0x8000)
/* No compiler writes entries near this; it keeps a forged size from exhausting memory. */
#define MAX_PLAIN (UINT64_C(256) << 20)

static uint16_t get16(const uint8_t *p) {
  uint16_t v;
  memcpy(&v, p, sizeof v);
  return v;
}

static uint32_t get32(const uint8_t *p) {
  uint32_t v;
  memcpy(&v, p, sizeof v);
  return v;
}

static uint64_t get64(const uint8_t *p) {
  uint64_t v;
  memcpy(&v, p, sizeof v);
  return v;
}

static struct fatbin_item *new_item(struct fatbin *f) {
  if (f->count == f->capacity) {
    f->capacity = f->capacity ? f->capacity * 2 : 8;
    struct fatbin_item *grown = ARENA_ARRAY(&f->arena, struct fatbin_item, f->capacity);
    if (f->count) memcpy(grown, f->items, f->count * sizeof *grown);
    f->items = grown;
  }
  struct fatbin_item *item = &f->items[f->count++];
  *item = (struct fatbin_item){0};
  return item;
}

/* One entry at `p`, `left` bytes to the end of the container. Returns its size, 0 on error. */
static uint64_t read_entry(struct fatbin *f, const uint8_t *p, uint64_t left, uint64_t offset, struct err *e) {
  if (left < ENTRY_HEADER) {
    err_set(e, ERR_INPUT, "fat binary: entry header at offset %llu is cut off: %llu bytes left, 64 needed",
            (unsigned long long)offset, (unsigned long long)left);
    return 0;
  }
  uint32_t header = get32(p + 4);
  uint64_t payload = get64(p + 8);
  if (header < ENTRY_HEADER || header > left) {
    err_set(e, ERR_INPUT, "fat binary: entry at offset %llu states a header of %u bytes, of %llu left",
            (unsigned long long)offset, header, (unsigned long long)left);
    return 0;
  }
  if (payload > left - header) {
    err_set(e, ERR_INPUT, "fat binary: entry at offset %llu states %llu bytes of payload, of %llu left",
            (unsigned long long)offset, (unsigned long long)payload, (unsigned long long)(left - header));
    return 0;
  }
  struct fatbin_item *item = new_item(f);
  item->kind = get16(p);
  item->container = f->containers;
  item->stored = p + header;
  item->stored_bytes = payload;
  item->compressed_bytes = get32(p + 16);
  item->sm = get32(p + 28);
  item->flags = get64(p + 40);
  item->unpacked_bytes = get64(p + 56);
  uint32_t name = get32(p + 32), name_len = get32(p + 36);
  if (name && name_len && name <= header && name_len <= header - name)
    item->source = arena_strndup(&f->arena, (const char *)p + name, strnlen((const char *)p + name, name_len));
  return header + payload;
}

bool fatbin_add(struct fatbin *f, const void *data, size_t limit, struct err *e) {
  const uint8_t *p = data;
  if (limit < CONTAINER_HEADER) return err_set(e, ERR_INPUT, "fat binary: %zu bytes, shorter than its header", limit);
  if (get32(p) != FATBIN_CONTAINER_MAGIC)
    return err_set(e, ERR_INPUT, "fat binary: starts with 0x%08x, expected 0x%08x", get32(p), FATBIN_CONTAINER_MAGIC);
  if (get16(p + 4) != 1)
    return err_set(e, ERR_UNSUPPORTED, "fat binary: container version %u, only version 1 is known", get16(p + 4));
  uint64_t header = get16(p + 6), bytes = get64(p + 8);
  if (header < CONTAINER_HEADER || header > limit)
    return err_set(e, ERR_INPUT, "fat binary: container states a header of %llu bytes", (unsigned long long)header);
  if (bytes > limit - header)
    return err_set(e, ERR_INPUT, "fat binary: truncated: container states %llu bytes of entries, %llu are there",
                   (unsigned long long)bytes, (unsigned long long)(limit - header));
  uint32_t before = f->count;
  for (uint64_t at = 0; at < bytes;) {
    uint64_t size = f->count - before < MAX_ENTRIES ? read_entry(f, p + header + at, bytes - at, header + at, e) : 0;
    if (size == 0) {
      if (f->count - before >= MAX_ENTRIES) err_set(e, ERR_INPUT, "fat binary: more than %d entries", MAX_ENTRIES);
      f->count = before;
      return false;
    }
    at += size;
  }
  f->containers++;
  return true;
}

static bool unpack_lz4(struct fatbin_item *item, char *out, struct err *e) {
  int got =
      LZ4_decompress_safe((const char *)item->stored, out, (int)item->compressed_bytes, (int)item->unpacked_bytes);
  if (got < 0 || (uint64_t)got != item->unpacked_bytes)
    return err_set(e, ERR_INPUT, "fat binary: LZ4 data of the sm_%u entry is damaged", item->sm);
  return true;
}

static bool unpack_zstd(struct fatbin_item *item, char *out, struct err *e) {
  size_t got = ZSTD_decompress(out, item->unpacked_bytes, item->stored, item->compressed_bytes);
  if (ZSTD_isError(got))
    return err_set(e, ERR_INPUT, "fat binary: zstd data of the sm_%u entry is damaged: %s", item->sm,
                   ZSTD_getErrorName(got));
  if (got != item->unpacked_bytes)
    return err_set(e, ERR_INPUT, "fat binary: zstd data of the sm_%u entry unpacks to %zu bytes, %llu stated", item->sm,
                   got, (unsigned long long)item->unpacked_bytes);
  return true;
}

/* Upper bound of the decompressed size, so that a forged size is not allocated: LZ4 cannot exceed 255:1; a zstd frame
 * usually states its size. */
static bool plausible(const struct fatbin_item *item) {
  if (item->unpacked_bytes == 0 || item->unpacked_bytes > MAX_PLAIN) return false;
  if (item->compressed_bytes == 0 || item->compressed_bytes > item->stored_bytes) return false;
  if (item->flags & FLAG_LZ4) return item->unpacked_bytes <= item->compressed_bytes * 255;
  unsigned long long stated = ZSTD_getFrameContentSize(item->stored, item->compressed_bytes);
  if (stated == ZSTD_CONTENTSIZE_ERROR) return false;
  return stated == ZSTD_CONTENTSIZE_UNKNOWN || stated == item->unpacked_bytes;
}

bool fatbin_unpack(struct fatbin *f, struct fatbin_item *item, struct err *e) {
  if (item->unpacked) return true;
  uint64_t method = item->flags & (FLAG_LZ4 | FLAG_ZSTD);
  char *out;
  size_t len;
  if (method == 0) {
    if (item->compressed_bytes || item->unpacked_bytes)
      return err_set(e, ERR_UNSUPPORTED, "fat binary: sm_%u entry is compressed in an unknown way (flags 0x%llx)",
                     item->sm, (unsigned long long)item->flags);
    len = item->stored_bytes;
    out = arena_alloc(&f->arena, len + 1);
    memcpy(out, item->stored, len);
  } else {
    if (method == (FLAG_LZ4 | FLAG_ZSTD))
      return err_set(e, ERR_UNSUPPORTED, "fat binary: sm_%u entry names two compressions (flags 0x%llx)", item->sm,
                     (unsigned long long)item->flags);
    if (!plausible(item))
      return err_set(e, ERR_INPUT, "fat binary: sm_%u entry states impossible sizes: %llu bytes from %llu", item->sm,
                     (unsigned long long)item->unpacked_bytes, (unsigned long long)item->compressed_bytes);
    len = item->unpacked_bytes;
    out = arena_alloc(&f->arena, len + 1);
    if (!(method == FLAG_LZ4 ? unpack_lz4(item, out, e) : unpack_zstd(item, out, e))) return false;
  }
  if (item->kind == FATBIN_PTX) {
    while (len && out[len - 1] == 0) len--;
    if (memchr(out, 0, len)) return err_set(e, ERR_INPUT, "fat binary: PTX of sm_%u contains a NUL byte", item->sm);
  }
  out[len] = 0;
  item->unpacked = out;
  item->unpacked_len = len;
  return true;
}

struct fatbin_item *fatbin_choose_ptx(struct fatbin *f, uint32_t container, uint32_t cc) {
  struct fatbin_item *best = NULL;
  for (uint32_t i = 0; i < f->count; i++) {
    struct fatbin_item *it = &f->items[i];
    if (it->container != container || it->kind != FATBIN_PTX) continue;
    bool fits = it->sm <= cc, best_fits = best && best->sm <= cc;
    if (!best || (fits && !best_fits) || (fits == best_fits && (fits ? it->sm > best->sm : it->sm < best->sm)))
      best = it;
  }
  return best;
}

struct fatbin_item *fatbin_choose_cubin(struct fatbin *f, uint32_t container, uint32_t sm) {
  struct fatbin_item *best = NULL;
  for (uint32_t i = 0; i < f->count; i++) {
    struct fatbin_item *it = &f->items[i];
    if (it->container != container || it->kind != FATBIN_CUBIN) continue;
    uint32_t far = it->sm > sm ? it->sm - sm : sm - it->sm;
    uint32_t best_far = !best ? 0 : best->sm > sm ? best->sm - sm : sm - best->sm;
    if (!best || far < best_far) best = it;
  }
  return best;
}

void fatbin_free(struct fatbin *f) {
  arena_free(&f->arena);
  *f = (struct fatbin){0};
}
