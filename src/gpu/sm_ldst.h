/* sm_ldst.c - the memory unit of an SM: shared memory, constant and texture caches, the path to the L1, and results.
 *
 * Order within a cycle (docs/gpu-model.md "Loads and stores"): write one result back, take one reply, let each cache
 * send one miss, look one access up in the L1, process the instruction at the head of the pipe, take the next one.
 */
/* Shared memory of another CTA of the cluster, over the network between the SMs of a GPC: 180 cycles on an H100 (Luo et
 * al., "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture via Microbenchmarking", IPDPS 2024, section on
 * distributed shared memory). An approximation: the access takes its turn in the own SM's shared memory, and neither
 * the network's bandwidth nor the other SM's banks are modelled. */
enum { REMOTE_SHARED_LATENCY = 180 };

/* ---- issue side: addresses to accesses ---- */

static struct access *buffer_of(struct sm *s, struct op *o) {
  uint32_t b = (uint32_t)__builtin_ctzll(~s->buffer_used);
  CHECK(~s->buffer_used, "SM %u ran out of access buffers", s->id);
  s->buffer_used |= 1ull << b;
  o->buffer = (uint16_t)b;
  if (!s->buffer[b]) s->buffer[b] = malloc(BUFFER_ROOM * sizeof *s->buffer[b]);
  CHECK(s->buffer[b], "out of memory");
  return s->buffer[b];
}

static void count_degree(struct gpu_stats *st, uint32_t degree) {
  if (degree <= 2) st->loads_1 += degree == 1, st->loads_2 += degree == 2;
  else if (degree <= 10) st->loads_10++;
  else if (degree <= 20) st->loads_20++;
  else st->loads_32++;
}

/* Local memory: the same word of all hardware threads of the GPU lies side by side (docs/gpu-model.md "Launch and CTA
 * dispatch"). Of a vector of PTX the words of the first element are accessed, as in the reference; a trace of SASS says
 * what is. */
static uint32_t local_accesses(struct sm *s, const struct op *o, const struct issued *is, struct access *out) {
  const struct warp_state *ws = &s->w[o->warp];
  const struct gpu_work *work = &s->g->work[s->cta_work[ws->cta_slot]];
  const struct feed_kernel *k = work->feed->kernel;
  uint64_t padded = (uint64_t)k->warps_per_cta * WARP_LANES;
  uint64_t threads = padded * work->ctas_per_sm * s->c->sms;
  uint64_t first = 4 * (padded * (s->id + s->c->sms * (uint64_t)ws->cta_slot) + (uint64_t)ws->index * WARP_LANES);
  uint32_t size = k->origin ? is->width : o->uop->inst->elem_bytes;
  uint32_t words = size >= 4 ? size / 4 : 1, width = size >= 4 ? 4 : size, n = 0;
  for (uint32_t i = 0; i < words; i++) {
    uint64_t addr[WARP_LANES];
    for (uint32_t m = o->mask; m; m &= m - 1) {
      uint32_t lane = (uint32_t)__builtin_ctz(m);
      uint64_t word = is->addr[lane] / 4 + i;
      addr[lane] = work->local_base + word * threads * 4 + first + 4 * lane + is->addr[lane] % 4;
    }
    struct coalesce_in in = {
        .addr = addr, .mask = o->mask, .width = width, .segment = s->l1d.line_bytes < 128 ? s->l1d.line_bytes : 128};
    struct access part[WARP_LANES];
    uint32_t c = coalesce_global(&in, part);
    CHECK(n + c <= COALESCE_MAX, "a local access of %u words has too many segments", words);
    memcpy(out + n, part, c * sizeof *part);
    n += c;
  }
  return n;
}

/* Does an access to global memory go past the L1 by what the program or the machine says? A store that does leaves a
 * copy of its line in the L1 as it is. */
static bool goes_past(const struct sm *s, const struct inst *i) {
  switch (i->kind) {
  case KIND_LOAD:
    return !KNOB(s, l1d_enabled) || i->cache_op == CACHE_CG || i->cache_op == CACHE_CV;
  case KIND_STORE:
    return !KNOB(s, l1d_enabled) || i->cache_op == CACHE_CG;
  default:
    return true;
  }
}

