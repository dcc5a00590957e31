/* tcompile/indexing.h. */
#define NN_INDEXING
#include "nn.h"

#include <tcompile/indexing.h>

#define M "f32[N,D]"
#define X3 "f32[N,D,R]"
#define LIST(...) ((const tc_tensor *const[]){__VA_ARGS__})

/* Rows and columns of triangles of x's shape. */
static inline tc_tensor *below(const tc_tensor *x, int64_t k) { return tc_tril_indices(tc_size(x, 0), tc_size(x, 1), k); }
static inline tc_tensor *above(const tc_tensor *x, int64_t k) { return tc_triu_indices(tc_size(x, 0), tc_size(x, 1), k); }

NN3(at, 1, X3, "i64[I]", "i64[I]", tc_index(a, 0, LIST(b, tc_sub_s(c, 4)), 2))
NN3(at_broadcast, 1, M, "i64[I,1]", "i64[1,J]", tc_index(a, -2, LIST(b, tc_cast(tc_sub_s(c, 4), TC_I32)), 2))
NN3(inside, 1, "f32[B,N,D,R]", "i64[I,J]", "i64[J]", tc_index(a, 1, LIST(tc_sub_s(b, 3), c), 2))
NN2(rows_at, 1, M, "i64[I,J]", tc_index(a, 0, LIST(tc_sub_s(b, 5)), 1))
NN4(put, 1, X3, "i64[I]", "i64[I]", "f32[R]", tc_index_put(a, 0, LIST(b, tc_sub_s(c, 4)), 2, d, false))
NN4(put_add, 1, X3, "i64[I]", "i64[I]", "f32[I,R]", tc_index_put(a, 0, LIST(b, tc_sub_s(c, 4)), 2, d, true))
NN4(put_add_broadcast, 1, X3, "i64[I,1]", "i64[1,J]", "f32[1]", tc_index_put(a, 0, LIST(b, tc_sub_s(c, 4)), 2, d, true))
NN2(taken, 1, M, "i64[I,J]", tc_take(a, tc_sub_s(b, 12)))
NN3(rows_added, 1, X3, "i64[I]", "f32[N,I,R]", tc_index_add(a, 1, b, c, -0.5))
NN3(rows_copied, 1, M, "i64[I]", "f32[N,I]", tc_index_copy(a, -1, b, c))
NN1(below_1, 0, M, below(a, 1))
NN1(above_1, 0, M, above(a, 1))
NN1(far_below, 0, M, below(a, -2))
NN1(far_above, 0, M, above(a, -2))
NN1(difference, 1, M, tc_diff(a, 1, 0))
NN1(second, 1, M, tc_diff(a, 2, -1))
NN1(changes, 0, "bool[N,D]", tc_diff(a, 1, -1))
NN1(none, 1, M, tc_diff(a, 0, 1))

static const nn_function functions[] = {
    NN_ROW(at),         NN_ROW(at_broadcast), NN_ROW(inside),    NN_ROW(rows_at),   NN_ROW(put),     NN_ROW(put_add),
    NN_ROW(taken),      NN_ROW(rows_added),   NN_ROW(below_1),   NN_ROW(above_1),   NN_ROW(second),  NN_ROW(put_add_broadcast),
    NN_ROW(difference), NN_ROW(rows_copied),  NN_ROW(far_below), NN_ROW(far_above), NN_ROW(changes), NN_ROW(none),
};

/* Places that are named twice, values of another dtype, and a tensor that is not in row-major order. */
TC_COMPILE_WITH("fullgraph") static bool written_twice(NN_OPERAND(x, "i32[3,N]"), NN_OPERAND(i, "i32[4]"), tc_tensor **y) {
  const tc_tensor *rows = tc_transpose(x, 0, 1), *value = tc_unsqueeze(tc_arange(4, 10.75, 1, TC_F32), 1);
  y[0] = tc_index_put(rows, 0, &i, 1, value, false);
  y[1] = tc_index_put(rows, 0, &i, 1, value, true);
  return y[0] && y[1];
}

