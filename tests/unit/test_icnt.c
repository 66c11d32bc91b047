/* test_icnt.c - the interconnect: latencies, buffers, conservation, and that skipping quiet steps changes nothing.
 * Cycle-by-cycle behaviour under load is test_icnt_stages.c's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>

#include "base/hash.h"
#include "base/rng.h"
#include "gpu/icnt/icnt.h"

enum { SMS = 15, NODES = 27 };

static struct gpu_config fermi(enum gpu_icnt kind) {
  return (struct gpu_config){.sms = SMS,
                             .icnt_kind = kind,
                             .icnt_wire = 2,
                             .icnt_flit = 32,
                             .icnt_vcs = 1,
                             .icnt_vc_buf = 8,
                             .icnt_in_buf = 256,
                             .icnt_ej_buf = 64,
                             .icnt_bnd_buf = 64,
                             .icnt_islip = 1,
                             .icnt_speedup = 2};
}

/* Steps from push to a packet that can be popped, in an empty network. */
static uint32_t latency(const struct gpu_config *c, uint32_t src, uint32_t dst, uint32_t bytes) {
  struct icnt *n = icnt_new(c, NODES);
  uint32_t steps = 0;
  icnt_push(n, src, dst, 77, bytes);
  for (; !icnt_peek(n, dst); steps++) {
    icnt_step(n);
    assert_true(steps < 1000);
  }
  assert_int_equal(icnt_pop(n, dst), 77);
  assert_int_equal(icnt_pop(n, dst), 0);
  icnt_free(n);
  return steps;
}

/* Injection channel 2, VC allocation 1, switch allocation 1, switch and ejection channel 3: 7 steps, the last of which
 * is the one that writes the boundary buffer; then a step per further flit. */
static void unloaded_crossbar(void **state) {
  (void)state;
  struct gpu_config c = fermi(ICNT_CROSSBAR);
  for (uint32_t bytes = 1; bytes <= 160; bytes++) {
    uint32_t flits = (bytes + 31) / 32;
    assert_int_equal(latency(&c, 3, 20, bytes), 6 + flits);
    assert_int_equal(latency(&c, 26, 0, bytes), 6 + flits);
  }
}

/* Four steps more per hop. With 27 nodes in 6 columns the L2 nodes 15, 16, 17 sit at positions 1, 3, 5 and the SMs 0,
 * 1, 2 at 0, 2, 4. */
static void unloaded_mesh(void **state) {
  (void)state;
  struct gpu_config c = fermi(ICNT_MESH);
  assert_int_equal(latency(&c, 0, 15, 8), 7 + 4 * 1);
  assert_int_equal(latency(&c, 0, 17, 8), 7 + 4 * 5);
  assert_int_equal(latency(&c, 17, 0, 136), 11 + 4 * 5);
  uint32_t last = 26; /* position (2 * 11 + 1) * 27 / 24 = 25: column 1, row 4; SM 0 is in the corner */
  assert_int_equal(latency(&c, 0, last, 8), 7 + 4 * 5);
  assert_int_equal(latency(&c, last, 0, 8), 7 + 4 * 5);
}

/* One SM floods one L2 node. The output VC is given to the next packet one step after a tail has left, or with it. */
static void single_stream(bool back_to_back) {
  struct gpu_config c = fermi(ICNT_CROSSBAR);
  c.icnt_back_to_back = back_to_back;
  for (uint32_t flits = 1; flits <= 5; flits++) {
    struct icnt *n = icnt_new(&c, NODES);
    uint32_t got = 0, steps = (flits + !back_to_back) * 1000 + 10;
    for (uint32_t s = 0; s < steps; s++) {
      if (icnt_can_push(n, 0, flits * 32)) icnt_push(n, 0, SMS, s + 1, flits * 32);
      icnt_step(n);
      got += icnt_pop(n, SMS) != 0;
    }
    assert_in_range(got, 995, 1010);
    icnt_free(n);
  }
}

static void single_stream_loses_a_step_per_packet(void **state) {
  (void)state;
  single_stream(false);
}

static void packets_back_to_back_lose_none(void **state) {
  (void)state;
  single_stream(true);
}

