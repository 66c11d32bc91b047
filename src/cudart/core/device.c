/* device.c - what the simulated device answers when asked for its attributes. */
#include "cudart/core/device.h"

#include <limits.h>

enum { MAX_PITCH = INT_MAX, TEXTURE_ALIGN = 512, TEXTURE_PITCH_ALIGN = 32, MAX_THREADS_Z = 64, MAX_GRID_YZ = 65535 };

uint32_t device_max_grid_x(const struct session_device *d) {
  return d->cc_major >= 3 ? INT_MAX : MAX_GRID_YZ;
}

/* Texture and surface limits of the interface; they do not depend on the configuration. */
static int texture_limit(int attribute) {
  switch (attribute) {
  case 21:
    return 65536; /* 1D width */
  case 22:
  case 23:
    return 65536; /* 2D */
  case 24:
  case 25:
  case 26:
    return 4096; /* 3D */
  case 27:
  case 28:
    return 16384; /* 2D layered */
  case 29:
    return 2048;
  case 42:
    return 16384; /* 1D layered */
  case 43:
    return 2048;
  case 45:
  case 46:
    return 16384; /* gather */
  case 47:
  case 48:
    return 2048; /* 3D alternate */
  case 49:
    return 16384;
  case 52:
  case 53:
    return 16384; /* cubemap */
  case 54:
    return 2046;
  case 55:
    return 65536; /* surfaces */
  case 56:
    return 65536;
  case 57:
    return 32768;
  case 58:
  case 59:
  case 60:
    return 4096;
  case 61:
    return 65536;
  case 62:
    return 2048;
  case 63:
    return 65536;
  case 64:
    return 32768;
  case 65:
    return 2048;
  case 66:
  case 67:
    return 32768;
  case 68:
    return 2046;
  case 69:
    return 1 << 27; /* 1D linear */
  case 70:
  case 71:
    return 65000; /* 2D linear */
  case 72:
    return 1048544;
  case 73:
  case 74:
  case 77:
    return 16384; /* mipmapped */
  default:
    return -1;
  }
}

bool device_attribute(const struct session_device *d, int attribute, int *value) {
  int limit = texture_limit(attribute);
  if (limit >= 0) {
    *value = limit;
    return true;
  }
  switch (attribute) {
  case 1:
    *value = (int)d->max_threads_per_cta;
    return true;
  case 2:
  case 3:
    *value = 1024;
    return true;
  case 4:
    *value = MAX_THREADS_Z;
    return true;
  case 5:
    *value = (int)device_max_grid_x(d);
    return true;
  case 6:
  case 7:
    *value = MAX_GRID_YZ;
    return true;
  case 8:
    *value = (int)d->shared_per_cta;
    return true;
  case 9:
    *value = (int)d->const_bytes;
    return true;
  case 10:
    *value = (int)d->warp_size;
    return true;
  case 11:
    *value = MAX_PITCH;
    return true;
  case 12:
    *value = (int)d->regs_per_cta;
    return true;
  case 13:
    *value = (int)d->core_khz;
    return true;
  case 14:
  case 30:
    *value = TEXTURE_ALIGN;
    return true;
  case 16:
    *value = (int)d->sms;
    return true;
  case 19:
    *value = 1;
    return true; /* maps host memory */
  case 31:
    *value = 1;
    return true; /* concurrent kernels */
  case 33:
    *value = 1;
    return true; /* PCI bus */
  case 36:
    *value = (int)d->mem_khz;
    return true;
  case 37:
    *value = (int)d->mem_bus_bits;
    return true;
  case 38:
    *value = (int)d->l2_bytes;
    return true;
  case 39:
    *value = (int)d->max_threads_per_sm;
    return true;
  case 15:
  case 40:
    *value = 1;
    return true; /* copies beside kernels: one engine */
  case 41:
    *value = 1;
    return true; /* unified addressing */
  case 51:
    *value = TEXTURE_PITCH_ALIGN;
    return true;
  case 75:
    *value = (int)d->cc_major;
    return true;
  case 76:
    *value = (int)d->cc_minor;
    return true;
  case 78:
    *value = 1;
    return true; /* stream priorities are accepted */
  case 79:
  case 80:
    *value = 1;
    return true; /* L1 caches global and local memory */
  case 81:
    *value = (int)d->shared_per_sm;
    return true;
  case 82:
    *value = (int)d->regs_per_sm;
    return true;
  case 83:
    *value = 1;
    return true; /* managed memory */
  case 87:
    *value = 2;
    return true;
  case 89:
    *value = 1;
    return true; /* managed memory may be touched while kernels run: they do not overlap */
  case 95:
    *value = 1;
    return true; /* cooperative launch */
  case ATTR_MAX_SHARED_OPTIN:
    *value = (int)d->shared_per_sm;
    return true;
  case 99:
    *value = 1;
    return true; /* host registration */
  case 102:      /* virtual address management */
    *value = 1;
    return true;
  case 106:
    *value = (int)d->max_ctas_per_sm;
    return true;
  case 115:
    *value = 1;
    return true; /* memory pools */
  case 120:
    *value = cudart_has_clusters(d);
    return true;
  case 121:
    *value = 0;
    return true;
  case 130:
  case 131:
  case 134:
    *value = -1;
    return true; /* no NUMA nodes */
  default:
    break;
  }
  *value = 0; /* everything else is a feature that is not there */
  return attribute > 0 && attribute < 150;
}
