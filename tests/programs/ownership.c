/* A body that runs frees what it made and hands out the rest: after each call, with kernels and with
 * bodies, memory holds what the results hold and nothing else.  No scope is open around the calls. */
#include <string.h>

#include <tcompile/nn.h>

#include "check.h"

#define X const tc_tensor *x TC_SHAPE("f32[N,M]")

/* ---- helpers and other files ---- */

struct pair {
  tc_tensor *a, *b;
};

static tc_tensor *kept_by_somebody;

static tc_tensor *helper(const tc_tensor *x) { return tc_relu(tc_mul_s(tc_tanh(x), 0.5)); }

__attribute__((noinline, weak)) void look(const tc_tensor *x) {
  CHECK(tc_numel(x) > 0);
} /* may be another's */

__attribute__((noinline, weak)) void keep(tc_tensor *x) { kept_by_somebody = x; }

__attribute__((noinline, weak)) tc_tensor *
remembered(const tc_tensor *x) { /* by whom it is called, and here */
  if (!kept_by_somebody) kept_by_somebody = tc_tanh(x);
  return kept_by_somebody;
}

/* ---- bodies ---- */

TC_COMPILE static tc_tensor *chain(X) {
  tc_tensor *h = tc_relu(tc_add(tc_mul_s(x, 2), x));
  return tc_softmax(tc_sub(h, tc_mean(h, TC_AXES(1), true)), -1);
}

/* Members that an initialiser leaves out are NULL. */
static tc_tensor *added(const tc_tensor *x, struct pair p) { return tc_tanh(p.b ? tc_add(x, p.b) : tc_neg(x)); }
TC_COMPILE static tc_tensor *left_out(X) { return tc_exp(added(x, (struct pair){.a = NULL})); }

TC_COMPILE_WITH("disable") static tc_tensor *never_compiled(X) { return tc_exp(tc_neg(tc_abs(x))); }

TC_COMPILE static tc_tensor *broken(X) {
  tc_tensor *h = tc_relu(tc_exp(x));
  CHECK(tc_item(tc_sum(h, TC_ALL, false)) > 0); /* a break: exit() */
  tc_tensor *y = tc_exp(tc_neg(h));
  return tc_mul(tc_add(y, h), tc_sub(y, h));
}

TC_COMPILE static tc_tensor *early(X, int n) {
  tc_tensor *h = tc_exp(tc_neg(x));
  if (n == 1) return tc_add(h, tc_abs(x));
  if (n == 2) return h;
  if (n == 3) return NULL;
  for (int i = 0; i < n; i++) {
    h = tc_tanh(tc_mul_s(h, 0.5));
    if (i == 7) return h;
  }
  return n > 5 ? tc_neg(h) : h;
}

TC_COMPILE static tc_tensor *jumps(X, int n) {
  tc_tensor *result = NULL, *h = tc_exp(x);
  if (n > 4) goto out;
  h = tc_neg(tc_exp(h));
again:
  h = tc_sqrt(tc_abs(h));
  if (--n > 0) goto again;
  result = tc_add(h, x);
out:
  return result;
}

TC_COMPILE static void outputs(X, tc_tensor **a, struct pair *p, tc_tensor *list[2]) {
  tc_tensor *h = tc_exp(tc_neg(x));
  *a = tc_add(h, tc_abs(x));
  p->a = h;
  look(h);
  p->b = tc_transpose(tc_mul(h, tc_sin(h)), 0, 1);
  list[0] = list[1] = tc_cos(tc_add(h, h));
}

TC_COMPILE static struct pair both(X) {
  struct pair p = {tc_exp(tc_neg(x)), NULL};
  p.b = tc_add(p.a, tc_abs(p.a));
  return p;
}

TC_COMPILE static tc_tensor *with_helpers(X, int n) {
  tc_tensor *h = helper(x);
  for (int i = 0; i < n; i++) h = helper(tc_add(h, x));
  return helper(h);
}

TC_COMPILE static tc_tensor *passed_on(X) {
  tc_tensor *h = tc_exp(tc_neg(x));
  keep(h);
  return tc_add(tc_abs(h), x);
}

TC_COMPILE static tc_tensor *asked_for(X) {
  tc_tensor *h = remembered(x);
  return tc_add(tc_abs(h), x);
}

TC_COMPILE static tc_tensor *argument(tc_tensor *x TC_SHAPE("f32[N,M]")) {
  tc_add_(x, tc_mul_s(tc_sign(x), 0));
  return x;
}

TC_COMPILE static tc_tensor *in_scopes(X, int n) {
  tc_tensor *h = tc_exp(x);
  for (int i = 0; i < n; i++) TC_SCOPE {
      h = tc_keep(tc_tanh(tc_add(h, tc_abs(x))));
    }
  return h;
}

