// external.cu - memory and semaphores of other software: a memfd shared with the host, an allocation that a real Vulkan
// driver (Mesa's lavapipe) exported, arrays in both, semaphores signalled by other threads and processes, every error.
// compilers: clang nvcc
// flags: -lvulkan -lpthread
// expect: PASS
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vulkan/vulkan.h>
#include "check.h"

enum { N = 5000, BYTES = N * 4 };

__global__ void add(unsigned *p, int n, unsigned k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] += k;
}

__global__ void sample(cudaTextureObject_t t, float *out, int w, int h) {
  int x = threadIdx.x, y = blockIdx.x;
  if (x < w) out[y * w + x] = tex2D<float>(t, x + 0.5f, y + 0.5f) * 2;
}

static void launch(unsigned *p, int n, unsigned k, cudaStream_t s) {
  add<<<(n + 127) / 128, 128, 0, s>>>(p, n, k);
}

static int memory_file(size_t bytes) {
  int fd = syscall(SYS_memfd_create, "test", 0);
  EXPECT(fd >= 0 && ftruncate(fd, bytes) == 0);
  return fd;
}

static cudaExternalMemory_t import(int fd, unsigned long long bytes) {
  struct cudaExternalMemoryHandleDesc d;
  cudaExternalMemory_t m = NULL;
  memset(&d, 0, sizeof d);
  d.type = cudaExternalMemoryHandleTypeOpaqueFd;
  d.handle.fd = fd;
  d.size = bytes;
  OK(cudaImportExternalMemory(&m, &d));
  return m;
}

static cudaError_t buffer_of(void *p, cudaExternalMemory_t m, unsigned long long offset, unsigned long long bytes) {
  struct cudaExternalMemoryBufferDesc d;
  memset(&d, 0, sizeof d);
  d.offset = offset;
  d.size = bytes;
  return cudaExternalMemoryGetMappedBuffer((void **)p, m, &d);
}

/* Host and kernels see each other's writes without any copy, at any offset, through several mappings. */
static void memory(void) {
  int fd = memory_file(BYTES);
  unsigned *host = (unsigned *)mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), *all, *part, *own, one;
  for (int i = 0; i < N; i++) host[i] = i;
  cudaExternalMemory_t m = import(fd, BYTES);
  OK(buffer_of(&all, m, 0, BYTES));
  OK(buffer_of(&part, m, 4 * 1003, 4 * 100));
  OK(cudaMalloc(&own, 64));
  OK(cudaMemset(own, 0, 64));
  launch(all, N, 10, 0);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < N; i++) EXPECT(host[i] == i + 10u);
  for (int i = 0; i < N; i++) host[i] = 7;
  launch(part, 100, 5, 0);
  OK(cudaMemcpy(&one, all + 1003, 4, cudaMemcpyDeviceToHost));
  EXPECT(one == 12);
  for (int i = 0; i < N; i++) EXPECT(host[i] == (i >= 1003 && i < 1103 ? 12 : 7));
  OK(cudaMemset(all, 0, BYTES));
  EXPECT(host[0] == 0 && host[N - 1] == 0);
  OK(cudaDestroyExternalMemory(m)); /* mappings stay until they are freed */
  launch(all, N, 3, 0);
  OK(cudaFree(part));
  OK(cudaFree(all));
  EXPECT(host[0] == 3 && host[N - 1] == 3);
  GIVES(cudaFree(all), cudaErrorInvalidValue);
  OK(cudaMemcpy(&one, own, 4, cudaMemcpyDeviceToHost)); /* the program's own memory beside it is unchanged */
  EXPECT(one == 0);
  OK(cudaFree(own));
  munmap(host, BYTES);
}

static cudaMipmappedArray_t image_of(cudaExternalMemory_t m, unsigned long long offset, int w, int h, int levels) {
  struct cudaExternalMemoryMipmappedArrayDesc d;
  cudaMipmappedArray_t a = NULL;
  memset(&d, 0, sizeof d);
  d.offset = offset;
  d.formatDesc = cudaCreateChannelDesc<float>();
  d.extent = make_cudaExtent(w, h, 0);
  d.numLevels = levels;
  OK(cudaExternalMemoryGetMappedMipmappedArray(&a, m, &d));
  return a;
}

