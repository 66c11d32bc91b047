// compilers: clang
// flags: -arch=sm_80
// expect: PASS
/* mma.sync and wmma on elements of 8, 4 and 1 bit against sums on the host, element by element from the figures of the
 * PTX ISA: the assignment of elements to lanes is derived here again. */
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

#define MMA(name, form, na, nb, nc)                                                  \
  __global__ void name(const unsigned *a, const unsigned *b, const int *c, int *d) { \
    unsigned A[4], B[2];                                                             \
    int C[4] = {0, 0, 0, 0}, D[4] = {0, 0, 0, 0};                                    \
    for (int i = 0; i < 4; i++) A[i] = a[threadIdx.x * 4 + i];                       \
    for (int i = 0; i < 2; i++) B[i] = b[threadIdx.x * 2 + i];                       \
    for (int i = 0; i < nc; i++) C[i] = c[threadIdx.x * 4 + i];                      \
    form;                                                                            \
    for (int i = 0; i < nc; i++) d[threadIdx.x * 4 + i] = D[i];                      \
  }
#define M8(text)                                     \
  asm volatile(text " {%0,%1}, {%2}, {%3}, {%4,%5};" \
               : "=r"(D[0]), "=r"(D[1])              \
               : "r"(A[0]), "r"(B[0]), "r"(C[0]), "r"(C[1]))
#define M16A2(text)                                                  \
  asm volatile(text " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};" \
               : "=r"(D[0]), "=r"(D[1]), "=r"(D[2]), "=r"(D[3])      \
               : "r"(A[0]), "r"(A[1]), "r"(B[0]), "r"(C[0]), "r"(C[1]), "r"(C[2]), "r"(C[3]))
#define M16A4(text)                                                                                                 \
  asm volatile(text " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"                                    \
               : "=r"(D[0]), "=r"(D[1]), "=r"(D[2]), "=r"(D[3])                                                     \
               : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B[0]), "r"(B[1]), "r"(C[0]), "r"(C[1]), "r"(C[2]), \
                 "r"(C[3]))
MMA(s8_8, M8("mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.u8.s32"), 1, 1, 2)
MMA(s8_16, M16A2("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32"), 2, 1, 4)
MMA(u8_32, M16A4("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32"), 4, 2, 4)
MMA(s4_8, M8("mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32"), 1, 1, 2)
MMA(u4_16, M16A2("mma.sync.aligned.m16n8k32.row.col.s32.u4.s4.s32"), 2, 1, 4)
MMA(s4_64, M16A4("mma.sync.aligned.m16n8k64.row.col.satfinite.s32.s4.u4.s32"), 4, 2, 4)
MMA(b1_8, M8("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc"), 1, 1, 2)
MMA(b1_16, M16A2("mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc"), 2, 1, 4)
MMA(b1_256, M16A4("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc"), 4, 2, 4)

/* 1-bit wmma: loads, the product and the store; A by rows of 128 bits, B by columns. */
__global__ void bmma(const unsigned *a, const unsigned *b, int *d) {
  asm volatile("{\n.reg .b32 a, b, c, e, f, g;\nmov.u32 c, 7;\n"
               "wmma.load.a.sync.aligned.row.m8n8k128.b1 {a}, [%0], 128;\n"
               "wmma.load.b.sync.aligned.col.m8n8k128.b1 {b}, [%1], 128;\n"
               "wmma.mma.and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {e, f}, {a}, {b}, {c, c};\n"
               "wmma.store.d.sync.aligned.row.m8n8k128.s32 [%2], {e, f}, 8;\n}" ::"l"(a),
               "l"(b), "l"(d)
               : "memory");
}

static unsigned A[128], B[64];
static int C[128], D[128], bad;

static int field(unsigned w, int at, int bits, bool sign) {
  int v = bits == 1 ? w >> at & 1 : w >> at & ((1u << bits) - 1);
  return sign && v >> (bits - 1) ? v - (1 << bits) : v;
}

/* op: 0 multiply, 1 xor, 2 and */
static void check(const char *name, int m, int k, int bits, bool sa, bool sb, int op, bool sat) {
  int run = 32 / bits;
  for (int r = 0; r < m; r++)
    for (int n = 0; n < 8; n++) {
      int lane = r % 8 * 4 + n / 2, e = n % 2 + (r >= 8 ? 2 : 0);
      long long sum = C[lane * 4 + e];
      for (int j = 0; j < k; j++) {
        int half = j / (4 * run), quad = j % (4 * run) / run, at = j % run * bits;
        int ra = m == 8 ? 0 : half * 2 + (r >= 8);
        int x = field(A[(r % 8 * 4 + quad) * 4 + ra], at, bits, sa),
            y = field(B[(n * 4 + quad) * 2 + half], at, bits, sb);
        sum += op == 0 ? (long long)x * y : op == 1 ? x ^ y : x & y;
      }
      if (sat) sum = sum > 2147483647LL ? 2147483647LL : sum < -2147483648LL ? -2147483648LL : sum;
      if (D[lane * 4 + e] != (int)sum && bad++ < 5)
        printf("%s [%d][%d]: %d, not %d\n", name, r, n, D[lane * 4 + e], (int)sum);
    }
}

int main() {
  unsigned *a, *b, s = 12345;
  int *c, *d;
  for (unsigned &v : A) v = s = s * 1664525 + 1013904223;
  for (unsigned &v : B) v = (s = s * 1664525 + 1013904223) ^ s >> 9;
  for (int i = 0; i < 128; i++) C[i] = i % 5 == 0 ? 2147483640 : i % 7 == 0 ? -2147483640 : i * 1000 - 7;
  cudaMalloc(&a, sizeof A), cudaMalloc(&b, sizeof B), cudaMalloc(&c, sizeof C), cudaMalloc(&d, sizeof D);
  cudaMemcpy(a, A, sizeof A, cudaMemcpyHostToDevice), cudaMemcpy(b, B, sizeof B, cudaMemcpyHostToDevice);
  cudaMemcpy(c, C, sizeof C, cudaMemcpyHostToDevice);
#define RUN(name, ...)                                \
  name<<<1, 32>>>(a, b, c, d);                        \
  cudaMemcpy(D, d, sizeof D, cudaMemcpyDeviceToHost); \
  check(#name, __VA_ARGS__)
  RUN(s8_8, 8, 16, 8, true, false, 0, true);
  RUN(s8_16, 16, 16, 8, true, true, 0, false);
  RUN(u8_32, 16, 32, 8, false, true, 0, false);
  RUN(s4_8, 8, 32, 4, true, true, 0, false);
  RUN(u4_16, 16, 32, 4, false, true, 0, false);
  RUN(s4_64, 16, 64, 4, true, false, 0, true);
  RUN(b1_8, 8, 128, 1, false, false, 1, false);
  RUN(b1_16, 16, 128, 1, false, false, 2, false);
  RUN(b1_256, 16, 256, 1, false, false, 1, false);
  bmma<<<1, 32>>>(a, b, d);
  cudaMemcpy(D, d, sizeof D, cudaMemcpyDeviceToHost);
  for (int r = 0; r < 8; r++)
    for (int n = 0; n < 8; n++) {
      int sum = 7;
      for (int w = 0; w < 4; w++) sum += __builtin_popcount(A[r * 4 + w] & B[n * 4 + w]);
      if (D[r * 8 + n] != sum && bad++ < 5) printf("bmma [%d][%d]: %d, not %d\n", r, n, D[r * 8 + n], sum);
    }
  if (cudaGetLastError()) bad++;
  puts(bad ? "FAIL" : "PASS");
  return bad != 0;
}
