/* Symbolic sizes: normal form, ranges, multiples, assumptions, text.  Laws are checked by value: a
 * random expression is built twice, as a size and as plain arithmetic, and compared at random
 * points. */
#include "check.h"

#include <stdlib.h>

#define EQUAL(c, x, y)                                                                             \
  do {                                                                                             \
    tc_buf bx = {0}, by = {0};                                                                     \
    tc_dim dx = dim(c, x), dy = dim(c, y);                                                         \
    cr_expect(tc_dim_same(dx, dy), "%s: %s, but %s: %s", x, dim_text(c, dx, &bx), y,               \
              dim_text(c, dy, &by));                                                               \
    tc_buf_free(&bx);                                                                              \
    tc_buf_free(&by);                                                                              \
  } while (0)

Test(dim, constants_need_no_context) {
  tc_dim a = tc_dim_const(-7), b = tc_dim_const(2);
  cr_expect(tc_dim_is(tc_dim_add(NULL, a, b), -5));
  cr_expect(tc_dim_is(tc_dim_mul(NULL, a, b), -14));
  cr_expect(tc_dim_is(tc_dim_div(NULL, a, b), -4), "division rounds down");
  cr_expect(tc_dim_is(tc_dim_mod(NULL, a, b), 1), "the remainder has the sign of the divisor");
  cr_expect(tc_dim_is(tc_dim_ceildiv(NULL, a, b), -3));
  cr_expect(tc_dim_is(tc_dim_min(NULL, a, b), -7));
  cr_expect(tc_dim_is(tc_dim_max(NULL, a, b), 2));
  cr_expect(tc_dim_is(tc_dim_unify(NULL, a, a), -7));
  cr_expect(tc_dim_bad(tc_dim_unify(NULL, a, b)));
  cr_expect(tc_dim_bad(tc_dim_div(NULL, a, tc_dim_const(0))));
  cr_expect(
      tc_dim_bad(tc_dim_mul(NULL, tc_dim_const(INT64_C(1) << 40), tc_dim_const(INT64_C(1) << 40))));
  cr_expect(tc_dim_bad(tc_dim_const(INT64_MAX)));
  cr_expect_eq(tc_dim_multiple(NULL, tc_dim_const(-12)), 12);
}

Test(dim, equal_expressions_are_one_handle) {
  tc_dims *c = tc_dims_new();
  EQUAL(c, "(B+1)*(B-1)", "B*B-1");
  EQUAL(c, "2*N+3*N", "N*5");
  EQUAL(c, "(B+N)*(B+N)", "B*B+2*B*N+N*N");
  EQUAL(c, "B-B", "0");
  EQUAL(c, "B*T*12*64/(12*64)", "T*B");
  EQUAL(c, "(B*N+2*N)/N", "B+2");
  EQUAL(c, "(8*B+5)/8", "B");
  EQUAL(c, "(8*B+5)%8", "5");
  EQUAL(c, "(B+7)/8", "(B-1)/8+1");
  EQUAL(c, "(4*B+2)/8", "(2*B+1)/4");
  EQUAL(c, "B/4/2", "B/8");
  EQUAL(c, "min(B, N)", "min(N, B)");
  EQUAL(c, "min(B, B+1)", "B");
  EQUAL(c, "max(B, 0)", "B");
  EQUAL(c, "min(B+N, B)", "B");
  tc_dims_free(c);
}

Test(dim, multiples_decide_divisions) {
  tc_dims *c = tc_dims_new();
  tc_dim_sym(c, "T", 0, 4096, 8);
  tc_dim_sym(c, "T", 0, 4096, 12); /* narrows to 24 */
  cr_expect_eq(tc_dim_multiple(c, dim(c, "T")), 24);
  cr_expect_eq(tc_dim_multiple(c, dim(c, "2*T+16*B*T")), 48);
  cr_expect_eq(tc_dim_multiple(c, dim(c, "T/8")), 3);
  EQUAL(c, "T%8", "0");
  EQUAL(c, "(T+3)%8", "3");
  EQUAL(c, "(T+3)/8", "T/8");
  EQUAL(c, "8*(T/8)", "T");
  EQUAL(c, "B*(T/8)*16", "2*B*T");
  EQUAL(c, "8*((T+B*T)/8)+1", "T+B*T+1");
  cr_expect(!tc_dim_same(dim(c, "7*(T/7)"), dim(c, "T")), "7 need not divide T");
  cr_expect(tc_dim_known_ne(c, dim(c, "T"), dim(c, "17")));
  cr_expect(!tc_dim_known_ne(c, dim(c, "T"), dim(c, "48")));
  cr_expect(tc_dim_known_ne(c, dim(c, "T"), dim(c, "9600")), "out of range");
  tc_dims_free(c);
}

