/* settings.c - schemes that are one setting of the machine: schedulers, replacement, bypassing, and the bounds and
 * sizes of sensitivity figures. Each row says what it sets, then what a scheme declares.
 *
 * Deviations: none known but those named.
 */
#include "gpu/scheme.h"

#define SETTING(symbol, set, ...)                                                            \
  static bool symbol##_configure(struct gpu_config *c, const double *param, struct err *e) { \
    (void)param, (void)e;                                                                    \
    set;                                                                                     \
    return true;                                                                             \
  }                                                                                          \
  static const struct scheme symbol = {.configure = symbol##_configure, __VA_ARGS__};        \
  SCHEME(symbol)
/* Its one parameter, which needs no name on the command line. */
/* clang-format off */
#define PARAM(name, unit, text, least, most, usual) \
  .positional = name, .params = (const struct scheme_param[]){{name, unit, text, least, most, usual, true}, {0}}
/* clang-format on */

/* ---- warp scheduling ---- */

/* Paper: section 4.1. The baseline of the five papers; selects it by name on a configuration that has another one. */
SETTING(gto, c->warp_sched = SCHED_GTO, .name = "gto", .title = "greedy-then-oldest warp scheduling",
        .paper = "Rogers, O'Connor, Aamodt: Cache-Conscious Wavefront Scheduling. MICRO 2012",
        .idea = "A scheduler keeps issuing from the warp it issued from last, which uses what that warp just fetched;\n"
                "when that warp cannot issue, the oldest one that can goes next.",
        .no_storage = "the baseline's scheduler: the warp issued last and the order in which warps started",
        .owns = {OWNS_WARP_SCHEDULER});

/* Paper: compared with in section 6.4 and Fig 15. */
SETTING(lrr, c->warp_sched = SCHED_LRR, .name = "lrr", .title = "loose round-robin warp scheduling",
        .paper = "Li, Song, Dai, Sidelnik, Hari, Zhou: Locality-Driven Dynamic GPU Cache Bypassing. ICS 2015, Fig 15",
        .idea =
            "Warps take turns: the next warp after the last issued that can issue does. All warps advance together,\n"
            "which spreads the L1 over all of them.",
        .no_storage = "the warp issued last is known to the baseline's scheduler, too", .owns = {OWNS_WARP_SCHEDULER});

/* ---- the L1 ---- */

/* Paper: section 5 (BALL: all accesses take the bypass path) and Table 1.
 * Deviations: local memory keeps the L1. The segment that accesses are coalesced into is the machine's
 * l1d.bypass_segment: 32 B in the reference with its L1 off, 128 B in the simulator of the paper (configuration
 * decoupled-l1d), where bypassing loads coalesce like cached ones. */
SETTING(
    ball, c->l1d_enabled = false, .name = "ball", .title = "bypass all: global memory does not use the L1",
    .paper = "Li, Song, Dai, Sidelnik, Hari, Zhou: Locality-Driven Dynamic GPU Cache Bypassing. ICS 2015, section 5",
    .idea = "Every global load bypasses the L1, as on GPUs that cache only local memory in the L1. Programs that\n"
            "run faster so are the paper's cache-unfriendly ones (Table 1).",
    .no_storage = "nothing is added: the L1 is not used by global loads");

/* Paper: a yardstick of every replacement study; in the reference one of the two built-in policies. Order is that of
 * allocation, not of the data's arrival. */
SETTING(
    fifo, c->l1d_repl = REPL_FIFO, .name = "fifo", .title = "first-in first-out replacement",
    .paper = "Bakhoda, Yuan, Fung, Wong, Aamodt: Analyzing CUDA Workloads Using a Detailed GPU Simulator. ISPASS 2009",
    .idea = "The line placed first is replaced first, whatever its use after that.",
    .no_storage = "the two bits per line that order lines by last use order them by arrival",
    .owns = {OWNS_L1_REPLACEMENT});

/* Paper: section 4 selects benchmarks by a perfect cache; also BUCL Fig 4.
 * Deviations: TSC's perfect cache still has compulsory misses; this one has none. */
SETTING(
    perfect_l1, c->l1d_perfect = true, .name = "perfect-l1", .title = "every load hits in the L1",
    .paper = "Li, Hayes, Song, Zhang: Tag-Split Cache for Efficient GPGPU Cache Utilization. ICS 2016, section 4",
    .idea =
        "Not a design but a bound: every load that asks the L1 hits. A program that gains little from it gains little\n"
        "from any L1 scheme.",
    .no_storage = "a bound, no design that could be built");

/* Paper: section 5.5: 20 cycles as measured on Fermi and Kepler, 90 on Maxwell. */
SETTING(l1_latency, c->l1d_latency = (uint32_t)param[0], .name = "l1-latency", .title = "an L1 of another hit latency",
        .paper = "Li, Hayes, Song, Zhang: Tag-Split Cache for Efficient GPGPU Cache Utilization. ICS 2016, section 5.5",
        .idea = "The L1 still takes an access a cycle; each spends this many cycles in it.",
        .no_storage = "a setting of the machine, no mechanism",
        PARAM("cycles", "cycle", "hit latency (TSC section 5.5)", 1, 512, 20), .owns = {"the L1's latency"});

/* ---- the banked L2 ---- Paper: MeDiC section 5. These turn it on where the configuration has an unbanked one. */

SETTING(
    l2_banks, (c->l2_banked = true, c->l2_banks = (uint32_t)param[0]), .name = "l2-banks",
    .title = "an L2 of another number of banks",
    .paper = "Ausavarungnirun et al.: Exploiting Inter-Warp Heterogeneity to Improve GPGPU Performance. PACT 2015",
    .idea = "The L2 of MeDiC: ports, an arbiter, and a queue for each bank. More banks shorten the queues.",
    .no_storage = "the same arrays cut into banks; the queues in front of them are part of the machine, not counted",
    PARAM("banks", "bank", "banks of a partition (MeDiC section 5)", 1, 64, 4), .owns = {"the number of L2 banks"});

SETTING(l2_ports, (c->l2_banked = true, c->l2_ports = (uint32_t)param[0]), .name = "l2-ports",
        .title = "an L2 of another number of ports",
        .paper = "Ausavarungnirun et al.: Exploiting Inter-Warp Heterogeneity to Improve GPGPU Performance. PACT 2015",
        .idea = "The L2 of MeDiC: ports, an arbiter, and a queue for each bank. More ports shorten the queues.",
        .no_storage = "more wires and arbiters, no bits",
        PARAM("ports", "port", "ports of a partition (MeDiC section 5)", 1, 64, 4), .owns = {"the number of L2 ports"});

/* ---- the DRAM ---- */

/* Paper: MeDiC (PACT 2015) compares with it. */
SETTING(fcfs, c->dram_sched = DRAM_FCFS, .name = "fcfs", .title = "DRAM requests in order of arrival",
        .paper = "Rixner, Dally, Kapasi, Mattson, Owens: Memory Access Scheduling. ISCA 2000",
        .idea = "The DRAM controller serves requests in order of arrival, whether or not their row is open.",
        .no_storage = "the queues and their order are the baseline's", .owns = {OWNS_DRAM_SCHEDULER});

/* The baseline of the five papers; selects it by name on a configuration that has another one. */
SETTING(fr_fcfs, c->dram_sched = DRAM_FRFCFS, .name = "fr-fcfs", .title = "DRAM requests to the open row first",
        .paper = "Rixner, Dally, Kapasi, Mattson, Owens: Memory Access Scheduling. ISCA 2000",
        .idea = "Within a bank, a request whose row is open goes before an older one that would need another row.",
        .no_storage = "the baseline's scheduler", .owns = {OWNS_DRAM_SCHEDULER});