static void see_execution(struct sm *s, const struct op *o) {
  struct gpu_inst_memory *m = sm_seen_inst(s, o);
  m->executions++;
  m->accesses += o->space == SPACE_SHARED ? o->passes : o->left;
}

static void prepare_memory(struct sm *s, op_id id, const struct issued *is) {
  struct op *o = &s->op[id];
  const struct inst *i = o->uop->inst;
  o->space = o->mask ? is->space : i->space; /* without a lane nobody has resolved an address */
  o->width = is->width;
  o->load = i->kind == KIND_LOAD || i->kind == KIND_ATOM;
  /* A generic address may turn out to be local: nobody else sees that memory, and the load does all of it. */
  o->atomic = i->kind == KIND_ATOM && o->space != SPACE_LOCAL;
  if (i->kind == KIND_FENCE || !o->mask) return;
  if (o->atomic) {
    s->w[o->warp].atomics = (uint16_t)(s->w[o->warp].atomics + __builtin_popcount(o->mask));
    s->atomic_wait |= 1ull << o->warp;
  }
  switch (o->space) {
  case SPACE_SHARED:
    o->passes = (uint16_t)coalesce_shared(is->addr, o->mask, s->c->shared_banks);
    o->remote = is->remote != 0;
    s->st->shared_accesses++;
    s->st->shared_conflicts += o->passes - 1u;
    if (SEEN(s, inst)) see_execution(s, o);
    return;
  case SPACE_CONST:
  case SPACE_PARAM:
    o->left = (uint16_t)coalesce_lines(is->addr, o->mask, s->c->l1c.line, buffer_of(s, o));
    break;
  case SPACE_TEX:
    o->left = (uint16_t)coalesce_lines(is->addr, o->mask, s->c->l1t.line, buffer_of(s, o));
    break;
  case SPACE_LOCAL:
    o->left = (uint16_t)local_accesses(s, o, is, buffer_of(s, o));
    break;
  default: {
    o->bypass = goes_past(s, i);
    uint32_t line = o->bypass ? s->c->l1d_past : s->l1d.line_bytes;
    struct coalesce_in in = {.addr = is->addr,
                             .mask = o->mask,
                             .width = o->width,
                             .elem = i->elem_bytes,
                             .atomic = o->atomic,
                             .segment = line <= 128 || i->kind == KIND_LOAD ? line : 128};
    o->left = (uint16_t)coalesce_global(&in, buffer_of(s, o));
    if (i->kind == KIND_LOAD) count_degree(s->st, o->left);
    break;
  }
  }
  o->degree = o->left;
  if (o->load) o->pending = o->left;
  if (SEEN(s, inst)) see_execution(s, o);
  if (SEEN(s, character)) gpu_see_load(s, id);
}

/* ---- results ---- */

static void complete(struct sm *s, op_id id) {
  if (SEEN(s, character)) gpu_see_load_done(s, id);
  release_regs(s, &s->op[id]);
  op_free(s, id);
}

/* One access of a load has its data; the last one releases the registers. */
static void access_done(struct sm *s, op_id id) {
  struct op *o = &s->op[id];
  if (--o->pending || o->left || s->dispatch == id) return;
  complete(s, id);
}

static void lanes_performed(struct sm *s, uint32_t warp, uint32_t lanes) {
  struct warp_state *ws = &s->w[warp];
  ws->atomics = (uint16_t)(ws->atomics - __builtin_popcount(lanes));
  if (ws->atomics) return;
  s->atomic_wait &= ~(1ull << warp);
  s->none_to_issue = false;
}

static bool write_results(struct sm *s, struct op *o) {
  for (uint32_t d = 0; d < o->ndst; d++) {
    if (o->wb_done >> d & 1) continue;
    if (!write_bank(s, o, d)) return false;
    o->wb_done |= (uint8_t)(1u << d);
  }
  o->wb_done = 0;
  return true;
}

enum client { OF_SHARED, OF_TEXTURE, OF_CONST, OF_PAST, OF_L1 }; /* who has results, in the order of turns */

