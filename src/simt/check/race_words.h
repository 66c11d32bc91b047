/* race_words.h - the shadow of device memory that the check of races keeps: a cell for every word of four bytes.
 *
 * A cell is 64 bits: two marks (race_impl.h), the second in the upper half, 0: none. It is kept in four bytes: a cell
 * of one mark as that mark, a cell of two as the number of their pair in a table, and the lanes of both. The 32 lanes
 * of an access mostly make one pair. Where words have pairs of their own, a chunk of the shadow is wide: eight bytes a
 * cell. So are those of the first 4 MB of memory that are touched, as that takes less time.
 */
#ifndef SIMT_CHECK_RACE_WORDS_H
#define SIMT_CHECK_RACE_WORDS_H

#include <stdbool.h>
#include <stdint.h>

enum { RACE_ID_BITS = 20, RACE_LANE_BITS = 5, RACE_LANE_SHIFT = 4, RACE_ID_SHIFT = RACE_LANE_SHIFT + RACE_LANE_BITS };
/* Words of a chunk: pages that the host gives at a time, as one by one they take longer than what is done with them. */
enum { RACE_CHUNK = 1 << 13 };
enum race_form { RACE_UNTOUCHED, RACE_NARROW, RACE_WIDE, RACE_MIXED /* lanes of both */ };

/* A narrow cell of two marks, from the top: 1, the pair, the lanes of the first and the second mark. No mark has the
 * top bit. */
#define RACE_PAIR (1u << 31)
enum { RACE_PAIR_SHIFT = 2 * RACE_LANE_BITS, RACE_PAIR_BITS = 21, RACE_PAIR_MOST = (1 << RACE_PAIR_BITS) - 1 };
#define RACE_NO_ROOM UINT32_MAX /* no narrow cell: the pair is beyond RACE_PAIR_MOST */
#define RACE_LANE_MASK ((1u << RACE_LANE_BITS) - 1)
#define RACE_LANES ((uint64_t)RACE_LANE_MASK << RACE_LANE_SHIFT | (uint64_t)RACE_LANE_MASK << (32 + RACE_LANE_SHIFT))

enum { RACE_MEMO_BITS = 12, RACE_MEMO = 1 << RACE_MEMO_BITS };

struct race_words {
  uint64_t words; /* a multiple of RACE_CHUNK */
  uint32_t *narrow;
  uint64_t *wide;
  uint8_t *form;        /* enum race_form by chunk */
  uint64_t *pair;       /* cells without their lanes */
  uint64_t *used;       /* a bit by pair: in use at the last sweep */
  uint32_t *memo;       /* the pair made last, by hash */
  uint32_t widened;     /* chunks that became wide, ever */
  uint32_t next, limit; /* the first pair that may be free; pairs until the next sweep */
  uint32_t narrow_chunks, wide_chunks;
  uint32_t failed; /* chunks that were made wide for lack of a pair since the last sweep */
};

/* Shadow of so many words, all cells 0. False: out of address space; race_words_free frees what there is. */
bool race_words_new(struct race_words *s, uint64_t words);
void race_words_free(struct race_words *s);
void race_words_drop(struct race_words *s); /* all cells 0 again */

/* RACE_NARROW or RACE_WIDE. Chunks begin narrow, but for so many. */
enum { RACE_WIDE_FIRST = 128 };
enum race_form race_words_touch(struct race_words *s, uint64_t chunk);
static inline enum race_form race_words_form(struct race_words *s, uint64_t word) {
  uint8_t f = s->form[word / RACE_CHUNK];
  return f ? (enum race_form)f : race_words_touch(s, word / RACE_CHUNK);
}

/* The number of a new pair in *memo; 0: there is none left. */
uint32_t race_words_new_pair(struct race_words *s, uint64_t pair, uint32_t *memo);
/* The number of a pair, as a narrow cell without lanes; RACE_NO_ROOM. */
static inline uint32_t race_words_pair(struct race_words *s, uint64_t pair) {
  uint32_t *memo = &s->memo[(pair * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - RACE_MEMO_BITS)], n = *memo;
  if (s->pair[n] != pair) n = race_words_new_pair(s, pair, memo);
  return n ? RACE_PAIR | n << RACE_PAIR_SHIFT : RACE_NO_ROOM;
}

static inline uint64_t race_unpack(const struct race_words *s, uint32_t narrow) {
  if (!(narrow & RACE_PAIR)) return narrow;
  return s->pair[(narrow & ~RACE_PAIR) >> RACE_PAIR_SHIFT] |
         (uint64_t)(narrow >> RACE_LANE_BITS & RACE_LANE_MASK) << RACE_LANE_SHIFT |
         (uint64_t)(narrow & RACE_LANE_MASK) << (32 + RACE_LANE_SHIFT);
}

static inline uint32_t race_lanes_of(uint64_t cell) {
  return ((uint32_t)cell >> RACE_LANE_SHIFT & RACE_LANE_MASK) << RACE_LANE_BITS |
         ((uint32_t)(cell >> (32 + RACE_LANE_SHIFT)) & RACE_LANE_MASK);
}

/* The narrow cell; RACE_NO_ROOM. */
static inline uint32_t race_pack(struct race_words *s, uint64_t cell) {
  if (!(cell >> 32)) return (uint32_t)cell;
  return race_words_pair(s, cell & ~RACE_LANES) | race_lanes_of(cell);
}

static inline uint64_t race_words_load(struct race_words *s, uint64_t word) {
  return race_words_form(s, word) == RACE_WIDE ? s->wide[word] : race_unpack(s, s->narrow[word]);
}
/* Whatever the form of its chunk; makes that wide if there is no pair left, and others where a sweep finds that they
 * should be. */
void race_words_store(struct race_words *s, uint64_t word, uint64_t cell);

#endif
