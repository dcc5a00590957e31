/* abi.h - what objects that count the sizes of their calls (profile=generate) and libtcrt-profile
 * agree on. */
#ifndef TC_PROFILE_ABI_H
#define TC_PROFILE_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TCRT_SIZES_SLOTS 512
#define TCRT_SIZES_SLOT 4 /* words of a slot in front of its values */

/* The calls of one entry, in the object's data. */
typedef struct tcrt_sizes {
  const char *function, *file;
  uint32_t line, segment; /* of the function, and of the statements that the entry is for */
  uint32_t nsize;
  const char *const *size; /* names, as TC_SPECIALIZE has them */
  /* [TCRT_SIZES_SLOTS] of {key; calls, those that a write took, those that are written; values
   * [nsize]}.  key 0: free, 1: being filled. */
  uint64_t *slot;
  uint64_t others, others_taken, others_written; /* calls that found no slot */
} tcrt_sizes;

/* One per object file that counts. */
typedef struct tcrt_sizes_unit {
  const char *path; /* of the profile, where TC_PROFILE says none */
  uint32_t count;
  tcrt_sizes *const *entry;
  struct tcrt_sizes_unit *next; /* the library's */
} tcrt_sizes_unit;

/* From a constructor and a destructor of the object.  The second writes what was counted. */
void tcrt_sizes_open(tcrt_sizes_unit *unit);
void tcrt_sizes_close(tcrt_sizes_unit *unit);

/* A call with these sizes, [nsize]. */
void tcrt_sizes_count(tcrt_sizes *s, const int64_t *value);

#ifdef __cplusplus
}
#endif
#endif
