// overlap.cu - kernels of different streams run at the same time: how long they take together, what waits for what, and
// what is in memory when.
// compilers: clang nvcc
// mode: timing
// expect: PASS
#include "check.h"

#ifndef TOGETHER /* overlap_serial.cu: one launch at a time */
#define TOGETHER 1
#endif

enum { STREAMS = 8, THREADS = 64 };

__global__ void spin(int *p, int n) {
  int v = p[threadIdx.x];
  for (int i = 0; i < n; i++) v = v * 3 + 1;
  p[threadIdx.x] = v;
}

__global__ void add(int *p, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] += k;
}

static int *memory;
static cudaStream_t stream[STREAMS];
static cudaEvent_t from, to;

/* Milliseconds of `n` spins of `length`, each in a stream of its own or all in the first. */
static float run(int n, int length, bool own) {
  float ms = 0;
  OK(cudaDeviceSynchronize());
  OK(cudaEventRecord(from, 0));
  for (int i = 0; i < n; i++) spin<<<1, THREADS, 0, stream[own ? i : 0]>>>(memory + i * THREADS, length);
  OK(cudaEventRecord(to, 0)); /* the default stream waits for the others */
  OK(cudaEventSynchronize(to));
  OK(cudaEventElapsedTime(&ms, from, to));
  return ms;
}

static void lengths(void) {
  run(1, 100, true); /* the code is in the caches */
  float one = run(1, 2000, true), row = run(STREAMS, 2000, false), all = run(STREAMS, 2000, true);
  printf("one %.4f, in a row %.4f, in streams %.4f ms\n", one, row, all);
  EXPECT(row > 7.8f * one && row < 8.2f * one);
  if (TOGETHER) EXPECT(all < 1.2f * one);
  else EXPECT(all > 7.8f * one && all < 8.2f * one);
}

/* The second stream waits for an event in the first; a third does not. */
static void events(void) {
  cudaEvent_t mid, end, other;
  float waited = 0, free_ = 0;
  OK(cudaEventCreate(&mid));
  OK(cudaEventCreate(&end));
  OK(cudaEventCreate(&other));
  OK(cudaDeviceSynchronize());
  OK(cudaMemsetAsync(memory, 0, 2 * THREADS * sizeof *memory, stream[0]));
  OK(cudaEventRecord(from, stream[0]));
  spin<<<1, THREADS, 0, stream[0]>>>(memory, 3000);
  OK(cudaEventRecord(mid, stream[0]));
  OK(cudaStreamWaitEvent(stream[1], mid, 0));
  add<<<1, THREADS, 0, stream[1]>>>(memory, THREADS, 7);
  OK(cudaEventRecord(end, stream[1]));
  spin<<<1, THREADS, 0, stream[2]>>>(memory + 2 * THREADS, 100);
  OK(cudaEventRecord(other, stream[2]));
  OK(cudaDeviceSynchronize());
  OK(cudaEventElapsedTime(&waited, mid, end));
  OK(cudaEventElapsedTime(&free_, other, end));
  EXPECT(waited > 0);
  EXPECT(TOGETHER ? free_ > waited : free_ < 0); /* serial: begins after the second */
  unsigned v = 0;
  for (int i = 0; i < 3000; i++) v = v * 3 + 1;
  int h[THREADS];
  OK(cudaMemcpy(h, memory, sizeof h, cudaMemcpyDeviceToHost));
  for (int i = 0; i < THREADS; i++) EXPECT((unsigned)h[i] == v + 7);
  OK(cudaEventDestroy(mid));
  OK(cudaEventDestroy(end));
  OK(cudaEventDestroy(other));
}

