/* icnt-load.c - latency over offered load of the interconnect, against queueing theory; the tables of
 * docs/explanation/interconnect.md.
 *
 * Open loop: every source makes a packet with the same probability in each step and keeps what the network does not
 * take yet; latency counts from that moment to the step after which the packet can be popped. Receivers take one packet
 * a step. `icnt-load` prints the tables, `icnt-load speed` the cost of a step on this machine.
 *
 * Theory. An output serves a packet of L flits in S = L + 1 steps (VC allocation of the next packet follows the tail).
 *  - Low load: unloaded latency + M/D/1 wait at the destination, rho S / 2(1 - rho) with the traffic of the other
 * sources,
 *    + the wait behind own packets, lambda S (S - 1) / 2(1 - rho_s) (at most one packet a step is made).
 *  - Saturation of the crossbar: inputs are FIFOs, only heads compete. With N inputs and M outputs, the M/D/1 queues of
 * heads hold N / M on average: rho + rho^2 / 2(1 - rho) = N / M (Karol, Hluchyj, Morgan 1987; 2 - sqrt 2 for N = M).
 *  - Hot spot: the hot output is busy all the time. Mesh: the busiest channel under XY routing is; heads that block
 * each other keep the mesh below that bound.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "gpu/icnt/icnt_impl.h"

enum { SMS = 15, MEMS = 12, NODES = SMS + MEMS, WARM = 10000, MEASURE = 60000, PER_MILLE = 1000 };

struct load {
  enum gpu_icnt kind;
  int net;                  /* ICNT_UP: SMs to L2; ICNT_DOWN: L2 to SMs */
  uint32_t vcs, flits, hot; /* packet length; share of packets for one destination, per mille */
  double flits_per_step;    /* offered, per source */
};
struct result {
  double latency, accepted; /* steps; flits per source and step */
};

static struct gpu_config config(const struct load *w) {
  return (struct gpu_config){.sms = SMS,
                             .icnt_kind = w->kind,
                             .icnt_wire = 2,
                             .icnt_flit = 32,
                             .icnt_vcs = w->vcs,
                             .icnt_vc_buf = 8,
                             .icnt_in_buf = 256,
                             .icnt_ej_buf = 64,
                             .icnt_bnd_buf = 64,
                             .icnt_islip = 1,
                             .icnt_speedup = 2};
}
static uint32_t first_src(const struct load *w) {
  return w->net == ICNT_UP ? 0 : SMS;
}
static uint32_t n_src(const struct load *w) {
  return w->net == ICNT_UP ? SMS : MEMS;
}
static uint32_t first_dst(const struct load *w) {
  return w->net == ICNT_UP ? SMS : 0;
}
static uint32_t n_dst(const struct load *w) {
  return w->net == ICNT_UP ? MEMS : SMS;
}

static struct result run(const struct load *w) {
  struct gpu_config c = config(w);
  struct icnt *n = icnt_new(&c, NODES);
  struct rng g = rng_seed(42);
  uint64_t chance = (uint64_t)(w->flits_per_step / w->flits * 4294967296.0), sum = 0, count = 0;
  uint32_t cap = WARM + MEASURE, *made[NODES] = {0}, *dst[NODES] = {0}, tail[NODES] = {0}, head[NODES] = {0};
  for (uint32_t s = first_src(w); s < first_src(w) + n_src(w); s++) {
    made[s] = malloc(cap * sizeof **made);
    dst[s] = malloc(cap * sizeof **dst);
  }
  uint32_t *stamp = malloc((size_t)cap * NODES * sizeof *stamp), next = 1;
  for (uint32_t step = 0; step < cap; step++) {
    for (uint32_t s = first_src(w); s < first_src(w) + n_src(w); s++) {
      if (rng_next(&g) >> 32 < chance) {
        made[s][tail[s]] = step;
        dst[s][tail[s]++] = first_dst(w) + (rng_below(&g, PER_MILLE) < w->hot ? 0 : rng_below(&g, n_dst(w)));
      }
      while (head[s] < tail[s] && icnt_can_push(n, s, w->flits * 32)) {
        stamp[next] = made[s][head[s]];
        icnt_push(n, s, dst[s][head[s]++], next++, w->flits * 32);
      }
    }
    icnt_step(n);
    for (uint32_t d = first_dst(w); d < first_dst(w) + n_dst(w); d++) {
      uint32_t p = icnt_pop(n, d);
      if (p && step >= WARM) count++, sum += step + 1 - stamp[p];
    }
  }
  icnt_free(n);
  free(stamp);
  for (int s = 0; s < NODES; s++) free(made[s]), free(dst[s]);
  return (struct result){.latency = (double)sum / (double)count,
                         .accepted = (double)count * w->flits / MEASURE / n_src(w)};
}