static uint32_t clients_ready(const struct sm *s) {
  uint32_t ready = (s->next_global ? 1u << OF_PAST : 0) | (s->l1d.ready_count ? 1u << OF_L1 : 0);
  if (s->shared_count && s->shared_pipe[0]) ready |= 1u << OF_SHARED;
  if (s->ro_active & RO_TEX && texcache_ready(&s->l1t)) ready |= 1u << OF_TEXTURE;
  if (s->ro_active & RO_CONST && rocache_ready(&s->l1c)) ready |= 1u << OF_CONST;
  return ready;
}

/* The next result of a client becomes next_wb. */
static void take_result(struct sm *s, enum client client) {
  struct gpu *g = s->g;
  switch (client) {
  case OF_SHARED: {
    s->next_wb = s->shared_pipe[0];
    s->shared_pipe[0] = 0;
    s->shared_count--;
    struct op *o = &s->op[s->next_wb];
    if (o->atomic) {
      if (o->token && !gpu_atomic(g, s->id, o->warp, o->token, o->mask)) g->fault = true;
      lanes_performed(s, o->warp, o->mask);
    }
    s->w[o->warp].in_pipe--;
    s->drained |= 1ull << o->warp;
    break;
  }
  case OF_TEXTURE:
    s->next_wb = texcache_next(&s->l1t);
    break;
  case OF_CONST:
    s->next_wb = rocache_next(&s->l1c);
    sm_note_ro(s, &s->l1c, RO_CONST);
    break;
  case OF_PAST: {
    struct req *r = &g->pool.at[s->next_global];
    s->next_wb = (op_id)r->owner;
    if (r->atomic) lanes_performed(s, r->warp, r->lanes);
    req_free(&g->pool, s->next_global);
    s->next_global = 0;
    break;
  }
  case OF_L1:
    s->next_wb = next_answered(s);
    break;
  }
}

static void memory_writeback(struct sm *s) {
  if (s->next_wb) {
    struct op *o = &s->op[s->next_wb];
    s->acted = true;
    if (write_results(s, o)) {
      op_id id = s->next_wb;
      s->next_wb = 0;
      if (o->space == SPACE_SHARED) complete(s, id);
      else access_done(s, id);
    }
  }
  if (s->next_wb) return;
  if (!(s->next_global | s->l1d.ready_count | s->shared_count | (s->ro_active & (RO_TEX | RO_CONST)))) return;
  uint32_t ready = clients_ready(s), from = s->wb_rotate;
  if (!ready) return;
  uint32_t client = (uint32_t)__builtin_ctz(ready >> from ? ready >> from << from : ready);
  s->wb_rotate = (uint8_t)(client == OF_L1 ? 0 : client + 1);
  s->acted = true;
  take_result(s, (enum client)client);
}

static void take_reply(struct sm *s) {
  req_id id = reqq_top(&s->response);
  if (!id) return;
  struct req *r = &s->g->pool.at[id];
  if (r->type == REQ_CONST_READ || r->type == REQ_TEX_READ) {
    if (r->type == REQ_TEX_READ) texcache_fill(&s->l1t, (uint16_t)r->owner);
    else rocache_fill(&s->l1c, (uint16_t)r->owner, s->g->now), s->ro_active |= RO_CONST;
    req_free(&s->g->pool, id);
  } else if (r->write) {
    s->w[r->warp].stores--;
    s->drained |= 1ull << r->warp;
    req_free(&s->g->pool, id);
  } else if (r->bypass) {
    if (s->next_global) return;
    s->next_global = id;
  } else {
    fill_line(s, id);
    req_free(&s->g->pool, id);
  }
  reqq_pop(&s->response);
  s->acted = true;
}

/* ---- misses to the interconnect ---- */

/* A line of the texture or constant cache: `owner` is the place there that waits for it. */
static bool send_read_only(struct sm *s, enum req_type type, uint64_t line, uint32_t bytes, uint16_t owner) {
  if (!sm_can_send_read(s)) {
    s->now_counts.icnt = true;
    return false;
  }
  req_id id = sm_request(s, type, line, bytes);
  s->g->pool.at[id].owner = owner;
  sm_send(s, id);
  s->acted = true;
  return true;
}

static void step_texture(struct sm *s) {
  uint64_t line;
  uint16_t rob;
  if (texcache_request(&s->l1t, &line, &rob) && send_read_only(s, REQ_TEX_READ, line, s->c->l1t.line, rob))
    texcache_request_sent(&s->l1t);
  if (texcache_step(&s->l1t)) s->acted = true;
  if (!texcache_busy(&s->l1t)) s->ro_active &= (uint8_t)~RO_TEX;
}

