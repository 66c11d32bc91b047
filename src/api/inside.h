/* inside.h - what the Python package uses of the simulator beside sluice.h: schemes that exist only while a program
 * runs.
 *
 * The package and the library are of the same build: api_inside is no part of the interface that programs rely on, and
 * `bytes` differs where a part of it does.
 */
#ifndef API_INSIDE_H
#define API_INSIDE_H

#include "gpu/common/config.h"
#include "gpu/slots/slots.h"

struct api_inside {
  size_t bytes; /* API_INSIDE_BYTES */
  bool (*scheme_add)(const struct scheme *s, struct err *e);
  void (*scheme_remove)(const struct scheme *s);
  bool (*err_set)(struct err *e, enum err_code code, const char *fmt, ...);
  void (*config_each)(const struct gpu_config *c,
                      void (*f)(void *ctx, const char *key, const char *value, const char *unit, const char *doc),
                      void *ctx);
  const struct hook_row *hooks;
  /* The services of gpu/slots/scheme.h. */
  double (*subpart_fill_cycles)(const struct gpu *g, uint32_t subpart);
  uint64_t (*sm_warps)(const struct gpu *g, uint32_t sm);
  uint64_t (*sm_ready)(const struct gpu *g, uint32_t sm);
  uint64_t (*sm_warp_age)(const struct gpu *g, uint32_t sm, uint32_t warp);
  uint64_t (*sm_insts)(const struct gpu *g, uint32_t sm);
  uint64_t (*sm_warp_insts)(const struct gpu *g, uint32_t sm);
  struct sm_space (*sm_space)(const struct gpu *g, uint32_t sm);
  uint32_t (*grid_ctas)(const struct gpu *g);
  uint32_t (*grid_x)(const struct gpu *g);
  uint32_t (*sm_cta_limit)(const struct gpu *g);
  bool (*prefetch)(struct scheme_ctx *c, const struct l1_event *of, uint64_t addr);
  bool (*prefetch_l2)(struct scheme_ctx *c, const struct l1_event *of, uint64_t addr);
  uint32_t (*l1_set)(const struct gpu_config *c, uint32_t sets, uint32_t line, uint64_t addr);
};

/* The sizes of everything that a scheme and the machine share. */
#define API_INSIDE_BYTES                                                                                          \
  (sizeof(struct api_inside) + sizeof(struct scheme) + sizeof(struct slot_instance) + sizeof(struct gpu_config) + \
   sizeof(struct l1_event) + sizeof(struct mem_event) + sizeof(struct req) + sizeof(struct inst))

/* The table, a constant. */
const struct api_inside *api_inside(void);

#endif
