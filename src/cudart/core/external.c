/* external.c - importing memory and semaphores from file descriptors (CUDA Runtime API, "External Resource
 * Interoperability").
 */
#include "cudart/core/external.h"
#include "cudart/core/arrays.h"
#include "cudart/core/queue.h"
#include "cudart/core/streams.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum { DEDICATED = 1, WORD_BYTES = 8, SLICE_ROWS = 4, LEVEL_ALIGN = 64 };

/* ---- memory ---- */

struct cuda_memory {
  int fd;
  uint64_t start, bytes; /* of the allocation in its file */
};

static bool name_of(int fd, char *out, size_t size) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(path, out, size - 1);
  out[n < 0 ? 0 : n] = 0;
  return n >= 0;
}

/* Mesa's software drivers put the size of the file and the offset of the allocation in front of it: the first two words
 * of the file, the offset once more just before the allocation. */
static uint64_t allocation_start(int fd, uint64_t file_bytes, uint64_t bytes) {
  uint64_t head[2], again = 0;
  char name[64];
  if (file_bytes < bytes || file_bytes - bytes < sizeof head + sizeof again) return 0;
  if (!name_of(fd, name, sizeof name) || strncmp(name, "/memfd:", 7) != 0) return 0;
  if (pread(fd, head, sizeof head, 0) != sizeof head || head[0] != file_bytes) return 0;
  if (head[1] < sizeof head + sizeof again || head[1] > file_bytes - bytes) return 0;
  if (pread(fd, &again, sizeof again, (off_t)(head[1] - sizeof again)) != sizeof again) return 0;
  return again == head[1] ? head[1] : 0;
}

static cudaError_t check_handle(struct cudart *c, const struct external_handle *h, const char *what, int last) {
  if (h->type < EXTERNAL_OPAQUE_FD || h->type > last) return cudaErrorInvalidValue;
  if (h->type != EXTERNAL_OPAQUE_FD && h->type != EXTERNAL_TIMELINE_FD)
    return cudart_why(c, cudaErrorNotSupported, "importing %s of handle type %d: only file descriptors can be imported",
                      what, h->type);
  return cudaSuccess;
}

cudaError_t external_memory_import(struct cudart *c, struct cuda_memory **out, const struct external_memory_desc *d) {
  struct stat st;
  if (!out || !d) return cudaErrorInvalidValue;
  cudaError_t r = check_handle(c, &d->handle, "memory", EXTERNAL_NVSCI_BUF);
  if (r != cudaSuccess) return r;
  int fd = d->handle.u.fd;
  if (!d->size || (d->flags & ~(unsigned)DEDICATED)) return cudaErrorInvalidValue;
  if (fstat(fd, &st) != 0)
    return cudart_why(c, cudaErrorInvalidValue, "importing memory: descriptor %d: %s", fd, strerror(errno));
  off_t end = lseek(fd, 0, SEEK_END); /* a dma-buf tells its size this way only */
  uint64_t file = end > 0 ? (uint64_t)end : (uint64_t)st.st_size;
  if (d->size > file)
    return cudart_why(c, cudaErrorInvalidValue, "importing memory: %llu bytes of a file of %llu", d->size,
                      (unsigned long long)file);
  void *p = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (p == MAP_FAILED)
    return cudart_why(c, cudaErrorOperatingSystem, "importing memory: descriptor %d cannot be mapped: %s", fd,
                      strerror(errno));
  munmap(p, 1);
  struct cuda_memory *m = mem_zeroed(1, sizeof *m);
  *m = (struct cuda_memory){.fd = fd, .bytes = d->size, .start = allocation_start(fd, file, d->size)};
  ptrmap_put(&c->external_memories, (uintptr_t)m, m);
  *out = m;
  return cudaSuccess;
}

cudaError_t external_memory_destroy(struct cudart *c, struct cuda_memory *m) {
  if (!ptrmap_remove(&c->external_memories, (uintptr_t)m)) return cudaErrorInvalidResourceHandle;
  close(m->fd); /* mappings of it stay until they are freed */
  free(m);
  return cudaSuccess;
}

static cudaError_t map(struct cudart *c, uint64_t *ptr, const struct cuda_memory *m, uint64_t offset, uint64_t bytes,
                       const char *label) {
  if (!bytes || offset > m->bytes || bytes > m->bytes - offset)
    return cudart_why(c, cudaErrorInvalidValue, "%s: bytes %llu to %llu of external memory of %llu", label,
                      (unsigned long long)offset, (unsigned long long)(offset + bytes), (unsigned long long)m->bytes);
  *ptr = simt_mem_import(c->simt, m->fd, m->start + offset, bytes, label);
  if (*ptr) return cudaSuccess;
  return errno == ENOMEM ? cudaErrorMemoryAllocation
                         : cudart_why(c, cudaErrorOperatingSystem, "%s: %s", label, strerror(errno));
}

