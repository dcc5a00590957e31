#include "common/save.h"

#include <stdlib.h>
#include <string.h>

#include "common/sample.h"

/* "name":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}, behind a brace or comma */
static void describe(FILE *f, const char *name, const tc_tensor *t, long long at) {
  fprintf(f, "%c\"%s\":{\"dtype\":\"F32\",\"shape\":[", at ? ',' : '{', name);
  for (int i = 0; i < tc_rank(t); i++) fprintf(f, "%s%lld", i ? "," : "", (long long)tc_size(t, i));
  fprintf(f, "],\"data_offsets\":[%lld,%lld]}", at, at + 4LL * tc_numel(t));
}

static bool write_all(FILE *f, int n, const char *const *name, tc_tensor *const *t) {
  char *header = NULL;
  size_t bytes = 0;
  FILE *text = open_memstream(&header, &bytes);
  if (!text) return false;
  long long at = 0;
  for (int i = 0; i < n; at += 4LL * tc_numel(t[i++])) describe(text, name[i], t[i], at);
  fputc('}', text);
  while (ftell(text) % 8) fputc(' ', text); /* elements are aligned */
  bool ok = fclose(text) == 0;
  unsigned char size[8];
  for (int i = 0; i < 8; i++) size[i] = (unsigned char)(bytes >> 8 * i);
  ok = ok && fwrite(size, 1, 8, f) == 8 && fwrite(header, 1, bytes, f) == bytes;
  free(header);
  for (int i = 0; i < n && ok; i++) TC_SCOPE {
      const tc_tensor *here = sample_check(tc_contiguous(tc_to(t[i], TC_CPU)));
      const size_t count = (size_t)tc_numel(here);
      ok = tc_dtype_of(here) == TC_F32 && fwrite(tc_cdata(here), 4, count, f) == count;
    }
  return ok;
}

void save_safetensors(const char *path, int n, const char *const *name, tc_tensor *const *t) {
  FILE *f = fopen(path, "wb");
  bool ok = f && write_all(f, n, name, t);
  if (f) ok = fclose(f) == 0 && ok;
  if (ok) return;
  perror(path);
  exit(1);
}
