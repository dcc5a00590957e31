/* items.c - the items of a thread (TC_L neighbouring points each): how many there are, where they
 * are, and the loop over those at hand. */
#include "backends/cuda/nest/nest.h"

/* Items along one axis. */
static void put_items(tc_cuda_nest *x, int axis, tc_buf *out) {
  tc_putf(out, "(");
  tc_print_extent(&x->s, &x->nest->axis[axis], out);
  tc_put(out, axis == x->nest->vector && axis == x->s.vector && !x->dense ? ") / TC_L" : ")");
}

void tc_cuda_put_count(tc_cuda_nest *x, uint32_t axes, tc_buf *out) {
  bool any = false;
  for (int i = 0; i < x->nest->naxis; ++i) {
    if (!(axes >> i & 1)) continue;
    tc_put(out, any ? " * (" : "(");
    put_items(x, i, out);
    tc_put(out, ")");
    any = true;
  }
  if (!any) tc_put(out, "1");
  if (x->dense) tc_put(out, " / TC_L");
}

/* Axes in the order in which they are decoded from the last to the first. */
static int list_axes(const tc_cuda_nest *x, uint32_t axes, int list[TC_MAX_AXES]) {
  int n = 0;
  for (int i = 0; i < x->nest->naxis; ++i) /* the vector axis is the fastest */
    if ((axes >> i & 1) && i != x->s.vector) list[n++] = i;
  if (x->s.vector >= 0 && (axes >> x->s.vector & 1)) list[n++] = x->s.vector;
  return n;
}

void tc_cuda_put_divisors(tc_cuda_nest *x, uint32_t axes) {
  int list[TC_MAX_AXES];
  const int n = list_axes(x, axes, list);
  x->divisors = 0;
  for (int j = n - 1; j > 0; --j) {
    const tc_axis *a = &x->nest->axis[list[j]];
    if (tc_dim_is_const(a->extent) && a->of < 0) continue;
    tc_buf e = {0};
    put_items(x, list[j], &e);
    tc_print_line(&x->s, "const tc_divisor<tc_int> n%d((tc_int)(%s));", list[j],
                  e.text ? e.text : "1");
    tc_buf_free(&e);
    x->divisors |= 1u << list[j];
  }
}

void tc_cuda_put_decode_by(tc_cuda_nest *x, uint32_t axes, const char *item, const char *rest) {
  int list[TC_MAX_AXES];
  const int n = list_axes(x, axes, list);
  if (n > 1) tc_print_line(&x->s, "tc_int %s = %s;", rest, item);
  for (int j = n - 1; j >= 0; --j) {
    const int i = list[j];
    const char *name = x->axis_text[i], *lanes = i == x->s.vector && !x->dense ? " * TC_L" : "";
    const char *from = n > 1 ? rest : item;
    if (j == 0) {
      tc_print_line(&x->s, "const tc_int %s = %s%s;", name, from, lanes);
      continue;
    }
    if (x->divisors >> i & 1) {
      tc_print_line(&x->s, "const tc_int %s = n%d.split(&%s)%s;", name, i, rest, lanes);
      continue;
    }
    tc_buf e = {0};
    put_items(x, i, &e);
    const char *n_items = e.text ? e.text : "1";
    tc_print_line(&x->s, "const tc_int %s = tc_rest_of(%s, (tc_int)(%s))%s;", name, rest,
                  n_items, lanes);
    tc_print_line(&x->s, "%s = tc_times_in(%s, (tc_int)(%s));", rest, rest, n_items);
    tc_buf_free(&e);
  }
}

void tc_cuda_put_decode(tc_cuda_nest *x, uint32_t axes, const char *item) {
  tc_cuda_put_decode_by(x, axes, item, "rest");
}

void tc_cuda_open_items(tc_cuda_nest *x, const tc_cuda_loop *w, const char *base) {
  tc_print_line(&x->s, "TC_UNROLL for (int u = 0; u < %s; ++u) {", x->unroll);
  x->s.indent += 2;
  tc_print_line(&x->s, w->clamped && x->whole ? "const tc_int item = TC_MIN(%s + u * %s, items - 1);" : "const tc_int item = %s + u * %s;",
                base, w->step);
  if (!x->whole) tc_print_line(&x->s, "if (item < items) {");
  x->s.indent += x->whole ? 0 : 2;
  if (x->unaligned) {
    tc_print_line(&x->s, "const tc_int %s = head + item * TC_L;", x->axis_text[x->nest->vector]);
    return;
  }
  for (int i = 0; i < x->nest->naxis; ++i)
    if (x->decoded && (w->axes >> i & 1))
      tc_print_line(&x->s, "const tc_int %s = k%d[u];", x->axis_text[i], i);
  if (!x->decoded) tc_cuda_put_decode(x, w->axes, x->dense ? "item * TC_L" : "item");
  int list[TC_MAX_AXES];
  if (x->dense) tc_cuda_put_lane_indices(x, list, list_axes(x, w->axes, list));
}

void tc_cuda_close_items(tc_cuda_nest *x) {
  x->s.indent -= x->whole ? 0 : 2;
  if (!x->whole) tc_print_line(&x->s, "}");
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}
