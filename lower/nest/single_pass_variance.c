/* single_pass_variance.c - a sum of squared distances from a mean without a pass of its own.
 *
 * Variances are reduced in two passes: of the values, then of (x - m)^2.  As
 *
 *   sum (x - m)^2 = sum x^2 - 2 m sum x + n m^2
 *
 * the first pass can give the second's result when it also sums the squares.  That cancels digits
 * where the mean is large beside the deviation, so the second pass stays in the program and runs at
 * outer points where it has to: `skip_if` of its stage says at run time whether enough digits are
 * left.  (Chan, Golub, LeVeque: Algorithms for computing the sample variance, The American
 * Statistician 37(3), 1983, give the bounds of both algorithms.) */
#include "lower/lowering.h"

/* Up to so much larger than the result may the sum of the squares be: the rounding of both sums
 * then moves it by less than f32's tolerance.  It is 4 for numbers that are spread evenly from 0
 * on. */
static const double most_cancelled = 5;
/* Squares near the ends of what f32 holds have lost more than digits. */
static const double largest_sum = 1e38, smallest_sum = 1e-20;

/* The operand of a square, or none. */
static tc_val squared(const lo_kb *b, tc_val v) {
  const tc_expr *e = &b->k->expr[v.id];
  const bool is = e->kind == TC_EX_OP &&
                  (e->op == OP_SQUARE || (e->op == OP_MUL && e->in[0].id == e->in[1].id));
  return is ? e->in[0] : (tc_val){0};
}

static bool is_sum(const lo_act *a) {
  return a->a.kind == TC_ACT_REDUCE && a->a.reducer == TC_REDUCE_SUM &&
         tc_dtype_is_float(a->a.dtype);
}

/* The sum of v over the same axes in an earlier stage, or NULL. */
static const lo_act *sum_of(const lo_kb *b, const lo_act *late, tc_val v) {
  for (uint32_t i = 0; i < b->nact; i++) {
    const lo_act *a = &b->act[i];
    if (is_sum(a) && a->level < late->level && a->axes == late->axes && a->a.value.id == v.id)
      return a;
  }
  return NULL;
}

/* A stage that does nothing else can be left out. */
static bool is_alone(const lo_kb *b, const lo_act *late) {
  for (uint32_t i = 0; i < b->nact; i++)
    if (&b->act[i] != late && b->act[i].level == late->level && b->act[i].axes == late->axes)
      return false;
  return true;
}

/* Points of the axes, none of which is a chunk of another; 0: they are not known by a size. */
static tc_dim points(const lo_kb *b, uint32_t axes) {
  tc_dim n = tc_dim_const(1);
  for (int s = 0; s < b->nslot; s++) {
    if (!(axes >> s & 1)) continue;
    if (b->slot[s].of >= 0) return tc_dim_const(0);
    n = tc_dim_mul(b->L->dims, n, b->slot[s].extent);
  }
  return tc_dim_bad(n) ? tc_dim_const(0) : n;
}

static tc_val f64_op(lo_kb *b, tc_op op, tc_val x, tc_val y, tc_loc loc) {
  return lo_op(b, op, TC_F64, lo_cast(b, x, TC_F64), lo_cast(b, y, TC_F64), (tc_val){0}, loc);
}

/* For the stage of `result`. */
static tc_val push_squares(lo_kb *b, const lo_act *sum, uint32_t result, tc_loc loc) {
  lo_act a = *sum;
  a.a.value = lo_op(b, OP_SQUARE, a.a.dtype, a.a.value, (tc_val){0}, (tc_val){0}, loc);
  a.a.index = lo_new_result(b, a.a.dtype, a.level + 1);
  a.a.serves = 1 + result;
  lo_push_act(b, a);
  return lo_result(b, a.a.index, loc);
}

/* Act number `late` sums (x - mean)^2. */
static void add_skip(lo_kb *b, uint32_t late, const lo_act *sum, tc_val mean, tc_dim n) {
  const tc_loc loc = b->k->expr[b->act[late].a.value.id].loc;
  const tc_val total = lo_result(b, sum->a.index, loc);
  const tc_val squares = push_squares(b, sum, b->act[late].a.index, loc);
  const tc_expr size = {.kind = TC_EX_DIM, .dtype = TC_I64, .dim = n, .loc = loc};
  /* squares + mean * (n * mean - 2 * total) */
  const tc_val twice = f64_op(b, OP_MUL, total, lo_const_f(b, TC_F64, 2), loc);
  const tc_val rest =
      f64_op(b, OP_SUB, f64_op(b, OP_MUL, mean, lo_expr(b, &size), loc), twice, loc);
  const tc_val value = f64_op(b, OP_ADD, squares, f64_op(b, OP_MUL, mean, rest, loc), loc);
  const tc_val small = f64_op(b, OP_ADD, squares, lo_const_f(b, TC_F64, smallest_sum), loc);
  tc_val most = f64_op(b, OP_MUL, value, lo_const_f(b, TC_F64, most_cancelled), loc);
  most = f64_op(b, OP_MINIMUM, most, lo_const_f(b, TC_F64, largest_sum), loc);
  lo_act *a = &b->act[late];
  a->skip_if = lo_op(b, OP_LE, TC_BOOL, small, most, (tc_val){0}, loc);
  a->skip_value = lo_cast(b, value, a->a.dtype);
  a->points = n;
}

static void skip_second_pass(lo_kb *b, uint32_t i) {
  const lo_act *late = &b->act[i];
  const tc_expr *e = &b->k->expr[squared(b, late->a.value).id];
  if (!is_sum(late) || e->kind != TC_EX_OP || e->op != OP_SUB || !is_alone(b, late)) return;
  const lo_act *sum = sum_of(b, late, e->in[0]);
  const tc_val mean = e->in[sum != NULL];
  if (!sum) sum = sum_of(b, late, e->in[1]);
  const tc_dim n = points(b, late->axes);
  if (!sum || (b->axes[mean.id] & late->axes) || tc_dim_is(n, 0)) return;
  if (lo_at_most(b->L, n, b->L->target->long_pass - 1)) return;
  const tc_val difference = squared(b, late->a.value);
  const bool from = e->in[1].id == mean.id;
  const lo_act first = *sum; /* the list of acts grows */
  add_skip(b, i, &first, mean, n);
  if (from) lo_distribute_scale(b, difference, b->act[i].a.index);
}

void lo_single_pass_variance(lo_kb *b) {
  const uint32_t n = b->nact;
  for (uint32_t i = 0; i < n; i++) skip_second_pass(b, i);
}
