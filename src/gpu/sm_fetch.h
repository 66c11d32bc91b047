/* sm_fetch.c - instruction fetch, decode into the warps' buffers, and the retirement of finished warps.
 *
 * One fetch a cycle, round-robin over warps whose buffer is empty; a fetch brings two instructions. The same walk
 * retires warps that are done, have nothing in flight and no store outstanding.
 */
static void decode(struct sm *s) {
  if (!s->fetch_valid) return;
  struct warp_state *ws = &s->w[s->fetch_warp];
  ws->ibuf[0] = s->fetch_buf_pc;
  ws->ibuf[1] = s->fetch_buf_pc + 1;
  ws->ibuf_valid = 3;
  ws->ibuf_next = 0;
  ws->in_pipe = (uint16_t)(ws->in_pipe + 2);
  s->fetch_valid = false;
  s->acted = true;
  head_comes(s, s->fetch_warp);
}

static void retire_warp(struct sm *s, uint32_t w) {
  struct warp_state *ws = &s->w[w];
  struct gpu *g = s->g;
  s->live &= ~(1ull << w);
  s->none_to_issue = false;
  if (SEEN(s, timeline)) timeline_warp_end(s, w, s->w[w].cta);
  s->acted = true;
  for (uint32_t h = 0; h < HOOKS(s, on_warp_done); h++) {
    struct slot_instance *in = &g->slots.at[g->slots.on_warp_done[h]];
    in->scheme->on_warp_done(&in->ctx, s->id, w);
  }
  if (--s->cta_warps_left[ws->cta_slot]) return;
  s->ctas--;
  s->st->ctas++;
  const struct feed *feed = ws->feed;
  feed->ops->end_cta(feed->ctx, s->id * g->cta_slots_per_sm + ws->cta_slot);
  feed_cta_ended(feed);
  gpu_cta_done(g, s->id, ws->cta_slot);
}

static bool retirable(const struct sm *s, uint32_t w) {
  const struct warp_state *ws = &s->w[w];
  return !ws->in_pipe && !ws->stores && !ws->regs_pending;
}

/* SASS has instructions of 8 B with a control word before every three or seven of them (Kepler to Pascal) or of 16 B
 * (since Volta): its traces say where each lies. PTX is numbered, and takes what the machine's SASS would. */
static uint64_t fetch_address(const struct warp_state *ws) {
  uint32_t at = ws->feed->kernel->code[ws->fetch_pc].fetch_pc;
  return CODE_BASE + (ws->inst_bytes ? (uint64_t)ws->inst_bytes * (at / 8) : at);
}

static void fetch_one(struct sm *s, uint32_t w) {
  struct warp_state *ws = &s->w[w];
  s->last_fetched = (uint8_t)w;
  s->acted = true;
  s->st->l1i_accesses++;
  enum ro_result r = rocache_access(&s->l1i, fetch_address(ws), (uint16_t)w, s->g->now);
  sm_note_ro(s, &s->l1i, RO_INST);
  switch (r) {
  case RO_HIT:
    s->fetch_valid = true;
    s->fetch_warp = (uint8_t)w;
    s->fetch_buf_pc = ws->fetch_pc;
    break;
  case RO_MISS:
    s->st->l1i_misses++;
    s->imiss |= 1ull << w;
    break;
  case RO_REFUSED:
    s->st->l1i_accesses--;
    break;
  }
}

static inline uint64_t rotate_right(uint64_t m, uint32_t by) {
  by &= 63;
  return by ? m >> by | m << (64 - by) : m;
}

ONCE void fetch(struct sm *s) {
  decode(s);
  if (s->ro_active & RO_INST && rocache_ready(&s->l1i)) {
    uint32_t w = rocache_next(&s->l1i);
    sm_note_ro(s, &s->l1i, RO_INST);
    s->imiss &= ~(1ull << w);
    s->fetch_valid = true;
    s->fetch_warp = (uint8_t)w;
    s->fetch_buf_pc = s->w[w].fetch_pc;
    s->acted = true;
  } else {
    uint64_t want = s->live & ~s->done & ~s->imiss & ~s->ibuf_any, finished = s->live & s->done & s->drained;
    if (want | finished) {
      /* Slots in the order of the walk: from the one after the last fetched. Slots above the last are empty. */
      uint32_t from = s->last_fetched + 1u;
      for (uint64_t m = rotate_right(want | finished, from); m; m &= m - 1) {
        uint32_t w = ((uint32_t)__builtin_ctzll(m) + from) & 63;
        if (finished >> w & 1) {
          s->drained &= ~(1ull << w);
          if (retirable(s, w)) retire_warp(s, w);
          continue;
        }
        fetch_one(s, w);
        break;
      }
    }
  }
  uint64_t line;
  uint16_t mshr;
  if (s->ro_active & RO_INST && rocache_miss(&s->l1i, &line, &mshr)) {
    if (sm_can_send_read(s)) {
      req_id r = sm_request(s, REQ_INST_READ, line, s->c->l1i.line);
      s->g->pool.at[r].owner = mshr;
      rocache_miss_sent(&s->l1i);
      sm_note_ro(s, &s->l1i, RO_INST);
      sm_send(s, r);
      s->acted = true;
    } else {
      s->now_counts.icnt = true;
    }
  }
}
