/* test_output.c - files that appear whole or not at all, and text that may be shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "base/output.h"
#include "base/paths.h"
#include "base/text.h"

static unsigned files(void) {
  unsigned n = 0;
  DIR *d = opendir(".");
  for (struct dirent *f; (f = readdir(d));) n += strcmp(f->d_name, ".") && strcmp(f->d_name, "..");
  closedir(d);
  return n;
}

static void assert_holds(const char *path, const char *text) {
  char *is = path_read_whole(path, NULL);
  assert_non_null(is);
  assert_string_equal(is, text);
  free(is);
}

static struct output *begin(const char *path, const char *text) {
  struct output *o = output_open(path);
  assert_non_null(o);
  fputs(text, output_file(o));
  return o;
}

static void whole_or_not_at_all(void **state) {
  (void)state;
  struct output *o = begin("a", "one");
  fflush(output_file(o));
  assert_int_equal(files(), 0); /* no visible name, so nothing can be left behind */
  assert_true(output_commit(o));
  assert_holds("a", "one");
  output_abandon(begin("a", "two"));
  assert_holds("a", "one");
  assert_true(output_commit(begin("a", "three"))); /* over what has come to be there */
  assert_holds("a", "three");
  o = begin("a", "0123456789");
  assert_true(output_cut(o, 4));
  fputs("x", output_file(o));
  assert_true(output_commit(o));
  assert_holds("a", "0123x");
  assert_int_equal(files(), 1);
  unlink("a");
}

static void killed(void **state) {
  (void)state;
  pid_t pid = fork();
  if (!pid) {
    struct output *o = begin("k", "half");
    fflush(output_file(o));
    raise(SIGKILL);
  }
  waitpid(pid, NULL, 0);
  assert_int_equal(files(), 0);
}

static void links(void **state) {
  (void)state;
  assert_int_equal(symlink("real", "link"), 0);
  for (int i = 0; i < 2; i++) { /* one that leads nowhere yet, then one that does */
    assert_true(output_commit(begin("link", i ? "new" : "old")));
    assert_holds("real", i ? "new" : "old");
    struct stat st;
    assert_true(!lstat("link", &st) && S_ISLNK(st.st_mode));
  }
  struct err e = {0};
  assert_true(output_prepare("link", &e)); /* the old file goes, the link stays */
  assert_int_equal(access("real", F_OK), -1);
  assert_int_equal(files(), 1);
  unlink("link");
}

static void reasons(void **state) {
  (void)state;
  struct err e = {0};
  assert_false(output_prepare("no/folder", &e));
  assert_int_equal(e.code, ERR_OUTPUT);
  assert_string_equal(e.msg, "cannot write 'no/folder': No such file or directory");
  assert_false(output_prepare(".", &e));
  assert_string_equal(e.msg, "cannot write '.': Is a directory");
  assert_true(output_prepare("-", &e) && output_prepare(NULL, &e) && output_prepare("/dev/null", &e));
  assert_false(output_commit(begin("/dev/full", "x")));
  assert_int_equal(errno, ENOSPC);
  int p[2];
  char path[32];
  assert_int_equal(pipe(p), 0);
  snprintf(path, sizeof path, "/dev/fd/%d", p[1]);
  assert_true(output_commit(begin(path, "through")));
  assert_int_equal(read(p[0], path, 7), 7);
  close(p[0]), close(p[1]);
}

/* A limit is an error that names itself, not the end of the process; nothing is left. */
static void limit(void **state) {
  (void)state;
  struct rlimit old, small;
  getrlimit(RLIMIT_FSIZE, &old);
  small = (struct rlimit){4096, old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  struct output *o = output_open("l");
  for (int i = 0; i < 200000; i++) fputc('x', output_file(o));
  assert_int_equal(output_error(o), EFBIG);
  assert_false(output_commit(o));
  assert_int_equal(errno, EFBIG);
  setrlimit(RLIMIT_FSIZE, &old);
  sigset_t pending;
  sigpending(&pending);
  assert_false(sigismember(&pending, SIGXFSZ));
  assert_int_equal(files(), 0);
}

static void unfinished(void **state) {
  (void)state;
  assert_true(path_write_whole("temporary", "x", 1) && path_write_whole("kept", "x", 1));
  char here[4096], text[2 * sizeof here + 64];
  assert_non_null(getcwd(here, sizeof here));
  snprintf(text, sizeof text, "%s/temporary\n%s/never there\n", here, here);
  assert_true(path_write_whole("unfinished", text, strlen(text)));
  output_clear_unfinished(here);
  assert_int_equal(access("temporary", F_OK), -1);
  assert_int_equal(access("kept", F_OK), 0);
  unlink("kept"), unlink("unfinished");
}

static void documents(void **state) {
  (void)state;
  struct err e = {0};
  assert_true(jsonfile_write(json_pack("{s:i}", "a", 1), "d.json", JSON_INDENT(1), &e));
  assert_holds("d.json", "{\n \"a\": 1\n}\n");
  unlink("d.json");
  assert_false(jsonfile_write(NULL, "d.json", 0, &e)); /* what jansson makes of text that is not UTF-8 */
  assert_int_equal(e.code, ERR_INPUT);
  assert_non_null(strstr(e.msg, "'d.json'"));
  assert_false(jsonfile_write(json_object(), "no such folder/d.json", 0, &e));
  assert_int_equal(e.code, ERR_OUTPUT);
  assert_non_null(strstr(e.msg, "No such file or directory"));
  assert_false(jsonfile_on_terminal("d.json"));
  assert_int_equal(files(), 0);
}

static void shown(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"plain \xc3\xa9 \xe2\x96\x88 \xf0\x9f\x98\x80", NULL},
      {"\x1b[31m\a", "\\x1b[31m\\x07"},
      {"a\nb\tc\r", "a\\x0ab\\x09c\\x0d"},
      {"\x7f\xc2\x9b", "\\x7f\\u009b"},
      {"\xe2\x80\xae\xe2\x81\xa6", "\\u202e\\u2066"},
      {"\xff\xc3", "\\xff\\xc3"},
      {"\xc0\x9b\xed\xa0\x80", "\\xc0\\x9b\\xed\\xa0\\x80"}, /* too long, and half of a pair */
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *s = text_visible(cases[i][0], false);
    assert_string_equal(s, cases[i][1] ? cases[i][1] : cases[i][0]);
    assert_int_equal(text_is_plain(cases[i][0], false), !cases[i][1]);
    free(s);
  }
  assert_true(text_is_plain("a\n\tb", true));
}

int main(void) {
  char dir[] = "/tmp/test-output-XXXXXX";
  if (!mkdtemp(dir) || chdir(dir)) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(whole_or_not_at_all),
      cmocka_unit_test(killed),
      cmocka_unit_test(links),
      cmocka_unit_test(reasons),
      cmocka_unit_test(limit),
      cmocka_unit_test(unfinished),
      cmocka_unit_test(documents),
      cmocka_unit_test(shown),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  return rmdir(dir) ? 1 : failed;
}
