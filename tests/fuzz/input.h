/* input.h - hands a fuzzer's bytes to a reader that opens files by path. */
#ifndef TC_FUZZ_INPUT_H
#define TC_FUZZ_INPUT_H

#define _GNU_SOURCE /* memfd_create */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* One file in memory, rewritten for each input; its path. */
static const char *fuzz_file(const void *bytes, size_t n) {
  static int fd = -1;
  static char path[32];
  if (fd < 0) {
    fd = memfd_create("fuzz", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  }
  if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, bytes, n, 0) != (ssize_t)n) abort();
  return path;
}

#endif