/* A half of something is less than all of it, but for 0. */
Test(dim, contradictions) {
  static const struct { const char *a, *b; bool never; } cases[] = {
      {"N/2", "N", true},  {"N", "N/2", true},       {"(N+1)/3", "N", true},
      {"N/2+N", "N", false}, {"(N+1)/2", "N", false}, {"(N+2)/3", "N", false}, // N = 1
      {"M/2", "M", false}, {"2*(N/2)", "N", false},  {"2*(N/2)+1", "N+2", true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tc_dims *c = tc_dims_new();
    tc_dim_pair which;
    tc_dim_sym(c, "N", 1, INT64_MAX, 1);
    tc_dim_sym(c, "M", 0, INT64_MAX, 1);
    cr_expect(!tc_dims_contradict(c, &which));
    tc_dim_unify(c, dim(c, cases[i].a), dim(c, cases[i].b));
    cr_expect_eq(tc_dims_contradict(c, &which), cases[i].never, "%s == %s", cases[i].a, cases[i].b);
    tc_dims_free(c);
  }
}

Test(dim, ranges_and_comparisons) {
  tc_dims *c = tc_dims_new();
  int64_t lo, hi;
  tc_dim_sym(c, "A", 2, 10, 1);
  tc_dim_sym(c, "S", -3, 5, 1);
  tc_dim_range(c, dim(c, "3*A-S"), &lo, &hi);
  cr_expect(lo == 1 && hi == 33);
  tc_dim_range(c, dim(c, "S*S"), &lo, &hi);
  cr_expect(lo == 0 && hi == 25);
  tc_dim_range(c, dim(c, "S/2"), &lo, &hi);
  cr_expect(lo == -2 && hi == 2);
  tc_dim_range(c, dim(c, "(S%4)"), &lo, &hi);
  cr_expect(lo == 0 && hi == 3);
  tc_dim_range(c, dim(c, "A*B"), &lo, &hi);
  cr_expect(lo == 0 && hi == INT64_MAX);
  cr_expect(tc_dim_known_le(c, dim(c, "S"), dim(c, "A+3")));
  cr_expect(!tc_dim_known_le(c, dim(c, "S"), dim(c, "A")));
  cr_expect(tc_dim_known_le(c, dim(c, "max(B-3, 0)"), dim(c, "B")));
  cr_expect(tc_dim_known_le(c, dim(c, "min(B, N)"), dim(c, "N+1")));
  tc_dims_free(c);
}

Test(dim, quotients_are_at_most_what_is_divided) {
  tc_dims *c = tc_dims_new();
  tc_dim_sym(c, "H", 1, INT64_MAX, 1);
  tc_dim_sym(c, "W", 1, INT64_MAX, 1);
  tc_dim_sym(c, "S", INT64_MIN, INT64_MAX, 1);
  cr_expect(tc_dim_known_le(c, dim(c, "2*((W+1)/2)"), dim(c, "W+1")));
  cr_expect(!tc_dim_known_le(c, dim(c, "2*((W+1)/2)"), dim(c, "W")));
  cr_expect(tc_dim_known_le(c, dim(c, "2*((H+1)/2)*((W+1)/2)"), dim(c, "(H+1)*((W+1)/2)")), "times what is not negative");
  cr_expect(!tc_dim_known_le(c, dim(c, "2*((H+1)/2)*S"), dim(c, "(H+1)*S")));
  cr_expect(tc_dim_known_le(c, dim(c, "W/3+W/2"), dim(c, "W")), "of two");
  cr_expect(!tc_dim_known_le(c, dim(c, "W/2+W/2+1"), dim(c, "W")));
  cr_expect(tc_dim_known_le(c, dim(c, "W"), dim(c, "8*((W+7)/8)")), "and at least that but for the rest");
  cr_expect(tc_dim_known_le(c, dim(c, "(H+1)*W"), dim(c, "(H+1)*8*((W+7)/8)")));
  cr_expect(!tc_dim_known_le(c, dim(c, "W"), dim(c, "8*((W+6)/8)")));
  cr_expect(!tc_dim_known_le(c, dim(c, "W+1"), dim(c, "8*((W+7)/8)")));
  tc_dims_free(c);
}

Test(dim, unify_replaces_symbols) {
  tc_dims *c = tc_dims_new();
  tc_buf b = {0};
  tc_dim B = tc_dim_sym(c, "B", 0, 100, 1), N = tc_dim_sym(c, "N", 10, 500, 4),
         old = tc_dim_mul(c, N, N);
  cr_expect(tc_dim_same(tc_dim_unify(c, B, N), B));
  cr_expect_str_eq(dim_text(c, tc_dim_norm(c, old), &b), "B*B");
  int64_t lo, hi;
  tc_dim_range(c, B, &lo, &hi);
  cr_expect(lo == 10 && hi == 100);
  cr_expect_eq(tc_dim_multiple(c, B), 4);
  const tc_dim_pair *pair;
  cr_expect_eq(tc_dims_assumed(c, &pair), 1);
  tc_dim_unify(c, N, B);
  cr_expect_eq(tc_dims_assumed(c, &pair), 1, "known equalities are not assumed again");
  cr_expect(tc_dim_bad(tc_dim_unify(c, B, tc_dim_const(7))), "out of range");
  cr_expect(tc_dim_bad(tc_dim_unify(c, B, tc_dim_const(42))), "not a multiple");
  cr_expect(tc_dim_is(tc_dim_unify(c, B, tc_dim_const(44)), 44));
  cr_expect(tc_dim_is(tc_dim_norm(c, old), 44 * 44));
  tc_buf_free(&b);
  tc_dims_free(c);
}

Test(dim, unify_solves_and_remembers) {
  tc_dims *c = tc_dims_new();
  const tc_dim_pair *pair;
  tc_dim_unify(c, dim(c, "2*A+M"), dim(c, "N+1"));
  EQUAL(c, "N", "2*A+M-1");
  tc_dim x = dim(c, "P*Q"), y = dim(c, "R*R");
  cr_expect(!tc_dim_bad(tc_dim_unify(c, x, y)), "no symbol can be solved for");
  cr_expect(!tc_dim_bad(tc_dim_unify(c, x, y)));
  cr_expect_eq(tc_dims_assumed(c, &pair), 2);
  cr_expect(!tc_dim_bad(tc_dim_unify(c, dim(c, "6*R*R"), dim(c, "6*P*Q"))));
  cr_expect(!tc_dim_bad(tc_dim_unify(c, dim(c, "P*Q*4-8"), dim(c, "4*R*R-8"))));
  cr_expect_eq(tc_dims_assumed(c, &pair), 2, "nor are multiples assumed again");
  cr_expect(!tc_dim_bad(tc_dim_unify(c, dim(c, "2*S*T"), dim(c, "2*U*V"))));
  cr_expect(!tc_dim_bad(tc_dim_unify(c, dim(c, "2*S*T"), dim(c, "2*U*V"))));
  cr_expect_eq(tc_dims_assumed(c, &pair), 3, "nor equalities of multiples");
  cr_expect(tc_dim_bad(tc_dim_unify(c, dim(c, "2*K"), dim(c, "2*L+1"))), "even is not odd");
  tc_dims_free(c);
}

Test(dim, clamped_sizes_are_what_they_are_assumed_to_be) {
  tc_dims *c = tc_dims_new();
  tc_dim one = tc_dim_const(1), least = dim(c, "2*min(N, 2)+3"), part = dim(c, "max(M-N, 0)");
  cr_assert_not(tc_dim_bad(tc_dim_unify(c, dim(c, "min(N, 2)"), one)));
  cr_assert(tc_dim_same(tc_dim_norm(c, least), tc_dim_const(5)));
  cr_assert_not(tc_dim_bad(tc_dim_unify(c, part, one)));
  cr_assert(tc_dim_same(tc_dim_norm(c, dim(c, "M*max(M-N, 0)")), dim(c, "M")));
  cr_assert(tc_dim_bad(tc_dim_unify(c, dim(c, "min(N, 2)"), tc_dim_const(2))));
  tc_dims_free(c);
}

Test(dim, what_equals_a_constant_is_one) {
  tc_dims *c = tc_dims_new();
  tc_dim length = dim(c, "min(N,2)-1"), area = dim(c, "P*Q");
  cr_expect(tc_dim_is(tc_dim_unify(c, length, tc_dim_const(1)), 1));
  cr_expect(tc_dim_is(tc_dim_norm(c, length), 1), "and not only where it was unified");
  cr_expect(tc_dim_is(tc_dim_unify(c, tc_dim_const(6), area), 6));
  cr_expect(tc_dim_is(tc_dim_norm(c, area), 6));
  cr_expect(tc_dim_bad(tc_dim_unify(c, length, tc_dim_const(0))));
  tc_dims_free(c);
}

Test(dim, bounds_are_assumed_once) {
  tc_dims *c = tc_dims_new();
  const tc_dim_bound *bound;
  cr_expect(tc_dim_assume_range(c, dim(c, "2*B-3"), 1, INT64_MAX));
  cr_expect_eq(tc_dims_bounds(c, &bound), 1);
  cr_expect(bound[0].lo == 2 && tc_dim_is_sym(c, bound[0].d, NULL));
  cr_expect(tc_dim_assume_range(c, dim(c, "B"), 1, INT64_MAX));
  cr_expect_eq(tc_dims_bounds(c, &bound), 1);
  cr_expect(!tc_dim_assume_range(c, dim(c, "B"), 0, 1), "contradicts");
  cr_expect(tc_dim_assume_range(c, dim(c, "B-N"), 0, INT64_MAX));
  cr_expect(tc_dim_known_le(c, dim(c, "N"), dim(c, "B")));
  tc_dims_free(c);
}

Test(dim, bounds_decide_related_comparisons) {
  tc_dims *c = tc_dims_new();
  tc_dim before = tc_dim_min(c, dim(c, "P+1"), dim(c, "L"));
  cr_expect(!tc_dim_same(before, dim(c, "P+1")));
  cr_expect(tc_dim_assume_range(c, dim(c, "L-P-1"), 0, INT64_MAX));
  cr_expect(tc_dim_known_le(c, dim(c, "P"), dim(c, "L")));
  cr_expect(tc_dim_known_le(c, dim(c, "P+1"), dim(c, "L")));
  cr_expect(!tc_dim_known_le(c, dim(c, "P+2"), dim(c, "L")));
  cr_expect(!tc_dim_known_le(c, dim(c, "L"), dim(c, "P+9")));
  cr_expect(tc_dim_same(tc_dim_norm(c, before), dim(c, "P+1")), "the clamp is gone");
  int64_t lo, hi;
  tc_dim_sym(c, "Q", 0, INT64_MAX, 1);
  tc_dim_sym(c, "R", 2, 64, 1);
  cr_expect(tc_dim_assume_range(c, dim(c, "R-3*Q-1"), 0, INT64_MAX));
  tc_dim_range(c, dim(c, "Q"), &lo, &hi);
  cr_expect(lo == 0 && hi == 21, "3*Q <= 63");
  cr_expect(tc_dim_assume_range(c, dim(c, "2*T-L"), INT64_MIN, 5));
  cr_expect(tc_dim_known_le(c, dim(c, "2*T-5"), dim(c, "L")), "from above");
  cr_expect(!tc_dim_known_le(c, dim(c, "2*T-4"), dim(c, "L")));
  tc_dims_free(c);
}

/* What a slice of two constants takes of an axis is at most as long as they are apart. */
Test(dim, slices_of_any_axis_have_a_largest_length) {
  tc_dims *c = tc_dims_new();
  const tc_dim size = dim(c, "N"), one = tc_dim_const(1);
  for (int64_t at = 0; at < 5; at++) {
    const tc_dim start = tc_dim_min(c, tc_dim_const(at), size);
    const tc_dim next = tc_dim_min(c, tc_dim_const(at + 1), size);
    const tc_dim later = tc_dim_min(c, size, tc_dim_const(at + 3));
    cr_expect(tc_dim_known_le(c, tc_dim_max(c, tc_dim_sub(c, next, start), tc_dim_const(0)), one));
    cr_expect(tc_dim_known_le(c, start, next));
    cr_expect(tc_dim_known_le(c, tc_dim_sub(c, later, start), tc_dim_const(3)));
    cr_expect(!tc_dim_known_le(c, tc_dim_sub(c, later, start), tc_dim_const(2)));
    cr_expect(!tc_dim_known_le(c, next, start));
    cr_expect(!tc_dim_known_le(c, one, tc_dim_sub(c, next, start)));
  }
  tc_dims_free(c);
}

Test(dim, clamped_ends_are_assumed_to_lie_inside) {
  tc_dims *c = tc_dims_new();
  tc_dim size = dim(c, "L"), end = tc_dim_min(c, dim(c, "P+T"), size);
  tc_dim length =
      tc_dim_max(c, tc_dim_sub(c, end, tc_dim_min(c, dim(c, "P"), size)), tc_dim_const(0));
  cr_expect(tc_dim_assume_unclamped(c, length, size));
  cr_expect(tc_dim_same(tc_dim_norm(c, length), dim(c, "T")));
  cr_expect(tc_dims_guessed(c));
  cr_expect(!tc_dim_assume_range(c, dim(c, "L-P-T"), INT64_MIN, -1), "contradicts");
  tc_dims_free(c);
}

Test(dim, what_leaves_64_bits_is_invalid) {
  tc_dims *c = tc_dims_new();
  tc_dim big = tc_dim_mul(c, dim(c, "B"), tc_dim_const(INT64_C(1) << 60));
  cr_expect(!tc_dim_bad(big));
  cr_expect(tc_dim_bad(tc_dim_mul(c, big, tc_dim_const(16))));
  cr_expect(tc_dim_bad(tc_dim_add(c, TC_DIM_INVALID, big)), "contagious");
  int64_t v, at[] = {1 << 20};
  cr_expect(!tc_dim_eval(c, big, at, &v));
  tc_dims_free(c);
}

Test(dim, parse_errors_are_located) {
  static const struct {
    const char *text;
    int at;
  } bad[] = {{"", 0},
             {"B+", 2},
             {"(B", 2},
             {"2**B", 2},
             {"B/0", 1},
             {"$", 0},
             {"12345678901234567890", 0},
             {"2B", 0},
             {"min(B)", 5}};
  tc_dims *c = tc_dims_new();
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const char *end, *error = NULL;
    tc_dim d = tc_dim_parse(c, bad[i].text, &end, &error);
    cr_expect(tc_dim_bad(d) && error, "%s", bad[i].text);
    if (error)
      cr_expect_eq(error - bad[i].text, bad[i].at, "%s: at %d", bad[i].text,
                   (int)(error - bad[i].text));
  }
  char deep[2000] = {0};
  memset(deep, '(', sizeof deep - 1);
  const char *error = NULL;
  tc_dim_parse(c, deep, NULL, &error);
  cr_expect(error, "nesting has a limit");
  tc_dims_free(c);
}

