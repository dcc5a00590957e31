/* scan.c - see scan.h. */
#include "plugin/client/scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "driver/annotation.h"

typedef struct seen {
  dev_t device;
  ino_t inode;
} seen;

typedef struct {
  const tc_folders *folders;
  seen *seen; /* headers that were looked at */
  size_t count, room;
} scan;

char *tc_read_file(const char *path, size_t *size) {
  FILE *f = fopen(path, "rb");
  struct stat s;
  if (!f) return NULL;
  char *bytes = NULL;
  if (!fstat(fileno(f), &s) && S_ISREG(s.st_mode) && (bytes = malloc((size_t)s.st_size + 1)))
    *size = fread(bytes, 1, (size_t)s.st_size, f);
  fclose(f);
  return bytes;
}

/* Whether it is new, and a file. */
static bool enter(scan *x, const char *path) {
  struct stat s;
  if (stat(path, &s) || !S_ISREG(s.st_mode)) return false;
  for (size_t i = 0; i < x->count; ++i)
    if (x->seen[i].device == s.st_dev && x->seen[i].inode == s.st_ino) return false;
  if (x->count == x->room) {
    const size_t room = x->room ? 2 * x->room : 64;
    seen *list = realloc(x->seen, room * sizeof *list);
    if (!list) return false;
    x->seen = list;
    x->room = room;
  }
  x->seen[x->count++] = (seen){s.st_dev, s.st_ino};
  return true;
}

static bool text_may(scan *x, const char *text, size_t size, const char *name);

/* The public header defines the macros; it annotates nothing. */
static bool is_own(const char *path) {
  const char *slash = strrchr(path, '/');
  return !strcmp(slash ? slash + 1 : path, "tcompile.h");
}

static bool path_may(scan *x, const char *path) {
  size_t size = 0;
  if (!enter(x, path) || is_own(path)) return false;
  char *text = tc_read_file(path, &size);
  const bool may = text && text_may(x, text, size, path);
  free(text);
  return may;
}

/* true in *found: there is such a file. */
static bool joined_may(scan *x, const char *folder, size_t length, const char *name, size_t size,
                       bool *found) {
  struct stat s;
  char *path = malloc(length + size + 2);
  if (!path) return false;
  const bool absolute = size && *name == '/';
  if (absolute) length = 0;
  memcpy(path, folder, length);
  if (length) path[length++] = '/';
  memcpy(path + length, name, size);
  path[length + size] = 0;
  *found = !stat(path, &s);
  const bool may = *found && path_may(x, path);
  free(path);
  return may;
}

/* beside: the file whose folder comes first, or NULL. */
static bool header_may(scan *x, const char *name, size_t size, const char *beside) {
  bool found = false;
  if (beside) {
    const char *slash = strrchr(beside, '/');
    if (joined_may(x, beside, slash ? (size_t)(slash - beside) : 0, name, size, &found))
      return true;
  }
  for (size_t i = 0; i < x->folders->count && !found; ++i) {
    const char *folder = x->folders->folder[i];
    if (joined_may(x, folder, strlen(folder), name, size, &found)) return true;
  }
  return false;
}

static bool text_may(scan *x, const char *text, size_t size, const char *name) {
  if (tc_mentions_annotation(text, size)) return true;
  size_t at = 0;
  for (tc_inclusion next; tc_next_inclusion(text, size, &at, &next);)
    if (header_may(x, next.name, next.size, next.quoted ? name : NULL)) return true;
  return false;
}

bool tc_file_may_be_annotated(const char *text, size_t size, const char *name,
                              const tc_folders *folders) {
  scan x = {.folders = folders};
  const bool may = text_may(&x, text, size, name);
  free(x.seen);
  return may;
}

bool tc_header_may_be_annotated(const char *header, const tc_folders *folders) {
  scan x = {.folders = folders};
  const bool may = header_may(&x, header, strlen(header), "");
  free(x.seen);
  return may;
}
