/* The table of reductions: every row reads, and does what a combination has to. */
#include "lower/loop.h"

#include <criterion/criterion.h>
#include <fenv.h>
#include <math.h>

enum { ELEMENTS = 9 };
static const double element[ELEMENTS] = {2, -INFINITY, 2, NAN, -3, INFINITY, 0, NAN, 2};

typedef struct tuple {
  double v[TC_MAX_ACCUMULATORS];
} tuple;

/* The ops of the rows, by their meaning. */
static double apply(tc_op op, double x, double y, double z) {
  switch (op) {
  case OP_ADD: return x + y;
  case OP_SUB: return x - y;
  case OP_MUL: return x * y;
  case OP_EXP: return exp(x);
  case OP_MAXIMUM: return x > y || isnan(x) ? x : y;
  case OP_MINIMUM: return x < y || isnan(x) ? x : y;
  case OP_EQ: return x == y;
  case OP_NE: return x != y;
  case OP_BITAND: return x != 0 && y != 0;
  case OP_BITOR: return x != 0 || y != 0;
  case OP_WHERE: return x != 0 ? y : z;
  default: cr_assert(false, "%s is not known here", tc_op_get(op)->text);
  }
  return 0;
}

/* The values of a rule, of RESULTs from[i]. */
static tuple evaluated(tc_reducer r, const tc_rule *rule, const double *from) {
  double v[TC_RULE_EXPRS] = {0};
  tuple t = {{0}};
  for (uint32_t id = 1; id < rule->kernel.nexpr; id++) {
    const tc_expr *e = &rule->expr[id];
    v[id] = e->kind == TC_EX_RESULT  ? from[e->index]
            : e->kind == TC_EX_CONST ? e->f
                                     : apply(e->op, v[e->in[0].id], v[e->in[1].id], v[e->in[2].id]);
  }
  for (int i = 0; i < tc_reducer_get(r)->n; i++) t.v[i] = v[rule->value[i].id];
  return t;
}

/* Element x at position n, by the column `lift`. */
static tuple lifted_value(tc_reducer r, double x, int n) {
  tc_rule rule;
  const double from[] = {x, n};
  cr_assert(tc_lift_rule(r, TC_F64, &rule), "%s: lift", tc_reducer_get(r)->text);
  return evaluated(r, &rule, from);
}

static tuple lifted(tc_reducer r, int n) { return lifted_value(r, element[n], n); }

static tuple identity(tc_reducer r) {
  tuple t = {{0}};
  for (int i = 0; i < tc_reducer_get(r)->n; i++) {
    const tc_expr e = tc_accumulator_identity(r, i, TC_F64);
    t.v[i] = tc_dtype_is_float(e.dtype) ? e.f : (double)e.i;
  }
  return t;
}

static tuple combined(tc_reducer r, tuple a, tuple b) {
  const int n = tc_reducer_get(r)->n;
  double from[2 * TC_MAX_ACCUMULATORS];
  tc_rule rule;
  cr_assert(tc_combine_rule(r, TC_F64, &rule), "%s: combine", tc_reducer_get(r)->text);
  for (int i = 0; i < n; i++) from[i] = a.v[i], from[n + i] = b.v[i];
  return evaluated(r, &rule, from);
}

static bool same(double a, double b, bool rounds) {
  return a == b || (isnan(a) && isnan(b)) || (rounds && fabs(a - b) <= 1e-14 * fabs(a));
}

static void expect_same(tc_reducer r, tuple a, tuple b, const char *law) {
  for (int i = 0; i < tc_reducer_get(r)->n; i++)
    cr_expect(same(a.v[i], b.v[i], tc_reducer_get(r)->keep[i].rounds), "%s, accumulator %d: %g, %g (%s)",
              tc_reducer_get(r)->text, i, a.v[i], b.v[i], law);
}

Test(reductions, rows_have_unique_texts_and_fit) {
  for (int r = TC_REDUCE_NONE + 1; r < TC_REDUCE_COUNT; r++) {
    const tc_reducer_info *info = tc_reducer_get((tc_reducer)r);
    cr_assert(info->n >= 1 && info->n <= TC_MAX_ACCUMULATORS && info->result < info->n);
    for (int q = TC_REDUCE_NONE + 1; q < r; q++) cr_expect_str_neq(info->text, tc_reducer_get((tc_reducer)q)->text);
  }
}

Test(reductions, identity_changes_nothing) {
  for (int r = TC_REDUCE_NONE + 1; r < TC_REDUCE_COUNT; r++)
    for (int i = 0; i < ELEMENTS; i++) {
      const tuple x = lifted((tc_reducer)r, i), none = identity((tc_reducer)r);
      expect_same((tc_reducer)r, combined((tc_reducer)r, x, none), x, "right identity");
      expect_same((tc_reducer)r, combined((tc_reducer)r, none, x), x, "left identity");
    }
}

Test(reductions, order_does_not_matter) {
  for (int n = TC_REDUCE_NONE + 1; n < TC_REDUCE_COUNT; n++)
    for (int i = 0; i < ELEMENTS; i++)
      for (int j = 0; j < ELEMENTS; j++)
        for (int k = 0; i != j && k < ELEMENTS; k++) {
          const tc_reducer r = (tc_reducer)n;
          const tuple x = lifted(r, i), y = lifted(r, j), z = lifted(r, k);
          expect_same(r, combined(r, x, y), combined(r, y, x), "commutes");
          expect_same(r, combined(r, combined(r, x, y), z), combined(r, x, combined(r, y, z)), "associates");
        }
}

