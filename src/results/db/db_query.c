/* db_query.c - runs one read-only SQL statement; the result is in memory. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/arena.h"
#include "results/db/db_impl.h"

static struct db_cell column_cell(sqlite3_stmt *s, int i, struct arena *a) {
  switch (sqlite3_column_type(s, i)) {
  case SQLITE_NULL:
    return (struct db_cell){.kind = CELL_NULL};
  case SQLITE_INTEGER:
    return (struct db_cell){.kind = CELL_INT, .i = sqlite3_column_int64(s, i)};
  case SQLITE_FLOAT:
    return (struct db_cell){.kind = CELL_REAL, .r = sqlite3_column_double(s, i)};
  case SQLITE_BLOB:
    return (struct db_cell){.kind = CELL_TEXT, .s = arena_printf(a, "(%d bytes)", sqlite3_column_bytes(s, i))};
  default:
    return (struct db_cell){.kind = CELL_TEXT, .s = arena_strdup(a, (const char *)sqlite3_column_text(s, i))};
  }
}

static struct db_table *table_of(struct db *db, sqlite3_stmt *s, struct err *e) {
  struct db_table *t = mem_zeroed(1, sizeof *t);
  t->arena = mem_zeroed(1, sizeof *t->arena);
  t->columns = (size_t)sqlite3_column_count(s);
  t->title = ARENA_ARRAY(t->arena, char *, t->columns + 1);
  for (size_t i = 0; i < t->columns; i++) t->title[i] = arena_strdup(t->arena, sqlite3_column_name(s, (int)i));
  size_t room = 0;
  int rc;
  while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
    if (t->rows == room) {
      room = room ? 2 * room : 64;
      t->cell = mem_resize(t->cell, room * t->columns, sizeof *t->cell);
    }
    for (size_t i = 0; i < t->columns; i++) t->cell[t->rows * t->columns + i] = column_cell(s, (int)i, t->arena);
    t->rows++;
  }
  if (rc == SQLITE_DONE) return t;
  /* An error of the statement itself, such as a function's. */
  if (rc == SQLITE_ERROR) err_set(e, ERR_INPUT, "SQL: %s", sqlite3_errmsg(db->sql));
  else db_fail(db, e);
  db_table_free(t);
  return NULL;
}

/* record(RUN): the record of a run as JSON text, NULL if there is none. */
static void sql_record(sqlite3_context *c, int count, sqlite3_value **v) {
  struct err e = {0};
  size_t bytes;
  (void)count;
  if (sqlite3_value_type(v[0]) == SQLITE_NULL) return;
  char *text = db_record_text(sqlite3_user_data(c), sqlite3_value_int64(v[0]), &bytes, &e);
  if (text) sqlite3_result_text64(c, text, bytes, free, SQLITE_UTF8);
  else sqlite3_result_error(c, e.msg, -1);
}

/* Sluice's tables that a statement reads, also through views. */
static int note_part(void *which, int action, const char *table, const char *column, const char *database,
                     const char *inner) {
  (void)column, (void)database, (void)inner;
  int part = action == SQLITE_READ && table ? db_part(table) : -1;
  if (part >= 0) *(unsigned *)which |= 1u << part;
  return SQLITE_OK;
}

struct db_table *db_sql(struct db *db, const char *sql, struct err *e) {
  sqlite3_stmt *s = NULL;
  const char *rest = NULL;
  unsigned which = 0;
  sqlite3_create_function(db->sql, "record", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, db, sql_record, NULL, NULL);
  sqlite3_set_authorizer(db->sql, note_part, &which);
  int rc = sqlite3_prepare_v2(db->sql, sql, -1, &s, &rest);
  sqlite3_set_authorizer(db->sql, NULL, NULL);
  if (rc != SQLITE_OK) {
    if ((sqlite3_errcode(db->sql) & 0xff) == SQLITE_ERROR) err_set(e, ERR_USAGE, "SQL: %s", sqlite3_errmsg(db->sql));
    else db_fail(db, e);
    return NULL;
  }
  struct db_table *t = NULL;
  if (s && !sqlite3_stmt_readonly(s)) err_set(e, ERR_USAGE, "SQL: only statements that read are allowed here");
  else if (!s || !sqlite3_column_count(s)) err_set(e, ERR_USAGE, "SQL: a statement that returns rows is needed");
  else if (rest && rest[strspn(rest, " \t\r\n;")])
    err_set(e, ERR_USAGE, "SQL: one statement at a time; '%.40s' follows it", rest);
  /* The definition of a view is in the schema. */
  else if (db_verify(db, which ? which | 1u << DB_SCHEMA : 0, e)) t = table_of(db, s, e);
  sqlite3_finalize(s);
  return t;
}

void db_table_free(struct db_table *t) {
  if (!t) return;
  arena_free(t->arena);
  free(t->arena);
  free(t->cell);
  free(t);
}
