/* dram_check.c - replays DRAM commands against a table of minimum distances, bank states and the data bus.
 *
 * The distances are GDDR5's with the reference's reading of three of them: a write may follow its activation by
 * tRCD - (WL + 1); read to write is CL + BL + 2 - WL; write to read is WL + BL + tCDLR (BL in command cycles).
 */
#include "gpu/mem/dram_check.h"

#include <stdio.h>
#include <string.h>

static const char *const command_name[] = {"ACT", "PRE", "RD", "WR"};

void dram_check_init(struct dram_check *k, const struct gpu_config *c) {
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

static bool broken(struct dram_check *k, uint64_t t, enum dram_command cmd, uint32_t bank, const char *why) {
  snprintf(k->violation, sizeof k->violation, "cycle %llu: %s bank %u breaks %s", (unsigned long long)t,
           command_name[cmd], bank, why);
  return false;
}

static bool distances(struct dram_check *k, uint64_t t, enum dram_command cmd, uint32_t bank) {
  for (uint32_t i = 0; i < DRAM_CHECK_RULES; i++) {
    const struct dram_rule *r = &k->rule[i];
    if (r->to != cmd) continue;
    uint64_t last = r->scope == RULE_BANK    ? k->bank_last[bank][r->from]
                    : r->scope == RULE_GROUP ? k->group_last[bank % k->groups][r->from]
                                             : k->channel_last[r->from];
    if (last && t < last - 1 + r->distance) return broken(k, t, cmd, bank, r->name);
  }
  return true;
}

static bool state(struct dram_check *k, uint64_t t, enum dram_command cmd, uint32_t bank, uint32_t row) {
  bool column = cmd == DRAM_READ || cmd == DRAM_WRITE;
  if (bank >= k->banks) return broken(k, t, cmd, bank, "the number of banks");
  if (cmd == DRAM_ACTIVATE && k->open[bank]) return broken(k, t, cmd, bank, "the bank state: open");
  if (cmd != DRAM_ACTIVATE && !k->open[bank]) return broken(k, t, cmd, bank, "the bank state: closed");
  if (column && k->row[bank] != row) return broken(k, t, cmd, bank, "the open row");
  for (uint32_t other = 0; other < 4; other++) {
    bool other_column = other == DRAM_READ || other == DRAM_WRITE;
    if (column == other_column && k->channel_last[other] == t + 1) return broken(k, t, cmd, bank, "the command bus");
  }
  if (!column) return true;
  uint64_t data = t + (cmd == DRAM_READ ? k->read_latency : k->write_latency);
  if (data < k->bus_free) return broken(k, t, cmd, bank, "the data bus");
  k->bus_free = data + k->data_cycles;
  return true;
}

bool dram_check_command(struct dram_check *k, uint64_t t, enum dram_command cmd, uint32_t bank, uint32_t row) {
  if (k->violation[0]) return false;
  if (t < k->now) return broken(k, t, cmd, bank, "the order of time");
  k->now = t;
  if (!state(k, t, cmd, bank, row) || !distances(k, t, cmd, bank)) return false;
  if (cmd == DRAM_ACTIVATE) k->row[bank] = row;
  if (cmd == DRAM_ACTIVATE || cmd == DRAM_PRECHARGE) k->open[bank] = cmd == DRAM_ACTIVATE;
  k->bank_last[bank][cmd] = k->group_last[bank % k->groups][cmd] = k->channel_last[cmd] = t + 1;
  k->commands++;
  return true;
}

void dram_check_watch(void *ctx, uint64_t t, enum dram_command cmd, uint32_t bank, uint32_t row) {
  dram_check_command(ctx, t, cmd, bank, row);
}
