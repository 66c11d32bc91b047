/* device.h - device attributes by number, the same for cudaDeviceGetAttribute and cuDeviceGetAttribute. */
#ifndef CUDART_CORE_DEVICE_H
#define CUDART_CORE_DEVICE_H

#include <stdbool.h>

#include "session/session.h"

enum { ATTR_MAX_SHARED_OPTIN = 97 };

/* False: no attribute with this number. */
bool device_attribute(const struct session_device *d, int attribute, int *value);
uint32_t device_max_grid_x(const struct session_device *d);

#endif