TC_COMPILE static tc_tensor *own_scope(X) {
  TC_FUNCTION_SCOPE;
  tc_tensor *h = tc_exp(tc_neg(x));
  return tc_keep(tc_add(h, tc_abs(h)));
}

TC_COMPILE static tc_tensor *split(X) {
  tc_tensor *part[2];
  if (tc_split(x, 2, 1, part) != 2) return NULL;
  tc_tensor *joined = tc_concat((const tc_tensor *[]){tc_exp(part[1]), tc_neg(part[0])}, 2, 1);
  return tc_add(joined, x);
}

TC_COMPILE static tc_tensor *two_views(X, tc_tensor **rows) {
  tc_tensor *h = tc_exp(tc_neg(x));
  *rows = tc_slice(tc_slice(h, 0, 1, 3, 1), 1, 0, 2, 1);
  return tc_transpose(h, 0, 1);
}

TC_COMPILE static tc_tensor *through_void(X, void **out) {
  tc_tensor *h = tc_exp(tc_neg(x));
  *out = h;
  return tc_add(tc_abs(x), h);
}

TC_COMPILE static tc_tensor *through_memory(X, void **out) {
  tc_tensor *h = tc_exp(tc_neg(x));
  memcpy(out, &h, sizeof h);
  return tc_add(tc_abs(x), h);
}

TC_COMPILE static float *memory_of(X, const tc_tensor **owner) {
  tc_tensor *h = tc_exp(tc_neg(x));
  *owner = h;
  return tc_data(h);
}

/* Functions of nn.h borrow structs, and fill variables, as those of tcompile.h do. */
static tc_tensor *step(const tc_tensor *x) {
  const tc_recurrent_weights w = {.w_ih = tc_exp(x), .w_hh = tc_matmul(x, tc_transpose(x, 0, 1))};
  return tc_rnn_cell(x, w.w_hh, w, false);
}
TC_COMPILE static tc_tensor *of_layers(X) {
  tc_tensor *place;
  const tc_tensor *most = tc_max_pool_with_index(tc_unsqueeze(tc_sin(x), 0), TC_INTS(2), TC_EMPTY_LIST, TC_INTS(0),
                                                 TC_INTS(1), false, &place);
  return tc_add(tc_sum(tc_add(most, place), TC_ALL, false), step(x));
}

TC_COMPILE static tc_tensor *calls_itself(X, int n) {
  tc_tensor *h = tc_exp(tc_neg(x));
  if (n == 0) return h;
  return tc_add(calls_itself(tc_abs(h), n - 1), h);
}

/* A local array at places that are known at run time only. */
TC_COMPILE static tc_tensor *in_array(X, int n) {
  tc_tensor *v[4] TC_SHAPE("f32[N,M]") = {NULL};
  for (int i = 0; i < n; i++) v[i] = tc_tanh(tc_add(i ? v[i - 1] : x, x));
  return v[n - 1];
}

/* Lists and structs of tensors that are lent to helpers, as optimisers are. */
static tc_tensor *total_of(int n, tc_tensor **list) {
  tc_tensor *sum = *list;
  for (int i = 1; list && i < n; i++) sum = tc_add(sum, list[i]);
  return sum;
}
static tc_tensor *twice_of(const struct pair *p, tc_tensor *const *list) { return tc_sub(p->a, total_of(2, (tc_tensor **)list)); }
static tc_tensor *first_of(tc_tensor **list) { return list[0]; }
static void keep_first(tc_tensor **list) { kept_by_somebody = list[0]; }
static tc_tensor **same_list(tc_tensor **list) { return list; }

TC_COMPILE static tc_tensor *lent(X) {
  tc_tensor *list[2] = {tc_exp(x), tc_sin(x)};
  struct pair p = {tc_abs(x), NULL};
  for (int i = 0; i < 2; i++) list[i] = tc_mul_s(list[i], 2);
  return tc_mul(total_of(2, list), twice_of(&p, list));
}
TC_COMPILE static tc_tensor *lent_and_back(X) {
  tc_tensor *list[2] = {tc_exp(x), tc_sin(x)};
  list[0] = tc_add(list[0], list[1]);
  return first_of(list);
}
TC_COMPILE static tc_tensor *kept_of_list(X) {
  tc_tensor *list[2] = {tc_exp(x), NULL};
  keep_first(list);
  return tc_neg(list[0]);
}
TC_COMPILE static tc_tensor *list_of_list(X, tc_tensor **out) {
  tc_tensor *list[2] = {tc_exp(x), NULL};
  *out = same_list(list)[0];
  return tc_neg(list[0]);
}

