/* files.c - whole files, and the folder of those on the way. */
#define _GNU_SOURCE /* mkdtemp, nftw */
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/export/export.h"

bool export_read(const char *path, tc_buf *out) {
  FILE *f = fopen(path, "rb");
  if (!f) return export_fail("%s: %s", path, strerror(errno));
  char part[65536];
  for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;) tc_putn(out, part, n);
  const bool ok = !ferror(f) && !out->failed;
  fclose(f);
  return ok || export_fail("%s cannot be read", path);
}

bool export_write(const char *path, const void *bytes, size_t n) {
  FILE *f = fopen(path, "wb");
  bool ok = f && (!n || fwrite(bytes, 1, n, f) == n);
  if (f && fclose(f)) ok = false;
  return ok || export_fail("%s: %s", path, strerror(errno));
}

bool export_exists(const char *path) { return !access(path, F_OK); }

bool export_place(const char *from, const char *to) {
  tc_buf bytes = {0}, beside = {0};
  tc_putf(&beside, "%s.%ld", to, (long)getpid());
  bool ok = export_read(from, &bytes) && !beside.failed &&
            export_write(beside.text, bytes.text ? bytes.text : "", bytes.len);
  if (ok && rename(beside.text, to)) ok = export_fail("%s: %s", to, strerror(errno));
  if (!ok && beside.text) unlink(beside.text);
  tc_buf_free(&bytes);
  tc_buf_free(&beside);
  return ok;
}

bool export_begin_folder(export_request *r) {
  const char *where = getenv("TMPDIR");
  char *folder = (char *)export_text(r, "%s/tc-export-XXXXXX", where && *where ? where : "/tmp");
  if (!*folder || !mkdtemp(folder)) return export_fail("%s: %s", folder, strerror(errno));
  r->folder = folder;
  return true;
}

static int erase(const char *path, const struct stat *st, int kind, struct FTW *at) {
  (void)st, (void)kind, (void)at;
  remove(path);
  return 0;
}

void export_end_folder(const export_request *r) {
  if (r->folder) nftw(r->folder, erase, 8, FTW_DEPTH | FTW_PHYS);
}
