/* new.c - `sluice new scheme NAME`: a commented scheme that compiles and runs, and its test, from bundled templates.
 *
 * In a source checkout they go where the build finds them. Nothing is overwritten: the name of an existing file or
 * scheme is an error. With --from-python the Python package writes both texts (python/sluice/_skeleton.py).
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/output.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/frame/cli.h"
#include "gpu/slots/slots.h"
#include "proc/child.h"

enum { NAME_MAX_CHARS = 32 };

struct new_options {
  const char *dir, *python;
};

struct new_scheme {
  const char *name;
  char ident[NAME_MAX_CHARS + 1];        /* the name as part of C identifiers and file names */
  char root[PATH_MAX - 128];             /* of the source checkout; "" if there is none */
  char scheme[PATH_MAX], test[PATH_MAX]; /* the files to write */
  char *text[3];                         /* --from-python: name, scheme, test; all in text[0]; NULL: the templates */
};

/* ---- where ---- */

/* The nearest folder, from the current one up, that holds Sluice's sources. */
static bool find_checkout(char *root, size_t size) {
  if (!getcwd(root, size)) return false;
  for (;;) {
    char header[PATH_MAX];
    snprintf(header, sizeof header, "%s/src/gpu/scheme.h", root);
    if (!access(header, R_OK)) return true;
    char *slash = strrchr(root, '/');
    if (!slash || slash == root) break;
    *slash = 0;
  }
  *root = 0;
  return false;
}

static bool choose_file(struct new_scheme *n, const char *dir, struct err *e) {
  if (dir) {
    if (strlen(dir) + NAME_MAX_CHARS + 32 > sizeof n->test)
      return err_set(e, ERR_USAGE, "the name of the folder is too long");
    if (mkdir(dir, 0777) && errno != EEXIST)
      return err_set(e, ERR_INPUT, "cannot make the folder '%s': %s", dir, strerror(errno));
    snprintf(n->scheme, sizeof n->scheme, "%s/%s.c", dir, n->ident);
    snprintf(n->test, sizeof n->test, "%s/test_scheme_%s.c", dir, n->ident);
    return true;
  }
  if (!*n->root)
    return err_set(e, ERR_USAGE,
                   "this folder is not in a checkout of Sluice's sources, where a scheme is compiled; go there, or say "
                   "with -o DIR where the files should be written");
  snprintf(n->scheme, sizeof n->scheme, "%s/src/schemes/%s.c", n->root, n->ident);
  snprintf(n->test, sizeof n->test, "%s/tests/unit/test_scheme_%s.c", n->root, n->ident);
  return true;
}

/* ---- may it be called that? ---- */

static bool check_name(struct new_scheme *n, struct err *e) {
  size_t length = strlen(n->name);
  if (length > NAME_MAX_CHARS)
    return err_set(e, ERR_USAGE, "the name '%s' has more than %d characters", n->name, NAME_MAX_CHARS);
  bool good = islower((unsigned char)n->name[0]) && n->name[length - 1] != '-' && !strstr(n->name, "--");
  for (size_t i = 0; i <= length; i++) {
    unsigned char c = (unsigned char)n->name[i];
    good &= !c || islower(c) || isdigit(c) || c == '-';
    n->ident[i] = c == '-' ? '_' : (char)c;
  }
  if (!good)
    return err_set(e, ERR_USAGE,
                   "'%s' cannot be the name of a scheme: lower-case letters, digits and single '-' between them, "
                   "beginning with a letter",
                   n->name);
  if (!strcmp(n->name, "baseline") || !strcmp(n->name, "none"))
    return err_set(e, ERR_USAGE, "'%s' means that there is no scheme; choose another name", n->name);
  for (uint32_t i = 0; i < scheme_count(); i++) {
    const struct scheme *s = scheme_at(i);
    if (!strcmp(s->name, n->name))
      return err_set(e, ERR_USAGE, "there is a scheme '%s' already (%s); choose another name", s->name, s->title);
  }
  return true;
}

/* File names are unique in the source tree; the prefix of a folder's functions is reserved. */
static bool check_tree(const struct new_scheme *n, struct err *e) {
  static const char *const rooms[] = {"base",    "cli",         "cudart",  "gpu",  "ptx",   "report", "results",
                                      "schemes", "schemes/lib", "session", "simt", "study", "trace"};
  char path[PATH_MAX];
  for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
    if (!strcmp(rooms[i], n->ident))
      return err_set(e, ERR_USAGE, "'%s' is a part of Sluice (src/%s); choose another name", n->name, rooms[i]);
    snprintf(path, sizeof path, "%s/src/%s/%s.c", n->root, rooms[i], n->ident);
    if (*n->root && !access(path, F_OK))
      return err_set(e, ERR_USAGE, "there is a file src/%s/%s.c already; choose another name", rooms[i], n->ident);
  }
  return true;
}

