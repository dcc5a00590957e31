/* tensor.h - tensors as ggml has them: sizes innermost first, strides in bytes, a type code, memory
 * that somebody else owns.  Nothing here knows of TCompile but the last two functions. */
#ifndef GGML_STYLE_TENSOR_H
#define GGML_STYLE_TENSOR_H

#include <stddef.h>
#include <stdint.h>

#include <tcompile.h>

enum type { TYPE_F32, TYPE_F64 };

struct tensor {
  enum type type;
  int64_t ne[4]; /* elements, innermost first; 1 for dimensions that it has not */
  size_t nb[4];  /* bytes from one element to the next */
  void *data;
};

/* Memory for many tensors, all freed at once. */
struct pool {
  char *memory;
  size_t used, size;
  uint32_t tensors;
};

/* n0 is the innermost size.  data is NULL where the pool is used up. */
struct tensor tensor_new(struct pool *pool, enum type type, int64_t n0, int64_t n1);
/* Values in [-scale, scale), the same for the same seed. */
void tensor_fill(struct tensor *t, uint32_t seed, double scale);
double tensor_at(const struct tensor *t, int64_t i0, int64_t i1);
void tensor_set(struct tensor *t, int64_t i0, int64_t i1, double value);

/* Outermost first, as tcompile.h has them: a matrix of ne = {columns, rows} is [rows, columns]. */
static inline tc_layout layout_of(const struct tensor *t, int rank) {
  tc_layout l = {.data = t->data, .dtype = t->type == TYPE_F64 ? TC_F64 : TC_F32, .rank = rank};
  for (int i = 0; i < rank; i++) {
    l.dim[rank - 1 - i] = t->ne[i];
    l.stride[rank - 1 - i] = (int64_t)t->nb[i];
  }
  return l;
}
static inline tc_tensor *view(const struct tensor *t, int rank) {
  return tc_wrap_layout(layout_of(t, rank));
}

#endif
