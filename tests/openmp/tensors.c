#include "tests/openmp/tensors.h"

#include <string.h>
#include <tcompile.h>

/* One scope is always open; freeing is closing and reopening it. */
static tc_scope scope;
static bool open;

static void ensure_scope(void) {
  if (!open) tc_scope_begin(&scope);
  open = true;
}

void omp_tensors_free(void) {
  if (open) tc_scope_end(&scope);
  open = false;
  tc_clear_error();
  ensure_scope();
}

static tc_ints dims_of(const interp_array *a) {
  tc_ints d = {.n = a->rank};
  for (int i = 0; i < a->rank; ++i) d.v[i] = a->dim[i];
  return d;
}

tc_tensor *omp_tensor(const interp_array *a, bool strided) {
  ensure_scope();
  const tc_dtype wide = a->f ? TC_F64 : TC_I64;
  tc_tensor *t = tc_cast(tc_from(dims_of(a), a->f ? (const void *)a->f : a->i, wide), a->dtype);
  if (!strided || a->rank == 0) return t;
  if (a->rank == TC_MAX_RANK) return t;
  /* the second column of [..., 2] */
  tc_tensor *pair = tc_contiguous(tc_stack((const tc_tensor *const[]){t, t}, 2, a->rank));
  return tc_select(pair, a->rank, 1);
}

interp_array *omp_array(const tc_tensor *t) {
  int64_t dim[TC_MAX_RANK] = {0};
  for (int i = 0; i < tc_rank(t); ++i) dim[i] = tc_size(t, i);
  interp_array *a = interp_new(tc_dtype_of(t), tc_rank(t), dim);
  tc_tensor *wide = tc_contiguous(tc_cast(t, a->f ? TC_F64 : TC_I64));
  if (a->count) memcpy(a->f ? (void *)a->f : a->i, tc_cdata(wide), (size_t)a->count * 8);
  return a;
}