/* ---- from Python ---- */

/* In the child: the package beside the command comes before one that Python has. */
static void find_package(void) {
  char here[PATH_MAX], found[2 * PATH_MAX];
  const char *more = getenv("PYTHONPATH");
  ssize_t n = readlink("/proc/self/exe", here, sizeof here - 1);
  if (n <= 0) return;
  here[n] = 0;
  char *slash = strrchr(here, '/');
  if (slash) *slash = 0;
  snprintf(found, sizeof found, "%s/python%s%s", here, more ? ":" : "", more ? more : "");
  setenv("PYTHONPATH", found, 1);
}

static pid_t start_python(const char *file, const char *name, int out, int errors) {
  pid_t parent = getpid(), child = fork();
  if (child) return child;
  process_child(parent);
  find_package();
  dup2(out, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  const char *python = getenv("PYTHON");
  if (!python || !*python) python = "python3";
  execlp(python, python, "-B", "-m", "sluice._skeleton", file, name, (char *)NULL);
  dprintf(errors, "cannot start %s: %s; install python3, or say in PYTHON which one", python, strerror(errno));
  _exit(127);
}

/* The output of the package, or an error with what it says. */
static char *ask_python(const char *file, const char *name, struct err *e) {
  struct tempdir dir;
  char out[PATH_MAX], errors[PATH_MAX];
  if (!tempdir_make(&dir, e)) return NULL;
  tempdir_file(&dir, "out", out, sizeof out);
  tempdir_file(&dir, "errors", errors, sizeof errors);
  int to = open(out, O_CREAT | O_WRONLY | O_CLOEXEC, 0666),
      messages = open(errors, O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
  int status = -1;
  pid_t child = to < 0 || messages < 0 ? -1 : start_python(file, name, to, messages);
  if (child > 0) waitpid(child, &status, 0);
  close(to);
  close(messages);
  char *text = child > 0 && !status ? path_read_whole(out, NULL) : NULL;
  char *why = path_read_whole(errors, NULL);
  char *last = why ? strrchr(why, '\n') : NULL; /* of a traceback: its last line */
  while (last && last > why && !last[1]) *last = 0, last = strrchr(why, '\n');
  bool ours = child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 2;
  const char *said = last && !ours ? last + 1 : why;
  bool lacks = said && strstr(said, "No module named 'sluice");
  if (!text)
    err_set(e, ERR_INPUT, "%s%s", said && *said ? said : "python3 failed",
            lacks                                     ? "; `make python` builds it"
            : said && strstr(said, "No module named") ? "; PYTHON says which Python"
                                                      : "");
  free(why);
  tempdir_remove(&dir);
  return text;
}

/* Both texts, and the name where none is given. */
static bool take_python(struct new_scheme *n, const char *file, struct err *e) {
  n->text[0] = ask_python(file, n->name, e);
  if (!n->text[0]) return false;
  for (int i = 1; i < 3; i++) {
    n->text[i] = strchr(n->text[i - 1], '\f');
    if (!n->text[i]) return err_set(e, ERR_INTERNAL, "the Python package printed no skeleton");
    *n->text[i]++ = 0;
  }
  n->name = n->text[0];
  return true;
}

/* ---- writing ---- */

/* `text` with @name@ and @ident@ filled in; the caller frees it. */
static char *fill_in(const char *text, const struct new_scheme *n) {
  size_t most = strlen(text) * (NAME_MAX_CHARS / 6 + 2) + 1; /* "@name@" is the shorter of the two: 6 characters */
  char *out = mem_alloc(most), *to = out;
  while (*text) {
    const char *with = NULL;
    size_t skip = 0;
    if (!strncmp(text, "@name@", 6)) with = n->name, skip = 6;
    if (!strncmp(text, "@ident@", 7)) with = n->ident, skip = 7;
    if (with) to = stpcpy(to, with);
    else *to++ = *text, skip = 1;
    text += skip;
  }
  *to = 0;
  return out;
}

static bool write_from(const char *template, const char *path, const struct new_scheme *n, struct err *e) {
  char from[PATH_MAX];
  char *text = path_find(from, sizeof from, template) ? path_read_whole(from, NULL) : NULL;
  if (!text)
    return err_set(e, ERR_INPUT, "cannot read '%s', a part of Sluice's data (SLUICE_DATA names their folder): %s", from,
                   strerror(errno));
  char *filled = fill_in(text, n);
  bool ok = path_write_whole(path, filled, strlen(filled));
  if (!ok) output_failed(path, errno, e);
  free(text);
  free(filled);
  return ok;
}

static bool write_both(const struct new_scheme *n, struct err *e) {
  const char *const paths[] = {n->scheme, n->test};
  struct stat there;
  for (size_t i = 0; i < 2; i++)
    if (!lstat(paths[i], &there)) /* also a link to nothing */
      return err_set(e, ERR_USAGE, "'%s' exists and is left as it is; choose another name", paths[i]);
  const char *const templates[] = {"templates/scheme.c.in", "templates/test_scheme.c.in"};
  bool good = true;
  for (size_t i = 0; good && i < 2; i++) {
    const char *text = n->text[i + 1];
    if (!text) good = write_from(templates[i], paths[i], n, e);
    else if (!path_write_whole(paths[i], text, strlen(text))) good = output_failed(paths[i], errno, e);
    if (!good && !i) return false;
  }
  if (good) return true;
  unlink(n->scheme); /* both or none */
  return false;
}

static void say_next(const struct new_scheme *n, const struct new_options *o) {
  size_t cut = o->dir ? 0 : strlen(n->root) + 1;
  text_say(stdout, "%s\n%s\n", n->scheme + cut, n->test + cut);
  if (o->dir) puts("\nThey compile in a checkout of Sluice's sources, as src/schemes/ and tests/unit/.");
  else
    printf("\nNext:\n  make -j2\n  make build/tests/test_scheme_%s && build/tests/test_scheme_%s\n"
           "  build/sluice compare --scheme baseline,%s -- kmeans --size small\n"
           "docs/tutorials/your-first-scheme.md continues from there.\n",
           n->ident, n->ident, n->name);
}

static int new_run(const struct command *self, int argc, char **argv) {
  struct new_options o = {0};
  struct err e = {0};
  int first, rc = command_begin(self, argc, argv, &o, &first);
  if (rc >= 0) return rc;
  if (first >= argc || strcmp(argv[first], "scheme"))
    return err_set(&e, ERR_USAGE, "new what? there is `sluice new scheme NAME`"), command_usage(self, &e);
  struct new_scheme n = {0};
  bool named = first + 1 < argc && *argv[first + 1] && *argv[first + 1] != '-';
  if (named) n.name = argv[++first];
  /* Options may stand after the name too. */
  int more = opt_parse(self->opts, &o, argc - first, argv + first, &e);
  if (more < 0) return command_usage(self, &e);
  if (more != argc - first) return err_set(&e, ERR_USAGE, "one scheme at a time"), command_usage(self, &e);
  if (!named && !o.python) return err_set(&e, ERR_USAGE, "what is the scheme called?"), command_usage(self, &e);
  find_checkout(n.root, sizeof n.root);
  bool good = (!o.python || take_python(&n, o.python, &e)) && check_name(&n, &e) && check_tree(&n, &e) &&
              choose_file(&n, o.dir, &e) && write_both(&n, &e);
  if (good) say_next(&n, &o);
  free(n.text[0]);
  return good ? EXIT_OK : cli_fail(&e);
}

static const struct opt new_opts[] = {{"output", "DIR", "write both files into this folder, made if it is not there",
                                       OPT_TEXT, offsetof(struct new_options, dir), 'o', "file"},
                                      {"from-python", "FILE[:CLASS]",
                                       "of the Python scheme (sluice.Scheme) in this file: the same parameters, "
                                       "counters, storage and hooks, its code as comments",
                                       OPT_TEXT, offsetof(struct new_options, python), 0, "file"},
                                      {.name = NULL}};

const struct command cmd_new = {
    .name = "new",
    .summary = "begin a scheme of your own: a commented file and its test",
    .usage = "scheme NAME [-o DIR] [--from-python FILE]",
    .help =
        "Writes a scheme that compiles, runs and does something simple, with a comment on each part, and a test of "
        "it on\n"
        "hand-computed accesses: src/schemes/NAME.c and tests/unit/test_scheme_NAME.c of the source checkout "
        "that the\n"
        "current folder is in. Change them into your idea. Nothing else has to be edited; nothing is overwritten.\n\n"
        "Example:\n"
        "  sluice new scheme wide && make && build/sluice compare --scheme baseline,wide -- kmeans --size small\n",
    .opts = new_opts,
    .run = new_run,
};