cudaError_t external_memory_buffer(struct cudart *c, uint64_t *ptr, struct cuda_memory *m,
                                   const struct external_buffer_desc *d) {
  if (!ptrmap_get(&c->external_memories, (uintptr_t)m)) return cudaErrorInvalidResourceHandle;
  if (!ptr || !d || d->flags) return cudaErrorInvalidValue;
  return map(c, ptr, m, d->offset, d->size, "cudaExternalMemoryGetMappedBuffer");
}

struct layout {
  size_t pitch, slice;
  uint64_t bytes;
};

static struct layout level_layout(const struct cudaChannelFormatDesc *f, struct cudaExtent e) {
  size_t element = (size_t)(f->x + f->y + f->z + f->w) / 8, rows = 1;
  if (e.height) rows = (e.height + SLICE_ROWS - 1) / SLICE_ROWS * SLICE_ROWS;
  struct layout l = {.pitch = (e.width * element + LEVEL_ALIGN - 1) / LEVEL_ALIGN * LEVEL_ALIGN};
  l.slice = l.pitch * rows;
  l.bytes = ((uint64_t)l.slice * (e.depth ? e.depth : 1) + LEVEL_ALIGN - 1) / LEVEL_ALIGN * LEVEL_ALIGN;
  return l;
}

cudaError_t external_memory_mipmap(struct cudart *c, struct cuda_mipmap **out, struct cuda_memory *m,
                                   const struct external_mipmap_desc *d) {
  const struct cudaChannelFormatDesc *format = &d->format;
  struct cudaExtent extent = d->extent;
  if (!ptrmap_get(&c->external_memories, (uintptr_t)m)) return cudaErrorInvalidResourceHandle;
  int bits = format->x + format->y + format->z + format->w;
  if (!out || !d->levels || d->levels > MAX_LEVELS || bits < 8 || bits > 128 || !extent.width ||
      extent.width > 1u << 20 || extent.height > 1u << 20 || extent.depth > 1u << 16)
    return cudaErrorInvalidValue;
  uint64_t bytes = 0, at, block;
  struct cudaExtent e = extent;
  uint32_t count = 0;
  do bytes += level_layout(format, e).bytes;
  while (++count < d->levels && cudart_smaller_level(&e, d->flags));
  if (count < d->levels) return cudaErrorInvalidValue;
  if (d->offset <= m->bytes && bytes > m->bytes - d->offset) /* the last level may lack its padding */
    bytes = m->bytes - d->offset < bytes - level_layout(format, e).bytes ? bytes : m->bytes - d->offset;
  cudaError_t r = map(c, &block, m, d->offset, bytes, "cudaExternalMemoryGetMappedMipmappedArray");
  if (r != cudaSuccess) return r;
  struct cuda_mipmap *a = mem_zeroed(1, sizeof *a);
  a->block = at = block;
  for (e = extent; a->levels < count && r == cudaSuccess;) {
    struct layout l = level_layout(format, e);
    r = cudart_array_view(c, format, &e, d->flags, (struct cuda_place){at, l.pitch, l.slice}, &a->level[a->levels]);
    if (r == cudaSuccess && !simt_mem_at(c->simt, at, a->level[a->levels]->bytes)) {
      cudart_array_drop_view(c, a->level[a->levels]);
      r = cudart_why(c, cudaErrorInvalidValue, "an array of %zu x %zu x %zu does not fit in its external memory",
                     extent.width, extent.height, extent.depth);
    }
    if (r == cudaSuccess) a->levels++;
    at += l.bytes;
    cudart_smaller_level(&e, d->flags);
  }
  if (r != cudaSuccess) cudart_mipmap_free(c, a);
  else *out = a;
  return r;
}

/* ---- semaphores ---- */

enum kind { EVENT_FD, SYNC_FILE, WORD };
struct cuda_semaphore {
  int fd;
  enum kind kind;
  bool timeline;
  uint64_t *word; /* in the file, shared */
};

