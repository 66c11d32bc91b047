/* device.c - attributes of the simulated device. */
#include "cudart/core/device.h"

#include <limits.h>
#include <stddef.h>

#include "cudart/core/clusters.h"

enum { MAX_GRID_YZ = 65535 };

uint32_t device_max_grid_x(const struct session_device *d) {
  return d->cc_major >= 3 ? INT_MAX : MAX_GRID_YZ;
}

static uint32_t has_clusters(const struct session_device *d) {
  return cudart_has_clusters(d);
}

/* An attribute is a field of the device, or follows from it, or is the same for all devices. */
struct attribute {
  uint32_t (*of)(const struct session_device *d);
  uint16_t field; /* its offset plus one, 0: none */
  int fixed;
};
#define FIELD(name) \
  { .field = offsetof(struct session_device, name) + 1 }
#define OF(function) \
  { .of = function }
#define IS(value) \
  { .fixed = value }

/* By the number of cudaDeviceAttr. An attribute without a row is an absent feature: 0. */
enum { ATTRIBUTES = 150 }; /* numbers from 1 on */
static const struct attribute attributes[ATTRIBUTES] = {
    [1] = FIELD(max_threads_per_cta),
    [2 ... 3] = IS(1024), /* threads of a CTA in x and y */
    [4] = IS(64),         /* and in z */
    [5] = OF(device_max_grid_x),
    [6 ... 7] = IS(MAX_GRID_YZ),
    [8] = FIELD(shared_per_cta),
    [9] = FIELD(const_bytes),
    [10] = FIELD(warp_size),
    [11] = IS(INT_MAX), /* pitch of copies */
    [12] = FIELD(regs_per_cta),
    [13] = FIELD(core_khz),
    [14] = IS(512), /* alignment of textures */
    [15] = IS(1),   /* copies beside kernels */
    [16] = FIELD(sms),
    [19] = IS(1),            /* maps host memory */
    [21 ... 23] = IS(65536), /* textures: 1D, 2D */
    [24 ... 26] = IS(4096),  /* 3D */
    [27 ... 28] = IS(16384), /* 2D in layers, */
    [29] = IS(2048),         /* so many */
    [30] = IS(512),          /* alignment of surfaces */
    [31] = IS(1),            /* kernels beside each other */
    [33] = IS(1),            /* PCI bus */
    [36] = FIELD(mem_khz),
    [37] = FIELD(mem_bus_bits),
    [38] = FIELD(l2_bytes),
    [39] = FIELD(max_threads_per_sm),
    [40] = IS(1),            /* engines for copies */
    [41] = IS(1),            /* unified addressing */
    [42] = IS(16384),        /* textures: 1D in layers, */
    [43] = IS(2048),         /* so many */
    [45 ... 46] = IS(16384), /* 2D with gather */
    [47 ... 48] = IS(2048),  /* 3D, the other shape: width and height, */
    [49] = IS(16384),        /* depth */
    [51] = IS(32),           /* alignment of a texture's pitch */
    [52 ... 53] = IS(16384), /* cubemaps, and those in layers, */
    [54] = IS(2046),         /* so many */
    [55 ... 56] = IS(65536), /* surfaces: 1D, 2D width */
    [57] = IS(32768),        /* 2D height */
    [58 ... 60] = IS(4096),  /* 3D */
    [61] = IS(65536),        /* 1D in layers, */
    [62] = IS(2048),         /* so many */
    [63] = IS(65536),        /* 2D in layers: width, */
    [64] = IS(32768),        /* height, */
    [65] = IS(2048),         /* layers */
    [66 ... 67] = IS(32768), /* cubemaps, and those in layers, */
    [68] = IS(2046),         /* so many */
    [69] = IS(1 << 27),      /* textures of linear memory: 1D, */
    [70 ... 71] = IS(65000), /* 2D, */
    [72] = IS(1048544),      /* its pitch */
    [73 ... 74] = IS(16384), /* mipmapped textures: 2D */
    [75] = FIELD(cc_major),
    [76] = FIELD(cc_minor),
    [77] = IS(16384),    /* 1D */
    [78] = IS(1),        /* priorities of streams are accepted */
    [79 ... 80] = IS(1), /* the L1 caches global and local memory */
    [81] = FIELD(shared_per_sm),
    [82] = FIELD(regs_per_sm),
    [83] = IS(1), /* managed memory */
    [87] = IS(2), /* speed of float over that of double */
    [89] = IS(1), /* managed memory may be touched while kernels run */
    [95] = IS(1), /* cooperative launches */
    [ATTR_MAX_SHARED_OPTIN] = FIELD(shared_most),
    [99] = IS(1),  /* registers host memory */
    [102] = IS(1), /* virtual memory management */
    [106] = FIELD(max_ctas_per_sm),
    [111] = FIELD(shared_reserved),
    [115] = IS(1), /* memory pools */
    [120] = OF(has_clusters),
    [130 ... 131] = IS(-1), /* no NUMA nodes */
    [134] = IS(-1),
};

bool device_attribute(const struct session_device *d, int attribute, int *value) {
  *value = 0;
  if (attribute < 1 || attribute >= ATTRIBUTES) return false;
  const struct attribute *a = &attributes[attribute];
  if (a->of) *value = (int)a->of(d);
  else if (a->field) *value = (int)*(const uint32_t *)((const char *)d + a->field - 1);
  else *value = a->fixed;
  return true;
}
