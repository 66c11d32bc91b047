/* clusters.h - clusters of CTAs: attributes of launches and functions, and limits of the device. */
#ifndef CUDART_CORE_CLUSTERS_H
#define CUDART_CORE_CLUSTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "cudart/core/abi.h"

struct cudart;
struct cuda_function;
struct cuda_launch;
struct session_device;

/* Apply the attributes of a launch; unset ones do not change. */
void cudart_launch_attributes(const void *attrs, unsigned n, bool *cooperative, uint32_t cluster[3]);
/* The GPU has clusters (compute capability 9.0). */
bool cudart_has_clusters(const struct session_device *d);
/* From the requested cluster to the actual one: {0} is no clusters. */
cudaError_t cudart_resolve_cluster(struct cudart *c, const struct cuda_function *f, uint32_t d[3]);
/* The grid divides into clusters, and one fits the machine. */
cudaError_t cudart_check_cluster(struct cudart *c, const struct cuda_launch *l);
/* Clusters of `size` CTAs of this kernel that run at a time; the largest size of which one does. */
uint32_t cudart_active_clusters(const struct cudart *c, const struct cuda_function *f, uint32_t threads,
                                uint64_t shared, uint32_t size);
uint32_t cudart_largest_cluster(const struct cudart *c, const struct cuda_function *f, uint32_t threads,
                                uint64_t shared);
/* Attributes 10 to 15 of a function; false: not settable, or not one of them. */
bool cudart_cluster_attribute(struct cuda_function *f, int attribute, int value);
bool cudart_cluster_value(const struct cuda_function *f, int attribute, int *value);

#endif
