/* test_cli.c - option tables, bars, quantities and tables of the command line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/frame/cli.h"

struct opts {
  bool flag;
  const char *text;
  uint64_t number;
  struct opt_list list;
};
static const struct opt table[] = {{"quiet", NULL, "", OPT_FLAG, offsetof(struct opts, flag), 'q', NULL},
                                   {"gpu", "NAME", "", OPT_TEXT, offsetof(struct opts, text), 'g', NULL},
                                   {"watchdog", "N", "", OPT_UINT, offsetof(struct opts, number), 0, NULL},
                                   {"set", "K=V", "", OPT_LIST, offsetof(struct opts, list), 's', NULL},
                                   {.name = NULL}};

#define PARSE(o, e, ...)                                                        \
  ({                                                                            \
    char *argv_[] = {"cmd", __VA_ARGS__, NULL};                                 \
    opt_parse(table, (o), (int)(sizeof argv_ / sizeof *argv_) - 1, argv_, (e)); \
  })

static void good_options(void **state) {
  (void)state;
  struct opts o = {0};
  struct err e = {0};
  assert_int_equal(PARSE(&o, &e, "--gpu", "fermi", "--set=a=1", "-s", "b=2", "-q", "--watchdog", "7", "--", "--gpu"),
                   10);
  assert_string_equal(o.text, "fermi");
  assert_true(o.flag);
  assert_int_equal(o.number, 7);
  assert_int_equal(o.list.count, 2);
  assert_string_equal(o.list.at[0], "a=1");
  assert_string_equal(o.list.at[1], "b=2");
  opt_list_free(&o.list);
  o = (struct opts){0};
  assert_int_equal(PARSE(&o, &e, "-gmedic", "prog", "-q"), 2); /* options of the program are its own */
  assert_string_equal(o.text, "medic");
  assert_false(o.flag);
}

static void bad_options(void **state) {
  (void)state;
  struct opts o = {0};
  struct err e = {0};
  assert_int_equal(PARSE(&o, &e, "--gpuu=x"), -1);
  assert_string_equal(e.msg, "unknown option '--gpuu'; did you mean '--gpu'?");
  assert_int_equal(PARSE(&o, &e, "--completely-different"), -1);
  assert_string_equal(e.msg, "unknown option '--completely-different'");
  assert_int_equal(PARSE(&o, &e, "--gpu"), -1);
  assert_string_equal(e.msg, "--gpu needs a value: NAME");
  assert_int_equal(PARSE(&o, &e, "--gpu", "--", "prog"), -1);
  assert_int_equal(PARSE(&o, &e, "--quiet=yes"), -1);
  assert_string_equal(e.msg, "--quiet takes no value");
  assert_int_equal(PARSE(&o, &e, "--watchdog", "-3"), -1);
  assert_int_equal(PARSE(&o, &e, "--watchdog", "3x"), -1);
  assert_string_equal(e.msg, "--watchdog needs a whole number, not '3x'");
}

static void quantities(void **state) {
  (void)state;
  char b[128];
  cli_count(b, sizeof b, 1234567);
  assert_string_equal(b, "1,234,567");
  cli_count(b, sizeof b, 999);
  assert_string_equal(b, "999");
  cli_bytes(b, sizeof b, 64);
  assert_string_equal(b, "64 B");
  cli_bytes(b, sizeof b, 1536000);
  assert_string_equal(b, "1.5 MB");
  cli_bar(b, 0.5, 4);
  assert_string_equal(b, "██  ");
  cli_bar(b, 0.53125, 4); /* 17 eighths */
  assert_string_equal(b, "██▏ ");
  cli_bar(b, 7, 2);
  assert_string_equal(b, "██");
  cli_bar(b, -1, 2);
  assert_string_equal(b, "  ");
}

static void aligned_table(void **state) {
  (void)state;
  static const char *const titles[] = {"name", "n"};
  struct table *t = table_new(titles, "lr");
  table_cell(t, "é");
  table_cell(t, "%d", 10);
  table_cell(t, "longer");
  table_cell(t, "%d", 7);
  char *text;
  size_t size;
  FILE *f = open_memstream(&text, &size);
  table_print(t, f);
  fclose(f);
  table_free(t);
  assert_string_equal(text, "name     n\n──────  ──\né       10\nlonger   7\n");
  free(text);
}

static void broken_text(void **state) {
  (void)state;
  assert_int_equal(cli_text_break("two words", 20), 9);
  assert_int_equal(cli_text_break("two words", 9), 9);
  assert_int_equal(cli_text_break("two words", 8), 3);            /* at the blank */
  assert_int_equal(cli_text_break("two words", 3), 3);            /* the blank comes next */
  assert_int_equal(cli_text_break("l1d.read.rejections", 12), 9); /* after a mark */
  assert_int_equal(cli_text_break("unbreakable", 4), 4);
  assert_int_equal(cli_text_break("ééé", 2), 4); /* columns, not bytes */
  assert_int_equal(cli_text_break("", 5), 0);
}

/* What programs read: the cells as they are, without titles and rules. */
static void table_cells(void **state) {
  (void)state;
  static const char *const titles[] = {"name", "n"};
  struct table *t = table_new(titles, "lr");
  table_cell(t, "a");
  table_cell(t, "1");
  table_rule(t);
  table_cell(t, "b");
  table_cell(t, "2");
  assert_int_equal(table_rows(t), 2);
  assert_int_equal(table_columns(t), 2);
  assert_string_equal(table_title(t, 1), "n");
  assert_string_equal(table_at(t, 1, 0), "b");
  assert_false(table_is_number(t, 0));
  assert_true(table_is_number(t, 1));
  table_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(good_options),  cmocka_unit_test(bad_options), cmocka_unit_test(quantities),
      cmocka_unit_test(aligned_table), cmocka_unit_test(broken_text), cmocka_unit_test(table_cells),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
