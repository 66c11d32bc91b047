/* fatbin.h - reader of CUDA fat binaries: containers of PTX and machine code as nvcc and clang embed them.
 *
 * Reading touches only the entry headers; an entry is decompressed on demand. Every offset is checked against the
 * readable bytes, so truncated and corrupted containers give an error, never a fault.
 */
#ifndef CUDART_IMAGE_FATBIN_H
#define CUDART_IMAGE_FATBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

#define FATBIN_WRAPPER_MAGIC 0x466243B1u
#define FATBIN_CONTAINER_MAGIC 0xBA55ED50u

enum fatbin_kind { FATBIN_PTX = 1, FATBIN_CUBIN = 2 };

/* The argument of __cudaRegisterFatBinary. Version 2 comes from a device link: `linked` is a NULL-terminated array of
 * containers whose PTX belongs together. */
struct fatbin_wrapper {
  uint32_t magic, version;
  const void *container;
  const void *const *linked;
};

struct fatbin_item {
  uint32_t kind;      /* enum fatbin_kind, or an unknown kind */
  uint32_t container; /* order in which its container was added, from 0 */
  uint32_t sm;        /* 35 */
  uint64_t flags;
  const uint8_t *stored;
  uint64_t stored_bytes, compressed_bytes, unpacked_bytes; /* the last two are 0 for uncompressed entries */
  const char *source;                                      /* source name recorded by the compiler, or NULL */
  const char *unpacked;                                    /* set by fatbin_unpack; NUL-terminated */
  size_t unpacked_len;
};

struct fatbin {
  struct arena arena;
  struct fatbin_item *items;
  uint32_t count, capacity, containers;
};

/* Add the container at `data`, of which `limit` bytes can be read. False: `e` names the offset and the rule broken. */
bool fatbin_add(struct fatbin *f, const void *data, size_t limit, struct err *e);
/* The entry's uncompressed bytes: item->unpacked and unpacked_len. PTX loses its trailing NULs. */
bool fatbin_unpack(struct fatbin *f, struct fatbin_item *item, struct err *e);
/* The PTX of `container` that a driver would take for a device of compute capability `cc` (20, 75): the highest target
 * not above it, otherwise the lowest. NULL: the container holds no PTX. */
struct fatbin_item *fatbin_choose_ptx(struct fatbin *f, uint32_t container, uint32_t cc);
/* The machine code that belongs to PTX of target `sm` in `container`: the same target, else the nearest. NULL: none. */
struct fatbin_item *fatbin_choose_cubin(struct fatbin *f, uint32_t container, uint32_t sm);
void fatbin_free(struct fatbin *f);

/* Calls `found` for each kernel of a cubin with the registers a thread needs (from the section headers or, in newer
 * files, from .nv.info). False: not a readable cubin; kernels reported before stay valid. */
bool cubin_registers(const void *image, size_t bytes, void (*found)(void *ctx, const char *kernel, uint32_t regs),
                     void *ctx);

#endif