/* A kernel samples level 0 of an array and writes back twice as much. */
static void double_image(cudaMipmappedArray_t mips, int w, int h, int levels) {
  cudaArray_t a;
  float *p;
  OK(cudaMalloc(&p, w * h * sizeof *p));
  for (int l = 0; l < levels; l++, w = w > 1 ? w / 2 : 1, h = h > 1 ? h / 2 : 1) {
    cudaTextureObject_t t;
    struct cudaResourceDesc res;
    struct cudaTextureDesc desc;
    memset(&res, 0, sizeof res);
    memset(&desc, 0, sizeof desc);
    OK(cudaGetMipmappedArrayLevel(&a, mips, l));
    res.resType = cudaResourceTypeArray;
    res.res.array.array = a;
    OK(cudaCreateTextureObject(&t, &res, &desc, NULL));
    sample<<<h, 64>>>(t, p, w, h);
    OK(cudaMemcpy2DToArray(a, 0, 0, p, w * sizeof *p, w * sizeof *p, h, cudaMemcpyDeviceToDevice));
    OK(cudaDestroyTextureObject(t));
  }
  OK(cudaFree(p));
}

/* ---- Vulkan ---- */

static VkDevice device;
static VkPhysicalDevice physical;

static bool vulkan(void) {
  VkApplicationInfo app;
  VkInstanceCreateInfo in;
  VkInstance instance;
  memset(&app, 0, sizeof app);
  memset(&in, 0, sizeof in);
  app.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  app.apiVersion = VK_API_VERSION_1_1;
  in.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  in.pApplicationInfo = &app;
  uint32_t n = 1;
  float priority = 1;
  if (vkCreateInstance(&in, NULL, &instance) != VK_SUCCESS) return false;
  if (vkEnumeratePhysicalDevices(instance, &n, &physical) < 0 || !n) return false;
  VkDeviceQueueCreateInfo queue;
  VkDeviceCreateInfo dev;
  const char *const extensions[] = {VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME};
  memset(&queue, 0, sizeof queue);
  memset(&dev, 0, sizeof dev);
  queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  dev.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  dev.queueCreateInfoCount = 1;
  dev.pQueueCreateInfos = &queue;
  dev.enabledExtensionCount = 1;
  dev.ppEnabledExtensionNames = extensions;
  return vkCreateDevice(physical, &dev, NULL, &device) == VK_SUCCESS;
}

/* An exportable allocation, mapped for the host, and its file descriptor. */
static int export_memory(VkDeviceSize bytes, VkDeviceMemory *m, void **host) {
  VkExportMemoryAllocateInfo how;
  VkMemoryAllocateInfo what;
  VkMemoryGetFdInfoKHR get;
  int fd = -1;
  memset(&how, 0, sizeof how);
  memset(&what, 0, sizeof what);
  memset(&get, 0, sizeof get);
  how.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO;
  how.handleTypes = get.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
  what.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  what.pNext = &how;
  what.allocationSize = bytes;
  get.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR;
  PFN_vkGetMemoryFdKHR get_fd = (PFN_vkGetMemoryFdKHR)vkGetDeviceProcAddr(device, "vkGetMemoryFdKHR");
  EXPECT(vkAllocateMemory(device, &what, NULL, m) == VK_SUCCESS);
  get.memory = *m;
  EXPECT(get_fd && get_fd(device, &get, &fd) == VK_SUCCESS && fd >= 0);
  EXPECT(vkMapMemory(device, *m, 0, VK_WHOLE_SIZE, 0, host) == VK_SUCCESS);
  return fd;
}