ONCE void send_misses(struct sm *s) {
  uint64_t line;
  uint16_t mshr;
  if (RARE(s->ro_active & RO_TEX)) step_texture(s);
  if (RARE(s->ro_active & RO_CONST) && rocache_miss(&s->l1c, &line, &mshr) &&
      send_read_only(s, REQ_CONST_READ, line, s->c->l1c.line, mshr)) {
    rocache_miss_sent(&s->l1c);
    sm_note_ro(s, &s->l1c, RO_CONST);
  }
  req_id id = reqq_top(&s->l1d.missq);
  if (!id) return;
  if (!sm_can_send_bytes(s, req_up_bytes(&s->g->pool.at[id]))) {
    s->now_counts.icnt = true;
    return;
  }
  reqq_pop(&s->l1d.missq);
  if (s->l1d.refused == L1_NO_MISSQ) s->l1d.refused = 0;
  sm_send(s, id);
  s->acted = true;
}

/* ---- the L1 ---- */

static struct l1_event event_of(struct sm *s, const struct op *o, const struct access *a) {
  struct req probe = {.addr = a->addr};
  partition_locate(s->g->parts, &probe);
  return (struct l1_event){.addr = a->addr,
                           .line = a->addr & ~(uint64_t)(s->l1d.line_bytes - 1),
                           .cycle = s->g->now,
                           .sm = s->id,
                           .warp = o->warp,
                           .cta = o->cta,
                           .pc = o->uop->inst->pc,
                           .degree = o->degree,
                           .chunks = a->chunks,
                           .set =
                               gpu_l1_set(s->c, L1_ORG(s) ? s->l1d.org_sets : s->l1d.sets, s->l1d.line_bytes, a->addr),
                           .subpart = probe.subpart,
                           .local = o->space == SPACE_LOCAL,
                           .write = !o->load};
}

static void send_past_l1(struct sm *s, op_id id, const struct access *a, enum l1_past by) {
  const struct op *o = &s->op[id];
  if (SEEN(s, character)) gpu_see_access(s, id, a->addr, L1_BYPASS), gpu_see_block(s, id, a->addr, L1_BYPASS);
  if (HOOKS(s, on_past) && o->load && !o->atomic) {
    struct l1_event e = event_of(s, o, a);
    for (uint32_t h = 0; h < HOOKS(s, on_past); h++) {
      struct slot_instance *in = &s->g->slots.at[s->g->slots.on_past[h]];
      in->scheme->on_past(&in->ctx, &e, by);
    }
  }
  req_id rid = sm_request(s, o->load ? REQ_GLOBAL_READ : REQ_GLOBAL_WRITE, a->addr, a->bytes);
  struct req *r = &s->g->pool.at[rid];
  r->warp = o->warp;
  r->cta = o->cta;
  r->pc = o->uop->inst->pc;
  r->degree = o->degree;
  r->lanes = a->lanes;
  r->chunks = a->chunks;
  if (KNOB(s, l2_org) && !o->load) r->whole = (uint8_t)coalesce_whole(a, s->c->l2.line);
  r->atomic = o->atomic;
  r->token = o->token;
  r->owner = id;
  r->bypass = true;
  if (!o->load) s->w[o->warp].stores++;
  else if (!o->atomic) s->st->l1d_read_bypasses++;
  sm_send(s, rid);
}

static bool room_past_l1(struct sm *s, const struct op *o, const struct access *a) {
  return sm_can_send_bytes(s, REQ_HEADER_BYTES + (o->load && !o->atomic ? 0 : a->bytes));
}

