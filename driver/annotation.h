/* annotation.h - text that may mark functions, found without a parse.  No macro is expanded: the
 * answer may be yes without need, and is no only for files whose annotations hide in system
 * headers. */
#ifndef TC_DRIVER_ANNOTATION_H
#define TC_DRIVER_ANNOTATION_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whether the text spells an annotation. */
bool tc_mentions_annotation(const char *text, size_t size);

/* Whether a path is that of a header of TCompile's own, which the tool and other compilers read
 * differently. */
bool tc_is_own_header(const char *path);

/* The next #include of a file behind *at, which moves behind it: its name, and whether that stands
 * in double quotes.  false: there is none. */
typedef struct {
  const char *name;
  size_t size;
  bool quoted;
} tc_inclusion;
bool tc_next_inclusion(const char *text, size_t size, size_t *at, tc_inclusion *found);

#ifdef __cplusplus
}
#endif

#endif
