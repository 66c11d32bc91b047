/* child_options.c - what a run was asked for, for the library in the program: options.json in its private folder. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/output.h"
#include "base/paths.h"
#include "cli/run/run.h"

bool child_write_options(const struct tempdir *t, const struct sim_options *o, char *const *argv, struct err *e) {
  uint32_t first, end;
  if (!sim_timing_range(o->timing_kernels, &first, &end, e)) return false;
  char *program = command_text(argv), path[600];
  json_t *j = json_object();
  sim_options_child(o, j);
  json_object_set_new(j, "gpu", json_string(o->gpu ? o->gpu : "fermi"));
  json_object_set_new(j, "scheme", json_string(o->scheme ? o->scheme : "baseline"));
  json_object_set_new(j, "mode", json_string(o->mode ? o->mode : "timing"));
  json_object_set_new(j, "memory", json_string(sim_memory(o, argv[0])));
  json_object_set_new(j, "program", json_string(program));
  json_object_set_new(j, "timing_first", json_integer(first));
  json_object_set_new(j, "timing_end", json_integer(end));
  json_object_set_new(j, "quiet", json_boolean(o->quiet));
  json_object_set_new(j, "record", json_boolean(run_reads_record(o)));
  json_object_set_new(j, "every_launch", json_boolean(o->launches && !strcmp(o->launches, "all")));
  json_object_set_new(j, "meter", json_boolean(o->meter));
  uint64_t from, to;
  char *timeline = sim_timeline_path(o);
  if (timeline && sim_timeline_window(o->timeline_window, &from, &to, e)) {
    json_object_set_new(j, "timeline", json_string(timeline));
    json_object_set_new(j, "timeline_first", json_integer((json_int_t)from));
    json_object_set_new(j, "timeline_last", json_integer((json_int_t)to));
  }
  free(timeline);
  if (o->trace_out) json_object_set_new(j, "trace", json_string(o->trace_out));
  if (o->trace_temp) json_object_set_new(j, "trace_temp", json_string(o->trace_temp));
  free(program);
  char *text = json_dumps(j, JSON_INDENT(1));
  json_decref(j);
  if (!text) return err_set(e, ERR_USAGE, "the program's arguments are not valid UTF-8");
  tempdir_file(t, "options.json", path, sizeof path);
  bool ok = path_write_whole(path, text, strlen(text));
  free(text);
  return ok || output_failed(path, errno, e);
}