/* A refused access: does a scheme send it past the L1 instead? */
static bool bypass_on_stall(struct sm *s, struct latency_slot *q, enum l1_outcome why) {
  struct gpu *g = s->g;
  struct op *o = &s->op[q->op];
  if (!HOOKS(s, on_stall) || !o->load || o->space == SPACE_LOCAL) return false;
  if (!room_past_l1(s, o, &q->acc)) {
    s->watch_icnt = true;
    return false;
  }
  struct l1_event e = event_of(s, o, &q->acc);
  e.coming = is_coming(&s->l1d, why, e.line);
  e.retry = q->asked;
  q->asked = true;
  for (uint32_t h = 0; h < HOOKS(s, on_stall); h++) {
    struct slot_instance *in = &g->slots.at[g->slots.on_stall[h]];
    if (!in->scheme->on_stall(&in->ctx, &e, why)) continue;
    send_past_l1(s, q->op, &q->acc, PAST_BY_STALL);
    return true;
  }
  return false;
}

/* The cache itself will not have this access. */
static bool bypass_by_cache(struct sm *s, struct latency_slot *q) {
  if (!room_past_l1(s, &s->op[q->op], &q->acc)) {
    s->now_counts.icnt = true;
    return false;
  }
  send_past_l1(s, q->op, &q->acc, PAST_BY_CACHE);
  return true;
}

static void count_l1_read(struct sm *s, bool local, enum l1_outcome out) {
  struct gpu_stats *st = s->st;
  if (local) {
    st->l1d_local_read_accesses++;
    *(out == L1_HIT       ? &st->l1d_local_read_hits
      : out == L1_PENDING ? &st->l1d_local_read_pending
      : out == L1_PARTIAL ? &st->l1d_local_read_partial
                          : &st->l1d_local_read_misses) += 1;
  } else {
    st->l1d_read_accesses++;
    *(out == L1_HIT       ? &st->l1d_read_hits
      : out == L1_PENDING ? &st->l1d_read_pending
      : out == L1_PARTIAL ? &st->l1d_read_partial
                          : &st->l1d_read_misses) += 1;
  }
}

static void note_refusal(struct sm *s, const struct op *o, enum l1_outcome why) {
  s->now_counts.l1_reject = (uint8_t)why;
  s->now_counts.l1_reject_of = (uint8_t)((o->space == SPACE_LOCAL ? REJECT_LOCAL : 0) | (o->load ? 0 : REJECT_WRITE));
}

/* Is what the L1 says of an access certain to be repeated until a fill, a place in an MSHR or in the miss queue? */
static bool repeats(const struct sm *s) {
  return SM_KIND == SM_PLAIN || s->g->lookups_steady;
}

/* An access that the L1 has not accepted, and would not if it were looked up: is it sent past the L1 by now? */
static bool bypass_refused(struct sm *s, struct latency_slot *q) {
  struct l1d *l = &s->l1d;
  const struct op *o = &s->op[q->op];
  if (SM_KIND != SM_PLAIN && l->refused == L1_BYPASS) return bypass_by_cache(s, q);
  if (HOOKS(s, on_stall) && o->load && !l->stays && bypass_on_stall(s, q, l->refused)) return true;
  note_refusal(s, o, l->refused);
  return false;
}

