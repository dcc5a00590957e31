/* profile.h - shape profiles: how often compiled functions were called with which sizes, as text.
 *
 *   tcompile profile 1            format version
 *   function "mlp" "mlp.c" 12     name, file and line of a compiled function
 *   segment 12                    line of a run of its statements that is called as one
 *   calls 4021 B=8 T=128          so many calls with these sizes, named as TC_SPECIALIZE names them
 *   calls 17 B=1 T=128
 *   others 3                      calls with sizes that there was no room for
 *   end                           without it the file is truncated
 *
 * Profiles that stand one behind the other are one.  A ';' at the start of a line starts a comment.
 * In quotes \" and \\ stand for these characters.  Counts saturate. */
#ifndef TC_PROFILE_H
#define TC_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  TC_PROFILE_CALLS =
      1024,             /* different sizes of a segment that are written, the most frequent ones */
  TC_PROFILE_SIZES = 64 /* names of a segment */
};

typedef struct tc_profile_calls {
  uint64_t calls;
  int64_t *value; /* [nsize] */
} tc_profile_calls;

typedef struct tc_profile_segment {
  char *function, *file;
  uint32_t line, segment;
  uint32_t nsize;
  char **size; /* names, [nsize] */
  tc_profile_calls *at;
  size_t n, cap;
  uint64_t others;
} tc_profile_segment;

typedef struct tc_profile {
  tc_profile_segment *at;
  size_t n, cap;
  bool failed; /* an allocation failed: something is missing */
} tc_profile;

/* Where a segment is; two of one place are told apart by their names. */
typedef struct tc_profile_place {
  const char *function, *file;
  uint32_t line, segment;
  uint32_t nsize;
  const char *const *size;
} tc_profile_place;

/* Adds what the text says.  false: it is no whole profile; *line: where, *why: what is wrong
 * there. */
bool tc_profile_read(tc_profile *p, const char *text, size_t n, uint32_t *line, const char **why);

/* The segment, which is added where it is not there; NULL: out of memory. */
tc_profile_segment *tc_profile_find(tc_profile *p, const tc_profile_place *place);

/* Adds calls with these sizes, [nsize]. */
void tc_profile_add(tc_profile *p, tc_profile_segment *s, const int64_t *value, uint64_t calls);
/* with sizes that are not told */
void tc_profile_add_others(tc_profile_segment *s, uint64_t calls);

void tc_profile_sort(tc_profile *p); /* calls of each segment: the most frequent first */

/* The text, sorted; for free().  NULL: out of memory. */
char *tc_profile_text(tc_profile *p, size_t *n);

void tc_profile_free(tc_profile *p);

#ifdef __cplusplus
}
#endif
#endif
