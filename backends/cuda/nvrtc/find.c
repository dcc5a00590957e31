/* find.c - where NVRTC may be. */
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/nvrtc/nvrtc.h"
#include "backends/folder.h"

static void put_path(tc_buf *out, const char *path) { tc_putn(out, path, strlen(path) + 1); }

/* Every file that the pattern matches, the last name (the newest version) first. */
static void put_matches(tc_buf *out, const char *folder, const char *pattern) {
  tc_buf path = {0};
  glob_t found;
  tc_putf(&path, "%s/%s", folder, pattern);
  if (path.text && !path.failed && glob(path.text, 0, NULL, &found) == 0) {
    for (size_t i = found.gl_pathc; i > 0; --i)
      if (!strstr(found.gl_pathv[i - 1], ".alt.")) put_path(out, found.gl_pathv[i - 1]);
    globfree(&found);
  }
  tc_buf_free(&path);
}

static void put_beside(tc_buf *out) {
  tc_buf folder = {0};
  tc_own_folder(&folder);
  if (folder.text && !folder.failed) put_matches(out, folder.text, "nvrtc/libnvrtc.so*");
  tc_buf_free(&folder);
}

void tc_nvrtc_candidates(const char *asked, tc_buf *out) {
  if (!asked || !*asked) asked = getenv("TC_NVRTC");
  if (asked && *asked) {
    if (strcmp(asked, "none") != 0) put_path(out, asked);
  } else {
    static const char *const variable[] = {"CUDA_HOME", "CUDA_PATH"};
    put_beside(out);
    for (int i = 0; i < 2; ++i)
      if (getenv(variable[i]) && *getenv(variable[i]))
        put_matches(out, getenv(variable[i]), "lib64/libnvrtc.so*");
    put_matches(out, "/usr/local/cuda", "lib64/libnvrtc.so*");
    if (getenv("VIRTUAL_ENV"))
      put_matches(out, getenv("VIRTUAL_ENV"),
                  "lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so*");
    put_path(out, "libnvrtc.so.13");
    put_path(out, "libnvrtc.so.12");
    put_path(out, "libnvrtc.so");
  }
  tc_putn(out, "", 1);
}
