/* ptrmap.h - map from an address-sized key to a pointer: host stubs to functions, handles to themselves. Open
 * addressing, linear probing; removed slots stay as tombstones until the table grows. Key 0 cannot be stored. */
#ifndef CUDART_CORE_PTRMAP_H
#define CUDART_CORE_PTRMAP_H

#include <stdint.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/hash.h"

struct ptrmap {
  struct ptrmap_slot {
    uint64_t key;
    void *value; /* NULL with a key: tombstone */
  } * slots;
  uint32_t capacity, used; /* power of two; `used` counts tombstones */
};

static inline struct ptrmap_slot *ptrmap_slot(const struct ptrmap *m, uint64_t key) {
  uint64_t i = hash_u64(key) & (m->capacity - 1);
  while (m->slots[i].key && m->slots[i].key != key) i = (i + 1) & (m->capacity - 1);
  return &m->slots[i];
}

static inline void *ptrmap_get(const struct ptrmap *m, uint64_t key) {
  return m->capacity && key ? ptrmap_slot(m, key)->value : NULL;
}

static inline void ptrmap_put(struct ptrmap *m, uint64_t key, void *value) {
  CHECK(key && value, "pointer map: null key or value");
  if ((m->used + 1) * 2 > m->capacity) {
    struct ptrmap old = *m;
    m->capacity = old.capacity ? old.capacity * 2 : 64;
    m->used = 0;
    m->slots = mem_zeroed(m->capacity, sizeof *m->slots);
    for (uint32_t i = 0; i < old.capacity; i++) {
      if (!old.slots[i].value) continue;
      *ptrmap_slot(m, old.slots[i].key) = old.slots[i];
      m->used++;
    }
    free(old.slots);
  }
  struct ptrmap_slot *s = ptrmap_slot(m, key);
  if (!s->key) m->used++;
  *s = (struct ptrmap_slot){key, value};
}

/* The previous value, or NULL. */
static inline void *ptrmap_remove(struct ptrmap *m, uint64_t key) {
  if (!m->capacity || !key) return NULL;
  struct ptrmap_slot *s = ptrmap_slot(m, key);
  void *was = s->value;
  s->value = NULL;
  return was;
}

static inline void ptrmap_free(struct ptrmap *m) {
  free(m->slots);
  *m = (struct ptrmap){0};
}

#endif
