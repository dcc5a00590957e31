/* cache.h - what compilers made, kept across builds and projects under a name that is the SHA-256
 * of everything it was made from.
 *
 * A folder of files, one for each entry, that any number of builds use at once: an entry appears
 * complete, by rename, and is read through a descriptor that eviction does not take away.  Every
 * entry carries a checksum; one that does not hold is removed, and was not there.  Whatever keeps
 * the folder from being written or read (no home, read-only, full) means that entries are not
 * there: nothing is reported, and a build comes out the same. */
#ifndef TC_CACHE_H
#define TC_CACHE_H

#include "graph/support/sha256.h"
#include "graph/support/support.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tc_cache tc_cache;

/* The cache in `folder`, which is made if it is not there.  NULL or "": the variable
 * TC_BUILD_CACHE, else tcompile in $XDG_CACHE_HOME, else in ~/.cache.  The word "off" for either:
 * no cache.  most: bytes that its entries may take.  NULL: there is none, which all functions
 * take. */
tc_cache *tc_cache_open(const char *folder, uint64_t most);

/* Appends the entry to out; false: it is not there. */
bool tc_cache_get(tc_cache *c, const tc_digest *key, tc_buf *out);
void tc_cache_put(tc_cache *c, const tc_digest *key, const void *bytes, size_t n);

/* Of this build; any thread may get and put meanwhile. */
typedef struct tc_cache_counts {
  uint32_t found, missed;
} tc_cache_counts;
tc_cache_counts tc_cache_count(const tc_cache *c);
const char *tc_cache_folder(const tc_cache *c);

/* Removes the entries that were used least recently where there are too many. */
void tc_cache_close(tc_cache *c);

/* identity.c: adds what tells one build of the program or library that holds this address from any
 * other: its build ID, or else its size and time of change. */
void tc_add_identity(tc_sha256 *h, const void *address);

#ifdef __cplusplus
}
#endif
#endif
