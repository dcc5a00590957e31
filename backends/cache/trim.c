/* trim.c - see trim.h. */
#define _GNU_SOURCE
#include "backends/cache/trim.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "graph/support/support.h"

enum { FORGOTTEN = 3600 }; /* seconds after which nobody writes a file any more */

typedef struct entry {
  char *name;
  struct timespec used;
  uint64_t size;
} entry;

typedef TC_VEC(entry) entries;

static bool is_temporary(const char *name) {
  return strncmp(name, TC_CACHE_TEMPORARY, strlen(TC_CACHE_TEMPORARY)) == 0;
}

static void add(int folder, const char *name, entries *list) {
  struct stat s;
  if (fstatat(folder, name, &s, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(s.st_mode)) return;
  if (is_temporary(name)) {
    if (time(NULL) - s.st_mtim.tv_sec > FORGOTTEN) unlinkat(folder, name, 0);
    return;
  }
  entry e = {strdup(name), s.st_mtim, (uint64_t)s.st_size};
  if (!e.name || !tc_push(list, e)) free(e.name);
}

static int by_use(const void *a, const void *b) {
  const entry *x = a, *y = b;
  if (x->used.tv_sec != y->used.tv_sec) return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
  if (x->used.tv_nsec != y->used.tv_nsec) return x->used.tv_nsec < y->used.tv_nsec ? -1 : 1;
  return strcmp(x->name, y->name);
}

static void evict(int folder, entries *list, uint64_t most) {
  uint64_t size = 0;
  for (size_t i = 0; i < list->n; ++i) size += list->at[i].size;
  if (size <= most) return;
  qsort(list->at, list->n, sizeof *list->at, by_use);
  for (size_t i = 0; i < list->n && size > most / 5 * 4; ++i) {
    unlinkat(folder, list->at[i].name, 0);
    size -= list->at[i].size;
  }
}

void tc_cache_trim(const char *shard, uint64_t most) {
  DIR *folder = opendir(shard);
  if (!folder) return;
  entries list = {0};
  for (struct dirent *d; (d = readdir(folder));)
    if (d->d_name[0] != '.') add(dirfd(folder), d->d_name, &list);
  evict(dirfd(folder), &list, most);
  for (size_t i = 0; i < list.n; ++i) free(list.at[i].name);
  free(list.at);
  closedir(folder);
}
