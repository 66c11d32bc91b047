/* dram_check.h - an independent judge of a GDDR5 command stream: replays (cycle, command, bank, row) and names the
 * first constraint broken. It shares no code and no derived value with dram.c. Attach it with partition_watch_dram.
 *
 * The distances are GDDR5's with the reference's reading of three of them: a write may follow its activation by
 * tRCD - (WL + 1); read to write is CL + BL + 2 - WL; write to read is WL + BL + tCDLR (BL in command cycles).
 */
#ifndef TESTS_DRAM_CHECK_H
#define TESTS_DRAM_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

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

static const char *const dram_command_name[] = {"ACT", "PRE", "RD", "WR"};

static inline void dram_check_init(struct dram_check *k, const struct gpu_config *c) {
  uint32_t bl = c->dram_burst / c->dram_rate;
  if (!bl) bl = 1;
  memset(k, 0, sizeof *k);
  k->banks = c->dram_banks;
  k->groups = c->dram_groups;
  k->data_cycles = bl;
  k->read_latency = c->tCL;
  k->write_latency = c->tWL;
  uint32_t write_after_act = c->tRCD > c->tWL + 1 ? c->tRCD - c->tWL - 1 : 0;
  const struct dram_rule rules[DRAM_CHECK_RULES] = {
      {"tRC", DRAM_ACTIVATE, DRAM_ACTIVATE, RULE_BANK, c->tRC},
      {"tRRD", DRAM_ACTIVATE, DRAM_ACTIVATE, RULE_CHANNEL, c->tRRD},
      {"tRCD (read)", DRAM_ACTIVATE, DRAM_READ, RULE_BANK, c->tRCD},
      {"tRCD (write)", DRAM_ACTIVATE, DRAM_WRITE, RULE_BANK, write_after_act},
      {"tRAS", DRAM_ACTIVATE, DRAM_PRECHARGE, RULE_BANK, c->tRAS},
      {"tRP", DRAM_PRECHARGE, DRAM_ACTIVATE, RULE_BANK, c->tRP},
      {"tCCD (read-read)", DRAM_READ, DRAM_READ, RULE_CHANNEL, c->tCCD},
      {"tCCD (write-write)", DRAM_WRITE, DRAM_WRITE, RULE_CHANNEL, c->tCCD},
      {"read-to-write", DRAM_READ, DRAM_WRITE, RULE_CHANNEL, c->tCL + bl + 2 - c->tWL},
      {"write-to-read", DRAM_WRITE, DRAM_READ, RULE_CHANNEL, c->tWL + bl + c->tCDLR},
      {"tCCDL (read-read)", DRAM_READ, DRAM_READ, RULE_GROUP, c->tCCDL},
      {"tCCDL (write-write)", DRAM_WRITE, DRAM_WRITE, RULE_GROUP, c->tCCDL},
      {"tCCDL (read-write)", DRAM_READ, DRAM_WRITE, RULE_GROUP, c->tCCDL},
      {"tCCDL (write-read)", DRAM_WRITE, DRAM_READ, RULE_GROUP, c->tCCDL},
      {"read-to-precharge", DRAM_READ, DRAM_PRECHARGE, RULE_BANK, bl},
      {"tRTPL", DRAM_READ, DRAM_PRECHARGE, RULE_GROUP, c->tRTPL},
      {"tWR", DRAM_WRITE, DRAM_PRECHARGE, RULE_BANK, c->tWL + bl + c->tWR},
  };
  memcpy(k->rule, rules, sizeof rules);
}

static inline bool dram_broken(struct dram_check *k, uint64_t t, enum dram_command cmd, uint32_t bank,
                               const char *why) {
  snprintf(k->violation, sizeof k->violation, "cycle %llu: %s bank %u breaks %s", (unsigned long long)t,
           dram_command_name[cmd], bank, why);
  return false;
}

static inline bool dram_distances(struct dram_check *k, uint64_t t, enum dram_command cmd, uint32_t bank) {
  for (uint32_t i = 0; i < DRAM_CHECK_RULES; i++) {
    const struct dram_rule *r = &k->rule[i];
    if (r->to != cmd) continue;
    uint64_t last = r->scope == RULE_BANK    ? k->bank_last[bank][r->from]
                    : r->scope == RULE_GROUP ? k->group_last[bank % k->groups][r->from]
                                             : k->channel_last[r->from];
    if (last && t < last - 1 + r->distance) return dram_broken(k, t, cmd, bank, r->name);
  }
  return true;
}

static inline bool dram_state(struct dram_check *k, uint64_t t, enum dram_command cmd, uint32_t bank, uint32_t row) {
  bool column = cmd == DRAM_READ || cmd == DRAM_WRITE;
  if (bank >= k->banks) return dram_broken(k, t, cmd, bank, "the number of banks");
  if (cmd == DRAM_ACTIVATE && k->open[bank]) return dram_broken(k, t, cmd, bank, "the bank state: open");
  if (cmd != DRAM_ACTIVATE && !k->open[bank]) return dram_broken(k, t, cmd, bank, "the bank state: closed");
  if (column && k->row[bank] != row) return dram_broken(k, t, cmd, bank, "the open row");
  for (uint32_t other = 0; other < 4; other++) {
    bool other_column = other == DRAM_READ || other == DRAM_WRITE;
    if (column == other_column && k->channel_last[other] == t + 1)
      return dram_broken(k, t, cmd, bank, "the command bus");
  }
  if (!column) return true;
  uint64_t data = t + (cmd == DRAM_READ ? k->read_latency : k->write_latency);
  if (data < k->bus_free) return dram_broken(k, t, cmd, bank, "the data bus");
  k->bus_free = data + k->data_cycles;
  return true;
}

/* Judge one command; false once something is wrong. */
static inline bool dram_check_command(struct dram_check *k, uint64_t t, enum dram_command cmd, uint32_t bank,
                                      uint32_t row) {
  if (k->violation[0]) return false;
  if (t < k->now) return dram_broken(k, t, cmd, bank, "the order of time");
  k->now = t;
  if (!dram_state(k, t, cmd, bank, row) || !dram_distances(k, t, cmd, bank)) return false;
  if (cmd == DRAM_ACTIVATE) k->row[bank] = row;
  if (cmd == DRAM_ACTIVATE || cmd == DRAM_PRECHARGE) k->open[bank] = cmd == DRAM_ACTIVATE;
  k->bank_last[bank][cmd] = k->group_last[bank % k->groups][cmd] = k->channel_last[cmd] = t + 1;
  k->commands++;
  return true;
}

/* The same as a watcher: ctx is a struct dram_check. */
static inline void dram_check_watch(void *ctx, uint64_t t, enum dram_command cmd, uint32_t bank, uint32_t row) {
  dram_check_command(ctx, t, cmd, bank, row);
}

#endif