Test(dim, prints_as_c) {
  tc_dims *c = tc_dims_new();
  tc_buf b = {0};
  tc_dim_sym(c, "S", INT64_MIN, INT64_MAX, 1);
  tc_dim_sym(c, "R", INT64_MIN, INT64_MAX, 1);
  tc_dim_print(c, dim(c, "2*B*N+1"), "s_", &b);
  cr_expect_str_eq(b.text, "(2 * s_B * s_N + 1)");
  tc_buf_clear(&b);
  tc_dim_print(c, dim(c, "B/4"), "s_", &b);
  cr_expect_str_eq(b.text, "(s_B / 4)");
  tc_buf_clear(&b);
  tc_dim_print(c, dim(c, "S/4"), "", &b);
  cr_expect_str_eq(b.text, "(S / 4 - (S % 4 < 0))");
  tc_buf_clear(&b);
  tc_dim_print(c, dim(c, "S%4"), "", &b);
  cr_expect_str_eq(b.text, "(S % 4 + (S % 4 < 0) * 4)");
  tc_buf_clear(&b);
  tc_dim_print(c, dim(c, "S/R"), "", &b);
  cr_expect_str_eq(b.text, "(R == 0 ? 0 : S / R - (S % R != 0 && (S < 0) != (R < 0)))");
  tc_buf_clear(&b);
  tc_dim_print(c, dim(c, "3%B"), "", &b);
  cr_expect_str_eq(b.text, "(B == 0 ? 0 : 3 % B)");
  tc_buf_clear(&b);
  tc_dim_print(c, dim(c, "max(B, N)"), "", &b);
  cr_expect_str_eq(b.text, "(B > N ? B : N)");
  tc_buf_free(&b);
  tc_dims_free(c);
}