static void check_written_twice(void) {
  const int32_t at[] = {2, -1, 0, -4};
  for (int on = 0; on < 2; on++) TC_SCOPE {
    tc_tensor *y[2];
    tc_set_enabled(on);
    CHECK(written_twice(tc_ones(TC_DIMS(3, 4), TC_I32), tc_from(TC_DIMS(4), at, TC_I32), y));
    const int32_t last[] = {13, 1, 10, 11}, sum[] = {1 + 12 + 13, 1, 1 + 10, 1 + 11};
    for (int r = 0; r < 4; r++)
      for (int c = 0; c < 3; c++) CHECK(tc_at(y[0], TC_INTS(r, c)) == last[r] && tc_at(y[1], TC_INTS(r, c)) == sum[r]);
  }
  tc_set_enabled(true);
}

TC_COMPILE_WITH("fullgraph") static tc_tensor *pairs(NN_OPERAND(x, M), NN_OPERAND(i, "i64[I]"), NN_OPERAND(j, "i64[I]")) {
  return tc_index(x, 0, LIST(i, j), 2);
}

/* An index outside of its own axis is refused and named, though the place of both is one of x. */
static void check_outside(void) {
  const int64_t outside[][2] = {{0, 5}, {1, -6}, {3, 0}, {-4, 4}};
  for (int on = 0; on < 2; on++)
    for (int k = 0; k < 4; k++) TC_SCOPE {
      char named[32];
      const tc_tensor *x = tc_ones(TC_DIMS(3, 5), TC_F32);
      const tc_tensor *i = tc_from(TC_DIMS(1), &outside[k][0], TC_I64), *j = tc_from(TC_DIMS(1), &outside[k][1], TC_I64);
      tc_set_enabled(on);
      CHECK(!pairs(x, i, j) && tc_error_code() == TC_ERROR_INDEX);
      snprintf(named, sizeof named, "%d", (int)outside[k][k < 2]);
      CHECK(strstr(tc_error(), named));
      tc_clear_error();
    }
  tc_set_enabled(true);
}

static void check_refused(void) {
  TC_SCOPE {
    const tc_tensor *x = tc_ones(TC_DIMS(3, 5), TC_F32), *i = tc_zeros(TC_DIMS(2), TC_I64), *mask = tc_ones(TC_DIMS(3), TC_BOOL);
    nn_refused(tc_index(x, 1, LIST(i, i), 2), "tc_index: 2 axes from axis 1 of 2 on");
    nn_refused(tc_index(x, 0, LIST(i), 0), "tc_index: 0 axes");
    nn_refused(tc_index(x, 0, LIST(i, tc_zeros(TC_DIMS(3), TC_I64)), 2), "[2]");
    nn_refused(tc_index(x, 0, &mask, 1), "tc_index: index 0 is bool");
    nn_refused(tc_index_put(x, -3, LIST(i), 1, x, false), "tc_index_put: 1 axes from axis -3 of 2 on");
    nn_refused(tc_index_put(x, 0, LIST(i), 1, tc_ones(TC_DIMS(4), TC_F32), false), "expand");
    nn_refused(tc_index_add(x, 2, i, x, 1), "tc_index_add: 1 axes from axis 2 of 2 on");
    nn_refused(tc_index_add(x, 0, x, x, 1), "tc_index_add: indices of 2 axes");
    nn_refused(tc_index_copy(x, 0, i, i), "tc_index_copy: indices of 1 axes, not 1, and rows of 1 for 2 axes");
    nn_refused(tc_tril_indices(-1, 2, 0), "negative");
    nn_refused(tc_diff(x, -1, 0), "tc_diff: -1 differences");
    nn_refused(tc_diff(tc_scalar(1.0), 1, 0), "tc_diff: 1 axes from axis 0 of 0 on");
    for (int64_t k = 0; k < 2; k++) {
      CHECK(tc_size(tc_tril_indices(3, 4, k ? INT64_MAX : INT64_MIN), 1) == (k ? 12 : 0));
      CHECK(tc_size(tc_triu_indices(3, 4, k ? INT64_MAX : INT64_MIN), 1) == (k ? 0 : 12));
    }
  }
}

int main(void) {
  NN_CHECK(indexing, functions);
  check_written_twice();
  check_outside();
  check_refused();
  return 0;
}
