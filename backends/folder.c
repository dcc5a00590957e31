/* folder.c - see folder.h. */
#define _GNU_SOURCE
#include "backends/folder.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

/* A program that was found by PATH is known by its bare name. */
static const char *own_path(char *buffer, size_t size) {
  Dl_info info;
  if (dladdr((void *)&tc_own_folder, &info) && info.dli_fname && strchr(info.dli_fname, '/'))
    return info.dli_fname;
  const ssize_t n = readlink("/proc/self/exe", buffer, size - 1);
  if (n < 0) return NULL;
  buffer[n] = 0;
  return buffer;
}

void tc_own_folder(tc_buf *out) {
  char buffer[4096];
  const char *path = own_path(buffer, sizeof buffer), *slash = path ? strrchr(path, '/') : NULL;
  if (slash) tc_putn(out, path, (size_t)(slash - path));
}
