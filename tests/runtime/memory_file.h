/* memory_file.h - bytes as a file that the readers can open by path. */
#ifndef TC_TEST_MEMORY_FILE_H
#define TC_TEST_MEMORY_FILE_H

#include <stddef.h>

typedef struct {
  int fd;
  char path[32];
} memory_file;

memory_file memory_file_new(const void *bytes, size_t n);
void memory_file_close(memory_file *f);

#endif
