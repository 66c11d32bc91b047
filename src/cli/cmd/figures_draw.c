/* figures_draw.c - hand figures and what they show to share/sluice/paper.mjs, which draws them. */
#include "cli/cmd/figures_draw.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/frame/cli.h"
#include "proc/process.h"

static bool command(char *const *argv, const char *what, bool aside, struct err *e) {
  fflush(stdout);
  pid_t parent = getpid(), pid = fork();
  if (pid < 0) return err_set(e, ERR_INPUT, "cannot start %s: %s", argv[0], strerror(errno));
  if (!pid) {
    process_child(parent);
    if (aside) dup2(STDERR_FILENO, STDOUT_FILENO);
    execvp(argv[0], argv);
    text_say(stderr, "sluice: cannot run %s: %s\n", argv[0], strerror(errno));
    _exit(127);
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFEXITED(status) && !WEXITSTATUS(status)) return true;
  if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_OUTPUT) /* it has reported the file and the reason */
    return err_set(e, ERR_OUTPUT, "%s stopped there", what);
  return err_set(e, ERR_INPUT, "%s failed; it needs %s (Debian: nodejs, librsvg2-bin)", what, argv[0]);
}

bool figures_draw(json_t *doc, const char *dir, bool aside, struct err *e) {
  char script[PATH_MAX], file[PATH_MAX];
  if (!path_find(script, sizeof script, "paper.mjs"))
    return err_set(e, ERR_INPUT, "'%s' is not built: `make` builds it (it needs npm)", script);
  if (mkdir(dir, 0777) && errno != EEXIST) return err_set(e, ERR_OUTPUT, "cannot make '%s': %s", dir, strerror(errno));
  if ((size_t)snprintf(file, sizeof file, "%s/data.json", dir) >= sizeof file)
    return err_set(e, ERR_INPUT, "'%s': the name is too long", dir);
  bool ok = jsonfile_write(doc, file, JSON_INDENT(1) | JSON_REAL_PRECISION(10), e);
  char *argv[] = {"node", script, file, (char *)dir, NULL};
  return ok && command(argv, "drawing", aside, e);
}