/* Look up the access that has spent the hit latency in front of the L1. */
static void l1_lookup(struct sm *s) {
  struct l1d *l = &s->l1d;
  struct latency_slot *q = &l->lat[l->lat_head];
  uint64_t due = q->at + KNOB(s, l1d_latency);
  if (due < l->org_busy) due = l->org_busy;
  if (s->g->now < due) {
    if (due < s->wake_at) s->wake_at = due;
    return;
  }
  struct op *o = &s->op[q->op];
  bool local = o->space == SPACE_LOCAL;
  if (l->refused) {
    if (!bypass_refused(s, q)) return;
    l->refused = 0;
  } else if (o->load) {
    enum l1_outcome out = read_line(s, q->op, &q->acc);
    if (out == L1_BYPASS) {
      if (!bypass_by_cache(s, q)) {
        if (repeats(s)) l->refused = L1_BYPASS, l->probed = false;
        return;
      }
    } else if (out >= L1_NO_LINE) {
      if (!bypass_on_stall(s, q, out)) {
        note_refusal(s, o, out);
        if (repeats(s)) l->refused = (uint8_t)out, l->probed = out != L1_NO_LINE;
        if (HOOKS(s, on_stall)) l->stays = s->g->stalls_steady && !s->watch_icnt;
        return;
      }
    } else {
      count_l1_read(s, local, out);
      if (SEEN(s, timeline)) timeline_l1(s, o->warp, q->acc.addr, out == L1_MISS);
      if (SEEN(s, profile)) gpu_see_set(s, q->acc.addr, out == L1_HIT);
      if (SEEN(s, character)) gpu_see_access(s, q->op, q->acc.addr, out), gpu_see_block(s, q->op, q->acc.addr, out);
      if (SEEN(s, inst)) {
        struct gpu_inst_memory *m = sm_seen_inst(s, o);
        m->l1_accesses++;
        m->l1_hits += out == L1_HIT;
      }
      if (out == L1_HIT) access_done(s, q->op);
    }
  } else {
    bool sent;
    enum l1_outcome out = write_line(s, q->op, &q->acc, &sent);
    if (out >= L1_NO_LINE) {
      note_refusal(s, o, out);
      if (repeats(s)) l->refused = (uint8_t)out;
      return;
    }
    if (SEEN(s, l2)) gpu_see_block(s, q->op, q->acc.addr, out);
    if (SEEN(s, character) && !local) gpu_see_store(s, q->acc.addr);
    if (local) s->st->l1d_local_write_accesses++, s->st->l1d_local_write_hits += out == L1_HIT;
    else s->st->l1d_write_accesses++, s->st->l1d_write_hits += out == L1_HIT;
    if (!sent) s->w[o->warp].stores--, s->drained |= 1ull << o->warp;
    if (!--o->pending && !o->left && s->dispatch != q->op) op_free(s, q->op);
  }
  s->acted = true;
  l->probed = l->head_waits = false;
  l->lat_head = ring_at(l->lat_head + 1, l->lat_size);
  l->lat_count--;
}

/* ---- the instruction at the head of the memory pipe ---- */

static bool process_const(struct sm *s, op_id id) {
  struct op *o = &s->op[id];
  if (!o->left) return true;
  const struct access *a = &s->buffer[o->buffer][o->left - 1];
  enum ro_result r = rocache_access(&s->l1c, a->addr, id, s->g->now);
  sm_note_ro(s, &s->l1c, RO_CONST);
  if (r == RO_REFUSED) return false;
  s->st->l1c_accesses++;
  s->acted = true;
  o->left--;
  if (r == RO_HIT) o->pending--;
  else s->st->l1c_misses++;
  return !o->left;
}

static bool process_texture(struct sm *s, op_id id) {
  struct op *o = &s->op[id];
  if (!o->left) return true;
  enum tex_outcome r = texcache_access(&s->l1t, s->buffer[o->buffer][o->left - 1].addr, id, s->g->now);
  if (r == TEX_REFUSED) return false;
  s->st->l1t_accesses++;
  s->st->l1t_misses += r == TEX_MISS;
  s->ro_active |= RO_TEX;
  s->acted = true;
  return !--o->left;
}

static bool ask_bypass_load(struct sm *s, op_id id) {
  struct gpu *g = s->g;
  const struct op *o = &s->op[id];
  struct l1_event e = event_of(s, o, &s->buffer[o->buffer][o->left - 1]);
  for (uint32_t h = 0; h < HOOKS(s, bypass_load); h++) {
    struct slot_instance *in = &g->slots.at[g->slots.bypass_load[h]];
    if (in->scheme->bypass_load(&in->ctx, &e)) return true;
  }
  return false;
}

static bool ask_bypass_access(struct sm *s, op_id id, const struct access *a) {
  struct gpu *g = s->g;
  struct l1_event e = event_of(s, &s->op[id], a);
  for (uint32_t h = 0; h < HOOKS(s, bypass_access); h++) {
    struct slot_instance *in = &g->slots.at[g->slots.bypass_access[h]];
    if (in->scheme->bypass_access(&in->ctx, &e)) return true;
  }
  return false;
}

