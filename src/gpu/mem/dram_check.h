/* dram_check.h - an independent judge of a GDDR5 command stream: replays (cycle, command, bank, row) and names the
 * first constraint broken. It shares no code and no derived value with dram.c. Attach it with partition_watch_dram.
 */
#ifndef GPU_DRAM_CHECK_H
#define GPU_DRAM_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/common/config.h"
#include "gpu/mem/partition.h"

enum { DRAM_CHECK_RULES = 17 };

/* "At least `distance` cycles from command `from` to command `to`", within a bank, a bank group or the channel. */
struct dram_rule {
  const char *name;
  enum dram_command from, to;
  enum { RULE_BANK, RULE_GROUP, RULE_CHANNEL } scope;
  uint32_t distance;
};

struct dram_check {
  struct dram_rule rule[DRAM_CHECK_RULES];
  uint32_t banks, groups;
  uint32_t data_cycles, read_latency, write_latency;
  /* last time of each command plus 1, 0 for never */
  uint64_t bank_last[64][4], group_last[64][4], channel_last[4];
  bool open[64];
  uint32_t row[64];
  uint64_t bus_free; /* first cycle in which the data bus is free */
  uint64_t commands, now;
  char violation[200]; /* the first one; empty if none */
};

void dram_check_init(struct dram_check *k, const struct gpu_config *c);
/* Check one command; false after the first violation. */
bool dram_check_command(struct dram_check *k, uint64_t t, enum dram_command cmd, uint32_t bank, uint32_t row);
/* The same as a watcher: ctx is a struct dram_check. */
void dram_check_watch(void *ctx, uint64_t t, enum dram_command cmd, uint32_t bank, uint32_t row);

#endif
