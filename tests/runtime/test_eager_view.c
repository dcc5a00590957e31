/* Views, joining and moving. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include <tcompile.h>

#include "layouts.h"

/* 0, 1, 2, ... in the shape */
static tc_tensor *counting(tc_ints dims) {
  int64_t n = 1;
  for (int i = 0; i < dims.n; i++) n *= dims.v[i];
  return tc_reshape(tc_arange(n, 0, 1, TC_I32), dims);
}

/* Elements of x in row-major order as text: "0 3 1 4". */
static const char *text(const tc_tensor *x) {
  static char out[1024];
  size_t n = 0;
  out[0] = 0;
  if (!x) return tc_error();
  if (tc_numel(x) == 0) return "";
  tc_ints at = first_index(x);
  do n += (size_t)snprintf(out + n, sizeof out - n, n ? " %g" : "%g", tc_at(x, at));
  while (next_index(&at, x));
  return out;
}

#define EXPECT(x, elements) cr_expect_str_eq(text(x), elements)

Test(view, share_memory) {
  TC_SCOPE {
    tc_tensor *x = counting(TC_DIMS(2, 3));
    tc_tensor *views[] = {
        tc_transpose(x, 0, 1),  tc_slice(x, 1, 0, 3, 2),      tc_select(x, 0, 0),
        tc_flip(x, TC_AXES(0)), tc_reshape(x, TC_DIMS(3, 2)), tc_expand(x, TC_DIMS(4, 2, 3)),
        tc_unsqueeze(x, 0),     tc_flatten(x, 0, 1),          tc_contiguous(x)};
    for (int i = 0; i < 9; i++) cr_expect_eq(views[i]->storage, x->storage, "%d", i);
    tc_fill_(x, 5);
    EXPECT(views[0], "5 5 5 5 5 5");
    cr_expect_neq(tc_contiguous(views[0])->storage, x->storage);
  }
}

/* What tc_reshape or tc_contiguous makes of x, and where: in a view of x, or in the copy that the kernels
 * made.  x stays as it is. */
static void same_as_eager(const tc_tensor *x, tc_ints dims, bool contiguous) {
  tc_tensor *copy = tc_zeros(dims, TC_I32);
  const struct tc_storage *made = copy->storage;
  tc_tensor *eager = contiguous ? tc_contiguous(x) : tc_reshape(x, dims);
  tc_tensor *y = tcrt_view_or_copy(x, copy, contiguous);
  const bool shared = eager->storage == x->storage;
  cr_expect(y && y != x && y->storage == (shared ? x->storage : made));
  cr_expect(shared ? y != copy : y == copy);
  for (int i = 0; i < dims.n; i++)
    cr_expect(y->dim[i] == dims.v[i] && (dims.v[i] < 2 || y->stride[i] == eager->stride[i]));
}

Test(view, or_copy) {
  TC_SCOPE {
    tc_tensor *x = counting(TC_DIMS(2, 3, 4)), *row = counting(TC_DIMS(1, 6));
    same_as_eager(x, TC_DIMS(6, 4), false);
    same_as_eager(x, TC_DIMS(2, 3, 4), true);
    same_as_eager(tc_transpose(x, 0, 1), TC_DIMS(6, 4), false);
    same_as_eager(tc_transpose(x, 0, 1), TC_DIMS(3, 2, 2, 2), false);
    same_as_eager(tc_transpose(x, 0, 1), TC_DIMS(3, 2, 4), true);
    same_as_eager(tc_slice(x, 2, 0, 4, 2), TC_DIMS(6, 2), false);
    same_as_eager(tc_slice(x, 2, 0, 4, 2), TC_DIMS(2, 3, 2), true);
    same_as_eager(tc_transpose(row, 0, 1), TC_DIMS(6, 1), true);
    same_as_eager(tc_slice(tc_transpose(x, 0, 2), 0, 2, 2, 1), TC_DIMS(0, 3, 2), true);
    cr_expect_null(tcrt_view_or_copy(NULL, counting(TC_DIMS(2)), true));
    cr_expect_null(tc_error());
  }
}