static void injection_buffer_counts_flits(void **state) {
  (void)state;
  struct gpu_config c = fermi(ICNT_CROSSBAR);
  struct icnt *n = icnt_new(&c, NODES);
  for (uint32_t k = 0; k < 51; k++) {
    assert_true(icnt_can_push(n, 2, 136));
    icnt_push(n, 2, SMS + k % 12, k + 1, 136);
  }
  assert_true(icnt_can_push(n, 2, 32)); /* 255 of 256 flits */
  assert_false(icnt_can_push(n, 2, 33));
  assert_true(icnt_can_push(n, SMS, 33)); /* another node */
  icnt_push(n, 2, SMS, 99, 32);
  assert_false(icnt_can_push(n, 2, 1));
  icnt_step(n); /* one flit leaves */
  assert_true(icnt_can_push(n, 2, 32));
  assert_false(icnt_can_push(n, 2, 33));
  assert_int_equal(icnt_stats(n)->packets[ICNT_UP], 52);
  assert_int_equal(icnt_stats(n)->flits[ICNT_UP], 256);
  assert_int_equal(icnt_stats(n)->packets[ICNT_DOWN], 0);
  icnt_free(n);
}

/* A receiver that takes nothing: 64 flits in its boundary buffer, 8 in the ejection buffer (the credits of the router),
 * 8 in each input buffer; then nothing moves until a pop. */
static void blocked_receiver(void **state) {
  (void)state;
  struct gpu_config c = fermi(ICNT_CROSSBAR);
  struct icnt *n = icnt_new(&c, NODES);
  uint32_t pushed = 0, popped = 0;
  for (uint32_t s = 0; s < 2000; s++) {
    if (icnt_can_push(n, 4, 32)) icnt_push(n, 4, SMS, ++pushed, 32);
    icnt_step(n);
  }
  assert_int_equal(pushed, 64 + 8 + 8 + 256);
  assert_false(icnt_can_push(n, 4, 1));
  assert_int_equal(icnt_quiet_steps(n), UINT32_MAX);
  icnt_skip(n, 12345);
  assert_int_equal(icnt_pop(n, SMS), ++popped);
  assert_int_equal(icnt_quiet_steps(n), 0);
  while (popped < pushed) {
    icnt_step(n);
    uint32_t p = icnt_pop(n, SMS);
    if (p) assert_int_equal(p, ++popped);
  }
  assert_int_equal(popped, pushed);
  icnt_free(n);
}

/* ---- random traffic ---- */
struct drive {
  struct icnt *n;
  bool skip;
  uint32_t pending, quiet; /* steps put off; steps known quiet, counted from the first put off */
  uint64_t skipped, steps;
};

static void settle(struct drive *d) {
  if (d->pending) icnt_skip(d->n, d->pending);
  if (d->quiet != UINT32_MAX) d->quiet -= d->pending;
  d->skipped += d->pending;
  d->pending = 0;
}
static void advance(struct drive *d) {
  if (d->skip && d->pending < d->quiet) {
    d->pending++;
    return;
  }
  settle(d);
  icnt_step(d->n);
  d->steps++;
  d->quiet = d->skip ? icnt_quiet_steps(d->n) : 0;
}

struct seen {
  uint64_t hash, packets, flits;
};

/* Payload = source << 20 | number in sequence of its source and destination + 1. Returns a digest of what came out
 * when. */
