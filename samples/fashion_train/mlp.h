/* mlp.h - the network of this sample, 784-H-10, and its images: what fashion_train and fashion_predict share. */
#ifndef SAMPLE_MLP_H
#define SAMPLE_MLP_H

#include <tcompile.h>

#include "common/idx.h"
#include "common/sample.h"

enum { PIXELS = 784, CLASSES = 10, PARAMETERS = 4 };

typedef struct network {
  tc_tensor *w1 TC_SHAPE("f32[784,H]"), *b1 TC_SHAPE("f32[H]");
  tc_tensor *w2 TC_SHAPE("f32[H,10]"), *b2 TC_SHAPE("f32[10]");
} network;

typedef struct images {
  tc_tensor *pixels TC_SHAPE("u8[N,784]");
  tc_tensor *classes TC_SHAPE("i64[N]"); /* 0..9 */
} images;

/* `set`: "train", 60,000 images, or "t10k", 10,000 others; at most `most` of them. */
static inline images load_images(const char *folder, const char *set, int64_t most) {
  char file[64];
  snprintf(file, sizeof file, "%s-images-idx3-ubyte.gz", set);
  tc_tensor *pixels = tc_flatten(idx_load(folder, file, most), 1, 2);
  snprintf(file, sizeof file, "%s-labels-idx1-ubyte.gz", set);
  tc_tensor *classes = tc_cast(idx_load(folder, file, most), TC_I64);
  return (images){sample_check(pixels), sample_check(classes)};
}

/* u8[B,784] to f32[B,10]; the softmax of a row is how likely each class is. */
static inline tc_tensor *logits(const network *n, const tc_tensor *pixels) {
  tc_tensor *x = tc_div_s(tc_cast(pixels, tc_dtype_of(n->w1)), 255);
  tc_tensor *h = tc_relu(tc_add(tc_matmul(x, n->w1), n->b1));
  return tc_add(tc_matmul(h, n->w2), n->b2);
}

/* The likeliest classes, i64[N]. */
TC_COMPILE static inline tc_tensor *classify(const network *n,
                                             const tc_tensor *pixels TC_SHAPE("u8[N,784]")) {
  return tc_argmax(logits(n, pixels), TC_AXES(1), false);
}

#endif
