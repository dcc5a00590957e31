/* Public functions that are more than one op, or none: *_like, split, writes in place. */
#include <inttypes.h>
#include <string.h>

#include "autodiff/autodiff.h"
#include "graph/ops/scalar.h"
#include "runtime/libtcrt/src/autograd/tape.h"
#include "runtime/libtcrt/src/dispatch.h"

/* Does the dtype hold the number that is to fill a tensor? */
static bool check_value(const char *name, tc_dtype dtype, double value) {
  char why[TC_SCALAR_TEXT];
  tc_scalar_value v;
  return tc_scalar_fit(&(tc_op){OP_FULL}, dtype, value, &v, why) || tc_fail("%s: %s", name, why);
}

/* ---- creation -------------------------------------------------------------------------------- */

tc_tensor *tc_zeros(tc_ints dims, tc_dtype dtype) {
  return tc_call_as("tc_zeros", TC_API_tc_full, &dims, 0.0, (int64_t)dtype);
}

tc_tensor *tc_ones(tc_ints dims, tc_dtype dtype) {
  return tc_call_as("tc_ones", TC_API_tc_full, &dims, 1.0, (int64_t)dtype);
}

static tc_tensor *full_like(const char *name, const tc_tensor *x, double value) {
  if (!tc_given(name, 1, x)) return NULL;
  if (!check_value(name, (tc_dtype)x->key.dtype, value)) return NULL;
  tc_tensor *y = tc_tensor_new((tc_dtype)x->key.dtype, x->key.rank, x->dim, tc_place(x));
  if (!y || tc_assign_f(y, value)) return y;
  tc_free(y);
  return NULL;
}

tc_tensor *tc_zeros_like(const tc_tensor *x) { return full_like("tc_zeros_like", x, 0); }
tc_tensor *tc_ones_like(const tc_tensor *x) { return full_like("tc_ones_like", x, 1); }
tc_tensor *tc_full_like(const tc_tensor *x, double value) {
  return full_like("tc_full_like", x, value);
}

static tc_tensor *weak_scalar(tc_dtype dtype) {
  tc_tensor *t = tc_tensor_new(dtype, 0, NULL, TC_CPU);
  if (t) t->key.flags |= TC_FLAG_WEAK;
  return t;
}

tc_tensor *(tc_scalar)(double value) { /* the header's macro goes by type */
  tc_tensor *t = weak_scalar(TC_F64);
  if (t) *(double *)t->data = value;
  return t;
}

tc_tensor *tc_scalar_int(int64_t value) {
  tc_tensor *t = weak_scalar(TC_I64);
  if (t) *(int64_t *)t->data = value;
  return t;
}

tc_tensor *tc_clone(const tc_tensor *x) {
  if (!tc_given("tc_clone", 1, x)) return NULL;
  tc_tensor *y = tc_tensor_new((tc_dtype)x->key.dtype, x->key.rank, x->dim, tc_place(x));
  if (!y) return NULL;
  y->key.flags = (uint8_t)(y->key.flags | (x->key.flags & TC_FLAG_WEAK));
  if (tc_pack(x, y->data)) return tc_tape_identity("tc_clone", x, y);
  tc_free(y);
  return NULL;
}

/* ---- split ----------------------------------------------------------------------------------- */

static bool can_split(const tc_tensor *x, int n, int at) {
  if (n > 0 && x->dim[at] % n == 0) return true;
  tc_fail("tc_split: size %" PRId64 " of axis %d does not divide in %d pieces", x->dim[at], at, n);
  return false;
}

/* Either all pieces or NULLs. */
int tc_split(const tc_tensor *x, int n, int axis, tc_tensor **out) {
  if (!out) tc_fail("tc_split: out is NULL");
  for (int i = 0; out && i < n; i++) out[i] = NULL;
  int at = out && tc_given("tc_split", 1, x) ? tc_check_axis("tc_split", x, axis) : -1;
  if (at < 0 || !can_split(x, n, at)) return -1;
  const int64_t size = x->dim[at] / n;
  for (int i = 0; i < n; i++) {
    out[i] = tc_slice(x, at, i * size, (i + 1) * size, 1);
    if (out[i]) continue;
    for (; i > 0; out[i] = NULL) tc_free(out[--i]);
    return -1;
  }
  return n;
}

/* ---- in place -------------------------------------------------------------------------------- */