static struct seen traffic(const struct gpu_config *c, uint32_t nodes, struct drive *d, uint32_t cycles, uint32_t push,
                           uint32_t pop, uint64_t seed) {
  struct rng g = rng_seed(seed);
  struct seen s = {.hash = HASH_INIT};
  uint32_t *sent = calloc((size_t)nodes * nodes, sizeof *sent), *got = calloc((size_t)nodes * nodes, sizeof *got);
  uint64_t *number = calloc((size_t)nodes * nodes, sizeof *number);
  uint64_t pushed = 0;
  d->n = icnt_new(c, nodes);
  for (uint32_t cycle = 0; cycle < cycles || s.packets < pushed; cycle++) {
    assert_true(cycle < cycles * 50);
    for (uint32_t node = 0; node < nodes; node++) {
      if (cycle < cycles && rng_below(&g, 1000) >= pop) continue;
      if (!icnt_peek(d->n, node)) continue;
      settle(d);
      uint32_t p = icnt_pop(d->n, node), src = p >> 20;
      d->quiet = icnt_quiet_steps(d->n);
      /* With one VC in order; several VCs may overtake, then the numbers of a pair add up in the end. */
      if (c->icnt_vcs == 1) assert_int_equal(p & 0xfffff, got[src * nodes + node] + 1);
      got[src * nodes + node]++;
      number[src * nodes + node] += p & 0xfffff;
      uint64_t what[3] = {cycle, node, p};
      s.hash = hash_bytes(s.hash, what, sizeof what);
      s.packets++;
    }
    for (uint32_t node = 0; node < nodes && cycle < cycles; node++) {
      bool sm = node < c->sms;
      if (rng_below(&g, 100000) >= push) continue;
      uint32_t dst = sm ? c->sms + rng_below(&g, nodes - c->sms) : rng_below(&g, c->sms);
      uint32_t bytes = rng_below(&g, 2) ? 8 : 8 + 32 * (1 + rng_below(&g, 4));
      if (!icnt_can_push(d->n, node, bytes)) continue;
      settle(d);
      icnt_push(d->n, node, dst, node << 20 | (sent[node * nodes + dst]++ + 1), bytes);
      d->quiet = icnt_quiet_steps(d->n);
      pushed++;
      s.flits += (bytes + 31) / 32;
    }
    advance(d);
  }
  for (uint32_t k = 0; k < nodes * nodes; k++) {
    assert_int_equal(sent[k], got[k]);
    assert_int_equal(number[k], (uint64_t)sent[k] * (sent[k] + 1) / 2);
  }
  const struct icnt_stats *st = icnt_stats(d->n);
  assert_int_equal(s.packets, pushed);
  assert_int_equal(st->packets[0] + st->packets[1], pushed);
  assert_int_equal(st->flits[0] + st->flits[1], s.flits);
  settle(d);
  icnt_free(d->n);
  free(sent);
  free(got);
  free(number);
  return s;
}

static void same(const struct gpu_config *c, uint32_t nodes, uint32_t cycles, uint32_t push, uint32_t pop, bool idle) {
  struct drive every = {0}, skip = {.skip = true};
  struct seen a = traffic(c, nodes, &every, cycles, push, pop, push + pop);
  struct seen b = traffic(c, nodes, &skip, cycles, push, pop, push + pop);
  assert_int_equal(a.hash, b.hash);
  assert_int_equal(a.packets, b.packets);
  assert_int_equal(every.steps, skip.steps + skip.skipped);
  assert_true(a.packets > 30);
  if (idle) assert_true(skip.skipped > every.steps / 2);
}

static void skipping_equals_stepping(void **state) {
  (void)state;
  for (int kind = ICNT_CROSSBAR; kind <= ICNT_MESH; kind++)
    for (uint32_t vcs = 1; vcs <= 3; vcs++) {
      struct gpu_config c = fermi((enum gpu_icnt)kind);
      c.icnt_vcs = vcs;
      same(&c, NODES, 20000, 20, 1000, kind == ICNT_CROSSBAR);
      same(&c, NODES, 20000, 100, 10, false);
      same(&c, NODES, 2000, 2000, 500, false);
      same(&c, NODES, 1000, 60000, 1000, false);
      c.icnt_back_to_back = kind == ICNT_CROSSBAR && vcs == 1;
      if (!c.icnt_back_to_back) continue;
      same(&c, NODES, 20000, 100, 10, false);
      same(&c, NODES, 1000, 60000, 1000, false);
    }
}

static void largest_machine(void **state) {
  (void)state;
  for (int kind = ICNT_CROSSBAR; kind <= ICNT_MESH; kind++)
    for (uint32_t vcs = 1; vcs <= 8; vcs += 7) {
      struct gpu_config c = fermi((enum gpu_icnt)kind);
      c.sms = 256;
      c.icnt_vcs = vcs;
      struct drive d = {0};
      assert_true(traffic(&c, 512, &d, 100, 30000, 900, 5).packets > 5000);
    }
}