/* Accumulator 1 in order: y lies behind what a is made of. */
static tuple followed(tc_reducer r, tuple a, tuple y) {
  tuple t = combined(r, a, y);
  tc_rule later;
  cr_assert(tc_later_rule(r, TC_F64, &later));
  const double of[] = {a.v[0], t.v[0], y.v[0]};
  t.v[1] = evaluated(r, &later, of).v[1] != 0 ? y.v[1] : a.v[1];
  return t;
}

Test(reductions, in_order_is_what_combining_does) {
  for (int n = TC_REDUCE_NONE + 1; n < TC_REDUCE_COUNT; n++)
    for (int i = 0; tc_reducer_has_later((tc_reducer)n) && i < ELEMENTS; i++)
      for (int j = 0; j < ELEMENTS; j++)
        for (int k = 0; k < ELEMENTS; k++) {
          const tc_reducer r = (tc_reducer)n;
          const tuple x = lifted_value(r, element[i], 0), y = lifted_value(r, element[j], 1),
                      z = lifted_value(r, element[k], 2), xy = combined(r, x, y);
          expect_same(r, followed(r, x, y), xy, "the second in order");
          expect_same(r, followed(r, xy, z), combined(r, xy, z), "the third in order");
        }
}

/* Accumulator 1 by terms: it moves from a to what x makes of accumulator 0, and x's term joins. */
static tuple joined(tc_reducer r, tuple a, double x) {
  tuple t = combined(r, a, lifted_value(r, x, 0));
  tc_rule term, rescale;
  cr_assert(tc_term_rule(r, TC_F64, &term) && tc_rescale_rule(r, TC_F64, &rescale));
  const double of_x[] = {x, t.v[0]}, of_a[] = {a.v[0], t.v[0]};
  t.v[1] = a.v[1] * evaluated(r, &rescale, of_a).v[1] + evaluated(r, &term, of_x).v[1];
  return t;
}

Test(reductions, terms_do_what_combining_does) {
  for (int n = TC_REDUCE_NONE + 1; n < TC_REDUCE_COUNT; n++)
    for (int i = 0; tc_reducer_has_terms((tc_reducer)n) && i < ELEMENTS; i++)
      for (int j = 0; j < ELEMENTS; j++) {
        const tc_reducer r = (tc_reducer)n;
        const tuple none = identity(r), x = lifted(r, i);
        expect_same(r, joined(r, none, element[i]), x, "the first term");
        expect_same(r, joined(r, x, element[j]), combined(r, x, lifted(r, j)), "a further term");
      }
}

/* No exception of floating point but where the maximum is NaN already: the rules subtract no infinities. */
Test(reductions, online_softmax_is_exact_at_infinities) {
  const struct {
    double x, y, sum;
  } rows[] = {{-INFINITY, -INFINITY, 0}, {-INFINITY, 3, 1},         {3, -INFINITY, 1}, {INFINITY, 3, INFINITY},
              {3, INFINITY, INFINITY},   {-INFINITY, INFINITY, INFINITY}, {700, -700, 1},    {5, 5, 2}};
  const tc_reducer r = TC_REDUCE_ONLINE_SOFTMAX;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    feclearexcept(FE_ALL_EXCEPT);
    const tuple t = combined(r, combined(r, identity(r), lifted_value(r, rows[i].x, 0)), lifted_value(r, rows[i].y, 1));
    cr_expect(!fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW), "of %g and %g", rows[i].x, rows[i].y);
    cr_expect_eq(t.v[1], rows[i].sum, "of %g and %g: %g", rows[i].x, rows[i].y, t.v[1]);
    cr_expect_eq(t.v[0], fmax(rows[i].x, rows[i].y));
  }
}

static tuple over_all(tc_reducer r) {
  tuple t = identity(r);
  for (int i = 0; i < ELEMENTS; i++)
    if (!isnan(element[i]) && !isinf(element[i])) t = combined(r, t, lifted(r, i));
  return t;
}

Test(reductions, first_and_last_of_equals) {
  cr_expect_eq(over_all(TC_REDUCE_ARGMAX).v[1], 0);
  cr_expect_eq(over_all(TC_REDUCE_LAST_ARGMAX).v[1], 8);
  cr_expect_eq(over_all(TC_REDUCE_ARGMIN).v[1], 4);
  cr_expect_eq(over_all(TC_REDUCE_LAST_ARGMIN).v[1], 4);
}

/* NaN is better than any: of several, the first, or the last. */
Test(reductions, nan_wins) {
  const struct {
    tc_reducer r;
    double place;
  } rows[] = {{TC_REDUCE_ARGMAX, 3}, {TC_REDUCE_ARGMIN, 3}, {TC_REDUCE_LAST_ARGMAX, 7}, {TC_REDUCE_LAST_ARGMIN, 7}};
  for (int k = 0; k < 4; k++) {
    tuple t = identity(rows[k].r);
    for (int i = 0; i < ELEMENTS; i++) t = combined(rows[k].r, t, lifted(rows[k].r, i));
    cr_expect(isnan(t.v[0]));
    cr_expect_eq(t.v[1], rows[k].place);
  }
}

/* The ends of every dtype. */
Test(reductions, identities_of_integers) {
  const struct {
    tc_dtype d;
    int64_t least, most;
  } rows[] = {{TC_BOOL, 0, 1},
              {TC_U8, 0, 255},
              {TC_I8, -128, 127},
              {TC_I16, -32768, 32767},
              {TC_I32, INT32_MIN, INT32_MAX},
              {TC_I64, INT64_MIN, INT64_MAX}};
  for (int k = 0; k < 6; k++) {
    cr_expect_eq(tc_accumulator_identity(TC_REDUCE_MAX, 0, rows[k].d).i, rows[k].least);
    cr_expect_eq(tc_accumulator_identity(TC_REDUCE_MIN, 0, rows[k].d).i, rows[k].most);
  }
}