/* ---- random expressions ---------------------------------------------------------------------- */

enum { SYMBOLS = 4, POINTS = 6 };

typedef struct {
  tc_dim d;
  int64_t at[POINTS];
  bool defined[POINTS]; /* no division by zero on the way */
} sample;

static uint64_t state;
static uint32_t draw(uint32_t n) {
  state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return (uint32_t)(state >> 33) % n;
}

static int64_t down(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q - (a % b != 0 && (a < 0) != (b < 0));
}

static sample combine(tc_dims *c, sample x, sample y) {
  sample r;
  uint32_t op = draw(7);
  r.d = op == 0   ? tc_dim_add(c, x.d, y.d)
        : op == 1 ? tc_dim_sub(c, x.d, y.d)
        : op == 2 ? tc_dim_mul(c, x.d, y.d)
        : op == 3 ? tc_dim_min(c, x.d, y.d)
        : op == 4 ? tc_dim_max(c, x.d, y.d)
        : op == 5 ? tc_dim_div(c, x.d, y.d)
                  : tc_dim_mod(c, x.d, y.d);
  for (int i = 0; i < POINTS; i++) {
    int64_t a = x.at[i], b = y.at[i];
    r.defined[i] = x.defined[i] && y.defined[i] && (op < 5 || b != 0);
    if (!r.defined[i]) a = 0, b = 1;
    r.at[i] = op == 0   ? a + b
              : op == 1 ? a - b
              : op == 2 ? a * b
              : op == 3 ? (a < b ? a : b)
              : op == 4 ? (a > b ? a : b)
              : op == 5 ? down(a, b)
                        : a - b * down(a, b);
  }
  return r;
}