Test(view, elements) {
  TC_SCOPE {
    tc_tensor *x = counting(TC_DIMS(2, 3)), *c = counting(TC_DIMS(2, 2, 2));
    EXPECT(tc_transpose(x, 0, -1), "0 3 1 4 2 5");
    EXPECT(tc_permute(c, TC_AXES(2, 0, -2)), "0 2 4 6 1 3 5 7");
    EXPECT(tc_slice(x, 1, 1, 3, 1), "1 2 4 5");
    EXPECT(tc_slice(x, -1, 0, INT64_MAX, 2), "0 2 3 5");
    EXPECT(tc_slice(x, 1, -1, INT64_MIN, -1), "2 1 0 5 4 3");
    EXPECT(tc_slice(x, 1, -2, -1, 1), "1 4");
    EXPECT(tc_slice(x, 1, 2, 1, 1), "");
    EXPECT(tc_slice(x, 1, 7, 9, 1), "");
    EXPECT(tc_slice(x, 0, -9, 9, 5), "0 1 2");
    EXPECT(tc_select(x, 1, -1), "2 5");
    EXPECT(tc_unfold(x, 1, 2, 1), "0 1 1 2 3 4 4 5");
    EXPECT(tc_unfold(x, -2, 1, 2), "0 1 2");
    EXPECT(tc_unfold(tc_flip(x, TC_AXES(1)), 1, 2, 1), "2 1 1 0 5 4 4 3");
    EXPECT(tc_unfold(x, 1, 0, 2), "");
    EXPECT(tc_unfold(c, 0, 2, 5), "0 4 1 5 2 6 3 7");
    EXPECT(tc_flip(x, TC_AXES(0, 1)), "5 4 3 2 1 0");
    EXPECT(tc_flip(x, TC_ALL), "5 4 3 2 1 0");
    EXPECT(tc_expand(tc_select(x, 0, 1), TC_DIMS(2, -1)), "3 4 5 3 4 5");
    EXPECT(tc_reshape(tc_transpose(x, 0, 1), (tc_ints){1, {-1}}), "0 3 1 4 2 5");
    EXPECT(tc_flatten(c, 1, 2), "0 1 2 3 4 5 6 7");
    EXPECT(tc_squeeze(tc_unsqueeze(x, 1), 1), "0 1 2 3 4 5");
    cr_expect_null(tc_error());
  }
}

Test(view, reshape_is_a_view_where_strides_allow) {
  TC_SCOPE {
    tc_tensor *x = counting(TC_DIMS(4, 6)), *half = tc_slice(x, 1, 0, 6, 2);
    tc_tensor *a = tc_reshape(half, TC_DIMS(2, 2, 3)), *b = tc_reshape(half, TC_DIMS(12));
    cr_expect(a->storage == x->storage && b->storage == x->storage); /* steps of 2, 12 = 6 * 2 */
    tc_tensor *part = tc_slice(x, 1, 0, 3, 1), *c = tc_reshape(part, TC_DIMS(12));
    cr_expect_neq(c->storage, x->storage);
    EXPECT(c, "0 1 2 6 7 8 12 13 14 18 19 20");
    tc_tensor *d = tc_reshape(part, TC_DIMS(2, 2, 3, 1));
    cr_expect_eq(d->storage, x->storage);
    EXPECT(tc_select(d, 0, 1), "12 13 14 18 19 20");
    tc_tensor *t = tc_reshape(tc_flip(x, TC_AXES(0, 1)), TC_DIMS(3, 8));
    cr_expect_eq(t->storage, x->storage);
    cr_expect_eq(tc_at(t, TC_INTS(2, 7)), 0);
    tc_tensor *e = tc_reshape(tc_expand(tc_select(x, 1, 0), TC_DIMS(3, 4)), TC_DIMS(12));
    EXPECT(e, "0 6 12 18 0 6 12 18 0 6 12 18");
  }
}

Test(view, errors) {
  TC_SCOPE {
    tc_tensor *x = counting(TC_DIMS(2, 3));
    tc_tensor *bad[] = {tc_reshape(x, TC_DIMS(4, 2)),
                        tc_reshape(x, TC_DIMS(-1, -1)),
                        tc_permute(x, TC_AXES(0, 0)),
                        tc_permute(x, TC_AXES(0)),
                        tc_slice(x, 2, 0, 1, 1),
                        tc_slice(x, 0, 0, 1, 0),
                        tc_select(x, 1, 3),
                        tc_select(x, 1, -4),
                        tc_squeeze(x, 0),
                        tc_expand(x, TC_DIMS(2, 4)),
                        tc_flip(x, TC_AXES(5)),
                        tc_flatten(x, 1, 0),
                        tc_unsqueeze(x, 4),
                        tc_transpose(x, 0, 2)};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) cr_expect_null(bad[i], "%zu", i);
  }
}