static bool process_global(struct sm *s, op_id id) {
  struct op *o = &s->op[id];
  if (!o->left) return true;
  struct gpu *g = s->g;
  const struct access *a = &s->buffer[o->buffer][o->left - 1];
  bool cached_load = o->load && !o->atomic && !o->bypass && o->space != SPACE_LOCAL;
  if (cached_load && !o->admitted) {
    o->admitted = true;
    if (HOOKS(s, bypass_load) && ask_bypass_load(s, id)) o->bypass = true;
  }
  bool one = cached_load && !o->bypass && HOOKS(s, bypass_access) && ask_bypass_access(s, id, a);
  if (o->bypass || one) {
    if (!room_past_l1(s, o, a)) {
      s->now_counts.icnt = true;
      s->now_counts.stall_kind = STALL_BYPASS;
      return false;
    }
    o->left--;
    send_past_l1(s, id, a, one ? PAST_BY_ACCESS : o->admitted ? PAST_BY_LOAD : PAST_BY_INST);
    s->acted = true;
  } else {
    struct l1d *l = &s->l1d;
    if (L1_QUEUES(s) ? !l1_order_push(s, id, a) : l->lat_count >= KNOB(s, l1d_latency)) {
      s->now_counts.stall_kind = STALL_L1D;
      l->head_waits = !L1_QUEUES(s) && !HOOKS(s, bypass_access);
      return false;
    }
    if (!L1_QUEUES(s))
      l->lat[ring_at(l->lat_head + l->lat_count++, l->lat_size)] =
          (struct latency_slot){.acc = *a, .at = g->now, .op = id};
    if (!o->load) s->w[o->warp].stores++, o->pending++;
    o->left--;
    s->acted = true;
  }
  if (o->left) s->now_counts.stall_kind = STALL_COALESCE;
  return !o->left;
}

static bool process_head(struct sm *s, op_id id) {
  struct op *o = &s->op[id];
  if (o->uop->inst->kind == KIND_FENCE || !o->mask) return true;
  bool done;
  switch (o->space) {
  case SPACE_SHARED:
    if (o->passes > 1) {
      o->passes--;
      s->acted = true;
      s->now_counts.stall_kind = STALL_SHARED;
      return false;
    }
    return true;
  case SPACE_CONST:
  case SPACE_PARAM:
    done = process_const(s, id);
    if (!done) s->now_counts.stall_kind = STALL_CONST;
    return done;
  case SPACE_TEX:
    done = process_texture(s, id);
    if (!done) s->now_counts.stall_kind = STALL_TEX;
    return done;
  default:
    return process_global(s, id);
  }
}

static void head_finished(struct sm *s, op_id id) {
  struct op *o = &s->op[id];
  if (o->load && o->space == SPACE_SHARED) { /* through the pipe even when no lane takes part */
    uint32_t last = o->remote ? REMOTE_SHARED_LATENCY - 1 : s->c->shared_latency - 1;
    if (s->shared_pipe[last]) return;
    if (o->remote) s->shared_depth = REMOTE_SHARED_LATENCY;
    s->shared_pipe[last] = id;
    s->shared_count++;
    s->dispatch = 0;
    s->acted = true;
    return;
  }
  s->dispatch = 0;
  s->acted = true;
  /* All accesses are made: any number of instructions may wait for their answers without one. */
  if (o->buffer != NO_BUFFER) s->buffer_used &= ~(1ull << o->buffer), o->buffer = NO_BUFFER;
  s->w[o->warp].in_pipe--;
  s->drained |= 1ull << o->warp;
  if (o->load) {
    if (!o->pending) complete(s, id);
  } else if (!o->pending) {
    op_free(s, id);
  }
}

ONCE bool ldst(struct sm *s) {
  memory_writeback(s);
  if (s->shared_count) {
    for (uint32_t i = 0; i + 1 < s->shared_depth; i++)
      if (!s->shared_pipe[i] && s->shared_pipe[i + 1]) {
        s->shared_pipe[i] = s->shared_pipe[i + 1];
        s->shared_pipe[i + 1] = 0;
        s->acted = true;
      }
  }
  take_reply(s);
  send_misses(s);
  if (s->l1d.lat_count) l1_lookup(s);
  if (L1_QUEUES(s) && RARE(s->l1d.order_waiting)) l1_order_step(s);
  if (s->l1d.head_waits) s->now_counts.stall_kind = STALL_L1D;
  else if (s->dispatch && process_head(s, s->dispatch)) head_finished(s, s->dispatch);
  if (!s->dispatch && s->ex_mem.count) {
    s->dispatch = s->ex_mem.at[0];
    s->ex_mem.count = 0;
    s->col_leave |= PLAN(s, set_mem);
    s->collect_look = true;
    s->acted = true;
  }
  return !s->g->fault;
}
