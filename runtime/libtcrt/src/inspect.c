/* Reading tensors: sizes, elements, comparison. */
#include <inttypes.h>
#include <math.h>

#include "runtime/libtcrt/src/eager.h"

/* ---- sizes -------------------------------------------------------------------------------- */

static bool given(const char *function, const tc_tensor *x) {
  if (!x) tc_fail("%s: operand 1 is NULL", function);
  return x != NULL;
}

tc_dtype tc_dtype_of(const tc_tensor *x) {
  return given("tc_dtype_of", x) ? (tc_dtype)x->key.dtype : TC_DTYPE_COUNT;
}

int tc_rank(const tc_tensor *x) { return given("tc_rank", x) ? x->key.rank : -1; }

int64_t tc_size(const tc_tensor *x, int axis) {
  int at = given("tc_size", x) ? tc_check_axis("tc_size", x, axis) : -1;
  return at < 0 ? -1 : x->dim[at];
}

int64_t tc_stride(const tc_tensor *x, int axis) {
  int at = given("tc_stride", x) ? tc_check_axis("tc_stride", x, axis) : -1;
  return at < 0 ? 0 : x->stride[at];
}

int64_t tc_numel(const tc_tensor *x) { return given("tc_numel", x) ? tc_elements(x) : -1; }

void *tc_data(tc_tensor *x) {
  if (!given("tc_data", x)) return NULL;
  if (x->key.flags & TC_FLAG_READONLY)
    return tc_fail("tc_data: the memory of operand 1 is read-only; use tc_cdata");
  return x->data;
}

const void *tc_cdata(const tc_tensor *x) { return given("tc_cdata", x) ? x->data : NULL; }

bool tc_is_contiguous(const tc_tensor *x) { return x && (x->key.flags & TC_FLAG_CONTIGUOUS); }

size_t tc_dtype_size(tc_dtype dtype) {
  return (unsigned)dtype < TC_DTYPE_COUNT ? tc_dtype_bytes(dtype) : 0;
}

const char *tc_dtype_name(tc_dtype dtype) {
  return (unsigned)dtype < TC_DTYPE_COUNT ? tc_dtype_text(dtype) : "?";
}

/* ---- elements ----------------------------------------------------------------------------- */

static bool one_element(const char *function, const tc_tensor *x) {
  if (!given(function, x)) return false;
  if (x->key.device != TC_CPU) tc_fail("%s: the tensor is not on the CPU", function);
  else if (tc_elements(x) != 1)
    tc_fail("%s: %s has not one element", function, tc_describe(x).text);
  else return true;
  return false;
}

double tc_item(const tc_tensor *x) {
  return one_element("tc_item", x) ? tc_scalar_f(x) : (double)NAN;
}

int64_t tc_item_int(const tc_tensor *x) {
  if (!one_element("tc_item_int", x)) return 0;
  if (!tc_is_float((tc_dtype)x->key.dtype)) return tc_scalar_i(x);
  tc_fail("tc_item_int: %s is no integer; use tc_item", tc_describe(x).text);
  return 0;
}

double tc_at(const tc_tensor *x, tc_ints index) {
  tc_tensor one;
  if (!given("tc_at", x)) return (double)NAN;
  if (x->key.device != TC_CPU) return tc_fail("tc_at: the tensor is not on the CPU"), (double)NAN;
  if (index.n != x->key.rank)
    return tc_fail("tc_at: %d indices for %s", index.n, tc_describe(x).text), (double)NAN;
  one = tc_alias(x);
  for (int i = 0; i < index.n; i++) {
    int64_t at = index.v[i] < 0 ? index.v[i] + x->dim[i] : index.v[i];
    if (at < 0 || at >= x->dim[i]) {
      tc_fail("tc_at: index %" PRId64 " of axis %d is out of range for %s", index.v[i], i,
              tc_describe(x).text);
      return (double)NAN;
    }
    one.data = (char *)one.data + at * x->stride[i] * (int64_t)tc_dtype_bytes(x->key.dtype);
  }
  return tc_scalar_f(&one);
}

/* ---- comparison --------------------------------------------------------------------------- */

/* Both walks over the common shape, or an error. */
static bool pair(const char *function, const tc_tensor *a, const tc_tensor *b, tc_seq s[2]) {
  if (!a || !b) return given(function, a) && given(function, b);
  bool same = a->key.rank == b->key.rank && a->key.device == TC_CPU && b->key.device == TC_CPU;
  for (int i = 0; i < a->key.rank && same; i++) same = a->dim[i] == b->dim[i];
  if (!same) {
    tc_fail("%s: %s and %s have different shapes", function, tc_describe(a).text,
            tc_describe(b).text);
    return false;
  }
  s[0] = tc_seq_of(a);
  s[1] = tc_seq_of(b);
  return true;
}

/* |a-b|, where equal infinities and two NaN do not differ, and one NaN differs infinitely. */
static double distance(double a, double b) {
  if (a == b || (a != a && b != b)) return 0;
  double d = fabs(a - b);
  return d != d ? INFINITY : d;
}

/* Largest excess |a-b| - rtol |b| over the elements, or 0. */
static double largest_excess(const tc_seq s[2], int64_t total, double rtol) {
  double largest = 0;
  for (int64_t start = 0; start < total; start += TC_BLOCK) {
    int64_t n = total - start < TC_BLOCK ? total - start : TC_BLOCK;
    double a[TC_BLOCK], b[TC_BLOCK];
    tc_seq_read_f(&s[0], start, n, a);
    tc_seq_read_f(&s[1], start, n, b);
    for (int64_t i = 0; i < n; i++) {
      double d = distance(a[i], b[i]);
      if (d > 0 && isfinite(d)) d -= rtol * fabs(b[i]);
      largest = d > largest ? d : largest;
    }
  }
  return largest;
}

double tc_max_abs_diff(const tc_tensor *a, const tc_tensor *b) {
  tc_seq s[2];
  return pair("tc_max_abs_diff", a, b, s) ? largest_excess(s, tc_elements(a), 0) : (double)NAN;
}

bool tc_allclose(const tc_tensor *a, const tc_tensor *b, double rtol, double atol) {
  tc_seq s[2];
  return pair("tc_allclose", a, b, s) && largest_excess(s, tc_elements(a), rtol) <= atol;
}
