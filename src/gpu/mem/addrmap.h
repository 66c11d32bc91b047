/* addrmap.h - maps a device address to channel, sub-partition, bank, row and column.
 *
 * The bits above dram.channel_bit are divided by the number of channels: the remainder is the channel; the quotient
 * joined with the low bits is the address inside the channel, whose bits dram.address_map names
 * (docs/explanation/gpu-model.md, "Clocks and sizes"). The lowest bank bits select the sub-partition and are excluded
 * from the L2's set index.
 */
#ifndef GPU_MEM_ADDRMAP_H
#define GPU_MEM_ADDRMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "gpu/common/config.h"
#include "gpu/common/req.h"

/* A field whose bits are gathered from runs of address bits, lowest first. */
struct addrmap_field {
  uint32_t runs;
  struct {
    uint64_t mask; /* of the address within the channel */
    uint8_t down;  /* shift that brings the run to its place in the field */
  } run[24];
};

struct addrmap {
  struct addrmap_field row, bank, column;
  struct addrmap_field local; /* the address within the channel without the sub-partition's bits */
  uint32_t low, channels, subparts;
  uint32_t parts;      /* what blocks are dealt to: channels, or sub-partitions at once */
  uint32_t round;      /* skewed: rounds after which the first part is the first again */
  uint64_t reciprocal; /* 2^64 / parts, rounded up; 0 for one */
  enum gpu_partition_hash hash;
};

/* Compile the configuration's map; false (with a message) if the text is not a map of 64 bits. */
bool addrmap_init(struct addrmap *m, const struct gpu_config *c, struct err *e);
/* Fill channel, subpart (over the whole GPU), bank, row and column of `r` from r->addr. */
void addrmap_split(const struct addrmap *m, struct req *r);
/* The same without the column, which the machine does not use. */
void addrmap_route(const struct addrmap *m, struct req *r);
/* The address within its sub-partition: input of the L2's set index. */
uint64_t addrmap_local(const struct addrmap *m, uint64_t addr);

#endif
