/* slt.c - buffers, texts and block checksums of the trace format. */
#include "trace/slt/slt.h"

#include <stdlib.h>

#include "base/mem.h"

void slt_buf_grow(struct slt_buf *b, size_t more) {
  size_t size = b->size ? b->size * 2 : 256;
  while (size - b->used < more) size *= 2;
  b->at = mem_resize(b->at, size, 1);
  b->size = size;
}

void slt_buf_free(struct slt_buf *b) {
  free(b->at);
  *b = (struct slt_buf){0};
}

void slt_text(struct slt_buf *b, const char *s) {
  size_t n = s ? strlen(s) : 0;
  slt_v(b, n);
  slt_bytes(b, s, n);
}

char *slt_in_text(struct slt_in *i) {
  uint64_t n = slt_in_v(i);
  if (i->bad || n > (uint64_t)(i->end - i->p) || memchr(i->p, 0, n)) return i->bad = true, NULL;
  char *s = mem_alloc(n + 1);
  memcpy(s, i->p, n);
  s[n] = 0;
  i->p += n;
  return s;
}

uint32_t slt_block_check(const uint8_t header[12], const uint8_t *payload, size_t bytes) {
  uint64_t h = hash_bytes(hash_bytes(HASH_INIT, header, 12), payload, bytes);
  return (uint32_t)h ^ (uint32_t)(h >> 32);
}
