/* rows.h - printing the answer of a query, for people and for programs. */
#ifndef CLI_TABLES_ROWS_H
#define CLI_TABLES_ROWS_H

#include "base/arena.h"
#include "cli/frame/cli.h"
#include "results/db.h"

bool rows_format(const char *name, enum db_format *out, struct err *e);
void rows_print(const struct db_table *t, enum db_format format, FILE *f);
/* A table of the terminal for programs; blanks in its titles become '_'. */
void rows_print_table(const struct table *t, enum db_format format, FILE *f);
/* 'text' and "name" as SQL writes them. */
char *sql_text(struct arena *a, const char *s);
char *sql_name(struct arena *a, const char *s);

#endif