/* Structs as numbers of two parts: by value, as arguments and results. */
static struct pair scaled(struct pair p, double s) { return (struct pair){tc_mul_s(p.a, s), tc_add(p.b, p.a)}; }
static tc_tensor *joined(struct pair p) {
  const tc_tensor *list[] = {p.a, p.b};
  return tc_concat(list, 2, 0);
}
TC_COMPILE static tc_tensor *by_value(X, int n) {
  struct pair p = {tc_exp(x), tc_sin(x)}, q = scaled(p, 2);
  for (int i = 0; i < n; i++) q = scaled(q, 0.5);
  if (n > 2) q.b = tc_neg(q.b);
  return joined(q);
}
TC_COMPILE static struct pair by_value_out(X, int n) {
  struct pair p = {tc_exp(x), tc_sin(x)}, q = scaled(p, n);
  if (n > 2) q.b = tc_neg(p.b);
  return q;
}
TC_COMPILE static void by_value_stored(X, struct pair *out, int n) {
  struct pair p = {tc_exp(x), tc_sin(x)};
  if (n > 2) p.b = tc_neg(p.a);
  struct pair q = scaled(p, n);
  *out = q;
}

/* What a helper was given leaves with its result: where that stays in the body, and where it does not. */
static struct pair swapped(struct pair p) {
  struct pair r;
  r.a = p.b, r.b = p.a;
  return r;
}
static struct pair product(struct pair p, struct pair q) {
  struct pair r = scaled(swapped(p), 3);
  r.b = tc_add(r.b, q.a);
  return r;
}
static struct pair of(const tc_tensor *x, double s) { return scaled((struct pair){tc_mul_s(x, s), tc_cos(x)}, s); }
TC_COMPILE static tc_tensor *by_value_nested(X, int n) {
  struct pair q = product(of(x, 2), swapped(of(x, 0.5))), r = q;
  for (int i = 0; i < n; i++) r = product(r, swapped((struct pair){tc_exp(x), r.a}));
  return n ? tc_add(joined(r), joined(q)) : swapped(r).a;
}
TC_COMPILE static void by_value_passed_on(X, struct pair *out, int n) {
  struct pair p = {tc_exp(x), tc_sin(x)}, q = {NULL, NULL};
  if (n == 1) *out = swapped(p);
  if (n == 2) *out = q = swapped(p);
  if (n == 3) q = p, *out = q;
  if (n == 4) *out = n > 2 ? swapped(p) : p;
}
TC_COMPILE static struct pair by_value_result(X, int n) {
  struct pair p = {tc_exp(x), tc_sin(x)}, q;
  if (n == 1) return q = swapped(p);
  if (n == 2) return swapped(swapped(p));
  q.a = p.b, q.b = p.a;
  return q;
}

/* A struct without tensors, from a helper. */
struct box {
  void *data;
  int64_t rows, columns;
};
static inline tc_layout layout_of(const struct box *b) { return tc_row_major(TC_DIMS(b->rows, b->columns), b->data, TC_F32); }
static inline tc_tensor *view(const struct box *b) { return tc_wrap_layout(layout_of(b)); }
TC_COMPILE static tc_tensor *of_box(const struct box *b TC_SHAPE("f32[N,M]"), int n) {
  tc_tensor *h = view(b);
  for (int i = 0; i < n; i++) h = tc_add(h, view(b));
  return tc_exp(h);
}

/* Memory that leaves by way of a struct. */
TC_COMPILE static const float *memory_in_struct(X) {
  struct {
    const float *data;
  } s = {tc_cdata(tc_exp(x))};
  return s.data;
}

/* ---- calls ---- */

enum { TIMES = 200 };

/* A list that stands in the call of a function of the library. */
static tc_tensor *block_of(tc_tensor *const *in, void *context) {
  (void)context;
  return tc_tanh(tc_mul(in[0], tc_exp(in[0])));
}
TC_COMPILE static tc_tensor *checkpointed(X) {
  tc_tensor *h = tc_neg(x);
  return tc_sum(tc_checkpoint(block_of, NULL, 1, (tc_tensor *[]){h}), TC_AXES(1), false);
}

static tc_tensor *pool[8]; /* what a call gave */
static int pooled;

static void give(tc_tensor *t) {
  for (int i = 0; i < pooled; i++)
    if (pool[i] == t) return;
  if (t) pool[pooled++] = t;
}