/* ---- SMs ahead of the network ---- */

/* What an SM found ahead: what it asked in a step, and the answer. */
struct found {
  uint32_t asked; /* bytes */
  bool known, room;
};

/* The SM runs ahead and pushes where there is room, until it knows no more. */
static void run_ahead(struct icnt *p, uint32_t sm, uint32_t ahead, uint32_t most, struct rng *r, struct found *of) {
  icnt_port_node(p, sm);
  for (uint32_t k = 0; k < ahead; k++) of[k] = (struct found){.known = false};
  for (uint32_t k = 0; k < ahead; k++) {
    icnt_port_at(p, sm, k);
    struct found *f = &of[k];
    f->asked = 1 + rng_below(r, most);
    f->known = icnt_port_knows(p, sm, f->asked);
    if (!f->known) return;
    f->room = icnt_can_push(p, sm, f->asked);
    if (f->room && rng_below(r, 4)) icnt_push(p, sm, SMS, f->asked, f->asked);
  }
}

/* The network finds the same when it comes to that step. Few receivers, which seldom take a packet: buffers fill. */
static void known_room(bool back_to_back, uint32_t bytes) {
  struct rng r = {.s = 5};
  for (uint32_t wire = 1; wire <= 2; wire++) {
    struct gpu_config c = fermi(ICNT_CROSSBAR);
    c.icnt_wire = wire, c.icnt_in_buf = 9, c.icnt_bnd_buf = 16, c.icnt_back_to_back = back_to_back;
    struct icnt *n = icnt_new(&c, NODES), *p = icnt_port_new(n);
    uint32_t ahead = icnt_ahead(n), known[ICNT_AHEAD_MOST] = {0}, refused = 0;
    assert_int_equal(ahead, wire + 3);
    for (uint32_t w = 0; w < 4000; w++) {
      struct found found[SMS][ICNT_AHEAD_MOST];
      icnt_port_begin(p);
      for (uint32_t i = 0; i < SMS; i++) run_ahead(p, i, ahead, bytes, &r, found[i]);
      uint32_t seldom = 1 + w / 100 % 8;
      for (uint32_t k = 0; k < ahead; k++) {
        for (uint32_t o = SMS; o < SMS + 3; o++)
          if (!rng_below(&r, seldom)) icnt_pop(n, o);
        icnt_step(n);
        for (uint32_t i = 0; i < SMS; i++) {
          const struct found *f = &found[i][k];
          if (!f->known) continue;
          assert_int_equal(icnt_can_push(n, i, f->asked), f->room);
          known[k]++, refused += !f->room;
        }
        const struct icnt_log *l = icnt_port_log(p, k);
        for (uint32_t i = 0; i < l->pushes; i++) {
          const struct icnt_pushed *q = &l->push[i];
          icnt_push(n, q->node, SMS + q->payload % 3, q->payload, q->payload);
        }
      }
    }
    for (uint32_t k = 0; k <= wire; k++) assert_int_equal(known[k], 4000 * SMS);
    for (uint32_t k = wire + 1; k < ahead; k++) assert_in_range(known[k], 1000, 4000 * SMS - 1000);
    assert_true(refused > 10000);
    icnt_port_free(p);
    icnt_free(n);
  }
}

static void room_is_known_ahead(void **state) {
  (void)state;
  known_room(false, 160);
  known_room(true, 160);
  known_room(true, 40); /* packets of one flit and two: the credits of three are in flight */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unloaded_crossbar),
      cmocka_unit_test(unloaded_mesh),
      cmocka_unit_test(single_stream_loses_a_step_per_packet),
      cmocka_unit_test(packets_back_to_back_lose_none),
      cmocka_unit_test(injection_buffer_counts_flits),
      cmocka_unit_test(blocked_receiver),
      cmocka_unit_test(skipping_equals_stepping),
      cmocka_unit_test(largest_machine),
      cmocka_unit_test(room_is_known_ahead),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