/* Copies in, kernels and copies out of one buffer in several streams, through pinned memory that is used again. */
static void pipeline(void) {
  enum { N = 2048, ROUNDS = 3 };
  int *pinned, *device;
  OK(cudaMallocHost((void **)&pinned, STREAMS * N * sizeof *pinned));
  OK(cudaMalloc((void **)&device, STREAMS * N * sizeof *device));
  for (int i = 0; i < STREAMS * N; i++) pinned[i] = i;
  for (int r = 0; r < ROUNDS; r++)
    for (int s = 0; s < STREAMS; s++) {
      int *p = pinned + s * N, *d = device + s * N;
      OK(cudaMemcpyAsync(d, p, N * sizeof *d, cudaMemcpyHostToDevice, stream[s]));
      add<<<N / 256, 256, 0, stream[s]>>>(d, N, s + 1);
      OK(cudaMemcpyAsync(p, d, N * sizeof *d, cudaMemcpyDeviceToHost, stream[s]));
    }
  OK(cudaDeviceSynchronize());
  int wrong = 0;
  for (int i = 0; i < STREAMS * N; i++) wrong += pinned[i] != i + ROUNDS * (i / N + 1);
  EXPECT(wrong == 0);
  /* Pageable memory may change as soon as the call has returned. */
  int h[THREADS];
  for (int i = 0; i < THREADS; i++) h[i] = i;
  spin<<<1, THREADS, 0, stream[0]>>>(memory, 500);
  OK(cudaMemcpyAsync(device, h, sizeof h, cudaMemcpyHostToDevice, stream[0]));
  memset(h, 0xff, sizeof h);
  OK(cudaMemcpyAsync(pinned, device, sizeof h, cudaMemcpyDeviceToHost, stream[0]));
  OK(cudaStreamSynchronize(stream[0]));
  for (int i = 0; i < THREADS; i++) EXPECT(pinned[i] == i);
  OK(cudaFree(device));
  OK(cudaFreeHost(pinned));
}

/* The default stream waits for blocking streams and they for it; it and non-blocking ones go their own ways. */
static void defaults(void) {
  cudaStream_t apart;
  cudaEvent_t e[4];
  float ms = 0;
  OK(cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking));
  for (int i = 0; i < 4; i++) OK(cudaEventCreate(&e[i]));
  OK(cudaDeviceSynchronize());
  spin<<<1, THREADS, 0, stream[0]>>>(memory, 2000);
  OK(cudaEventRecord(e[0], stream[0]));
  spin<<<1, THREADS>>>(memory + THREADS, 1000);
  OK(cudaEventRecord(e[1], 0));
  spin<<<1, THREADS, 0, stream[1]>>>(memory + 2 * THREADS, 1000);
  OK(cudaEventRecord(e[2], stream[1]));
  spin<<<1, THREADS, 0, apart>>>(memory + 3 * THREADS, 100);
  OK(cudaEventRecord(e[3], apart));
  OK(cudaDeviceSynchronize());
  OK(cudaEventElapsedTime(&ms, e[0], e[1]));
  EXPECT(ms > 0);
  OK(cudaEventElapsedTime(&ms, e[1], e[2]));
  EXPECT(ms > 0);
  OK(cudaEventElapsedTime(&ms, e[3], e[0]));
  EXPECT(TOGETHER ? ms > 0 : ms != 0);
  for (int i = 0; i < 4; i++) OK(cudaEventDestroy(e[i]));
  OK(cudaStreamDestroy(apart));
}

/* Asking is not waiting; asking long enough is. */
static void questions(void) {
  OK(cudaDeviceSynchronize());
  spin<<<1, THREADS, 0, stream[0]>>>(memory, 20000);
  OK(cudaEventRecord(to, stream[0]));
  GIVES(cudaStreamQuery(stream[0]), cudaErrorNotReady);
  GIVES(cudaEventQuery(to), cudaErrorNotReady);
  OK(cudaStreamQuery(stream[1]));
  OK(cudaGetLastError());
  int asked = 0;
  while (cudaEventQuery(to) == cudaErrorNotReady) asked++;
  EXPECT(asked > 0 && asked < 1000);
  OK(cudaStreamQuery(stream[0]));
}

int main() {
  OK(cudaMalloc((void **)&memory, STREAMS * THREADS * sizeof *memory));
  OK(cudaMemset(memory, 0, STREAMS * THREADS * sizeof *memory));
  for (int i = 0; i < STREAMS; i++) OK(cudaStreamCreate(&stream[i]));
  OK(cudaEventCreate(&from));
  OK(cudaEventCreate(&to));
  lengths();
  events();
  pipeline();
  defaults();
  questions();
  for (int i = 0; i < STREAMS; i++) OK(cudaStreamDestroy(stream[i]));
  return verdict();
}