Test(join, elements) {
  TC_SCOPE {
    tc_tensor *x = counting(TC_DIMS(2, 2)), *t = tc_transpose(x, 0, 1);
    const tc_tensor *both[] = {x, t};
    EXPECT(tc_concat(both, 2, 0), "0 1 2 3 0 2 1 3");
    EXPECT(tc_concat(both, 2, -1), "0 1 0 2 2 3 1 3");
    EXPECT(tc_stack(both, 2, 0), "0 1 2 3 0 2 1 3");
    EXPECT(tc_stack(both, 2, -1), "0 0 1 2 2 1 3 3");
    const tc_tensor *mixed[] = {x, tc_full(TC_DIMS(1, 2), 0.5, TC_F32)};
    EXPECT(tc_concat(mixed, 2, 0), "0 1 2 3 0.5 0.5");
    EXPECT(tc_pad(x, TC_INTS(1, 0), TC_INTS(0, 1), -1), "-1 -1 -1 0 1 -1 2 3 -1");
    EXPECT(tc_repeat(tc_select(t, 0, 1), TC_INTS(2, 2)), "1 3 1 3 1 3 1 3");
    EXPECT(tc_repeat(t, TC_INTS(1, 0)), "");
    EXPECT(tc_roll(counting(TC_DIMS(5)), 2, 0), "3 4 0 1 2");
    EXPECT(tc_roll(counting(TC_DIMS(5)), -6, 0), "1 2 3 4 0");
    tc_tensor *m = counting(TC_DIMS(3, 4));
    EXPECT(tc_tril(m, 0), "0 0 0 0 4 5 0 0 8 9 10 0");
    EXPECT(tc_tril(m, -1), "0 0 0 0 4 0 0 0 8 9 0 0");
    EXPECT(tc_triu(m, 1), "0 1 2 3 0 0 6 7 0 0 0 11");
    EXPECT(tc_triu(m, -9), "0 1 2 3 4 5 6 7 8 9 10 11");
    EXPECT(tc_eye(2, 3, TC_F16), "1 0 0 0 1 0");
    EXPECT(tc_arange(4, 1, -0.5, TC_F32), "1 0.5 0 -0.5");
    cr_expect_null(tc_error());
  }
}

Test(join, many_operands) {
  TC_SCOPE {
    const tc_tensor *x[300];
    for (int i = 0; i < 300; i++) x[i] = tc_full(TC_DIMS(2), i, TC_I32);
    tc_tensor *y = tc_concat(x, 300, 0), *s = tc_stack(x, 300, 1);
    cr_expect(tc_at(y, TC_INTS(599)) == 299 && tc_at(s, TC_INTS(1, 123)) == 123);
  }
}

Test(join, split) {
  TC_SCOPE {
    tc_tensor *x = counting(TC_DIMS(2, 6)), *piece[4];
    cr_expect_eq(tc_split(x, 3, 1, piece), 3);
    EXPECT(piece[1], "2 3 8 9");
    cr_expect_eq(piece[2]->storage, x->storage);
    cr_expect_eq(tc_split(x, 4, 1, piece), -1);
    cr_expect(strstr(tc_error(), "does not divide"));
  }
}

Test(view, every_layout_and_dtype_reshapes_and_packs_alike) {
  for (int d = 0; d < TC_DTYPE_COUNT; d++)
    for (int l = 0; l < LAYOUT_COUNT; l++) TC_SCOPE {
        tc_tensor *x = layout_make((tc_dtype)d, TC_DIMS(4, 6), (layout)l, 3);
        tc_tensor *y = tc_reshape(x, TC_DIMS(3, 8)), *z = tc_reshape(tc_clone(x), TC_DIMS(3, 8));
        cr_expect_eq(tc_max_abs_diff(y, z), 0);
        const tc_tensor *two[] = {x, x};
        cr_expect_eq(tc_max_abs_diff(tc_slice(tc_concat(two, 2, 1), 1, 6, 12, 1), x), 0);
      }
}
