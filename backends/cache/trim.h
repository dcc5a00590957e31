/* trim.h - eviction.  Keys are spread evenly over the shards, which have an equal share of the
 * bound each: looking after one is a sixteenth of the work. */
#ifndef TC_CACHE_TRIM_H
#define TC_CACHE_TRIM_H

#include <stdint.h>

enum { TC_CACHE_SHARDS = 16 };
#define TC_CACHE_TEMPORARY "tmp." /* begins the names of files that are being written */

/* Where the files of the folder take more than `most` bytes, removes those that were used least
 * recently until they take four fifths of it.  Files that another process has removed are gone;
 * unfinished ones of more than an hour ago are removed too. */
void tc_cache_trim(const char *shard, uint64_t most);

#endif
