/* Reading tensors: sizes, elements, comparison. */
#include <inttypes.h>
#include <math.h>

#include "runtime/libtcrt/src/device.h"

/* ---- sizes ----------------------------------------------------------------------------------- */

static bool given(const char *function, const tc_tensor *x) { return tc_given(function, 1, x); }

tc_dtype tc_dtype_of(const tc_tensor *x) {
  return given("tc_dtype_of", x) ? (tc_dtype)x->key.dtype : TC_DTYPE_COUNT;
}

int tc_rank(const tc_tensor *x) { return given("tc_rank", x) ? x->key.rank : -1; }

int64_t tc_size(const tc_tensor *x, int axis) {
  int at = given("tc_size", x) ? tc_check_axis("tc_size", x, axis) : -1;
  return at < 0 ? -1 : x->dim[at];
}

/* Of NULL no list that an op takes: the op's own complaint comes second and is dropped. */
tc_ints tc_shape(const tc_tensor *x) {
  tc_ints dims = {given("tc_shape", x) ? x->key.rank : -1, {0}};
  for (int i = 0; i < dims.n; i++) dims.v[i] = x->dim[i];
  return dims;
}

int64_t tc_stride(const tc_tensor *x, int axis) {
  int at = given("tc_stride", x) ? tc_check_axis("tc_stride", x, axis) : -1;
  return at < 0 ? 0 : x->stride[at];
}

int64_t tc_numel(const tc_tensor *x) { return given("tc_numel", x) ? tc_elements(x) : -1; }

/* Has the program an address of x's elements that it may look at? */
static bool addressable(const char *function, const tc_tensor *x) {
  if (!given(function, x)) return false;
  if (x->key.device == TC_CPU) return true;
  tc_fail(
      "%s: operand 1 is on %s; copy it with tc_to(x, TC_CPU), or take its address on the device "
      "with tc_device_data",
      function, tc_describe_place(tc_place(x)).text);
  return false;
}

void *tc_data(tc_tensor *x) {
  if (!addressable("tc_data", x)) return NULL;
  if (x->key.flags & TC_FLAG_READONLY)
    return tc_fail("tc_data: the memory of operand 1 is read-only; use tc_cdata");
  return x->data;
}

const void *tc_cdata(const tc_tensor *x) { return addressable("tc_cdata", x) ? x->data : NULL; }

tc_device tc_device_of(const tc_tensor *x) {
  return given("tc_device_of", x) ? tc_place(x) : TC_CPU;
}

void *tc_device_data(const tc_tensor *x) {
  if (!given("tc_device_data", x)) return NULL;
  if (x->key.device == TC_CPU) return tc_fail("tc_device_data: operand 1 is on the CPU");
  return x->data;
}

bool tc_is_contiguous(const tc_tensor *x) {
  return x && given("tc_is_contiguous", x) && (x->key.flags & TC_FLAG_CONTIGUOUS);
}

size_t tc_dtype_size(tc_dtype dtype) {
  return (unsigned)dtype < TC_DTYPE_COUNT ? tc_dtype_bytes(dtype) : 0;
}

const char *tc_dtype_name(tc_dtype dtype) {
  return (unsigned)dtype < TC_DTYPE_COUNT ? tc_dtype_text(dtype) : "?";
}

/* ---- elements -------------------------------------------------------------------------------- */

static bool one_element(const char *function, const tc_tensor *x) {
  if (!given(function, x)) return false;
  if (tc_elements(x) == 1) return true;
  tc_fail("%s: %s has not one element", function, tc_describe(x).text);
  return false;
}

static double value_of(const char *function, const tc_tensor *x) {
  tc_tensor *copy;
  const tc_tensor *here = tc_on_host(function, x, &copy);
  double v = here ? tc_scalar_f(here) : (double)NAN;
  tc_free(copy);
  return v;
}

double tc_item(const tc_tensor *x) {
  return one_element("tc_item", x) ? value_of("tc_item", x) : (double)NAN;
}

int64_t tc_item_int(const tc_tensor *x) {
  if (!one_element("tc_item_int", x)) return 0;
  if (tc_is_float((tc_dtype)x->key.dtype)) {
    tc_fail("tc_item_int: %s is no integer; use tc_item", tc_describe(x).text);
    return 0;
  }
  tc_tensor *copy;
  const tc_tensor *here = tc_on_host("tc_item_int", x, &copy);
  int64_t v = here ? tc_scalar_i(here) : 0;
  tc_free(copy);
  return v;
}

double tc_at(const tc_tensor *x, tc_ints index) {
  tc_tensor one;
  if (!given("tc_at", x)) return (double)NAN;
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
  one.key.rank = 0;
  one.key.flags |= TC_FLAG_CONTIGUOUS;
  return value_of("tc_at", &one);
}

/* ---- comparison ------------------------------------------------------------------------------ */

/* Of one shape?  Else an error. */
static bool pair(const char *function, const tc_tensor *a, const tc_tensor *b) {
  if (!tc_given(function, 1, a) || !tc_given(function, 2, b)) return false;
  bool same = a->key.rank == b->key.rank;
  for (int i = 0; i < a->key.rank && same; i++) same = a->dim[i] == b->dim[i];
  if (!same) {
    tc_fail("%s: %s and %s have different shapes", function, tc_describe(a).text,
            tc_describe(b).text);
  }
  return same;
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

/* Of a and b, wherever they are; NaN with an error. */
static double compare(const char *function, const tc_tensor *a, const tc_tensor *b, double rtol) {
  tc_tensor *copy[2] = {NULL, NULL};
  double d = (double)NAN;
  if (!pair(function, a, b)) return d;
  const tc_tensor *x = tc_on_host(function, a, &copy[0]);
  const tc_tensor *y = x ? tc_on_host(function, b, &copy[1]) : NULL;
  if (y) d = largest_excess((tc_seq[]){tc_seq_of(x), tc_seq_of(y)}, tc_elements(a), rtol);
  tc_free(copy[0]);
  tc_free(copy[1]);
  return d;
}

double tc_max_abs_diff(const tc_tensor *a, const tc_tensor *b) {
  return compare("tc_max_abs_diff", a, b, 0);
}

bool tc_allclose(const tc_tensor *a, const tc_tensor *b, double rtol, double atol) {
  return compare("tc_allclose", a, b, rtol) <= atol;
}
