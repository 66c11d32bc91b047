/* icnt.h - the interconnect: two networks (requests up, replies down) of packets in flits.
 *
 * Nodes 0..sms-1 are SMs, sms..sms+subparts-1 are L2 sub-partitions. Packets carry a request handle. The unloaded
 * latency and the saturation follow the reference's network: see docs/explanation/gpu-model.md "Interconnect" and
 * docs/explanation/interconnect.md.
 */
#ifndef GPU_ICNT_ICNT_H
#define GPU_ICNT_ICNT_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/common/config.h"

struct icnt;
enum icnt_net { ICNT_UP, ICNT_DOWN };

struct icnt_stats {
  uint64_t packets[2], flits[2]; /* accepted for injection, by net */
};

struct icnt *icnt_new(const struct gpu_config *c, uint32_t nodes);
void icnt_free(struct icnt *n);
/* True if the injection buffer of `node` has room for a packet of `bytes`. SM nodes inject into ICNT_UP, L2 nodes into
 * ICNT_DOWN. */
bool icnt_can_push(const struct icnt *n, uint32_t node, uint32_t bytes);
/* Minimum steps until there is room; 0: now. */
uint32_t icnt_steps_to_room(const struct icnt *n, uint32_t node, uint32_t bytes);
void icnt_push(struct icnt *n, uint32_t src, uint32_t dst, uint32_t payload, uint32_t bytes);
/* Flits in the injection buffer of `node`. */
uint32_t icnt_waiting(const struct icnt *n, uint32_t node);
/* Take the packet at the head of the node's ejection side; 0 if none is complete. */
uint32_t icnt_pop(struct icnt *n, uint32_t node);
uint32_t icnt_peek(const struct icnt *n, uint32_t node);
/* Destination of the first pushed packet that the node's router has not sent on; false: none, or several virtual
 * channels are in use. */
bool icnt_bound(const struct icnt *n, uint32_t node, uint32_t *dst);
/* The receivers of a network with a packet to pop: sub-partitions (ICNT_UP) or SMs, counted from 0, one word per 64;
 * the set lives as long as the interconnect. */
const uint64_t *icnt_arrivals(const struct icnt *n, enum icnt_net net);
/* The set of SMs whose injection buffer may have gained room, among those that called icnt_await after a refused push;
 * the caller clears it. NULL if unknown. */
uint64_t *icnt_sent(const struct icnt *n);
void icnt_await(struct icnt *n, uint32_t node, uint32_t bytes);
/* One interconnect cycle. Idle nodes cost nothing. */
void icnt_step(struct icnt *n);
/* Number of further steps (>= 0) that change nothing but the clock, UINT32_MAX if nothing inside moves. icnt_skip
 * skips that many steps. */
uint32_t icnt_quiet_steps(const struct icnt *n);
void icnt_skip(struct icnt *n, uint32_t steps);
/* The SM to which the way up to `node` was granted last; 0 of other networks than a crossbar with one virtual
 * channel. */
uint32_t icnt_granted(const struct icnt *n, uint32_t node);
/* Without time: the way up to `node` was granted to SM `sm` last. */
void icnt_granted_last(struct icnt *n, uint32_t node, uint32_t sm);
/* Steps done and skipped, plus a constant. */
uint64_t icnt_now(const struct icnt *n);
const struct icnt_stats *icnt_stats(const struct icnt *n);

/* ---- SMs ahead of the interconnect (port.c) ----
 *
 * A port serves SMs while they run up to icnt_ahead steps ahead, through the calls above: it hands out the packets that
 * are known to arrive, takes packets where room is certain, and logs both by step. The interconnect itself does not
 * change; its owner repeats the log in it, step by step. Ports of one interconnect may be used by several host threads,
 * each node by one of them. */
enum { ICNT_AHEAD_MOST = 8 };
struct icnt_log {
  uint64_t *pop; /* the set of SMs that took a packet */
  struct icnt_pushed {
    uint32_t node, payload;
  } * push;
  uint32_t pushes;
};
/* The most steps, at most ICNT_AHEAD_MOST; 0: not this network. */
uint32_t icnt_ahead(const struct icnt *n);
struct icnt *icnt_port_new(const struct icnt *n);
void icnt_port_free(struct icnt *p);
/* From the network's present step on: empty logs; then each node before it is used. */
void icnt_port_begin(struct icnt *p);
void icnt_port_node(struct icnt *p, uint32_t node);
/* The SM is at this step, from 0. Is there a packet for it? */
enum icnt_known { ICNT_NO_PACKET, ICNT_PACKET, ICNT_UNKNOWN };
enum icnt_known icnt_port_at(struct icnt *p, uint32_t node, uint32_t step);
/* Is it known what icnt_can_push says in this step? So it is if packets of so many bytes in all, the most that the SM
 * may push, can certainly be pushed, or if nothing that is not known yet changes the room. */
bool icnt_port_knows(struct icnt *p, uint32_t node, uint32_t bytes);
const struct icnt_log *icnt_port_log(const struct icnt *p, uint32_t step);

#endif
