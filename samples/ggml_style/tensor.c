#include "ggml_style/tensor.h"

enum { ALIGNMENT = 64 };

struct tensor tensor_new(struct pool *pool, enum type type, int64_t n0, int64_t n1) {
  const size_t element = type == TYPE_F64 ? 8 : 4;
  const size_t row = element * (size_t)n0, all = row * (size_t)n1;
  struct tensor t = {type, {n0, n1, 1, 1}, {element, row, all, all}, NULL};
  const size_t wanted = (all + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (wanted > pool->size - pool->used) return t;
  t.data = pool->memory + pool->used;
  pool->used += wanted;
  pool->tensors++;
  return t;
}

static char *address(const struct tensor *t, int64_t i0, int64_t i1) {
  return (char *)t->data + i0 * (int64_t)t->nb[0] + i1 * (int64_t)t->nb[1];
}

double tensor_at(const struct tensor *t, int64_t i0, int64_t i1) {
  const char *at = address(t, i0, i1);
  return t->type == TYPE_F64 ? *(const double *)at : (double)*(const float *)at;
}

void tensor_set(struct tensor *t, int64_t i0, int64_t i1, double value) {
  char *at = address(t, i0, i1);
  if (t->type == TYPE_F64) *(double *)at = value;
  else *(float *)at = (float)value;
}

/* Rounded to float, so that tensors of both types hold the same. */
void tensor_fill(struct tensor *t, uint32_t seed, double scale) {
  uint32_t x = seed * 2654435761u + 1;
  for (int64_t i1 = 0; i1 < t->ne[1]; i1++)
    for (int64_t i0 = 0; i0 < t->ne[0]; i0++) {
      x = x * 1664525u + 1013904223u;
      tensor_set(t, i0, i1, (float)(scale * ((x >> 8) / 8388608.0 - 1)));
    }
}