static void vulkan_buffer(void) {
  VkDeviceMemory memory;
  unsigned *host, *p;
  int fd = export_memory(BYTES, &memory, (void **)&host);
  for (int i = 0; i < N; i++) host[i] = 3 * i;
  cudaExternalMemory_t m = import(fd, BYTES);
  OK(buffer_of(&p, m, 0, BYTES));
  launch(p, N, 1, 0);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < N; i++) EXPECT(host[i] == 3 * i + 1u);
  OK(cudaFree(p));
  OK(cudaDestroyExternalMemory(m));
  EXPECT(host[N - 1] == 3 * (N - 1) + 1u); /* still Vulkan's */
  vkFreeMemory(device, memory, NULL);
}

/* An image of three levels that Vulkan laid out: the layout is the driver's, and Vulkan's copies tell what is in it. */
static void vulkan_image(void) {
  enum { W = 37, H = 11, LEVELS = 3 };
  VkImageCreateInfo info;
  VkExternalMemoryImageCreateInfo shared;
  VkImage image;
  VkMemoryRequirements need;
  VkDeviceMemory memory;
  char *host;
  memset(&info, 0, sizeof info);
  memset(&shared, 0, sizeof shared);
  shared.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO;
  shared.handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
  info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
  info.pNext = &shared;
  info.imageType = VK_IMAGE_TYPE_2D;
  info.format = VK_FORMAT_R32_SFLOAT;
  info.extent.width = W;
  info.extent.height = H;
  info.extent.depth = 1;
  info.mipLevels = LEVELS;
  info.arrayLayers = 1;
  info.samples = VK_SAMPLE_COUNT_1_BIT;
  info.tiling = VK_IMAGE_TILING_LINEAR;
  info.usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
  EXPECT(vkCreateImage(device, &info, NULL, &image) == VK_SUCCESS);
  vkGetImageMemoryRequirements(device, image, &need);
  int fd = export_memory(need.size, &memory, (void **)&host);
  EXPECT(vkBindImageMemory(device, image, memory, 0) == VK_SUCCESS);
  for (int twice = 0; twice < 2; twice++) {
    for (int l = 0; l < LEVELS; l++) {
      VkImageSubresource which = {VK_IMAGE_ASPECT_COLOR_BIT, (uint32_t)l, 0};
      VkSubresourceLayout at;
      vkGetImageSubresourceLayout(device, image, &which, &at);
      for (int y = 0; y < H >> l; y++)
        for (int x = 0; x < W >> l; x++) {
          float *f = (float *)(host + at.offset + y * at.rowPitch) + x, v = l * 1000 + y * 50 + x;
          if (twice) EXPECT(*f == 2 * v);
          else *f = v;
        }
    }
    if (twice) break;
    cudaExternalMemory_t m = import(fd, need.size);
    cudaMipmappedArray_t a = image_of(m, 0, W, H, LEVELS);
    double_image(a, W, H, LEVELS);
    OK(cudaDeviceSynchronize());
    OK(cudaFreeMipmappedArray(a));
    OK(cudaDestroyExternalMemory(m));
  }
  vkDestroyImage(device, image, NULL);
  vkFreeMemory(device, memory, NULL);
}

/* ---- semaphores ---- */

static cudaExternalSemaphore_t semaphore(int fd, bool timeline) {
  struct cudaExternalSemaphoreHandleDesc d;
  cudaExternalSemaphore_t s = NULL;
  memset(&d, 0, sizeof d);
  d.type = timeline ? cudaExternalSemaphoreHandleTypeTimelineSemaphoreFd : cudaExternalSemaphoreHandleTypeOpaqueFd;
  d.handle.fd = fd;
  OK(cudaImportExternalSemaphore(&s, &d));
  return s;
}

static cudaError_t signal(cudaExternalSemaphore_t s, unsigned long long value, cudaStream_t stream) {
  struct cudaExternalSemaphoreSignalParams p;
  memset(&p, 0, sizeof p);
  p.params.fence.value = value;
  return cudaSignalExternalSemaphoresAsync(&s, &p, 1, stream);
}

