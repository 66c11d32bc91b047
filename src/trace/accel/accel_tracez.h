/* accel_tracez.h - Accel-Sim's packed kernel file (.tracez, tracer version 6), read as the text of a .traceg.
 *
 * Layout, little endian: header text ending in a NUL; u32 size of the dictionary, u32 instructions per chunk, the zstd
 * dictionary; the warps' chunks, zstd frames of instruction lines; the index: u32 CTAs, per CTA eleven u32 (its
 * coordinates, cluster id, place in the cluster, rank, warps) and per warp u32 instructions, u32 chunks, u64 offset,
 * the chunks' sizes; u64 offset of the index as the last eight bytes.
 */
#ifndef TRACE_ACCEL_ACCEL_TRACEZ_H
#define TRACE_ACCEL_ACCEL_TRACEZ_H

#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

struct tracez;

/* `f` stays the caller's. NULL with `e`: file, offset, expected content. */
struct tracez *tracez_open(const char *path, FILE *f, uint64_t file_bytes, struct err *e);
/* Up to `size` bytes of text; 0 at the end, or with `e` set. */
size_t tracez_read(struct tracez *t, char *to, size_t size, struct err *e);
uint64_t tracez_position(const struct tracez *t);
void tracez_close(struct tracez *t);

#endif
