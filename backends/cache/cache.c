/* cache.c - see cache.h.  An entry is FOLDER/<first digit of its key>/<the other 63>:
 *
 *   8 bytes    "tcache1\n"
 *   32 bytes   SHA-256 of the contents
 *   the contents, to the end of the file */
#define _GNU_SOURCE
#include "backends/cache/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "backends/cache/trim.h"

typedef struct header {
  char magic[8];
  tc_digest sum;
} header;

static const char magic[8] = "tcache1\n";

struct tc_cache {
  char *folder;
  uint64_t most;
  uint32_t found, missed, made; /* changed by many threads */
  uint32_t shards;              /* bit i: something was put into shard i */
};

/* ---- the folder ------------------------------------------------------------------------------ */

/* Makes the folder and those above it, but for the first `given` characters, which must be
 * there. */
static bool make_folders(char *path, size_t given) {
  for (char *at = path + given; (at = strchr(at + 1, '/'));) {
    *at = 0;
    const bool ok = mkdir(path, 0777) == 0 || errno == EEXIST;
    *at = '/';
    if (!ok) return false;
  }
  return mkdir(path, 0777) == 0 || errno == EEXIST;
}

/* The folder for all projects of a user; the length of the part that is never made. */
static size_t put_default(tc_buf *out) {
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  if (cache && *cache == '/') tc_putf(out, "%s/tcompile", cache);
  else if (home && *home == '/') tc_putf(out, "%s/.cache/tcompile", home);
  return cache && *cache == '/' ? 0 : home ? strlen(home) : 0;
}

tc_cache *tc_cache_open(const char *folder, uint64_t most) {
  if (!folder || !*folder) folder = getenv("TC_BUILD_CACHE");
  if (folder && strcmp(folder, "off") == 0) return NULL;
  tc_buf path = {0};
  size_t given = 0;
  if (folder && *folder) tc_put(&path, folder);
  else given = put_default(&path);
  tc_cache *c = path.text && !path.failed ? calloc(1, sizeof *c) : NULL;
  if (!c || !make_folders(path.text, given)) {
    free(c);
    tc_buf_free(&path);
    return NULL;
  }
  *c = (tc_cache){.folder = path.text, .most = most};
  return c;
}

tc_cache_counts tc_cache_count(const tc_cache *c) {
  if (!c) return (tc_cache_counts){0, 0};
  return (tc_cache_counts){__atomic_load_n(&c->found, __ATOMIC_RELAXED),
                           __atomic_load_n(&c->missed, __ATOMIC_RELAXED)};
}

const char *tc_cache_folder(const tc_cache *c) { return c->folder; }

static void count(uint32_t *counter) { __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED); }

static uint32_t shard_of(const tc_digest *key) { return key->byte[0] >> 4; }

/* "FOLDER/a", then "/bcdef..." where `name` says so. */
static void put_path(const tc_cache *c, const tc_digest *key, bool name, tc_buf *out) {
  tc_putf(out, "%s/%x", c->folder, shard_of(key));
  if (!name) return;
  tc_putf(out, "/%x", key->byte[0] & 15u);
  for (size_t i = 1; i < sizeof key->byte; ++i) tc_putf(out, "%02x", key->byte[i]);
}

static tc_digest digest(const void *bytes, size_t n) {
  tc_sha256 h;
  tc_sha256_begin(&h);
  tc_sha256_add(&h, bytes, n);
  return tc_sha256_end(&h);
}

/* ---- entries --------------------------------------------------------------------------------- */

static bool read_all(int fd, tc_buf *out) {
  char part[1 << 16];
  for (ssize_t n; (n = read(fd, part, sizeof part)) != 0;) {
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    tc_putn(out, part, (size_t)n);
  }
  return !out->failed;
}

static bool is_whole(const tc_buf *file) {
  header h;
  if (file->len < sizeof h) return false;
  memcpy(&h, file->text, sizeof h);
  if (memcmp(h.magic, magic, sizeof magic) != 0) return false;
  const tc_digest sum = digest(file->text + sizeof h, file->len - sizeof h);
  return memcmp(&sum, &h.sum, sizeof sum) == 0;
}

/* The contents of the file at `path`.  What is damaged is removed. */
static bool get_file(const char *path, tc_buf *out) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  tc_buf file = {0};
  const bool whole = read_all(fd, &file) && is_whole(&file);
  if (whole) {
    futimens(fd, NULL); /* used last now; not ours to touch: stays as it is */
    tc_putn(out, file.text + sizeof(header), file.len - sizeof(header));
  } else unlink(path);
  close(fd);
  tc_buf_free(&file);
  return whole && !out->failed;
}

bool tc_cache_get(tc_cache *c, const tc_digest *key, tc_buf *out) {
  if (!c) return false;
  tc_buf path = {0};
  put_path(c, key, true, &path);
  const bool found = !path.failed && get_file(path.text, out);
  tc_buf_free(&path);
  count(found ? &c->found : &c->missed);
  return found;
}

static bool write_all(int fd, const void *bytes, size_t n) {
  for (const char *p = bytes; n;) {
    const ssize_t done = write(fd, p, n);
    if (done < 0 && errno != EINTR) return false;
    if (done > 0) p += done, n -= (size_t)done;
  }
  return true;
}

/* Under a name of its own first: nobody sees a part of it. */
static bool put_file(const char *path, const char *temporary, const void *bytes, size_t n) {
  header h = {.sum = digest(bytes, n)};
  memcpy(h.magic, magic, sizeof magic);
  const int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return false;
  bool ok = write_all(fd, &h, sizeof h) && write_all(fd, bytes, n);
  ok = close(fd) == 0 && ok;
  ok = ok && rename(temporary, path) == 0;
  if (!ok) unlink(temporary);
  return ok;
}

static void put_temporary(tc_cache *c, const tc_digest *key, tc_buf *out) {
  struct timespec now = {0, 0};
  clock_gettime(CLOCK_REALTIME, &now);
  put_path(c, key, false, out);
  tc_putf(out, "/" TC_CACHE_TEMPORARY "%ld.%ld.%u", (long)getpid(), now.tv_nsec,
          __atomic_add_fetch(&c->made, 1, __ATOMIC_RELAXED));
}

void tc_cache_put(tc_cache *c, const tc_digest *key, const void *bytes, size_t n) {
  if (!c || sizeof(header) + n > c->most / TC_CACHE_SHARDS) return;
  tc_buf path = {0}, shard = {0}, temporary = {0};
  put_path(c, key, true, &path);
  put_path(c, key, false, &shard);
  put_temporary(c, key, &temporary);
  if (!path.failed && !shard.failed && !temporary.failed) {
    mkdir(shard.text, 0777); /* mostly it is there */
    if (put_file(path.text, temporary.text, bytes, n))
      __atomic_fetch_or(&c->shards, 1u << shard_of(key), __ATOMIC_RELAXED);
  }
  tc_buf_free(&path);
  tc_buf_free(&shard);
  tc_buf_free(&temporary);
}

void tc_cache_close(tc_cache *c) {
  if (!c) return;
  for (unsigned i = 0; i < TC_CACHE_SHARDS; ++i) {
    tc_buf shard = {0};
    tc_putf(&shard, "%s/%x", c->folder, i);
    if (c->shards >> i & 1 && !shard.failed) tc_cache_trim(shard.text, c->most / TC_CACHE_SHARDS);
    tc_buf_free(&shard);
  }
  free(c->folder);
  free(c);
}
