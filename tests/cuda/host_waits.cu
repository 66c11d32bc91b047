// host_waits.cu - hosts that wait for the device without a CUDA call: asleep for a condition that a stream's host function
// sets, asleep between looks at pinned memory, and awake.
// compilers: clang nvcc
// flags: -lpthread
// report: made no CUDA call for 5 s
// expect: told|copied|written|PASS
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include "check.h"

enum { N = 256, WAITERS = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_told = PTHREAD_COND_INITIALIZER;
static int told;

__global__ void fill(volatile int *p, int v) { p[threadIdx.x] = v + (int)threadIdx.x; }

static void tell(void *) {
  pthread_mutex_lock(&lock);
  if (++told == WAITERS) pthread_cond_signal(&all_told);
  pthread_mutex_unlock(&lock);
}

static void *submit(void *arg) {
  cudaStream_t s;
  OK(cudaStreamCreate(&s));
  fill<<<1, N, 0, s>>>((int *)arg, 5);
  OK(cudaLaunchHostFunc(s, tell, NULL));
  return NULL; /* the thread ends before the work begins */
}

int main() {
  int *device;
  OK(cudaMalloc(&device, WAITERS * N * sizeof(int)));
  for (int i = 0; i < WAITERS; i++) {
    pthread_t t;
    pthread_create(&t, NULL, submit, device + i * N);
    pthread_detach(t);
  }
  pthread_mutex_lock(&lock);
  while (told < WAITERS) pthread_cond_wait(&all_told, &lock);
  pthread_mutex_unlock(&lock);
  printf("told\n");

  volatile int *pinned;
  OK(cudaMallocHost((void **)&pinned, N * sizeof(int)));
  pinned[N - 1] = 0;
  cudaStream_t s;
  OK(cudaStreamCreate(&s));
  OK(cudaMemcpyAsync((void *)pinned, device + N, N * sizeof(int), cudaMemcpyDeviceToHost, s));
  while (pinned[N - 1] != 5 + N - 1) {
    struct timespec ms = {0, 1000000};
    nanosleep(&ms, NULL);
  }
  printf("copied\n");

  fill<<<1, N, 0, s>>>((int *)pinned, 7);
  while (pinned[N - 1] != 7 + N - 1)
    ;
  printf("written\n");
  OK(cudaDeviceSynchronize());
  return verdict();
}