static void call(int which, tc_tensor *x) {
  tc_tensor *list[2] = {NULL, NULL}, *a = NULL;
  struct pair p = {NULL, NULL};
  switch (which) {
  case 0:
    give(chain(x));
    break;
  case 1:
    give(never_compiled(x));
    break;
  case 2:
    give(broken(x));
    break;
  case 3:
  case 4:
  case 5:
  case 6:
  case 7:
    give(early(x, which == 7 ? 12 : which - 2));
    break;
  case 8:
  case 9:
    give(jumps(x, which - 5));
    break;
  case 10:
    outputs(x, &a, &p, list), give(a), give(p.a), give(p.b), give(list[0]);
    break;
  case 11:
    p = both(x), give(p.a), give(p.b);
    break;
  case 12:
  case 13:
    give(with_helpers(x, which - 12));
    break;
  case 14:
    give(passed_on(x)), give(kept_by_somebody), kept_by_somebody = NULL;
    break;
  case 15:
    give(asked_for(x)), give(asked_for(x)), give(kept_by_somebody), kept_by_somebody = NULL;
    break;
  case 16:
    CHECK(argument(x) == x);
    break;
  case 17:
  case 18:
    give(in_scopes(x, which - 17));
    break;
  case 19:
    give(own_scope(x));
    break;
  case 20:
    give(split(x));
    break;
  case 21:
    give(two_views(x, &a)), give(a);
    break;
  case 22: {
    void *out;
    give(through_void(x, &out)), give(out);
    break;
  }
  case 23: {
    const tc_tensor *owner;
    CHECK(memory_of(x, &owner)[0] > 0);
    give((tc_tensor *)owner);
    break;
  }
  case 24:
    give(calls_itself(x, 3));
    break;
  case 25: {
    void *out;
    give(through_memory(x, &out)), give(out);
    break;
  }
  case 26:
    give(left_out(x));
    break;
  case 27:
    give(of_layers(x));
    break;
  case 28:
    give(in_array(x, 4));
    break;
  case 29:
    give(lent(x));
    break;
  case 30:
    give(lent_and_back(x));
    break;
  case 31:
    give(kept_of_list(x)), give(kept_by_somebody), kept_by_somebody = NULL;
    break;
  case 32:
    give(list_of_list(x, &a)), give(a);
    break;
  case 33:
  case 34:
    give(by_value(x, 3 * (which - 33)));
    break;
  case 35:
    p = by_value_out(x, 2), give(p.a), give(p.b);
    break;
  case 36:
  case 37:
    by_value_stored(x, &p, which - 35), give(p.a), give(p.b);
    break;
  case 38:
  case 39:
  case 40:
    give(by_value_nested(x, which - 38));
    break;
  case 41:
  case 42:
  case 43:
  case 44:
    by_value_passed_on(x, &p, which - 40), give(p.a), give(p.b);
    break;
  case 45:
  case 46:
  case 47:
    p = by_value_result(x, which - 44), give(p.a), give(p.b);
    break;
  case 48:
  case 49:
    give(of_box(&(struct box){tc_data(x), 6, 4}, which - 48));
    break;
  case 50: give(checkpointed(x)); break;
  default:
    CHECK(false);
  }
}
enum { CALLS = 51 };

/* What they hold is what it was in the first way of calling. */
static void check(int which, tc_tensor *x, double sum[CALLS], bool first) {
  const size_t before = tc_memory().live;
  for (int i = 0; i < TIMES; i++) {
    pooled = 0;
    call(which, x);
    double total = 0;
    for (int k = 0; k < pooled; k++)
      TC_SCOPE total += tc_item(tc_sum(tc_cast(pool[k], TC_F64), TC_ALL, false));
    if (first && i == 0) sum[which] = total;
    const bool same = total - sum[which] <= 1e-4 && sum[which] - total <= 1e-4;
    if (!same) fprintf(stderr, "call %d: %g, and %g the other way\n", which, total, sum[which]);
    CHECK(same);
    for (int k = 0; k < pooled; k++) tc_free(pool[k]);
    if (tc_memory().live != before)
      fprintf(stderr, "call %d, time %d: %zd bytes are left\n", which, i,
              (ssize_t)(tc_memory().live - before));
    CHECK(tc_memory().live == before);
  }
}

int main(void) {
  double fit[CALLS], strided[CALLS];
  tc_tensor *x = tc_randn(TC_DIMS(6, 4), 1, TC_F32);
  tc_tensor *wide = tc_cast(x, TC_F64); /* of another dtype: the guards refuse it */
  for (int way = 0; way < 2; way++) {
    tc_set_enabled(way == 0);
    for (int which = 0; which < CALLS; which++) check(which, x, fit, way == 0);
    for (int which = 0; which < CALLS; which++)
      if (which != 23 && which < 48) check(which, wide, strided, way == 0);
  }
  /* With a scope around: results are its. */
  const size_t before = tc_memory().live;
  for (int which = 0; which < CALLS; which++) TC_SCOPE {
      pooled = 0;
      call(which, x);
    }
  for (int way = 0; way < 2; way++)
    TC_SCOPE {
      tc_set_enabled(way == 0);
      const float *memory = memory_in_struct(x);
      tc_zeros(tc_shape(x), TC_F32);
      CHECK(memory[0] > 0);
    }
  CHECK(tc_memory().live == before);
  tc_free(x), tc_free(wide);
  return 0;
}
