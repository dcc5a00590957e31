/* scan.h - the cheap test that spares files without annotations the tool. */
#ifndef TC_CLIENT_SCAN_H
#define TC_CLIENT_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where the user's own headers are. */
typedef struct {
  const char **folder;
  size_t count;
} tc_folders;

/* Whether a file, or a header that it includes from beside itself or from the folders, spells an
 * annotation.  name: of the file, for what is beside it. */
bool tc_file_may_be_annotated(const char *text, size_t size, const char *name,
                              const tc_folders *folders);
/* Likewise for a header that the command line includes. */
bool tc_header_may_be_annotated(const char *header, const tc_folders *folders);

/* All of a file in memory of malloc's; NULL: it cannot be read. */
char *tc_read_file(const char *path, size_t *size);

#ifdef __cplusplus
}
#endif

#endif
