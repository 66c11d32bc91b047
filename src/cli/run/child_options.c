/* child_options.c - the options of a run for the library in the program: options.json in its private folder. */
#include <stdlib.h>
#include <unistd.h>

#include "cli/run/run.h"

/* Absolute: the program may change its folder. The caller frees it. */
static char *absolute(const char *file) {
  if (!file) return NULL;
  char *here = *file == '/' ? NULL : getcwd(NULL, 0), *path = NULL;
  if (asprintf(&path, "%s%s%s", here ? here : "", here ? "/" : "", file) < 0) path = NULL;
  CHECK(path, "out of memory");
  free(here);
  return path;
}

bool child_write_options(const struct tempdir *t, const struct sim_options *o, char *const *argv, struct err *e) {
  struct session_options so;
  char path[600], *program = command_text(argv), *timeline = sim_timeline_path(o), *log = absolute(o->launch_log),
                  *plan = absolute(o->time_plan);
  tempdir_file(t, "options.json", path, sizeof path);
  bool ok = sim_session_options(o, program, NULL, &so, e) && simt_memory_parse(sim_memory(o, argv[0]), &so.memory, e);
  so.timeline = timeline; /* absolute, too */
  so.launch_log = log;
  so.time_plan = plan;
  so.record_unread = !run_reads_record(o);
  ok = ok && session_options_write(&so, path, e);
  free(program);
  free(timeline);
  free(log);
  free(plan);
  return ok;
}