/* ---- theory ---- */

/* Share of the packets of one source that go to destination `d`. */
static double share(const struct load *w, uint32_t d) {
  double h = w->hot / (double)PER_MILLE;
  return (1 - h) / n_dst(w) + (d == first_dst(w) ? h : 0);
}

static double low_load_latency(const struct load *w) {
  double S = w->flits + 1, lambda = w->flits_per_step / w->flits, others = n_src(w) - 1, wait = 0;
  for (uint32_t d = first_dst(w); d < first_dst(w) + n_dst(w); d++) {
    double rho = lambda * n_src(w) * share(w, d) * S;
    if (rho >= 1) return INFINITY;
    wait += share(w, d) * (rho * others / n_src(w)) * S / 2 / (1 - rho);
  }
  return 6 + w->flits + wait + lambda * S * (S - 1) / 2 / (1 - lambda * S);
}

/* Saturation of the crossbar, flits per source and step. */
static double crossbar_saturation(const struct load *w) {
  double ratio = n_src(w) / (double)n_dst(w), S = w->flits + 1;
  /* rho^2 - (2 + 2 ratio) rho + 2 ratio = 0 */
  double rho = 1 + ratio - sqrt((1 + ratio) * (1 + ratio) - 2 * ratio);
  double uniform = rho * n_dst(w) / n_src(w) * w->flits / S;
  double hot = w->flits / (n_src(w) * share(w, first_dst(w)) * S);
  return hot < uniform ? hot : uniform;
}

/* Mean hops, and the bound of the busiest channel, from every pair's XY route. */
static void mesh_theory(const struct load *w, double *hops, double *bound) {
  struct gpu_config c = config(w);
  struct icnt *n = icnt_new(&c, NODES);
  const struct layout *l = &n->l;
  double *channel = calloc(l->ports, sizeof *channel), busiest = 0;
  *hops = 0;
  for (uint32_t s = first_src(w); s < first_src(w) + n_src(w); s++)
    for (uint32_t d = first_dst(w); d < first_dst(w) + n_dst(w); d++) {
      uint32_t r = l->node_port[s] / 5, to = l->node_port[d] / 5;
      while (r != to) {
        uint32_t x = r % l->columns, tx = to % l->columns, dir = x < tx ? 0 : x > tx ? 1 : r < to ? 2 : 3;
        channel[r * 5 + dir] += share(w, d);
        *hops += share(w, d) / n_src(w);
        r = l->peer[r * 5 + dir] / 5;
      }
      channel[to * 5 + 4] += share(w, d);
    }
  for (uint32_t p = 0; p < l->ports; p++)
    if (channel[p] > busiest) busiest = channel[p];
  *bound = w->flits / (busiest * (w->flits + 1));
  free(channel);
  icnt_free(n);
}

/* ---- tables ---- */

static void cell(const struct load *w) {
  struct result r = run(w);
  if (r.accepted < 0.97 * w->flits_per_step) printf(" saturated |");
  else printf(" %.1f |", r.latency);
}

static void latency_table(int net, uint32_t flits, const double *loads, int n) {
  printf("\n%s, packets of %u flit%s:\n\n",
         net == ICNT_UP ? "Requests, 15 SMs to 12 L2 sub-partitions" : "Replies, 12 L2 sub-partitions to 15 SMs", flits,
         flits > 1 ? "s" : "");
  printf(
      "| offered, flits per source and step | crossbar uniform | theory | crossbar hot spot | theory | mesh uniform | "
      "mesh hot spot |\n|---|---|---|---|---|---|---|\n");
  for (int k = 0; k < n; k++) {
    printf("| %.2f |", loads[k]);
    for (int kind = ICNT_CROSSBAR; kind <= ICNT_MESH; kind++)
      for (uint32_t hot = 0; hot <= 250; hot += 250) {
        struct load w = {
            .kind = (enum gpu_icnt)kind, .net = net, .vcs = 1, .flits = flits, .hot = hot, .flits_per_step = loads[k]};
        cell(&w);
        if (kind == ICNT_MESH) continue;
        double t = low_load_latency(&w);
        if (loads[k] > crossbar_saturation(&w)) printf(" saturated |");
        else printf(" %.1f |", t);
      }
    printf("\n");
  }
}

