/* energy_tables.c - energy beyond the dynamic energy of the machine: leakage, refresh, the tables of schemes, and the
 * power of a board.
 * Values and sources: the CONSTANT rows of energy.def.
 */
#include "model/energy.h"
#include "gpu/slots/slots.h"

enum { ROWS = 32 };

static double constant(enum energy_constant_id id) {
  return energy_constants[id].value;
}

double energy_leakage_watt(const struct gpu_config *c) {
  return constant(ENERGY_CONST_leakage) * c->sms;
}

double energy_refresh_watt(const struct gpu_config *c) {
  return constant(ENERGY_CONST_refresh) * c->channels * c->dram_chips;
}

/* Reads of the tables behind a scheme's hooks: one per event at each hook's site (hooks.def). */
static double probes_of(const struct scheme *sc, const struct gpu_stats *s) {
  bool at[HOOK_SITES] = {0};
  for (uint32_t i = 0; i < hook_count; i++) at[hook_rows[i].site] |= scheme_fills(sc, &hook_rows[i]);
  double n = 0;
  if (at[SITE_L1])
    n += (double)(s->l1d_read_accesses + s->l1d_read_bypasses + s->l1d_write_accesses + s->l1d_local_read_accesses +
                  s->l1d_local_write_accesses);
  else if (at[SITE_LOAD]) n += (double)(s->loads_1 + s->loads_2 + s->loads_10 + s->loads_20 + s->loads_32);
  if (at[SITE_L2]) n += (double)s->l2_accesses;
  if (at[SITE_DRAM]) n += (double)s->dram_requests;
  if (at[SITE_CTA]) n += (double)s->ctas;
  if (at[SITE_ISSUE]) n += (double)s->warp_insts;
  return n;
}

bool energy_of_tables(const char *schemes, const struct gpu_config *c, const struct gpu_stats *s,
                      struct energy_tables *out) {
  struct slots slots;
  struct err e = {0};
  *out = (struct energy_tables){0};
  if (!slots_parse(&slots, schemes, &e)) return false;
  double seconds = (double)s->cycles / (c->core_mhz * 1e6);
  for (uint32_t i = 0; i < slots.count; i++) {
    const struct scheme *h = slots.at[i].scheme;
    struct scheme_bits row[ROWS];
    uint32_t n = h->storage ? h->storage(c, slots.at[i].param, row, ROWS) : 0;
    double bits = 0;
    for (uint32_t k = 0; k < n && k < ROWS; k++) bits += row[k].bits;
    if (bits <= 0) continue; /* no tables: a configuration or pure logic */
    double probes = probes_of(h, s);
    out->bits += bits;
    out->probes += probes;
    out->joule += probes * (h->probe_picojoule > 0 ? h->probe_picojoule : constant(ENERGY_CONST_probe)) * 1e-12;
  }
  out->mm2 = out->bits * constant(ENERGY_CONST_bit_area);
  out->leak_joule = out->bits * constant(ENERGY_CONST_bit_leakage) * seconds;
  return true;
}

bool energy_board(const struct gpu_config *c, const struct gpu_stats *s, struct energy_board *out) {
  enum { SECTOR = 32, SHARED_SECTORS = 4 }; /* a shared-memory instruction moves a word for each lane */
  *out = (struct energy_board){0};
  if (!c->power_constant || !s->cycles) return false;
  double seconds = ((double)s->cycles + (double)c->launch_cycles * (double)s->kernels) / (c->core_mhz * 1e6);
  double l1 = (double)(s->l1d_sectors_read + s->l1d_sectors_written + SHARED_SECTORS * s->shared_accesses);
  double dram = (double)(s->dram_read_bytes + s->dram_write_bytes) / SECTOR;
  out->constant = 1e-3 * c->power_constant;
  out->instructions = 1e-12 * c->power_inst * (double)s->warp_insts / seconds;
  out->l1 = 1e-12 * c->power_l1 * l1 / seconds;
  out->l2 = 1e-12 * c->power_l2 * (double)(s->l2_sectors_read + s->l2_sectors_stored) / seconds;
  out->dram = 1e-12 * c->power_dram * dram / seconds;
  out->watt = out->constant + out->instructions + out->l1 + out->l2 + out->dram;
  return true;
}
