/* merge.c - profiles as files that several processes add to.
 *
 * A file is never changed: a new one is written beside it and takes its name, so that whoever is
 * killed leaves the old one or the new one, whole.  Processes take turns by a lock on the file that
 * has the name; who got the lock of one that lost it meanwhile begins again. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/profile/count.h"

enum { WHY = 256 };

typedef enum { DONE, AGAIN, FAILED } outcome;

static outcome fail(char *why, const char *what) {
  snprintf(why, WHY, "%s: %s", what, strerror(errno));
  return FAILED;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* All of the file, for free(); NULL: errno says why. */
static char *read_all(int fd, size_t *n) {
  size_t cap = 1 << 16;
  char *text = malloc(cap);
  for (*n = 0; text;) {
    const ssize_t got = read(fd, text + *n, cap - *n);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) return text;
    if (got < 0) return free(text), NULL;
    *n += (size_t)got;
    if (*n < cap) continue;
    char *more = realloc(text, cap *= 2);
    if (!more) free(text);
    text = more;
  }
  return NULL;
}

static bool add_file(int fd, tc_profile *p, char *why) {
  size_t n;
  uint32_t line;
  const char *wrong;
  char *text = read_all(fd, &n);
  if (!text) return fail(why, "it cannot be read"), false;
  const bool whole = tc_profile_read(p, text, n, &line, &wrong);
  if (!whole) snprintf(why, WHY, "line %u: %s; it is left as it is", (unsigned)line, wrong);
  free(text);
  return whole;
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool put_all(int fd, const char *text, size_t n) {
  while (n) {
    const ssize_t put = write(fd, text, n);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    text += put;
    n -= (size_t)put;
  }
  return true;
}

/* Unlike those of other processes, and of other libraries in this one. */
static char *name_beside(const char *path) {
  static char here;
  char *name = NULL;
  if (asprintf(&name, "%s.%ld.%zx", path, (long)getpid(), (size_t)&here) < 0) return NULL;
  return name;
}

/* The profile as a file of its own; its name, for free(). */
static char *write_beside(const char *path, tc_profile *p, char *why) {
  size_t n;
  char *text = tc_profile_text(p, &n), *name = name_beside(path);
  bool written = false;
  if (!text || !name) {
    snprintf(why, WHY, "out of memory");
  } else {
    const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    written = fd >= 0 && put_all(fd, text, n);
    if (!written) fail(why, "it cannot be written");
    if (fd >= 0 && close(fd) != 0 && written) written = false, fail(why, "it cannot be written");
    if (fd >= 0 && !written) unlink(name);
  }
  free(text);
  if (!written) free(name), name = NULL;
  return name;
}

static bool copy(const tc_profile *from, tc_profile *to) {
  for (size_t i = 0; i < from->n; i++) {
    const tc_profile_segment *s = &from->at[i];
    const tc_profile_place place = {s->function, s->file,  s->line,
                                    s->segment,  s->nsize, (const char *const *)s->size};
    tc_profile_segment *t = tc_profile_find(to, &place);
    if (!t) return false;
    for (size_t k = 0; k < s->n; k++) tc_profile_add(to, t, s->at[k].value, s->at[k].calls);
    tc_profile_add_others(t, s->others);
  }
  return !to->failed;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* There was none; another process may make it at the same time. */
static outcome create(const char *path, const tc_profile *p, char *why) {
  tc_profile whole = {0};
  char *name = copy(p, &whole) ? write_beside(path, &whole, why) : NULL;
  tc_profile_free(&whole);
  if (!name) return FAILED;
  outcome result = DONE;
  if (link(name, path) != 0) {
    if (errno == EEXIST) result = AGAIN;
    else if (rename(name, path) != 0) result = fail(why, "it cannot be made"); /* no links here */
    else return free(name), DONE;
  }
  unlink(name);
  free(name);
  return result;
}

/* Its lock is ours. */
static outcome add_to(int fd, const char *path, const tc_profile *p, char *why) {
  struct stat ours, named;
  if (fstat(fd, &ours) != 0 || stat(path, &named) != 0) return AGAIN;
  if (ours.st_ino != named.st_ino || ours.st_dev != named.st_dev) return AGAIN;
  tc_profile whole = {0};
  snprintf(why, WHY, "out of memory");
  char *name = NULL;
  if (add_file(fd, &whole, why) && copy(p, &whole)) name = write_beside(path, &whole, why);
  tc_profile_free(&whole);
  if (!name) return FAILED;
  outcome result = DONE;
  if (rename(name, path) != 0) {
    result = fail(why, "it cannot be replaced");
    unlink(name);
  }
  free(name);
  return result;
}

static outcome attempt(const char *path, const tc_profile *p, char *why) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 && errno == ENOENT) return create(path, p, why);
  if (fd < 0) return fail(why, "it cannot be opened");
  while (flock(fd, LOCK_EX) != 0 && errno == EINTR) {
  }
  const outcome result = add_to(fd, path, p, why);
  close(fd);
  return result;
}

const char *tc_profile_merge_into(const char *path, const tc_profile *p, char *why) {
  outcome result = AGAIN;
  for (int i = 0; i < 1000 && result == AGAIN; i++) {
    snprintf(why, WHY, "other processes replace it all the time");
    result = attempt(path, p, why);
  }
  return result == DONE ? NULL : why;
}
