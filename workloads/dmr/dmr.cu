/* dmr - refinement of a triangle mesh
 *
 * Program: LonestarGPU dmr (Delaunay mesh refinement)
 * Suites: medic=DMR
 * Groups: medic=all-hit
 * Algorithm: rounds of: collect the bad triangles; each finds the cavity of a new point by breadth-first search over
 *   neighbours whose circumcircle contains it, and marks the cavity and its rim with its priority; those that own all
 *   they marked replace the cavity by triangles around the new point. The losers try again next round.
 * Loads: a thread
 *   walks its own neighbourhood through triangle -> neighbour and triangle -> corner -> coordinate indices: gathers of
 *   degree up to 32, with little work per triangle and conflicts between threads; the mesh grows as it runs.
 * Simplified: a triangle is bad when its area is over a limit, and the new point is its centroid, which always lies in the mesh; so
 *   no treatment of borders is needed and the refinement ends.
 */
#include "../common/wl.h"

#define MOST 16 /* triangles of a cavity; a larger one is cut to the bad triangle alone */

/* Triangle t has corners v[3t..], counter-clockwise, and neighbour nb[3t+k] across the edge from corner k to k+1. */
struct mesh {
  float *x, *y;
  int *v, *nb, *points, *triangles; /* the last two: how many */
  int point_room, triangle_room;
};

__host__ __device__ inline double area2(const float *x, const float *y, int a, int b, int c) {
  return ((double)x[b] - x[a]) * ((double)y[c] - y[a]) - ((double)y[b] - y[a]) * ((double)x[c] - x[a]);
}
/* Is (px, py) inside the circumcircle of triangle a b c? */
__device__ bool in_circle(const struct mesh &m, int t, float px, float py) {
  double d[3][3];
  for (int k = 0; k < 3; k++) {
    d[k][0] = (double)m.x[m.v[3 * t + k]] - px;
    d[k][1] = (double)m.y[m.v[3 * t + k]] - py;
    d[k][2] = d[k][0] * d[k][0] + d[k][1] * d[k][1];
  }
  return d[0][0] * (d[1][1] * d[2][2] - d[1][2] * d[2][1]) - d[0][1] * (d[1][0] * d[2][2] - d[1][2] * d[2][0]) +
             d[0][2] * (d[1][0] * d[2][1] - d[1][1] * d[2][0]) >
         1e-12;
}

__global__ void find_bad(struct mesh m, float limit, int n, int *bad, int *bad_n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < n && area2(m.x, m.y, m.v[3 * t], m.v[3 * t + 1], m.v[3 * t + 2]) > 2 * (double)limit)
    bad[atomicAdd(bad_n, 1)] = t;
}

__device__ int among(const int *list, int n, int t) {
  for (int i = 0; i < n; i++)
    if (list[i] == t) return i;
  return -1;
}
__device__ unsigned priority(int t) {
  return (unsigned)(t + 1) * 2654435761u; /* distinct and never 0 */
}
__device__ void centroid(const struct mesh &m, int t, float *px, float *py) {
  *px = (m.x[m.v[3 * t]] + m.x[m.v[3 * t + 1]] + m.x[m.v[3 * t + 2]]) / 3;
  *py = (m.y[m.v[3 * t]] + m.y[m.v[3 * t + 1]] + m.y[m.v[3 * t + 2]]) / 3;
}
/* The point must see every edge of the rim from the inside. */
__device__ bool star_shaped(const struct mesh &m, const int *cavity, int n, float px, float py) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 3; k++) {
      int t = cavity[i];
      if (among(cavity, n, m.nb[3 * t + k]) >= 0) continue;
      int a = m.v[3 * t + k], b = m.v[3 * t + (k + 1) % 3];
      if (((double)m.x[b] - m.x[a]) * ((double)py - m.y[a]) - ((double)m.y[b] - m.y[a]) * ((double)px - m.x[a]) < 1e-9)
        return false;
    }
  return true;
}

