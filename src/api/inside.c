/* inside.c - the table of api/inside.h. */
#include "api/inside.h"

const struct api_inside *api_inside(void) {
  static const struct api_inside inside = {
      .bytes = API_INSIDE_BYTES,
      .scheme_add = scheme_add,
      .scheme_remove = scheme_remove,
      .err_set = err_set,
      .config_each = gpu_config_each,
      .hooks = hook_rows,
      .subpart_fill_cycles = gpu_subpart_fill_cycles,
      .sm_warps = gpu_sm_warps,
      .sm_ready = gpu_sm_ready,
      .sm_warp_age = gpu_sm_warp_age,
      .sm_insts = gpu_sm_insts,
      .sm_warp_insts = gpu_sm_warp_insts,
      .sm_space = gpu_sm_space,
      .grid_ctas = gpu_grid_ctas,
      .grid_x = gpu_grid_x,
      .sm_cta_limit = gpu_sm_cta_limit,
      .prefetch = gpu_prefetch,
      .prefetch_l2 = gpu_prefetch_l2,
      .l1_set = gpu_l1_set,
  };
  return &inside;
}