static cudaError_t await(cudaExternalSemaphore_t s, unsigned long long value, cudaStream_t stream) {
  struct cudaExternalSemaphoreWaitParams p;
  memset(&p, 0, sizeof p);
  p.params.fence.value = value;
  return cudaWaitExternalSemaphoresAsync(&s, &p, 1, stream);
}

/* Another process works on the same pages in turns with our kernels. */
static void processes(void) {
  enum { ROUNDS = 3 };
  int fd = memory_file(BYTES), to = eventfd(0, 0), from = eventfd(0, 0), status = -1;
  unsigned *p, *host = (unsigned *)mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  pid_t child = fork();
  if (child == 0) {
    uint64_t one = 1, got;
    for (int r = 0; r < ROUNDS; r++) {
      if (read(to, &got, sizeof got) != sizeof got) _exit(1);
      for (int i = 0; i < N; i++) host[i] *= 2;
      if (write(from, &one, sizeof one) != sizeof one) _exit(1);
    }
    _exit(0);
  }
  cudaExternalMemory_t m = import(fd, BYTES);
  cudaExternalSemaphore_t ours = semaphore(to, false), theirs = semaphore(from, false);
  cudaStream_t s;
  OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  OK(buffer_of(&p, m, 0, BYTES));
  for (int r = 0; r < ROUNDS; r++) {
    launch(p, N, 5, s);
    OK(signal(ours, 0, s));
    OK(await(theirs, 0, s));
  }
  launch(p, N, 1, s);
  OK(cudaStreamSynchronize(s));
  for (int i = 0; i < N; i++) EXPECT(host[i] == ((5u * 2 + 5) * 2 + 5) * 2 + 1);
  waitpid(child, &status, 0);
  EXPECT(status == 0);
  OK(cudaDestroyExternalSemaphore(ours));
  OK(cudaDestroyExternalSemaphore(theirs));
  OK(cudaFree(p));
  OK(cudaDestroyExternalMemory(m));
  OK(cudaStreamDestroy(s));
}

struct helper {
  cudaExternalSemaphore_t s;
  unsigned *p;
};

static void *help(void *ctx) { /* calls CUDA while the main thread waits in it */
  struct helper *h = (struct helper *)ctx;
  cudaStream_t s;
  usleep(20000);
  OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  launch(h->p, 1, 100, s);
  OK(signal(h->s, 5, s));
  OK(cudaStreamDestroy(s));
  return NULL;
}

/* A timeline in shared memory; the signal is submitted after the wait, by another thread. */
static void timeline(void) {
  int fd = memory_file(4096);
  volatile uint64_t *word = (uint64_t *)mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  cudaExternalSemaphore_t s = semaphore(fd, true);
  cudaStream_t stream, free_;
  pthread_t thread;
  struct helper h = {s, NULL};
  unsigned *p, v;
  OK(cudaMalloc(&p, 8));
  OK(cudaMemset(p, 0, 8));
  h.p = p;
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  OK(cudaStreamCreateWithFlags(&free_, cudaStreamNonBlocking));
  OK(signal(s, 1, stream));
  EXPECT(*word == 1); /* visible to others without a further call */
  OK(await(s, 1, stream));
  OK(cudaStreamSynchronize(stream));
  OK(await(s, 5, stream));
  launch(p + 1, 1, 1, stream);
  launch(p + 1, 1, 1, free_);
  OK(cudaStreamSynchronize(free_)); /* others are not held up */
  GIVES(cudaStreamQuery(stream), cudaErrorNotReady);
  GIVES(cudaStreamQuery(stream), cudaErrorNotReady);
  pthread_create(&thread, NULL, help, &h);
  OK(cudaStreamSynchronize(stream));
  EXPECT(*word == 5);
  OK(cudaMemcpy(&v, p, 4, cudaMemcpyDeviceToHost));
  EXPECT(v == 100);
  OK(cudaMemcpy(&v, p + 1, 4, cudaMemcpyDeviceToHost));
  EXPECT(v == 2);
  pthread_join(thread, NULL);
  GIVES(signal(s, 5, stream), cudaErrorInvalidValue); /* it must grow */
  OK(cudaDestroyExternalSemaphore(s));
  GIVES(signal(s, 6, stream), cudaErrorInvalidResourceHandle);
  OK(cudaStreamDestroy(stream));
  OK(cudaStreamDestroy(free_));
  OK(cudaFree(p));
}

