#include "common/idx.h"

#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "common/sample.h"

enum { MOST_RANK = 3 };

static void stop(const char *path, const char *what) {
  fprintf(stderr,
          "%s: %s\nThis sample reads the Fashion-MNIST images of Debian's package "
          "dataset-fashion-mnist "
          "(apt install dataset-fashion-mnist), or of a folder given with --data.\n",
          path, what);
  exit(1);
}

static void read_bytes(gzFile f, const char *path, void *out, int64_t n) {
  if (n > INT32_MAX || gzread(f, out, (unsigned)n) != (int)n) stop(path, "the file ends early");
}

tc_tensor *idx_load(const char *folder, const char *file, int64_t most) {
  char path[1024];
  unsigned char head[4], size[4];
  tc_ints dims = {0};
  snprintf(path, sizeof path, "%s/%s", folder, file);
  gzFile f = gzopen(path, "rb");
  if (!f) stop(path, "cannot be opened");
  read_bytes(f, path, head, 4);
  if (head[0] || head[1] || head[2] != 8 || head[3] < 1 || head[3] > MOST_RANK)
    stop(path, "is not an idx file of unsigned bytes");
  for (dims.n = 0; dims.n < head[3]; dims.n++) {
    read_bytes(f, path, size, 4);
    dims.v[dims.n] = (int64_t)size[0] << 24 | size[1] << 16 | size[2] << 8 | size[3];
  }
  if (dims.v[0] > most) dims.v[0] = most;
  int64_t bytes = 1;
  for (int i = 0; i < dims.n; i++) bytes *= dims.v[i];
  void *data = malloc((size_t)bytes + 1);
  if (!data) stop(path, "needs more memory than there is");
  read_bytes(f, path, data, bytes);
  gzclose(f);
  tc_tensor *read = tc_wrap_const(dims, NULL, data, TC_U8);
  tc_tensor *here = sample_check(tc_to(tc_clone(read), tc_default_device()));
  tc_free(read);
  free(data);
  return here;
}
