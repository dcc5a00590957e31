/* images.h - the device code of a unit: one image per kernel, the blobs of several of them packed
 * together in the object's data. */
#ifndef TC_CUDA_IMAGES_H
#define TC_CUDA_IMAGES_H

#include "backends/backend.h"

typedef struct tc_image tc_image;

typedef struct tc_images {
  tc_image *at; /* one per name */
  size_t n, cap;
  uint32_t npack;
  char *problem; /* NULL, or why there are none */
  tc_cache *cache;
  struct tc_building *building;
} tc_images;

/* Copies what it needs of t, once per name; file: that the kernel comes from (tc_loc).  Nothing is
 * added when memory is short: the kernel then has a problem. */
void tc_images_add(tc_images *m, const tc_kernel_text *t, uint32_t file);
/* Compilation goes on between the two. */
void tc_images_start(tc_images *m, const tc_backend *b, const tc_cuda_options *o);
void tc_images_wait(tc_images *m);
/* Why there is no code for that kernel; NULL: there is. */
const char *tc_images_problem(const tc_images *m, const char *name);
/* The kernel is used by a variant that there is. */
void tc_images_use(tc_images *m, const char *name);
/* Adds the images and launchers of the kernels that are used to the host text and their blobs to
 * the data.  together: in packs, for programs that use most of them; else each by itself. */
void tc_images_put(tc_images *m, bool together, tc_texts *out);
void tc_images_free(tc_images *m);

#endif