static sample expression(tc_dims *c, int depth, const int64_t (*sym)[SYMBOLS]) {
  sample r;
  if (depth && draw(5)) {
    sample x = expression(c, depth - 1, sym), y = expression(c, depth - 1, sym);
    return combine(c, x, y);
  }
  uint32_t s = draw(2 * SYMBOLS);
  int64_t k = (int64_t)draw(25) - 8;
  r.d = s < SYMBOLS ? tc_dims_sym_dim(c, s) : tc_dim_const(k);
  for (int i = 0; i < POINTS; i++) {
    r.at[i] = s < SYMBOLS ? sym[i][s] : k;
    r.defined[i] = true;
  }
  return r;
}

/* Value, range, multiple and text of each size agree with plain arithmetic. */
static int check_sample(tc_dims *c, const sample *x, const int64_t (*sym)[SYMBOLS]) {
  int checked = 0;
  tc_buf b = {0};
  if (tc_dim_bad(x->d)) return 0;
  int64_t lo, hi, v, m = tc_dim_multiple(c, x->d);
  tc_dim_range(c, x->d, &lo, &hi);
  const char *end, *error, *text = dim_text(c, x->d, &b);
  tc_dim again = tc_dim_parse(c, text, &end, &error);
  cr_assert(tc_dim_same(again, x->d), "%s does not read back", text);
  for (int i = 0; i < POINTS; i++) {
    if (!x->defined[i] || !tc_dim_eval(c, x->d, sym[i], &v)) continue;
    cr_assert_eq(v, x->at[i], "%s is %lld, not %lld, at %lld %lld %lld %lld", text, (long long)v,
                 (long long)x->at[i], (long long)sym[i][0], (long long)sym[i][1],
                 (long long)sym[i][2], (long long)sym[i][3]);
    cr_assert(lo <= v && v <= hi, "%s = %lld is not in %lld..%lld", text, (long long)v,
              (long long)lo, (long long)hi);
    cr_assert(m ? v % m == 0 : v == 0, "%s = %lld is not a multiple of %lld", text, (long long)v,
              (long long)m);
    checked++;
  }
  tc_buf_free(&b);
  return checked;
}

Test(dim, agrees_with_plain_arithmetic) {
  int checked = 0;
  for (uint64_t seed = 1; seed <= 3000; seed++) {
    state = seed;
    tc_dims *c = tc_dims_new();
    int64_t sym[POINTS][SYMBOLS];
    tc_dim_sym(c, "B", 0, INT64_MAX, 1);
    tc_dim_sym(c, "T", 0, 64, 8);
    tc_dim_sym(c, "S", -9, 9, 1);
    tc_dim_sym(c, "N", 1, 20, 1);
    for (int i = 0; i < POINTS; i++) {
      sym[i][0] = draw(30);
      sym[i][1] = 8 * draw(9);
      sym[i][2] = (int64_t)draw(19) - 9;
      sym[i][3] = 1 + draw(20);
    }
    sample x = expression(c, 4, sym);
    checked += check_sample(c, &x, sym);
    tc_dims_free(c);
  }
  cr_assert_gt(checked, 9000, "only %d values were compared", checked);
}