static void errors(void) {
  struct cudaExternalMemoryHandleDesc d;
  struct cudaExternalSemaphoreHandleDesc s;
  struct cudaExternalMemoryMipmappedArrayDesc image;
  cudaExternalMemory_t m;
  cudaExternalSemaphore_t e;
  cudaMipmappedArray_t a;
  void *p;
  memset(&d, 0, sizeof d);
  memset(&s, 0, sizeof s);
  memset(&image, 0, sizeof image);
  int fd = memory_file(4096), ends[2];
  d.type = cudaExternalMemoryHandleTypeOpaqueFd;
  d.handle.fd = fd;
  GIVES(cudaImportExternalMemory(&m, &d), cudaErrorInvalidValue); /* size 0 */
  d.size = 8192;
  GIVES(cudaImportExternalMemory(&m, &d), cudaErrorInvalidValue); /* more than there is */
  d.size = 4096;
  d.flags = 2;
  GIVES(cudaImportExternalMemory(&m, &d), cudaErrorInvalidValue);
  d.flags = 0;
  d.type = cudaExternalMemoryHandleTypeNvSciBuf;
  GIVES(cudaImportExternalMemory(&m, &d), cudaErrorNotSupported);
  d.type = cudaExternalMemoryHandleTypeOpaqueWin32;
  GIVES(cudaImportExternalMemory(&m, &d), cudaErrorNotSupported);
  d.type = (enum cudaExternalMemoryHandleType)77;
  GIVES(cudaImportExternalMemory(&m, &d), cudaErrorInvalidValue);
  d.type = cudaExternalMemoryHandleTypeOpaqueFd;
  d.handle.fd = 999;
  GIVES(cudaImportExternalMemory(&m, &d), cudaErrorInvalidValue);
  m = import(fd, 4096);
  GIVES(buffer_of(&p, m, 4096, 1), cudaErrorInvalidValue);
  GIVES(buffer_of(&p, m, 0, 0), cudaErrorInvalidValue);
  GIVES(buffer_of(&p, m, 4000, ~0ull), cudaErrorInvalidValue);
  image.formatDesc = cudaCreateChannelDesc<float>();
  image.extent = make_cudaExtent(64, 64, 0);
  image.numLevels = 1;
  GIVES(cudaExternalMemoryGetMappedMipmappedArray(&a, m, &image), cudaErrorInvalidValue); /* too large */
  OK(cudaDestroyExternalMemory(m));
  GIVES(cudaDestroyExternalMemory(m), cudaErrorInvalidResourceHandle);
  EXPECT(pipe(ends) == 0);
  s.type = cudaExternalSemaphoreHandleTypeOpaqueFd;
  s.handle.fd = ends[0];
  GIVES(cudaImportExternalSemaphore(&e, &s), cudaErrorNotSupported);
  s.type = cudaExternalSemaphoreHandleTypeNvSciSync;
  GIVES(cudaImportExternalSemaphore(&e, &s), cudaErrorNotSupported);
  GIVES(cudaDeviceGetNvSciSyncAttributes(&s, 0, 1), cudaErrorNotSupported);
  GIVES(cudaDeviceGetNvSciSyncAttributes(&s, 1, 1), cudaErrorInvalidDevice);
  GIVES(cudaDeviceGetNvSciSyncAttributes(&s, 0, 4), cudaErrorInvalidValue);
  s.type = (enum cudaExternalSemaphoreHandleType)0;
  GIVES(cudaImportExternalSemaphore(&e, &s), cudaErrorInvalidValue);
}

int main(void) {
  memory();
  processes();
  timeline();
  errors();
  EXPECT(vulkan());
  if (device) {
    vulkan_buffer();
    vulkan_image();
  }
  return verdict();
}
