/* slt_file.h - blocks of a trace file open for reading: checked, unpacked, with errors that name file and offset.
 * Private to this folder.
 */
#ifndef TRACE_SLT_SLT_FILE_H
#define TRACE_SLT_SLT_FILE_H

#include "trace/slt/slt.h"

struct slt_file; /* descriptor, decompressor, dictionaries */

struct slt_file *slt_file_open(const char *path, struct err *e);
void slt_file_close(struct slt_file *f);
uint64_t slt_file_bytes(const struct slt_file *f);
/* "FILE: offset N: expected ..., and not ...": false. */
bool slt_file_wrong(const struct slt_file *f, uint64_t at, struct err *e, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* `n` bytes at `at`; false if the file is too short. */
bool slt_file_read(const struct slt_file *f, uint64_t at, void *into, size_t n, struct err *e);
/* The header of the block at `at`, checked against the size of the file. */
bool slt_file_block(const struct slt_file *f, uint64_t at, struct slt_block *b, struct err *e);
/* The payload, unpacked: malloc'd, b->raw bytes. NULL with `e`. */
uint8_t *slt_file_payload(struct slt_file *f, const struct slt_block *b, struct err *e);
/* Both, when the type is known. */
uint8_t *slt_file_load(struct slt_file *f, uint64_t at, uint8_t type, struct slt_block *b, struct err *e);
/* Dictionary number `n` (from 1, one after the last) is the block at `at`. */
void slt_file_add_dict(struct slt_file *f, uint64_t at);
void slt_file_forget_dicts(struct slt_file *f);

#endif
