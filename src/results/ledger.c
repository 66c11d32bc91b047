/* ledger.c - the files of a record in progress. */
#include "results/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

static const char magic[8] = "sluiceL1";

static const char text_ending[] = ".text"; /* text lies beside the sums */

static char *text_path_of(const char *path) {
  char *p = NULL;
  CHECK(asprintf(&p, "%s%s", path, text_ending) >= 0, "out of memory");
  return p;
}

/* Rows are used when launches are folded, which is rare, so their pages are allocated then. The pages before them are
 * allocated now: a full disk gives an error here and not SIGBUS. */
static struct ledger_file *map_new(const char *path) {
  int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return NULL;
  bool ok = !ftruncate(fd, sizeof(struct ledger_file)) && !posix_fallocate(fd, 0, offsetof(struct ledger_file, row));
  void *at = ok ? mmap(NULL, sizeof(struct ledger_file), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
  close(fd);
  if (at != MAP_FAILED) return at;
  unlink(path);
  errno = ENOSPC;
  return NULL;
}

static void read_command(char *out, size_t size) {
  int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? 0 : read(fd, out, size - 1);
  if (fd >= 0) close(fd);
  for (ssize_t i = 0; i + 1 < n; i++)
    if (!out[i]) out[i] = ' ';
}

struct ledger *ledger_new(const char *path) {
  struct ledger *l = mem_zeroed(1, sizeof *l);
  errno = EEXIST;
  for (uint32_t n = 1; path && !l->f && errno == EEXIST; n++) {
    free(l->state);
    CHECK(asprintf(&l->state, "%s-%u", path, n) >= 0, "out of memory");
    l->f = map_new(l->state);
  }
  l->mapped = l->f != NULL;
  if (l->mapped) {
    l->text_path = text_path_of(l->state);
    read_command(l->f->command, sizeof l->f->command);
  } else {
    free(l->state);
    l->state = NULL;
    l->f = mem_zeroed(1, sizeof *l->f);
  }
  l->f->pid = getpid();
  l->f->bytes = sizeof *l->f;
  memcpy(l->f->magic, magic, sizeof magic);
  return l;
}

struct ledger *ledger_open(const char *path, struct err *e) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  struct ledger_file *f = mem_zeroed(1, sizeof *f);
  ssize_t n = fd < 0 ? -1 : pread(fd, f, sizeof *f, 0);
  if (fd >= 0) close(fd);
  if (n != sizeof *f || memcmp(f->magic, magic, sizeof magic) != 0 || f->bytes != sizeof *f || f->rows > LEDGER_ROWS ||
      f->keys > LEDGER_KEYS) {
    err_set(e, ERR_INPUT, "%s: %s", path, n < 0 ? strerror(errno) : "not the state of a simulation by this sluice");
    free(f);
    return NULL;
  }
  if (f->unwritten) {
    f->sums = f->undo;
    if (f->undo_row < LEDGER_ROWS) f->row[f->undo_row] = f->row_undo;
  }
  struct ledger *l = mem_zeroed(1, sizeof *l);
  *l = (struct ledger){.f = f, .state = mem_text(path), .text_path = text_path_of(path)};
  return l;
}

static bool append_line(const char *path, uint64_t at, const char *text, size_t n) {
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return false;
  bool ok = true;
  while (n && ok) {
    ssize_t done = pwrite(fd, text, n, (off_t)at);
    if (done < 0 && errno == EINTR) continue;
    ok = done > 0;
    if (ok) text += done, n -= (size_t)done, at += (uint64_t)done;
  }
  return !close(fd) && ok;
}

char *ledger_text(const struct ledger *l) {
  size_t n = l->f->sums.text_bytes;
  char *all = mem_alloc(n + 1);
  all[n] = 0;
  if (!n) return all;
  if (!l->text_path) return memcpy(all, l->text, n);
  int fd = open(l->text_path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  size_t got = 0;
  for (ssize_t r = 1; fd >= 0 && got < n && r > 0; got += r > 0 ? (size_t)r : 0) r = read(fd, all + got, n - got);
  if (fd >= 0) close(fd);
  if (got == n) return all;
  free(all);
  return NULL;
}

/* The disk is full: continue in memory; the counts are lost with the process. */
static void leave_files(struct ledger *l) {
  struct ledger_file *own = mem_alloc(sizeof *own);
  char *text = ledger_text(l);
  CHECK(text || !l->f->sums.text_bytes, "the entries of a record, in %s, cannot be read", l->text_path);
  memcpy(own, l->f, offsetof(struct ledger_file, row));
  memset(own->row, 0, sizeof own->row);
  memcpy(own->row, l->f->row, l->f->rows * sizeof *own->row);
  munmap(l->f, sizeof *l->f);
  l->f = own;
  l->mapped = false;
  l->text = text;
  l->text_room = own->sums.text_bytes;
  unlink(l->state);
  unlink(l->text_path);
  free(l->state);
  free(l->text_path);
  l->state = l->text_path = NULL;
}

static void keep(struct ledger *l, const char *piece, size_t n) {
  uint64_t at = l->f->sums.text_bytes;
  if (at + n > l->text_room) {
    l->text_room = 2 * (at + n);
    l->text = mem_resize(l->text, l->text_room, 1);
  }
  memcpy(l->text + at, piece, n);
}

/* The file is opened for each piece: a program may close all other descriptors and reuse their numbers. */
uint64_t ledger_write(struct ledger *l, char kind, const char *text, size_t n) {
  char *piece = NULL;
  int head = asprintf(&piece, "%c%zu\n%.*s\n", kind, n, (int)n, text);
  CHECK(head >= 0, "out of memory");
  if (l->text_path && !append_line(l->text_path, l->f->sums.text_bytes, piece, (size_t)head)) leave_files(l);
  if (!l->text_path) keep(l, piece, (size_t)head);
  free(piece);
  uint64_t at = l->f->sums.text_bytes + (uint64_t)head - n - 1;
  l->f->sums.text_bytes += (uint64_t)head;
  return at;
}

/* The compiler keeps this order; the kernel sees memory as this process does. */
static void then(void) {
  atomic_signal_fence(memory_order_seq_cst);
}

void ledger_begin(struct ledger *l, uint32_t row) {
  struct ledger_file *f = l->f;
  f->undo = f->sums;
  f->undo_row = row;
  if (row < LEDGER_ROWS) f->row_undo = f->row[row];
  then();
  *(volatile uint32_t *)&f->unwritten = 1;
  then();
}

void ledger_commit(struct ledger *l) {
  then();
  *(volatile uint32_t *)&l->f->unwritten = 0;
  then();
}

void ledger_reserve(struct ledger *l) {
  if (!l->mapped) return;
  int fd = open(l->state, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  bool ok = fd >= 0 && !posix_fallocate(fd, 0, sizeof *l->f);
  if (fd >= 0) close(fd);
  if (!ok) leave_files(l);
}

uint32_t ledger_key(struct ledger *l, const char *key) {
  struct ledger_file *f = l->f;
  for (uint32_t i = 0; i < f->keys; i++)
    if (!strcmp(f->key[i], key)) return i;
  CHECK(f->keys < LEDGER_KEYS && strlen(key) < LEDGER_KEY, "no room for the counter %s of a scheme", key);
  strcpy(f->key[f->keys], key);
  then();
  return f->keys++;
}

void ledger_free(struct ledger *l) {
  if (!l) return;
  if (l->mapped) munmap(l->f, sizeof *l->f);
  else free(l->f);
  free(l->state);
  free(l->text_path);
  free(l->text);
  free(l);
}
