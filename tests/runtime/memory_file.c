#define _GNU_SOURCE /* memfd_create */
#include "tests/runtime/memory_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

memory_file memory_file_new(const void *bytes, size_t n) {
  memory_file f = {memfd_create("test", MFD_CLOEXEC), ""};
  if (f.fd < 0 || (n && write(f.fd, bytes, n) != (ssize_t)n)) abort();
  snprintf(f.path, sizeof f.path, "/proc/self/fd/%d", f.fd);
  return f;
}

void memory_file_close(memory_file *f) { close(f->fd); }
