/* settings.h - settings of a machine as one text: KEY=VALUE,... */
#ifndef TESTS_SETTINGS_H
#define TESTS_SETTINGS_H

#include <stdio.h>
#include <string.h>

#include "gpu/common/config.h"

/* NULL: none. A setting that the configuration refuses fails the test. */
static inline void settings_apply(struct gpu_config *c, const char *set) {
  char text[256], *save = NULL;
  struct err e = {0};
  assert_true(snprintf(text, sizeof text, "%s", set ? set : "") < (int)sizeof text);
  for (char *t = strtok_r(text, ",", &save); t; t = strtok_r(NULL, ",", &save)) {
    char *eq = strchr(t, '=');
    assert_non_null(eq);
    *eq = 0;
    if (!gpu_config_set(c, t, eq + 1, "test", &e)) fail_msg("%s", e.msg);
  }
}

#endif
