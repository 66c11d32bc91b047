/* clusters.c - launches in clusters of CTAs (compute capability 9.0): how they are requested, and the device's limits.
 *
 * The dimension comes from the launch's attribute, from cudaFuncSetAttribute, or from the kernel (__cluster_dims__,
 * .reqnctapercluster). Up to 8 CTAs are portable; up to 16 need cudaFuncAttributeNonPortableClusterSizeAllowed.
 */
#include <string.h>

#include "cudart/core/clusters.h"
#include "cudart/core/context.h"
#include "cudart/core/launches.h"
#include "cudart/core/modules.h"

enum { ATTRIBUTE_BYTES = 72, ATTRIBUTE_COOPERATIVE = 2, ATTRIBUTE_CLUSTER = 4 };
enum { PORTABLE = 8, MOST = 16 };

void cudart_launch_attributes(const void *attrs, unsigned n, bool *cooperative, uint32_t cluster[3]) {
  for (unsigned i = 0; attrs && i < n; i++) {
    const uint8_t *a = (const uint8_t *)attrs + (size_t)i * ATTRIBUTE_BYTES;
    uint32_t id, value[3];
    memcpy(&id, a, sizeof id);
    memcpy(value, a + 8, sizeof value);
    if (id == ATTRIBUTE_COOPERATIVE) *cooperative = value[0] != 0;
    if (id == ATTRIBUTE_CLUSTER) memcpy(cluster, value, sizeof value);
  }
}

bool cudart_has_clusters(const struct session_device *d) {
  return d->cc_major >= 9;
}

cudaError_t cudart_resolve_cluster(struct cudart *c, const struct cuda_function *f, uint32_t d[3]) {
  const uint32_t *own = f->info->cluster[0] ? f->info->cluster : f->cluster;
  bool asked = d[0] || d[1] || d[2];
  if (asked && own[0] && memcmp(own, d, 3 * sizeof *d) != 0)
    return cudart_why(c, cudaErrorInvalidClusterSize, "launch of %s in clusters of %ux%ux%u, it is made for %ux%ux%u",
                      f->name, d[0], d[1], d[2], own[0], own[1], own[2]);
  if (!asked) memcpy(d, own, 3 * sizeof *d);
  if (!d[0] && !f->info->in_clusters) return cudaSuccess;
  if (!cudart_has_clusters(c->dev))
    return cudart_why(c, f->info->in_clusters ? cudaErrorNoKernelImageForDevice : cudaErrorNotSupported,
                      "launch of %s in clusters: they need compute capability 9.0, the simulated GPU has %u.%u (try "
                      "--gpu hopper)",
                      f->name, c->dev->cc_major, c->dev->cc_minor);
  if (!d[0] || !d[1] || !d[2] || d[0] > MOST || d[1] > MOST || d[2] > MOST)
    return cudart_why(c, cudaErrorInvalidClusterSize, "launch of %s: a cluster of %ux%ux%u CTAs", f->name, d[0], d[1],
                      d[2]);
  uint32_t size = d[0] * d[1] * d[2], most = f->non_portable ? MOST : PORTABLE;
  if (size > most)
    return cudart_why(c, cudaErrorInvalidClusterSize, "launch of %s: clusters of %u CTAs, at most %u%s", f->name, size,
                      most, f->non_portable ? "" : " without cudaFuncAttributeNonPortableClusterSizeAllowed");
  return cudaSuccess;
}

cudaError_t cudart_check_cluster(struct cudart *c, const struct cuda_launch *l) {
  uint32_t d[3];
  memcpy(d, l->cluster, sizeof d);
  cudaError_t r = cudart_resolve_cluster(c, l->function, d);
  for (int i = 0; d[0] && r == cudaSuccess && i < 3; i++)
    if (l->grid[i] % d[i])
      return cudart_why(c, cudaErrorInvalidClusterSize,
                        "launch of %s: a grid of %ux%ux%u CTAs is no multiple of clusters of %ux%ux%u",
                        l->function->name, l->grid[0], l->grid[1], l->grid[2], d[0], d[1], d[2]);
  return r;
}

/* Clusters lie within a GPC: the same placement as in src/gpu/dispatch.c. */
uint32_t cudart_active_clusters(const struct cudart *c, const struct cuda_function *f, uint32_t threads,
                                uint64_t shared, uint32_t size) {
  uint32_t n = c->dev->sms, of_each = c->dev->gpc_sms, gpcs = n < of_each ? 1 : n / of_each, all = 0;
  uint32_t per_sm = cudart_occupancy(c->dev, f->info, threads, shared);
  if (f->info->static_shared + shared > cudart_shared_limit(c->dev, f)) per_sm = 0;
  for (uint32_t i = 0; i < gpcs; i++) all += ((i + 1) * n / gpcs - i * n / gpcs) * per_sm / size;
  return all;
}

uint32_t cudart_largest_cluster(const struct cudart *c, const struct cuda_function *f, uint32_t threads,
                                uint64_t shared) {
  uint32_t size = f->non_portable ? MOST : PORTABLE;
  while (size > 1 && !cudart_active_clusters(c, f, threads, shared, size)) size /= 2;
  return size;
}

/* cudaFuncAttribute and CUfunction_attribute share these numbers. */
enum { CLUSTER_MUST_BE_SET = 10, CLUSTER_WIDTH, CLUSTER_HEIGHT, CLUSTER_DEPTH, CLUSTER_NON_PORTABLE, CLUSTER_POLICY };

bool cudart_cluster_attribute(struct cuda_function *f, int attribute, int value) {
  if (attribute >= CLUSTER_WIDTH && attribute <= CLUSTER_DEPTH) {
    if (value < 0 || value > MOST || f->info->cluster[0]) return false;
    f->cluster[attribute - CLUSTER_WIDTH] = (uint32_t)value;
  } else if (attribute == CLUSTER_NON_PORTABLE) {
    f->non_portable = value != 0;
  } else if (attribute == CLUSTER_POLICY) {
    if (value < 0 || value > 2) return false;
    f->cluster_policy = value;
  } else {
    return false;
  }
  return true;
}

bool cudart_cluster_value(const struct cuda_function *f, int attribute, int *value) {
  const uint32_t *d = f->info->cluster[0] ? f->info->cluster : f->cluster;
  if (attribute < CLUSTER_MUST_BE_SET || attribute > CLUSTER_POLICY) return false;
  if (attribute == CLUSTER_MUST_BE_SET) *value = f->info->in_clusters;
  else if (attribute <= CLUSTER_DEPTH) *value = (int)d[attribute - CLUSTER_WIDTH];
  else *value = attribute == CLUSTER_NON_PORTABLE ? f->non_portable : f->cluster_policy;
  return true;
}