static cudaError_t classify(struct cudart *c, struct cuda_semaphore *s) {
  char name[64];
  struct stat st;
  if (fstat(s->fd, &st) != 0 || !name_of(s->fd, name, sizeof name))
    return cudart_why(c, cudaErrorInvalidValue, "importing a semaphore: descriptor %d: %s", s->fd, strerror(errno));
  if (strcmp(name, "anon_inode:[eventfd]") == 0 && !s->timeline) s->kind = EVENT_FD;
  else if (strcmp(name, "anon_inode:sync_file") == 0 && !s->timeline) s->kind = SYNC_FILE;
  else if (S_ISREG(st.st_mode) && st.st_size >= WORD_BYTES) s->kind = WORD;
  else
    return cudart_why(c, cudaErrorNotSupported,
                      "importing a %ssemaphore from '%s': it must be %sshared memory of 8 bytes or more",
                      s->timeline ? "timeline " : "", name, s->timeline ? "" : "an eventfd, a sync file, or ");
  if (s->kind != WORD) return cudaSuccess;
  void *p = mmap(NULL, WORD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
  if (p == MAP_FAILED)
    return cudart_why(c, cudaErrorOperatingSystem, "importing a semaphore: descriptor %d cannot be mapped: %s", s->fd,
                      strerror(errno));
  s->word = p;
  return cudaSuccess;
}

cudaError_t external_semaphore_import(struct cudart *c, struct cuda_semaphore **out,
                                      const struct external_semaphore_desc *d) {
  if (!out || !d || d->flags) return cudaErrorInvalidValue;
  cudaError_t r = check_handle(c, &d->handle, "a semaphore", EXTERNAL_TIMELINE_WIN32);
  if (r != cudaSuccess) return r;
  struct cuda_semaphore *s = mem_zeroed(1, sizeof *s);
  *s = (struct cuda_semaphore){.fd = d->handle.u.fd, .timeline = d->handle.type == EXTERNAL_TIMELINE_FD};
  r = classify(c, s);
  if (r != cudaSuccess) {
    free(s);
    return r;
  }
  c->lazy = true; /* a wait must not block the host before the signal can be sent */
  ptrmap_put(&c->external_semaphores, (uintptr_t)s, s);
  *out = s;
  return cudaSuccess;
}

static void drop_semaphore(struct cuda_semaphore *s) {
  if (s->word) munmap(s->word, WORD_BYTES);
  close(s->fd);
  free(s);
}

cudaError_t external_semaphore_destroy(struct cudart *c, struct cuda_semaphore *s) {
  if (!ptrmap_get(&c->external_semaphores, (uintptr_t)s)) return cudaErrorInvalidResourceHandle;
  cudaError_t r = cudart_drain(c); /* queued work may still need it */
  ptrmap_remove(&c->external_semaphores, (uintptr_t)s);
  drop_semaphore(s);
  return r;
}

cudaError_t external_semaphores_submit(struct cudart *c, bool signal, struct cuda_semaphore *const *s,
                                       struct external_params params, unsigned count, cudaStream_t stream) {
  const char *p = params.at;
  if (count && (!s || !p)) return cudaErrorInvalidValue;
  for (unsigned i = 0; i < count; i++) {
    unsigned flags = 0;
    if (params.flags_at != EXTERNAL_NO_FLAGS) memcpy(&flags, p + i * params.stride + params.flags_at, sizeof flags);
    if (!ptrmap_get(&c->external_semaphores, (uintptr_t)s[i])) return cudaErrorInvalidResourceHandle;
    if (flags) return cudaErrorInvalidValue; /* existing flags concern NvSci */
    if (signal && s[i]->kind == SYNC_FILE)
      return cudart_why(c, cudaErrorNotSupported, "signalling a sync file: only its driver can");
  }
  cudaError_t r = cudaSuccess;
  for (unsigned i = 0; i < count && r == cudaSuccess; i++) {
    struct cuda_op op = {.kind = signal ? OP_SIGNAL : OP_AWAIT, .u.semaphore = {.on = s[i]}};
    memcpy(&op.u.semaphore.value, p + i * params.stride, sizeof op.u.semaphore.value);
    r = cudart_submit(c, stream, &op);
  }
  return r;
}

cudaError_t external_semaphore_signal(struct cudart *c, struct cuda_semaphore *s, uint64_t value) {
  const uint64_t one = 1;
  if (s->kind == EVENT_FD)
    return write(s->fd, &one, sizeof one) == sizeof one
               ? cudaSuccess
               : cudart_why(c, cudaErrorOperatingSystem, "signalling an eventfd: %s", strerror(errno));
  if (s->timeline && __atomic_load_n(s->word, __ATOMIC_ACQUIRE) >= value)
    return cudart_why(c, cudaErrorInvalidValue, "signalling a timeline semaphore of value %llu with %llu: it must grow",
                      (unsigned long long)*s->word, (unsigned long long)value);
  __atomic_store_n(s->word, s->timeline ? value : 1, __ATOMIC_RELEASE);
  return cudaSuccess;
}

bool external_semaphore_take(struct cuda_semaphore *s, uint64_t value) {
  uint64_t count;
  if (s->kind != WORD) {
    struct pollfd p = {.fd = s->fd, .events = POLLIN};
    return poll(&p, 1, 0) > 0 && (s->kind == SYNC_FILE || read(s->fd, &count, sizeof count) == sizeof count);
  }
  if (s->timeline) return __atomic_load_n(s->word, __ATOMIC_ACQUIRE) >= value;
  return __atomic_exchange_n(s->word, 0, __ATOMIC_ACQ_REL) != 0;
}

void external_forget(struct cudart *c) {
  for (uint32_t i = 0; i < c->external_semaphores.capacity; i++)
    if (c->external_semaphores.slots[i].value) drop_semaphore(c->external_semaphores.slots[i].value);
  for (uint32_t i = 0; i < c->external_memories.capacity; i++) {
    struct cuda_memory *m = c->external_memories.slots[i].value;
    if (!m) continue;
    close(m->fd);
    free(m);
  }
  ptrmap_free(&c->external_semaphores);
  ptrmap_free(&c->external_memories);
}
