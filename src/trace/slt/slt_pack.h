/* slt_pack.h - blocks of a trace file that is being written: compression, dictionaries per kernel, static code once.
 * Private to the room.
 */
#ifndef TRACE_SLT_PACK_H
#define TRACE_SLT_PACK_H

#include "base/output.h"
#include "trace/slt/slt.h"

struct slt_pack;
struct slt_pack_kernel; /* a kernel's dictionary, or the samples that it will be made from */

struct slt_pack *slt_pack_create(const char *path, const char *temp, struct err *e);
void slt_pack_free(struct slt_pack *p); /* a file that is not finished vanishes; NULL is allowed */
/* Append a block; returns its offset. What goes wrong is kept for slt_pack_error. */
uint64_t slt_pack_block(struct slt_pack *p, uint8_t type, const uint8_t *raw, size_t bytes);
uint64_t slt_pack_slices(struct slt_pack *p, struct slt_pack_kernel *k, const struct slt_buf *raw);
/* Number of the CODE block of that code, written now if it is new. */
uint32_t slt_pack_code(struct slt_pack *p, const struct feed_kernel *k);
/* The kernel with that code and entry. */
struct slt_pack_kernel *slt_pack_kernel(struct slt_pack *p, uint32_t code, uint32_t entry);
uint32_t slt_pack_dicts(const struct slt_pack *p);
/* Forget everything from offset `at` on, and the dictionaries after the first `dicts`. */
void slt_pack_back_to(struct slt_pack *p, uint64_t at, uint32_t dicts);
/* Offsets of code and dictionaries, as INDEX begins. */
void slt_pack_lists(const struct slt_pack *p, struct slt_buf *b);
bool slt_pack_error(const struct slt_pack *p, struct err *e); /* true: there is one */
/* What has been written survives this process. */
void slt_pack_flush(struct slt_pack *p);
/* The INDEX block and the header: the file is complete and gets its name. */
bool slt_pack_finish(struct slt_pack *p, const struct slt_buf *index, uint32_t launches, struct err *e);

#endif
