// order.cu - programs whose result depends on the order of CTAs and warps end as on a GPU: spin locks and flags between
// CTAs, levels of a graph found without barriers, warps that all add the same to one place.
// compilers: clang nvcc
// expect: lock 60|flags 190|levels 4096 of 4096|same 256 of 256|ring 64
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

__global__ void locked(int *lock, volatile int *count) {
  if (threadIdx.x % 32) return;
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      *count = *count + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

/* The last CTA hands work to the first ones, which start before it. */
__global__ void flags(volatile int *flag, volatile int *data, int *out) {
  int last = gridDim.x - 1;
  if (threadIdx.x) return;
  if (blockIdx.x == last) {
    for (int i = 0; i < last; i++) {
      data[i] = i;
      __threadfence();
      flag[i] = 1;
    }
  } else {
    while (!flag[blockIdx.x]) continue;
    __threadfence();
    atomicAdd(out, data[blockIdx.x]);
  }
}

/* Every CTA waits for the one after it, round and round. */
__global__ void ring(volatile int *turn, int rounds) {
  if (threadIdx.x) return;
  for (int i = 0; i < rounds; i++) {
    int mine = i * gridDim.x + (gridDim.x - 1 - blockIdx.x);
    while (*turn != mine) continue;
    __threadfence();
    *turn = mine + 1;
  }
}

/* One mask for this level and the next: right as long as all have read theirs before one writes. */
__global__ void level(const int *first, const int *edge, bool *mask, bool *visited, int *cost, bool *more, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || !mask[i]) return;
  mask[i] = false;
  visited[i] = true;
  for (int k = first[i]; k < first[i + 1]; k++) {
    int j = edge[k];
    if (visited[j]) continue;
    cost[j] = cost[i] + 1;
    mask[j] = true;
    *more = true;
  }
}

/* Each row is computed by several warps, which all read, add the same and write. */
__global__ void rows(float *sum, const float *a, int n) {
  int i = threadIdx.x % 32 + 32 * blockIdx.x;
  sum[i] = sum[i] + a[i] * n;
}

enum { NODES = 4096, DEGREE = 6 };
static int first[NODES + 1], edge[NODES * DEGREE], cost[NODES], want[NODES];

static void breadth_first(void) {
  int queue[NODES], head = 0, tail = 0;
  for (int i = 0; i < NODES; i++) want[i] = -1;
  want[0] = 0, queue[tail++] = 0;
  while (head < tail) {
    int i = queue[head++];
    for (int k = first[i]; k < first[i + 1]; k++)
      if (want[edge[k]] < 0) want[edge[k]] = want[i] + 1, queue[tail++] = edge[k];
  }
}

static void levels(void) {
  int *dfirst, *dedge, *dcost;
  bool *mask, *visited, *more, go = true, yes = true;
  unsigned seed = 7;
  for (int i = 0; i <= NODES; i++) first[i] = i * DEGREE;
  for (int i = 0; i < NODES * DEGREE; i++) seed = seed * 1664525 + 1013904223, edge[i] = (seed >> 8) % NODES;
  for (int i = 0; i < NODES; i++) edge[i * DEGREE] = (i + 1) % NODES, cost[i] = -1;
  cost[0] = 0;
  breadth_first();
  cudaMalloc((void **)&dfirst, sizeof first), cudaMalloc((void **)&dedge, sizeof edge);
  cudaMalloc((void **)&dcost, sizeof cost), cudaMalloc((void **)&mask, NODES);
  cudaMalloc((void **)&visited, NODES), cudaMalloc((void **)&more, 1);
  cudaMemcpy(dfirst, first, sizeof first, cudaMemcpyHostToDevice);
  cudaMemcpy(dedge, edge, sizeof edge, cudaMemcpyHostToDevice);
  cudaMemcpy(dcost, cost, sizeof cost, cudaMemcpyHostToDevice);
  cudaMemset(mask, 0, NODES), cudaMemset(visited, 0, NODES);
  cudaMemcpy(mask, &yes, 1, cudaMemcpyHostToDevice), cudaMemcpy(visited, &yes, 1, cudaMemcpyHostToDevice);
  for (int k = 0; go && k < NODES; k++) {
    cudaMemset(more, 0, 1);
    level<<<NODES / 256, 256>>>(dfirst, dedge, mask, visited, dcost, more, NODES);
    cudaMemcpy(&go, more, 1, cudaMemcpyDeviceToHost);
  }
  cudaMemcpy(cost, dcost, sizeof cost, cudaMemcpyDeviceToHost);
  int same = 0;
  for (int i = 0; i < NODES; i++) same += cost[i] == want[i];
  printf("levels %d of %d\n", same, NODES);
}

int main() {
  int *p, h[2];
  float *sum, *a, hs[256], ha[256];
  cudaMalloc((void **)&p, 4096);
  cudaMemset(p, 0, 4096);
  locked<<<30, 64>>>(p, p + 1);
  cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
  printf("lock %d\n", h[1]);
  cudaMemset(p, 0, 4096);
  flags<<<21, 32>>>(p + 1, p + 128, p);
  cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
  printf("flags %d\n", h[0]);
  levels();
  cudaMalloc((void **)&sum, sizeof hs), cudaMalloc((void **)&a, sizeof ha);
  for (int i = 0; i < 256; i++) hs[i] = i, ha[i] = 2;
  cudaMemcpy(sum, hs, sizeof hs, cudaMemcpyHostToDevice), cudaMemcpy(a, ha, sizeof ha, cudaMemcpyHostToDevice);
  rows<<<8, 256>>>(sum, a, 3);
  cudaMemcpy(hs, sum, sizeof hs, cudaMemcpyDeviceToHost);
  int same = 0;
  for (int i = 0; i < 256; i++) same += hs[i] == i + 6;
  printf("same %d of 256\n", same);
  cudaMemset(p, 0, 4096);
  ring<<<16, 32>>>(p, 4);
  cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
  printf("ring %d\n", h[0]);
  return 0;
}