/* Can x be written, element by element? */
static bool check_target(const char *name, const tc_tensor *x) {
  if (!tc_given(name, 1, x)) return false;
  if (x->key.flags & TC_FLAG_READONLY) tc_fail("%s: the memory of operand 1 is read-only", name);
  else if (tc_self_overlaps(x))
    tc_fail("%s: elements of operand 1, %s, share memory; clone it first", name,
            tc_describe(x).text);
  else return true;
  return false;
}

/* Does y, operand i, broadcast to x? */
static bool check_source(const char *name, int i, const tc_tensor *x, const tc_tensor *y) {
  if (!tc_given(name, i + 1, y)) return false;
  bool fits = y->key.rank <= x->key.rank;
  for (int i = 0; i < y->key.rank && fits; i++) {
    int64_t size = x->dim[x->key.rank - y->key.rank + i];
    fits = y->dim[i] == 1 || y->dim[i] == size;
  }
  if (!fits)
    tc_fail("%s: %s does not broadcast to %s", name, tc_describe(y).text, tc_describe(x).text);
  return fits;
}

static bool overlap(const tc_tensor *a, const tc_tensor *b) {
  uintptr_t a0, a1, b0, b1;
  return tc_place(a) == tc_place(b) && tcrt_extent(a, &a0, &a1) && tcrt_extent(b, &b0, &b1) &&
         a0 <= b1 && b0 <= a1;
}

/* Does reading element k of y before writing element k of x suffice? */
static bool identical(const tc_tensor *a, const tc_tensor *b) {
  bool same = a->data == b->data && tc_place(a) == tc_place(b) && a->key.rank == b->key.rank &&
              a->key.dtype == b->key.dtype;
  for (int i = 0; i < a->key.rank && same; i++)
    same = a->dim[i] == b->dim[i] && (a->dim[i] == 1 || a->stride[i] == b->stride[i]);
  return same;
}

tc_tensor *tc_copy_(tc_tensor *x, const tc_tensor *src) {
  if (!check_target("tc_copy_", x) || !check_source("tc_copy_", 1, x, src)) return NULL;
  if (identical(x, src) && (x->autograd == src->autograd || !tc_tape_records(x, src))) return x;
  tc_tensor *copy = overlap(x, src) ? tc_clone(src) : NULL;
  if (!copy && overlap(x, src)) return NULL;
  bool done = tc_tape_assign("tc_copy_", x, copy ? copy : src, false);
  tc_free(copy);
  return done ? x : NULL;
}

tc_tensor *tc_fill_(tc_tensor *x, double value) {
  if (!check_target("tc_fill_", x) || !check_value("tc_fill_", (tc_dtype)x->key.dtype, value))
    return NULL;
  return tc_tape_fill("tc_fill_", x, value) ? x : NULL;
}

tc_tensor *tc_zero_(tc_tensor *x) {
  if (!check_target("tc_zero_", x)) return NULL;
  return tc_tape_fill("tc_zero_", x, 0) ? x : NULL;
}

enum { MAX_OPERANDS = 3 };

/* Does a gradient of the op need what operand i is? */
static bool is_saved(tc_op op, int nin, const tc_tensor *const *in, int i) {
  for (int k = 0; k < nin && !tc_tape_off; k++)
    if (in[k] && in[k]->autograd && tc_autodiff_reads(op, k, i)) return true;
  return false;
}

/* y as an operand next to x: of x's dtype or a mask, and apart from x's memory unless it is x and
 * needs not stay. */
static const tc_tensor *beside(const tc_tensor *x, const tc_tensor *y, bool stays,
                               tc_tensor **copy) {
  bool other = y->key.dtype != x->key.dtype && y->key.dtype != TC_BOOL;
  bool apart = !overlap(x, y) || (!stays && identical(x, y));
  if (!other && apart) return y;
  return *copy = other ? tc_cast(y, (tc_dtype)x->key.dtype) : tc_clone(y);
}

bool tc_update(const char *name, tc_op op, int nin, const tc_tensor *const *in, tc_tensor *x) {
  const tc_tensor *operand[MAX_OPERANDS];
  tc_tensor *copy[MAX_OPERANDS] = {NULL};
  bool done = check_target(name, x);
  for (int i = 0; i < nin && done; i++) {
    done = check_source(name, i, x, in[i]);
    operand[i] = done ? beside(x, in[i], is_saved(op, nin, in, i), &copy[i]) : NULL;
    done = operand[i] != NULL;
  }
  done = done && tc_eager_update(name, op, nin, operand, x);
  for (int i = 0; i < nin; i++) tc_free(copy[i]);
  return done;
}
