/* opt.c - parsing options from a table. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/frame/cli.h"

enum { MAX_OPTIONS = 64 };

static const struct opt *find_option(const struct opt *table, const char *name, size_t n) {
  for (const struct opt *o = table; o->name; o++)
    if (strlen(o->name) == n && !strncmp(o->name, name, n)) return o;
  return NULL;
}

static int unknown(const struct opt *table, const char *word, struct err *e) {
  const char *names[MAX_OPTIONS];
  size_t count = 0, n = strcspn(word, "=");
  char bare[128];
  for (const struct opt *o = table; o->name && count < MAX_OPTIONS; o++) names[count++] = o->name;
  snprintf(bare, sizeof bare, "%.*s", (int)(n < 100 ? n : 100), word);
  const char *near = err_nearest(bare + strspn(bare, "-"), names, count);
  if (near) err_set(e, ERR_USAGE, "unknown option '%s'; did you mean '--%s'?", bare, near);
  else err_set(e, ERR_USAGE, "unknown option '%s'", bare);
  return -1;
}

/* The value of an option that may have none: "=VALUE", the next word, or the one that its table gives. */
static const char *maybe_value(const struct opt *o, const char *given, const char *next, int *i) {
  size_t n = strcspn(o->complete, "=") + 1;
  if (given) return given;
  if (!next || strncmp(next, o->complete, n) != 0) return o->complete;
  ++*i;
  return next;
}

static bool store_value(const struct opt *o, void *into, const char *value, struct err *e) {
  char *at = (char *)into + o->at;
  switch (o->kind) {
  case OPT_FLAG:
    *(bool *)at = true;
    return true;
  case OPT_TEXT:
  case OPT_MAYBE:
    *(const char **)at = value;
    return true;
  case OPT_UINT: {
    char *end;
    errno = 0;
    unsigned long long v = strtoull(value, &end, 10);
    if (end == value || *end || *value == '-' || errno)
      return err_set(e, ERR_USAGE, "--%s needs a whole number, not '%s'", o->name, value);
    *(uint64_t *)at = v;
    return true;
  }
  case OPT_LIST: {
    struct opt_list *l = (struct opt_list *)at;
    l->at = mem_resize(l->at, l->count + 1, sizeof *l->at);
    l->at[l->count++] = value;
    return true;
  }
  case OPT_END:
    break;
  }
  return false;
}

static const struct opt *lettered(const struct opt *table, char letter) {
  for (const struct opt *o = table; o->name; o++)
    if (o->letter == letter) return o;
  return NULL;
}

bool opt_takes_next(const struct opt *table, const char *word) {
  bool is_long = word[0] == '-' && word[1] == '-';
  if (word[0] != '-' || !word[1] || (is_long ? strchr(word, '=') != NULL : word[2] != 0)) return false;
  const struct opt *o = is_long ? find_option(table, word + 2, strlen(word + 2)) : lettered(table, word[1]);
  return o && o->kind != OPT_FLAG && o->kind != OPT_MAYBE;
}

int opt_parse(const struct opt *table, void *into, int argc, char **argv, struct err *e) {
  int i = 1;
  while (i < argc) {
    const char *a = argv[i];
    if (!strcmp(a, "--")) return i + 1;
    if (a[0] != '-' || !a[1]) return i;
    const struct opt *o = NULL;
    const char *value = NULL;
    if (a[1] == '-') {
      size_t n = strcspn(a + 2, "=");
      o = find_option(table, a + 2, n);
      if (a[2 + n] == '=') value = a + 3 + n;
    } else {
      o = lettered(table, a[1]);
      if (o && a[2]) value = a + 2;
    }
    if (!o) return unknown(table, a, e);
    if (o->kind == OPT_FLAG && value) {
      err_set(e, ERR_USAGE, "--%s takes no value", o->name);
      return -1;
    }
    if (o->kind == OPT_MAYBE) value = maybe_value(o, value, i + 1 < argc ? argv[i + 1] : NULL, &i);
    if (o->kind != OPT_FLAG && !value) {
      if (i + 1 >= argc || !strcmp(argv[i + 1], "--")) {
        err_set(e, ERR_USAGE, "--%s needs a value: %s", o->name, o->arg);
        return -1;
      }
      value = argv[++i];
    }
    if (!store_value(o, into, value, e)) return -1;
    i++;
  }
  return i;
}

void opt_list_free(struct opt_list *l) {
  free(l->at);
  *l = (struct opt_list){0};
}
