/* slt_pack.h - blocks of a trace file being written: compression, dictionaries per kernel, static code once. Private
 * to this folder.
 */
#ifndef TRACE_SLT_SLT_PACK_H
#define TRACE_SLT_SLT_PACK_H

#include "base/output.h"
#include "trace/slt/slt.h"

struct slt_pack;
struct slt_pack_kernel; /* a kernel's dictionary, or the samples for it */

struct slt_pack *slt_pack_create(const char *path, const char *temp, struct err *e);
void slt_pack_free(struct slt_pack *p); /* an unfinished file is removed; NULL is allowed */
/* Append a block; returns its offset. Errors are kept for slt_pack_error. */
uint64_t slt_pack_block(struct slt_pack *p, uint8_t type, const uint8_t *raw, size_t bytes);
uint64_t slt_pack_slices(struct slt_pack *p, struct slt_pack_kernel *k, const struct slt_buf *raw);
/* Number of the CODE block with that code, written now if new. */
uint32_t slt_pack_code(struct slt_pack *p, const struct feed_kernel *k);
/* The kernel with that code and entry. */
struct slt_pack_kernel *slt_pack_kernel(struct slt_pack *p, uint32_t code, uint32_t entry);
uint32_t slt_pack_dicts(const struct slt_pack *p);
/* Discard everything from offset `at` on, and the dictionaries after the first `dicts`. */
void slt_pack_back_to(struct slt_pack *p, uint64_t at, uint32_t dicts);
/* Offsets of code and dictionaries, as at the start of INDEX. */
void slt_pack_lists(const struct slt_pack *p, struct slt_buf *b);
bool slt_pack_error(const struct slt_pack *p, struct err *e); /* true: an error occurred */
/* Make all written data durable. */
void slt_pack_flush(struct slt_pack *p);
/* Write the INDEX block and the header: the file is complete and gets its name. */
bool slt_pack_finish(struct slt_pack *p, const struct slt_buf *index, uint32_t launches, struct err *e);

#endif
