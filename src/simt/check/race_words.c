/* race_words.c - cells of the check of races in four bytes, see race_words.h.
 *
 * Pairs are never freed one by one. When as many were made as `limit` says, a sweep over all narrow cells finds those
 * in use. It makes chunks wide whose cells hold many pairs that no chunk before them has.
 */
#include "simt/check/race_words.h"

#include <string.h>
#include <sys/mman.h>

/* Pairs of its own from which on a chunk is wide: half of what it would then take more. */
enum { OWN_MOST = RACE_CHUNK / 4 };
enum { LEAST_LIMIT = 1 << 16, PAIRS_PER_CHUNK = 512 /* so that sweeps take less time than the pairs they are for */ };

static void *reserve(uint64_t bytes) {
  void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

static void give_back(void *p, uint64_t bytes) {
  if (p) munmap(p, bytes);
}

enum { PAIR_BYTES = (1 << RACE_PAIR_BITS) * 8, USED_BYTES = (1 << RACE_PAIR_BITS) / 8, MEMO_BYTES = RACE_MEMO * 4 };

bool race_words_new(struct race_words *s, uint64_t words) {
  *s = (struct race_words){.words = words};
  s->narrow = reserve(words * sizeof *s->narrow);
  s->wide = reserve(words * sizeof *s->wide);
  s->form = reserve(words / RACE_CHUNK + 1);
  s->pair = reserve(PAIR_BYTES);
  s->used = reserve(USED_BYTES);
  s->memo = reserve(MEMO_BYTES);
  s->next = 1;
  s->limit = LEAST_LIMIT;
  return s->narrow && s->wide && s->form && s->pair && s->used && s->memo;
}

void race_words_free(struct race_words *s) {
  give_back(s->narrow, s->words * sizeof *s->narrow);
  give_back(s->wide, s->words * sizeof *s->wide);
  give_back(s->form, s->words / RACE_CHUNK + 1);
  give_back(s->pair, PAIR_BYTES);
  give_back(s->used, USED_BYTES);
  give_back(s->memo, MEMO_BYTES);
  *s = (struct race_words){0};
}

void race_words_drop(struct race_words *s) {
  madvise(s->narrow, s->words * sizeof *s->narrow, MADV_DONTNEED);
  madvise(s->wide, s->words * sizeof *s->wide, MADV_DONTNEED);
  madvise(s->form, s->words / RACE_CHUNK + 1, MADV_DONTNEED);
  madvise(s->pair, PAIR_BYTES, MADV_DONTNEED);
  madvise(s->used, USED_BYTES, MADV_DONTNEED);
  memset(s->memo, 0, MEMO_BYTES);
  s->next = 1;
  s->limit = LEAST_LIMIT;
  s->narrow_chunks = s->wide_chunks = s->failed = 0;
}

/* A host that does not know MADV_POPULATE_WRITE gives page by page. */
enum race_form race_words_touch(struct race_words *s, uint64_t chunk) {
  if (s->wide_chunks < RACE_WIDE_FIRST) {
    s->form[chunk] = RACE_WIDE;
    s->wide_chunks++;
    madvise(s->wide + chunk * RACE_CHUNK, RACE_CHUNK * sizeof *s->wide, MADV_POPULATE_WRITE);
    return RACE_WIDE;
  }
  s->form[chunk] = RACE_NARROW;
  s->narrow_chunks++;
  madvise(s->narrow + chunk * RACE_CHUNK, RACE_CHUNK * sizeof *s->narrow, MADV_POPULATE_WRITE);
  return RACE_NARROW;
}

static void widen(struct race_words *s, uint64_t chunk) {
  uint32_t *from = s->narrow + chunk * RACE_CHUNK;
  uint64_t *to = s->wide + chunk * RACE_CHUNK;
  madvise(to, RACE_CHUNK * sizeof *to, MADV_POPULATE_WRITE);
  for (uint32_t i = 0; i < RACE_CHUNK; i++) to[i] = race_unpack(s, from[i]);
  madvise(from, RACE_CHUNK * sizeof *from, MADV_DONTNEED);
  s->form[chunk] = RACE_WIDE;
  s->narrow_chunks--;
  s->wide_chunks++;
  s->widened++;
}

/* ---- pairs ---- */

/* Marks the pairs of a chunk as used; how many it was the first to use. */
static uint32_t use_pairs(struct race_words *s, uint64_t chunk, uint32_t *own) {
  const uint32_t *cell = s->narrow + chunk * RACE_CHUNK;
  uint32_t n = 0, last = 0;
  for (uint32_t i = 0; i < RACE_CHUNK; i++) {
    uint32_t pair = cell[i] >> RACE_PAIR_SHIFT;
    if (!(cell[i] & RACE_PAIR) || pair == last) continue;
    last = pair;
    pair &= RACE_PAIR_MOST;
    if (s->used[pair / 64] >> pair % 64 & 1) continue;
    s->used[pair / 64] |= UINT64_C(1) << pair % 64;
    own[n++] = pair;
  }
  return n;
}

static void raise_limit(struct race_words *s, uint64_t to) {
  if (to > RACE_PAIR_MOST) to = RACE_PAIR_MOST;
  if (s->limit < to) s->limit = (uint32_t)to;
}

static void sweep(struct race_words *s) {
  uint32_t own[RACE_CHUNK], live = 0;
  memset(s->used, 0, (s->limit / 64 + 1) * sizeof *s->used);
  memset(s->memo, 0, MEMO_BYTES);
  for (uint64_t c = 0; c < s->words / RACE_CHUNK; c++) {
    if (s->form[c] != RACE_NARROW) continue;
    uint32_t n = use_pairs(s, c, own);
    live += n;
    if (n < OWN_MOST) continue;
    widen(s, c);
    for (uint32_t i = 0; i < n; i++) s->used[own[i] / 64] &= ~(UINT64_C(1) << own[i] % 64);
    live -= n;
  }
  s->limit = LEAST_LIMIT;
  raise_limit(s, 2ull * live);
  s->next = 1;
  s->failed = live > RACE_PAIR_MOST / 4 * 3;
}

static uint32_t free_pair(struct race_words *s) {
  if (s->next == s->limit) raise_limit(s, (uint64_t)PAIRS_PER_CHUNK * s->narrow_chunks);
  while (s->next < s->limit && s->used[s->next / 64] >> s->next % 64 & 1) s->next++;
  return s->next < s->limit ? s->next++ : 0;
}

uint32_t race_words_new_pair(struct race_words *s, uint64_t pair, uint32_t *memo) {
  uint32_t n = free_pair(s);
  if (!n) return 0;
  s->pair[n] = pair;
  return *memo = n;
}

/* Not after each failure: a sweep that finds nearly all in use costs as much as thousands of pairs. */
static bool sweep_pays(const struct race_words *s) {
  return s->limit < RACE_PAIR_MOST || s->failed == 0 || s->failed > s->narrow_chunks / 4;
}

void race_words_store(struct race_words *s, uint64_t word, uint64_t cell) {
  uint64_t chunk = word / RACE_CHUNK;
  if (race_words_form(s, word) == RACE_NARROW) {
    uint32_t narrow = race_pack(s, cell);
    if (narrow == RACE_NO_ROOM && sweep_pays(s)) {
      sweep(s);
      if (s->form[chunk] == RACE_NARROW) narrow = race_pack(s, cell);
    }
    if (s->form[chunk] == RACE_NARROW && narrow != RACE_NO_ROOM) {
      s->narrow[word] = narrow;
      return;
    }
    if (s->form[chunk] == RACE_NARROW) {
      widen(s, chunk);
      s->failed++;
    }
  }
  s->wide[word] = cell;
}
