/* fashion - 70,000 photographs of clothes in ten classes (Xiao, Rasul, Vollgraf 2017), classified
 * three ways: nearest centroid, whitened nearest centroid, and a network with random features. */
#include "fashion.h"
#include "common/idx.h"
#include "common/sample.h"

#include <stdlib.h>

/* u8[N,28,28] to f32[N,784] in [0,1]. */
TC_COMPILE static tc_tensor *pixels(const tc_tensor *raw TC_SHAPE("u8[N,28,28]")) {
  return tc_div_s(tc_cast(tc_flatten(raw, 1, 2), TC_F32), 255);
}

static images load(const char *folder, const char *set, int64_t most) {
  char file[64];
  snprintf(file, sizeof file, "%s-images-idx3-ubyte.gz", set);
  tc_tensor *raw = idx_load(folder, file, most);
  snprintf(file, sizeof file, "%s-labels-idx1-ubyte.gz", set);
  tc_tensor *label = idx_load(folder, file, most);
  return (images){sample_check(pixels(raw)), sample_check(tc_cast(label, TC_I64))};
}

static images first(const images *all, int64_t n) {
  return (images){sample_check(tc_slice(all->x, 0, 0, n, 1)),
                  sample_check(tc_slice(all->y, 0, 0, n, 1))};
}

int main(int argc, char **argv) {
  sample_begin(argc, argv, "[--data FOLDER] [--images N]");
  const char *folder = sample_option("--data", FASHION_MNIST);
  int64_t n = strtoll(sample_option("--images", "10000"), NULL, 10);
  if (n < 1000) return fprintf(stderr, "--images wants 1000 or more\n"), 2;
  TC_SCOPE {
    images train = load(folder, "train", 60000), test = load(folder, "t10k", 10000);
    images some = first(&train, n); /* for the fits that take a second and more op by op */
    run_centroids(&train, &test);
    run_whitening(&some, &test);
    run_network(&some, &test);
  }
}
