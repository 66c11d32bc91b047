/* ray - ray tracing with shadows and reflections
 *
 * Program: ISPASS-2009 RAY
 * Suites: sharing=RAY
 * Groups: none
 * Algorithm: a thread per pixel finds the nearest sphere or the floor, shades it with one light and its shadow, and
 *   follows the reflection up to five times.
 * Loads: all lanes read the spheres in the same order (degree 1, always
 *   reused); divergence comes from rays that hit different things and end after different numbers of reflections; pixels
 *   are stored as rows of 64 bytes.
 * Simplified: spheres and a chequered floor.
 */
#include "../common/wl.h"

#define BOUNCES 5

struct sphere {
  float x, y, z, r, cr, cg, cb, mirror;
};
struct vec {
  float x, y, z;
};
__host__ __device__ inline vec along(vec o, vec d, float t) {
  return vec{o.x + t * d.x, o.y + t * d.y, o.z + t * d.z};
}
__host__ __device__ inline float dot(vec a, vec b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
__host__ __device__ inline vec unit(vec a) {
  float l = 1 / sqrtf(dot(a, a));
  return vec{a.x * l, a.y * l, a.z * l};
}
/* Nearest hit beyond a small distance: sphere number, n for the floor, -1 for the sky. */
__host__ __device__ inline int nearest(const sphere *s, int n, vec o, vec d, float *t) {
  int hit = -1;
  *t = 1e30f;
  for (int i = 0; i < n; i++) {
    vec oc = vec{o.x - s[i].x, o.y - s[i].y, o.z - s[i].z};
    float b = dot(oc, d), c = dot(oc, oc) - s[i].r * s[i].r, disc = b * b - c;
    if (disc <= 0) continue;
    float at = -b - sqrtf(disc);
    if (at > 1e-3f && at < *t) {
      *t = at;
      hit = i;
    }
  }
  if (d.y < -1e-6f) {
    float at = (-1 - o.y) / d.y;
    if (at > 1e-3f && at < *t) {
      *t = at;
      hit = n;
    }
  }
  return hit;
}

__host__ __device__ inline void trace(const sphere *s, int n, int px, int py, int w, int h, float rgb[3]) {
  vec o = vec{0, 0.5f, -6},
      d = unit(vec{((float)px - (float)w / 2) / (float)h, ((float)h / 2 - (float)py) / (float)h, 1});
  vec light = unit(vec{0.5f, 0.8f, -0.6f});
  float weight = 1;
  rgb[0] = rgb[1] = rgb[2] = 0;
  for (int bounce = 0; bounce < BOUNCES && weight > 0.02f; bounce++) {
    float t, ts;
    int hit = nearest(s, n, o, d, &t);
    if (hit < 0) {
      rgb[0] += weight * 0.4f;
      rgb[1] += weight * (0.6f + 0.2f * d.y);
      rgb[2] += weight * 0.9f;
      break;
    }
    vec p = along(o, d, t), normal = vec{0, 1, 0};
    float cr = 0.8f, cg = 0.8f, cb = 0.8f, mirror = 0.1f;
    if (hit < n) {
      normal = vec{(p.x - s[hit].x) / s[hit].r, (p.y - s[hit].y) / s[hit].r, (p.z - s[hit].z) / s[hit].r};
      cr = s[hit].cr;
      cg = s[hit].cg;
      cb = s[hit].cb;
      mirror = s[hit].mirror;
    } else if (((int)floorf(p.x + 0.37f) + (int)floorf(p.z + 0.41f)) & 1) {
      cr = cg = cb = 0.2f;
    }
    float shade = 0.15f, facing = dot(normal, light);
    if (facing > 0 && nearest(s, n, p, light, &ts) < 0) shade += facing;
    rgb[0] += weight * (1 - mirror) * shade * cr;
    rgb[1] += weight * (1 - mirror) * shade * cg;
    rgb[2] += weight * (1 - mirror) * shade * cb;
    weight *= mirror;
    d = unit(along(d, normal, -2 * dot(d, normal)));
    o = p;
  }
}
__host__ __device__ inline unsigned pack(const float rgb[3]) {
  unsigned v = 0;
  for (int c = 0; c < 3; c++) v |= (unsigned)(fminf(rgb[c], 1.0f) * 255) << (8 * c);
  return v;
}

__global__ void render(const sphere *s, int n, unsigned *image, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  float rgb[3];
  trace(s, n, x, y, w, h, rgb);
  image[y * w + x] = pack(rgb);
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "ray");
  int width = wl_int(&w, "width", wl_by_size(64, 192, 512), 16, 4096, "pixels across");
  int height = wl_int(&w, "height", wl_by_size(48, 128, 384), 16, 4096, "pixels down");
  int n = wl_int(&w, "spheres", wl_by_size(16, 24, 64), 1, 4096, "spheres");
  wl_ready(&w);

  uint64_t seed = w.seed;
  std::vector<sphere> s((size_t)n);
  for (sphere &b : s) {
    b.r = wl_range(&seed, 0.2f, 0.7f);
    b.x = wl_range(&seed, -4, 4);
    b.z = wl_range(&seed, -2, 6);
    b.y = b.r - 1 + wl_range(&seed, 0, 2);
    b.cr = wl_unit(&seed);
    b.cg = wl_unit(&seed);
    b.cb = wl_unit(&seed);
    b.mirror = wl_below(&seed, 2) ? 0.6f : 0.05f;
  }
  size_t pixels = (size_t)width * (size_t)height;
  sphere *ds = wl_upload(s);
  unsigned *di = wl_alloc<unsigned>(pixels);
  render<<<dim3(wl_blocks((size_t)width, 16), wl_blocks((size_t)height, 8)), dim3(16, 8)>>>(ds, n, di, width, height);
  WL_LAUNCHED();
  std::vector<unsigned> got = wl_download(di, pixels);
  /* Rounding may move an edge by a pixel: nearly all pixels must agree within 2 of 255. */
  size_t off = 0;
  for (size_t i = 0; i < pixels; i++) {
    float rgb[3];
    trace(s.data(), n, (int)(i % (size_t)width), (int)(i / (size_t)width), width, height, rgb);
    unsigned want = pack(rgb);
    for (int c = 0; c < 24; c += 8)
      if (abs((int)(got[i] >> c & 255) - (int)(want >> c & 255)) > 2) {
        off++;
        break;
      }
  }
  struct wl_check chk = {};
  printf("%zu of %zu pixels differ\n", off, pixels);
  wl_near(&chk, "share of pixels that differ", 0, (double)off / (double)pixels, 0, 0.005);
  chk.compared = pixels;
  return wl_end(&w, &chk);
}
