// One way to end per argument, after a few launches. The launches of main() are of kernel `add`, those of a child of `child`.
#include <cuda_runtime.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

__global__ void add(int *p) {
  if (threadIdx.x == 0) *p += 1;
}
__global__ void child(int *p) {
  if (threadIdx.x == 0) *p += 2;
}
__global__ void spin(int *p) {
  while (*(volatile int *)p >= 0) continue;
}

static int *word;

static void launch(int n) {
  if (!word) cudaMalloc(&word, sizeof *word), cudaMemset(word, 0, sizeof *word);
  for (int i = 0; i < n; i++) add<<<1, 32>>>(word);
}

static void launch_as_child(int n) {
  if (!word) cudaMalloc(&word, sizeof *word), cudaMemset(word, 0, sizeof *word);
  for (int i = 0; i < n; i++) child<<<1, 32>>>(word);
}

static void *exit_there(void *) {
  exit(3);
}
static void *exit_later(void *) {
  sleep(1);
  exit(3);
}
extern "C" cudaError_t cudaLaunchHostFunc(cudaStream_t, void (*)(void *), void *); // not in every header
static void ends_process(void *) {
  exit(3);
}
static void on_alarm(int) {
  _exit(3);
}
static void die_at_the_last_call() {
  sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  sock_fprog program = {4, code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
static void wait_for(pid_t pid) {
  int status;
  while (waitpid(pid, &status, 0) != pid) continue;
}

int main(int argc, char **argv) {
  std::string how = argc > 1 ? argv[1] : "return";
  char *self = argv[0], returns[] = "return", truth[] = "/bin/true";
  if (how == "fork-first") { // before CUDA is used
    pid_t pid = fork();
    if (!pid) {
      launch_as_child(2);
      exit(0);
    }
    wait_for(pid);
  }
  if (how == "daemon") {
    if (fork()) exit(0);
    setsid();
    if (fork()) exit(0);
    for (int fd = 3; fd < 256; fd++) close(fd);
    usleep(300000);
    launch(3);
    exit(0);
  }
  launch(3);
  if (how == "last-call") die_at_the_last_call();
  if (how == "return" || how == "last-call") return 0;
  if (how == "_exit") _exit(3);
  if (how == "_Exit") _Exit(3);
  if (how == "quick_exit") quick_exit(3);
  if (how == "exit_group") syscall(SYS_exit_group, 3); // past every wrapper
  if (how == "exit70") exit(70);
  if (how == "_exit70") _exit(70);
  if (how == "abort") abort();
  if (how == "segv") raise(SIGSEGV);
  if (how == "null") *(volatile int *)8 = 1;
  if (how == "term") raise(SIGTERM);
  if (how == "int") raise(SIGINT);
  if (how == "kill") raise(SIGKILL);
  if (how == "throw") throw std::runtime_error("not caught");
  if (how == "overflow") { // of the stack
    std::string s(1 << 10, 'x');
    char *av[] = {self, (char *)"overflow2", NULL};
    (void)av;
    struct deep {
      static int down(int n) {
        volatile char block[4096];
        block[n % 4096] = (char)n;
        return down(n + 1) + block[0];
      }
    };
    return deep::down(0);
  }
  if (how == "exec") execl("/bin/true", "true", (char *)NULL);
  if (how == "execvp") {
    char *av[] = {truth, NULL};
    execvp("true", av);
  }
  if (how == "exec-cuda") {
    char *av[] = {self, returns, NULL};
    execv("/proc/self/exe", av);
  }
  if (how == "exec-fails") {
    execl("/nonexistent/program", "program", (char *)NULL);
    launch(2);
    return 0;
  }
  if (how == "thread") {
    pthread_t t;
    pthread_create(&t, NULL, exit_there, NULL);
    pthread_join(t, NULL);
  }
  if (how == "thread-endless") { // the main thread is inside a launch that never ends
    pthread_t t;
    pthread_create(&t, NULL, exit_later, NULL);
    spin<<<1, 32>>>(word);
    cudaDeviceSynchronize();
  }
  if (how == "alarm") { // a handler ends the process from within a launch
    signal(SIGALRM, on_alarm);
    alarm(1);
    spin<<<1, 32>>>(word);
    cudaDeviceSynchronize();
  }
  if (how == "callback") {
    cudaStream_t s;
    cudaStreamCreate(&s);
    add<<<1, 32, 0, s>>>(word);
    cudaLaunchHostFunc(s, ends_process, NULL);
    add<<<1, 32, 0, s>>>(word);
    cudaStreamSynchronize(s);
  }
  if (how == "queued") { // the work in the stream is never awaited
    cudaStream_t s;
    cudaStreamCreate(&s);
    add<<<1, 32, 0, s>>>(word);
    add<<<1, 32, 0, s>>>(word);
    _exit(3);
  }
  if (how == "fork-plain" || how == "fork-exit") { // a child without CUDA
    pid_t pid = fork();
    if (!pid && how == "fork-exit") exit(0);
    if (!pid) _exit(0);
    wait_for(pid);
    launch(1);
  }
  if (how == "fork-after") { // of a parent that uses CUDA
    pid_t pid = fork();
    if (!pid) {
      launch_as_child(2);
      _exit(0);
    }
    wait_for(pid);
  }
  if (how == "fork-killed") {
    pid_t pid = fork();
    if (!pid) {
      launch_as_child(2);
      raise(SIGKILL);
    }
    wait_for(pid);
  }
  if (how == "vfork") {
    pid_t pid = vfork();
    if (!pid) _exit(7);
    wait_for(pid);
    pid = vfork();
    if (!pid) execl("/bin/true", "true", (char *)NULL), _exit(7);
    wait_for(pid);
  }
  if (how == "spawn") {
    char *av[] = {self, returns, NULL};
    pid_t pid;
    if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, av, environ)) return 9;
    wait_for(pid);
  }
  if (how == "system") {
    if (system("exit 5") != 5 << 8) return 9;
    FILE *f = popen("echo word", "r");
    char line[16] = "";
    if (!f || !fgets(line, sizeof line, f) || strcmp(line, "word\n") || pclose(f)) return 9;
  }
  return 0;
}