static void saturation_table(void) {
  printf("\nSaturation: flits per source and step that come out when every source always has a packet.\n\n");
  printf("| network | traffic | theory, 1 VC | 1 VC | 2 VCs | 4 VCs |\n|---|---|---|---|---|---|\n");
  for (int net = ICNT_UP; net <= ICNT_DOWN; net++)
    for (int kind = ICNT_CROSSBAR; kind <= ICNT_MESH; kind++)
      for (uint32_t hot = 0; hot <= 250; hot += 250) {
        struct load w = {.kind = (enum gpu_icnt)kind,
                         .net = net,
                         .vcs = 1,
                         .flits = net == ICNT_UP ? 1 : 5,
                         .hot = hot,
                         .flits_per_step = net == ICNT_UP ? 0.999 : 4.99};
        double theory = crossbar_saturation(&w), hops;
        if (kind == ICNT_MESH) mesh_theory(&w, &hops, &theory);
        printf("| %s, %s | %s | %s%.3f |", kind == ICNT_MESH ? "mesh" : "crossbar",
               net == ICNT_UP ? "requests" : "replies", hot ? "hot spot" : "uniform",
               kind == ICNT_MESH ? "at most " : "", theory);
        for (w.vcs = 1; w.vcs <= 4; w.vcs *= 2) printf(" %.3f |", run(&w).accepted);
        printf("\n");
      }
  for (int net = ICNT_UP; net <= ICNT_DOWN; net++) {
    struct load w = {.kind = ICNT_MESH, .net = net, .vcs = 1, .flits = net == ICNT_UP ? 1 : 5, .flits_per_step = 0.005};
    double hops, bound;
    mesh_theory(&w, &hops, &bound);
    printf("%sMesh, %s: %.2f hops on average, so %.1f steps unloaded; measured at 0.005 flits per source and step: "
           "%.1f.\n",
           net ? "" : "\n", net == ICNT_UP ? "requests" : "replies", hops, 6 + w.flits + 4 * hops, run(&w).latency);
  }
}

/* ---- cost ---- */

/* CPU time: other processes do not count. */
static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Both networks loaded: each SM a request of 1 flit and each L2 node a reply of 5 with the given chance per step. The
 * cost of making the traffic is measured without a network and taken off; pushing and popping stay in. */
static void speed(enum gpu_icnt kind, uint32_t vcs, uint32_t up, uint32_t down) {
  struct load w = {.kind = kind, .vcs = vcs};
  struct gpu_config c = config(&w);
  struct icnt *n = icnt_new(&c, NODES);
  uint32_t steps = 400000, made = 0;
  double best[2] = {1e9, 1e9};
  uint64_t flits = 0;
  for (int round = 0; round < 10; round++) {
    bool run = round & 1;
    struct rng g = rng_seed(1);
    uint64_t before = n->st.flits[0] + n->st.flits[1];
    double t0 = seconds(), spent;
    for (uint32_t s = 0; s < steps; s++) {
      for (uint32_t node = 0; node < NODES && (up || down); node++) {
        bool sm = node < SMS;
        uint32_t draw = rng_below(&g, 10000), dst = sm ? SMS + draw % MEMS : draw % SMS;
        if (!run) made += draw < (sm ? up : down) ? dst : 0;
        else if (draw < (sm ? up : down) && icnt_can_push(n, node, sm ? 8 : 136))
          icnt_push(n, node, dst, s + 1, sm ? 8 : 136);
        if (run) icnt_pop(n, node);
      }
      if (run) icnt_step(n);
    }
    spent = seconds() - t0;
    if (spent < best[run]) best[run] = spent;
    flits = n->st.flits[0] + n->st.flits[1] - before;
  }
  printf(
      "%-8s %u VC%s, per step %.3f requests of 1 flit and %.3f replies of 5: %.0f ns per step, %.2f flits accepted\n",
      kind == ICNT_MESH ? "mesh" : "crossbar", vcs, vcs > 1 ? "s" : " ", up * SMS / 1e4, down * MEMS / 1e4,
      (best[1] - best[0]) * 1e9 / steps, (double)flits / steps);
  __asm__ volatile("" : : "r"(made)); /* so that the round without a network is not optimised away */
  icnt_free(n);
}

int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "speed")) {
    for (int kind = ICNT_CROSSBAR; kind <= ICNT_MESH; kind++) {
      speed((enum gpu_icnt)kind, 1, 0, 0);
      speed((enum gpu_icnt)kind, 1, 1, 1);
      speed((enum gpu_icnt)kind, 1, 100, 100);
      speed((enum gpu_icnt)kind, 1, 1000, 700);
      speed((enum gpu_icnt)kind, 1, 5000, 5000);
      speed((enum gpu_icnt)kind, 4, 5000, 5000);
    }
    return 0;
  }
  const double up[] = {0.01, 0.02, 0.05, 0.10, 0.15, 0.20, 0.25, 0.30};
  const double down[] = {0.02, 0.05, 0.10, 0.20, 0.30, 0.40, 0.50, 0.60};
  latency_table(ICNT_UP, 1, up, sizeof up / sizeof *up);
  latency_table(ICNT_DOWN, 5, down, sizeof down / sizeof *down);
  saturation_table();
  return 0;
}
