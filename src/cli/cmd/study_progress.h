/* study_progress.h - shared by the commands that run studies: the line of progress, paths. */
#ifndef CLI_CMD_STUDY_PROGRESS_H
#define CLI_CMD_STUDY_PROGRESS_H

#include "cli/frame/cli.h"
#include "study/study.h"

struct screen {
  double shown;
  bool terminal, quiet, drawn;
};
/* For struct study_options; `ctx` is the screen. */
void screen_show(void *ctx, const struct study_progress *p);
void screen_note(void *ctx, const char *line);
void screen_clear(struct screen *s);
void screen_seconds(char *buf, size_t size, double s); /* "90 s", "12 min", "3.0 h" */
/* A path that stays valid after a change of folder. */
bool screen_absolute(const char *path, char *out, size_t size, struct err *e);

#endif