/* Cavity of bad triangle i at cavities[k * bad_n + i], its size in sizes[i]; marks cavity and rim. */
__global__ void plan(struct mesh m, const int *bad, int bad_n, int *cavities, int *sizes, unsigned *owner) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= bad_n) return;
  int cavity[MOST], n = 1;
  float px, py;
  cavity[0] = bad[i];
  centroid(m, bad[i], &px, &py);
  for (int at = 0; at < n && n < MOST; at++)
    for (int k = 0; k < 3; k++) {
      int o = m.nb[3 * cavity[at] + k];
      if (o < 0 || among(cavity, n, o) >= 0 || !in_circle(m, o, px, py)) continue;
      if (n == MOST) break;
      cavity[n++] = o;
    }
  if (n == MOST || !star_shaped(m, cavity, n, px, py)) n = 1;
  for (int at = 0; at < n; at++) {
    cavities[at * bad_n + i] = cavity[at];
    atomicMax(&owner[cavity[at]], priority(bad[i]));
    for (int k = 0; k < 3; k++)
      if (m.nb[3 * cavity[at] + k] >= 0) atomicMax(&owner[m.nb[3 * cavity[at] + k]], priority(bad[i]));
  }
  sizes[i] = n;
}

__global__ void refine(struct mesh m, const int *bad, int bad_n, const int *cavities, const int *sizes,
                       const unsigned *owner, int *full) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= bad_n) return;
  int n = sizes[i], cavity[MOST], from[MOST + 2], to[MOST + 2], out[MOST + 2], edges = 0;
  for (int at = 0; at < n; at++) cavity[at] = cavities[at * bad_n + i];
  for (int at = 0; at < n; at++) {
    if (owner[cavity[at]] != priority(bad[i])) return;
    for (int k = 0; k < 3; k++) {
      int o = m.nb[3 * cavity[at] + k];
      if (o >= 0 && owner[o] != priority(bad[i])) return;
      if (among(cavity, n, o) >= 0) continue;
      from[edges] = m.v[3 * cavity[at] + k];
      to[edges] = m.v[3 * cavity[at] + (k + 1) % 3];
      out[edges++] = o;
    }
  }
  int point = atomicAdd(m.points, 1), fresh = atomicAdd(m.triangles, edges - n);
  if (point >= m.point_room || fresh + edges - n > m.triangle_room) {
    *full = 1;
    return;
  }
  float px, py;
  centroid(m, bad[i], &px, &py);
  m.x[point] = px;
  m.y[point] = py;
  for (int e = 0; e < edges; e++) {
    int t = e < n ? cavity[e] : fresh + e - n;
    m.v[3 * t] = from[e];
    m.v[3 * t + 1] = to[e];
    m.v[3 * t + 2] = point;
    m.nb[3 * t] = out[e];
    for (int f = 0; f < edges; f++) {
      int u = f < n ? cavity[f] : fresh + f - n;
      if (from[f] == to[e]) m.nb[3 * t + 1] = u;
      if (to[f] == from[e]) m.nb[3 * t + 2] = u;
    }
    for (int k = 0; out[e] >= 0 && k < 3; k++) /* the outside's edge runs the other way */
      if (m.v[3 * out[e] + k] == to[e] && m.v[3 * out[e] + (k + 1) % 3] == from[e]) m.nb[3 * out[e] + k] = t;
  }
}

