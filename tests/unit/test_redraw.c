/* test_redraw.c - what a redrawn view sends, to a file and to terminals of given sizes. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/redraw.h"

/* A pseudo-terminal of that size: what is written to `view` is read from `other`. */
static FILE *terminal(int *other, unsigned short rows, unsigned short columns) {
  *other = posix_openpt(O_RDWR | O_NOCTTY);
  assert_true(*other >= 0 && !grantpt(*other) && !unlockpt(*other));
  FILE *view = fdopen(open(ptsname(*other), O_RDWR | O_NOCTTY), "r+");
  assert_non_null(view);
  assert_int_equal(ioctl(fileno(view), TIOCSWINSZ, &(struct winsize){.ws_row = rows, .ws_col = columns}), 0);
  return view;
}

/* What comes next; a terminal hands it over in parts. */
static void expect(int other, const char *text) {
  char got[1024];
  size_t have = 0, want = strlen(text);
  while (have < want) {
    ssize_t n = read(other, got + have, want - have);
    assert_true(n > 0);
    have += (size_t)n;
  }
  got[have] = 0;
  assert_string_equal(got, text);
}

static void test_lines_are_replaced(void **state) {
  (void)state;
  int other;
  struct redraw r = {.f = terminal(&other, 24, 80)};
  redraw_show(&r, "one\ntwo\nthree");
  expect(other, "one\r\ntwo\r\nthree"); /* the terminal turns \n into \r\n */
  assert_int_equal(r.lines, 3);
  redraw_show(&r, "four\n");
  expect(other, "\r\033[K\033[A\r\033[K\033[A\r\033[Kfour");
  assert_int_equal(r.lines, 1);
  redraw_erase(&r);
  expect(other, "\r\033[K");
  redraw_erase(&r); /* nothing there */
  redraw_show(&r, "x");
  expect(other, "x");
  fclose(r.f);
  close(other);
}

static void test_no_more_than_fits(void **state) {
  (void)state;
  int other;
  struct redraw r = {.f = terminal(&other, 3, 5)};
  redraw_show(&r, "abcd\n█░█░█░\nthree\nfour");
  expect(other, "abcd\r\n█░█░"); /* a row and a column stay free */
  assert_int_equal(r.lines, 2);
  fputs("end", r.f);
  fflush(r.f);
  expect(other, "end");
  fclose(r.f);
  close(other);
}

static void test_a_file_has_80_columns(void **state) {
  (void)state;
  char line[200];
  FILE *f = tmpfile();
  assert_non_null(f);
  memset(line, 'x', sizeof line);
  line[sizeof line - 1] = 0;
  struct redraw r = {.f = f};
  redraw_show(&r, line);
  assert_int_equal(ftell(f), 79);
  fclose(f);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines_are_replaced),
                                     cmocka_unit_test(test_no_more_than_fits),
                                     cmocka_unit_test(test_a_file_has_80_columns)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
