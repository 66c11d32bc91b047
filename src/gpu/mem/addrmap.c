/* addrmap.c - device address to channel, sub-partition, bank, row and column. */
#include "gpu/mem/addrmap.h"

#include "gpu/mem/partition.h"

/* x / parts: channels, or sub-partitions where they are chosen together. Exact while x times the reciprocal's error, at
 * most `parts`, stays below 2^64. */
static inline uint64_t by_parts(const struct addrmap *m, uint64_t x) {
  if (x >> 48 || !m->reciprocal) return x / m->parts;
  return (uint64_t)((unsigned __int128)x * m->reciprocal >> 64);
}

static uint64_t gather_bits(const struct addrmap_field *f, uint64_t a) {
  /* Unused runs have no bits: most fields have at most two runs. */
  uint64_t v = (a & f->run[0].mask) >> f->run[0].down | (a & f->run[1].mask) >> f->run[1].down;
  for (uint32_t i = 2; i < f->runs; i++) v |= (a & f->run[i].mask) >> f->run[i].down;
  return v;
}

/* Compile a mask: neighbouring bits that move by the same distance form one run. */
static bool compile(struct addrmap_field *f, uint64_t mask) {
  *f = (struct addrmap_field){0};
  uint32_t pos = 0;
  for (uint32_t bit = 0; bit < 64; bit++) {
    if (!(mask >> bit & 1)) continue;
    uint32_t down = bit - pos++;
    if (f->runs && f->run[f->runs - 1].down == down) {
      f->run[f->runs - 1].mask |= 1ull << bit;
      continue;
    }
    if (f->runs == sizeof f->run / sizeof *f->run) return false;
    f->run[f->runs].mask = 1ull << bit;
    f->run[f->runs++].down = (uint8_t)down;
  }
  return true;
}

/* Masks of the letters R, B, C, S in the map's text, most significant bit first. */
static bool parse(const char *text, uint64_t *row, uint64_t *bank, uint64_t *column, struct err *e) {
  int bit = 64;
  for (const char *p = text; *p; p++) {
    if (*p == ' ' || *p == '.' || *p == '|') continue;
    if (--bit < 0) break;
    uint64_t one = 1ull << bit;
    switch (*p) {
    case '0':
      break;
    case 'R':
    case 'r':
      *row |= one;
      break;
    case 'B':
    case 'b':
      *bank |= one;
      break;
    case 'C':
    case 'c':
    case 'S':
    case 's':
      *column |= one;
      break;
    default:
      return err_set(e, ERR_INPUT, "dram.address_map: '%c' is none of 0, R, B, C, S (and blanks, '.' and '|')", *p);
    }
  }
  if (bit != 0) return err_set(e, ERR_INPUT, "dram.address_map names %s than 64 bits", bit < 0 ? "more" : "fewer");
  return true;
}

bool addrmap_init(struct addrmap *m, const struct gpu_config *c, struct err *e) {
  uint64_t row = 0, bank = 0, column = 0, choose = 0;
  if (!parse(c->dram_map, &row, &bank, &column, e)) return false;
  *m = (struct addrmap){
      .low = c->dram_map_low, .channels = c->channels, .subparts = c->subparts, .hash = c->partition_hash};
  m->parts = m->hash == PARTITION_MODULO ? c->channels : c->channels * c->subparts;
  m->round = m->parts > 2 ? m->parts - 1 : 1;
  m->reciprocal = m->parts > 1 ? UINT64_MAX / m->parts + 1 : 0;
  if (1ull << __builtin_popcountll(bank) > c->dram_banks)
    return err_set(e, ERR_INPUT, "dram.address_map has %d bank bits, but dram.banks is %u", __builtin_popcountll(bank),
                   c->dram_banks);
  for (uint64_t left = bank, n = c->subparts; n > 1; n /= 2, left &= left - 1) choose |= left & -left;
  if (!compile(&m->row, row) || !compile(&m->bank, bank) || !compile(&m->column, column) ||
      !compile(&m->local, ~choose))
    return err_set(e, ERR_INPUT, "dram.address_map scatters one field over too many places");
  return true;
}

/* Remainder of `v`, read as a polynomial over GF(2), by an irreducible one of degree log2(n). */
static uint32_t ipoly(uint64_t v, uint32_t n) {
  static const uint16_t poly[] = {0, 3, 7, 0xB, 0x13, 0x25, 0x43, 0x83, 0x11B};
  uint32_t degree = (uint32_t)__builtin_ctz(n);
  while (v >> degree && degree) v ^= (uint64_t)poly[degree] << (63 - (uint32_t)__builtin_clzll(v) - degree);
  return degree ? (uint32_t)v : 0;
}

/* The sub-partition, over the whole GPU, of block `high`; returns the block within its channel. */
static inline uint64_t choose_part(const struct addrmap *m, uint64_t high, struct req *r) {
  uint64_t quotient = by_parts(m, high);
  uint32_t s = m->hash == PARTITION_IPOLY ? ipoly(high, m->parts) : (uint32_t)(high - quotient * m->parts), sub;
  if (m->hash == PARTITION_IPOLY) {
    r->channel = (uint8_t)(s / m->subparts);
    sub = s % m->subparts;
  } else {
    s += (uint32_t)(quotient % m->round); /* each round of blocks begins at another part */
    if (s >= m->parts) s -= m->parts;
    sub = s / m->channels;
    r->channel = (uint8_t)(s - sub * m->channels);
  }
  r->subpart = (uint8_t)(r->channel * m->subparts + sub);
  return quotient * m->subparts + sub;
}

/* Returns the address within the channel. */
static inline uint64_t route(const struct addrmap *m, struct req *r) {
  uint64_t high = r->addr >> m->low, low = r->addr & ((1ull << m->low) - 1), inside;
  if (m->hash != PARTITION_MODULO) {
    inside = choose_part(m, high, r) << m->low | low;
    r->bank = (uint8_t)gather_bits(&m->bank, inside);
    r->row = (uint32_t)gather_bits(&m->row, inside);
    return inside;
  }
  uint64_t quotient = by_parts(m, high);
  inside = quotient << m->low | low;
  r->channel = (uint8_t)(high - quotient * m->channels);
  r->bank = (uint8_t)gather_bits(&m->bank, inside);
  r->row = (uint32_t)gather_bits(&m->row, inside);
  r->subpart = (uint8_t)(r->channel * m->subparts + (r->bank & (m->subparts - 1)));
  return inside;
}

void addrmap_route(const struct addrmap *m, struct req *r) {
  route(m, r);
}

void addrmap_split(const struct addrmap *m, struct req *r) {
  r->column = (uint32_t)gather_bits(&m->column, route(m, r));
}

uint64_t addrmap_local(const struct addrmap *m, uint64_t addr) {
  uint64_t inside = by_parts(m, addr >> m->low) << m->low | (addr & ((1ull << m->low) - 1));
  return m->hash == PARTITION_MODULO ? gather_bits(&m->local, inside) : inside;
}
