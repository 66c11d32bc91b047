// per_thread.cu - a program compiled for per-thread default streams: each host thread's launches, copies and events go to a
// stream of its own, which overlaps with the others' and waits for the legacy stream only.
// compilers: clang nvcc
// flags: -DCUDA_API_PER_THREAD_DEFAULT_STREAM -lpthread
// mode: timing
// expect: PASS
#include <pthread.h>
#include "check.h"

enum { THREADS = 3, LANES = 64, LONG = 3000 };

__global__ void spin(unsigned *p, int n) {
  unsigned v = p[threadIdx.x];
  for (int i = 0; i < n; i++) v = v * 3 + 1;
  p[threadIdx.x] = v;
}

static unsigned *memory;
static pthread_barrier_t everyone;
static float own_ms[THREADS];

static unsigned result(int n) {
  unsigned v = 0;
  while (n--) v = v * 3 + 1;
  return v;
}

static void *work(void *arg) {
  int me = (int)(size_t)arg;
  unsigned *p = memory + me * LANES, h[LANES];
  cudaEvent_t from, to;
  OK(cudaEventCreate(&from));
  OK(cudaEventCreate(&to));
  memset(h, 0, sizeof h);
  OK(cudaMemcpy(p, h, sizeof h, cudaMemcpyHostToDevice));
  pthread_barrier_wait(&everyone);
  OK(cudaEventRecord(from, 0));
  spin<<<1, LANES>>>(p, LONG);
  OK(cudaEventRecord(to, 0));
  pthread_barrier_wait(&everyone); /* all have launched before any waits */
  OK(cudaStreamSynchronize(0));
  OK(cudaEventElapsedTime(&own_ms[me], from, to));
  OK(cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost));
  for (int i = 0; i < LANES; i++) EXPECT(h[i] == result(LONG));
  OK(cudaEventDestroy(from));
  OK(cudaEventDestroy(to));
  return NULL;
}

/* A thread with nothing to do of its own, while another's kernel is under way. */
static void *look(void *arg) {
  (void)arg;
  OK(cudaStreamQuery(0));
  OK(cudaStreamSynchronize(0));
  GIVES(cudaStreamQuery(cudaStreamLegacy), cudaErrorNotReady); /* which waits for all threads' */
  return NULL;
}

int main(void) {
  pthread_t thread[THREADS];
  cudaEvent_t from, to;
  float together, row;
  OK(cudaMalloc(&memory, THREADS * LANES * sizeof *memory));
  OK(cudaEventCreate(&from));
  OK(cudaEventCreate(&to));
  spin<<<1, LANES>>>(memory, 10); /* the code is in the caches */
  OK(cudaStreamSynchronize(0));
  pthread_barrier_init(&everyone, NULL, THREADS);
  OK(cudaEventRecord(from, 0));
  for (int i = 0; i < THREADS; i++) pthread_create(&thread[i], NULL, work, (void *)(size_t)i);
  for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
  OK(cudaEventRecord(to, 0));
  OK(cudaStreamSynchronize(0));
  OK(cudaEventElapsedTime(&together, from, to));
  OK(cudaEventRecord(from, 0));
  for (int i = 0; i < THREADS; i++) spin<<<1, LANES>>>(memory + i * LANES, LONG);
  OK(cudaEventRecord(to, 0));
  GIVES(cudaStreamQuery(0), cudaErrorNotReady);
  GIVES(cudaStreamQuery(cudaStreamPerThread), cudaErrorNotReady);
  pthread_create(&thread[0], NULL, look, NULL);
  pthread_join(thread[0], NULL);
  OK(cudaStreamSynchronize(cudaStreamPerThread));
  OK(cudaEventElapsedTime(&row, from, to));
  printf("%d threads %.4f ms, one after the other %.4f ms\n", THREADS, together, row);
  EXPECT(together < 1.2f * own_ms[0]);
  EXPECT(row > 2.7f * own_ms[0]);
  OK(cudaDeviceReset()); /* streams of threads start again */
  OK(cudaMalloc(&memory, LANES * sizeof *memory));
  OK(cudaMemset(memory, 0, LANES * sizeof *memory));
  spin<<<1, LANES>>>(memory, 5);
  unsigned h[LANES];
  OK(cudaMemcpy(h, memory, sizeof h, cudaMemcpyDeviceToHost));
  EXPECT(h[LANES - 1] == result(5));
  return verdict();
}