/* A jittered grid of side x side points, each cell cut along a diagonal. */
static void grid_mesh(int side, uint64_t *seed, std::vector<float> *x, std::vector<float> *y, std::vector<int> *v,
                      std::vector<int> *nb) {
  for (int j = 0; j < side; j++)
    for (int i = 0; i < side; i++) {
      bool border = i == 0 || j == 0 || i == side - 1 || j == side - 1;
      x->push_back((float)i + (border ? 0 : wl_range(seed, -0.3f, 0.3f)));
      y->push_back((float)j + (border ? 0 : wl_range(seed, -0.3f, 0.3f)));
    }
  int cells = side - 1;
  for (int j = 0; j < cells; j++)
    for (int i = 0; i < cells; i++) {
      int a = j * side + i, t = 2 * (j * cells + i), lower = j ? t - 2 * cells + 1 : -1, left = i ? t - 1 : -1;
      int right = i < cells - 1 ? t + 2 : -1, upper = j < cells - 1 ? t + 2 * cells : -1;
      v->insert(v->end(), {a, a + 1, a + side, a + 1, a + side + 1, a + side});
      nb->insert(nb->end(), {lower, t + 1, left, right, upper, t});
    }
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "dmr");
  int side = wl_int(&w, "side", wl_by_size(10, 24, 64), 3, 2048, "points per side of the first mesh");
  int limit = wl_int(&w, "limit", wl_by_size(200, 150, 100), 10, 400, "largest area allowed, in thousandths");
  wl_ready(&w);

  uint64_t seed = w.seed;
  std::vector<float> x, y;
  std::vector<int> v, nb;
  grid_mesh(side, &seed, &x, &y, &v, &nb);
  int points = (int)x.size(), n = (int)v.size() / 3, factor = 8 + 4000 / limit;
  struct mesh m = {NULL, NULL, NULL, NULL, wl_alloc<int>(1), wl_alloc<int>(1), points * factor, n * factor};
  x.resize((size_t)m.point_room);
  y.resize((size_t)m.point_room);
  v.resize((size_t)m.triangle_room * 3);
  nb.resize((size_t)m.triangle_room * 3);
  m.x = wl_upload(x);
  m.y = wl_upload(y);
  m.v = wl_upload(v);
  m.nb = wl_upload(nb);
  wl_set(m.points, points);
  wl_set(m.triangles, n);
  size_t room = (size_t)m.triangle_room;
  int *bad = wl_alloc<int>(room), *bad_n = wl_alloc<int>(1), *cavities = wl_alloc<int>(room * MOST),
      *sizes = wl_alloc<int>(room), *full = wl_zeros<int>(1);
  unsigned *owner = wl_alloc<unsigned>(room);
  struct wl_check chk = {};
  int rounds = 0, first = n, count;
  for (; !wl_get(full); rounds++) {
    wl_set(bad_n, 0);
    find_bad<<<wl_blocks((size_t)n, 256), 256>>>(m, (float)limit / 1000, n, bad, bad_n);
    WL_LAUNCHED();
    if (!(count = wl_get(bad_n))) break;
    WL_CUDA(cudaMemset(owner, 0, room * sizeof(unsigned)));
    plan<<<wl_blocks((size_t)count, 128), 128>>>(m, bad, count, cavities, sizes, owner);
    refine<<<wl_blocks((size_t)count, 128), 128>>>(m, bad, count, cavities, sizes, owner, full);
    WL_LAUNCHED();
    int before = n;
    n = wl_get(m.triangles);
    wl_that(&chk, n > before, "every round refines something");
    if (chk.wrong) return wl_end(&w, &chk);
  }
  printf("%d rounds, %d triangles became %d\n", rounds, first, n);
  wl_that(&chk, !wl_get(full), "the refined mesh fits the arrays");
  if (chk.wrong) return wl_end(&w, &chk);

  x = wl_download(m.x, (size_t)wl_get(m.points));
  y = wl_download(m.y, x.size());
  v = wl_download(m.v, (size_t)n * 3);
  nb = wl_download(m.nb, (size_t)n * 3);
  double total = 0;
  for (size_t t = 0; t < (size_t)n; t++) {
    double a = area2(x.data(), y.data(), v[3 * t], v[3 * t + 1], v[3 * t + 2]) / 2;
    wl_that(&chk, a > 0 && a <= (double)limit / 1000 * 1.00001,
            "every triangle is the right way round and small enough");
    total += a;
    for (size_t k = 0; k < 3; k++) {
      int o = nb[3 * t + k];
      if (o < 0) continue;
      bool mutual = false;
      for (size_t q = 0; q < 3; q++)
        mutual |= nb[3 * (size_t)o + q] == (int)t && v[3 * (size_t)o + q] == v[3 * t + (k + 1) % 3] &&
                  v[3 * (size_t)o + (q + 1) % 3] == v[3 * t + k];
      wl_that(&chk, mutual, "neighbours share the edge");
    }
  }
  wl_near(&chk, "area of the mesh", 0, total, (double)(side - 1) * (side - 1), 1e-5);
  return wl_end(&w, &chk);
}
