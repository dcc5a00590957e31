/* Public functions that are more than one op, or none: *_like, split, in-place ops. */
#include <inttypes.h>
#include <string.h>

#include "runtime/libtcrt/src/eager.h"

/* ---- creation -------------------------------------------------------------------------------- */

tc_tensor *tc_zeros(tc_ints dims, tc_dtype dtype) { return tc_full(dims, 0, dtype); }
tc_tensor *tc_ones(tc_ints dims, tc_dtype dtype) { return tc_full(dims, 1, dtype); }

static tc_tensor *full_like(const char *name, const tc_tensor *x, double value) {
  if (!x) return tc_fail("%s: operand 1 is NULL", name);
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

tc_tensor *tc_scalar(double value) {
  tc_tensor *t = tc_tensor_new(TC_F64, 0, NULL, TC_CPU);
  if (!t) return NULL;
  t->key.flags |= TC_FLAG_WEAK;
  *(double *)t->data = value;
  return t;
}

tc_tensor *tc_clone(const tc_tensor *x) {
  if (!x) return tc_fail("tc_clone: operand 1 is NULL");
  tc_tensor *y = tc_tensor_new((tc_dtype)x->key.dtype, x->key.rank, x->dim, tc_place(x));
  if (!y) return NULL;
  y->key.flags = (uint8_t)(y->key.flags | (x->key.flags & TC_FLAG_WEAK));
  if (tc_pack(x, y->data)) return y;
  tc_free(y);
  return NULL;
}

/* ---- split ----------------------------------------------------------------------------------- */

int tc_split(const tc_tensor *x, int n, int axis, tc_tensor **out) {
  int at;
  if (!x || !out) tc_fail("tc_split: %s is NULL", x ? "out" : "operand 1");
  if (!x || !out || (at = tc_check_axis("tc_split", x, axis)) < 0) return -1;
  int64_t size = x->dim[at];
  if (n <= 0 || size % n) {
    tc_fail("tc_split: size %" PRId64 " of axis %d does not divide in %d pieces", size, at, n);
    return -1;
  }
  for (int i = 0; i < n; i++) {
    out[i] = tc_slice(x, at, i * (size / n), (i + 1) * (size / n), 1);
    if (out[i]) continue;
    while (i > 0) tc_free(out[--i]);
    return -1;
  }
  return n;
}

/* ---- in place -------------------------------------------------------------------------------- */

/* Can x be written, element by element? */
static bool check_target(const char *name, const tc_tensor *x) {
  if (!x) tc_fail("%s: operand 1 is NULL", name);
  else if (x->key.flags & TC_FLAG_READONLY)
    tc_fail("%s: the memory of operand 1 is read-only", name);
  else if (tc_self_overlaps(x))
    tc_fail("%s: elements of operand 1, %s, share memory; clone it first", name,
            tc_describe(x).text);
  else return true;
  return false;
}

static bool check_source(const char *name, const tc_tensor *x, const tc_tensor *y) {
  if (!y) {
    tc_fail("%s: operand 2 is NULL", name);
    return false;
  }
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
  if (!check_target("tc_copy_", x) || !check_source("tc_copy_", x, src)) return NULL;
  if (identical(x, src)) return x;
  tc_tensor *copy = overlap(x, src) ? tc_clone(src) : NULL;
  if (!copy && overlap(x, src)) return NULL;
  bool done = tc_assign(x, copy ? copy : src);
  tc_free(copy);
  return done ? x : NULL;
}

tc_tensor *tc_fill_(tc_tensor *x, double value) {
  if (!check_target("tc_fill_", x)) return NULL;
  return tc_assign_f(x, value) ? x : NULL;
}

/* y as an operand next to x: of x's dtype, and apart from x's memory unless it is x. */
static bool converts(const tc_tensor *x, const tc_tensor *y) {
  return y->key.dtype != x->key.dtype || (overlap(x, y) && !identical(x, y));
}

/* x = x op y.  The op runs straight into x on the CPU where it gives x's dtype; else its result is
 * converted. */
static tc_tensor *update(const char *name, tc_op op, tc_tensor *x, const tc_tensor *y) {
  if (!check_target(name, x) || !check_source(name, x, y)) return NULL;
  tc_tensor *copy = NULL;
  if (converts(x, y)) {
    copy = tc_cast(y, (tc_dtype)x->key.dtype);
    if (!copy) return NULL;
    y = copy;
  }
  const tc_tensor *operand[2] = {x, y};
  bool done;
  if ((op == OP_DIV && !tc_is_float((tc_dtype)x->key.dtype)) || x->key.device != TC_CPU) {
    tc_tensor *result = tc_eager_op(name, op, 2, operand);
    done = result && tc_assign(x, result);
    tc_free(result);
  } else {
    done = tc_eager_into(name, op, 2, operand, x);
  }
  tc_free(copy);
  return done ? x : NULL;
}

tc_tensor *tc_add_(tc_tensor *x, const tc_tensor *y) { return update("tc_add_", OP_ADD, x, y); }
tc_tensor *tc_sub_(tc_tensor *x, const tc_tensor *y) { return update("tc_sub_", OP_SUB, x, y); }
tc_tensor *tc_mul_(tc_tensor *x, const tc_tensor *y) { return update("tc_mul_", OP_MUL, x, y); }
tc_tensor *tc_div_(tc_tensor *x, const tc_tensor *y) { return update("tc_div_", OP_DIV, x, y); }
