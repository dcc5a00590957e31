/* Elementwise ops: operands are read in blocks as the compute dtype, a formula is applied to each
 * element, the result is stored with one rounding.  Blocks are independent. */
#include <string.h>

#include "runtime/libtcrt/src/eager/eager.h"
#include "graph/ops/formulas.h"

enum { MAX_OPERANDS = 3 };

typedef struct floats {
  double v[MAX_OPERANDS][TC_BLOCK];
} floats;

typedef struct ints {
  int64_t v[MAX_OPERANDS][TC_BLOCK];
} ints;

/* v[0][i] = formula of v[0][i], v[1][i], v[2][i]; each row of formulas.def is a case with its loop.
 */
#define ROW1(op, T, formula)                                                                       \
  case OP_##op:                                                                                    \
    for (int64_t i = 0; i < n; i++) {                                                              \
      T x = b->v[0][i];                                                                            \
      b->v[0][i] = formula;                                                                        \
    }                                                                                              \
    break;
#define ROW2(op, T, formula)                                                                       \
  case OP_##op:                                                                                    \
    for (int64_t i = 0; i < n; i++) {                                                              \
      T x = b->v[0][i], y = b->v[1][i];                                                            \
      b->v[0][i] = formula;                                                                        \
    }                                                                                              \
    break;
#define ROW3(op, T, formula)                                                                       \
  case OP_##op:                                                                                    \
    for (int64_t i = 0; i < n; i++) {                                                              \
      T x = b->v[0][i], y = b->v[1][i], z = b->v[2][i];                                            \
      b->v[0][i] = formula;                                                                        \
    }                                                                                              \
    break;

static void apply_floats(tc_op op, floats *b, int64_t n) {
  switch (op) {
#define TC_FLOAT1(op, formula) ROW1(op, double, formula)
#define TC_FLOAT2(op, formula) ROW2(op, double, formula)
#define TC_FLOAT3(op, formula) ROW3(op, double, formula)
#define TC_INT1(op, formula)
#define TC_INT2(op, formula)
#define TC_INT3(op, formula)
#include "graph/ops/formulas.def"
  default:
    break;
  }
}

/* `bits`: width of the result's dtype, 1 for bool. */
static void apply_ints(tc_op op, ints *b, int64_t n, int bits) {
  switch (op) {
#define TC_FLOAT1(op, formula)
#define TC_FLOAT2(op, formula)
#define TC_FLOAT3(op, formula)
#define TC_INT1(op, formula) ROW1(op, int64_t, formula)
#define TC_INT2(op, formula) ROW2(op, int64_t, formula)
#define TC_INT3(op, formula) ROW3(op, int64_t, formula)
#include "graph/ops/formulas.def"
  default:
    break;
  }
}

/* Which ops have a row. */
static const bool has_floats[OP_COUNT] = {
#define TC_FLOAT1(op, formula) [OP_##op] = true,
#define TC_FLOAT2 TC_FLOAT1
#define TC_FLOAT3 TC_FLOAT1
#define TC_INT1(op, formula)
#define TC_INT2(op, formula)
#define TC_INT3(op, formula)
#include "graph/ops/formulas.def"
};

static const bool has_ints[OP_COUNT] = {
#define TC_FLOAT1(op, formula)
#define TC_FLOAT2(op, formula)
#define TC_FLOAT3(op, formula)
#define TC_INT1(op, formula) [OP_##op] = true,
#define TC_INT2 TC_INT1
#define TC_INT3 TC_INT1
#include "graph/ops/formulas.def"
};

/* What the op computes in: the operands' common dtype, or the result's where that is floating. */
static tc_dtype compute_dtype(const tc_eager_call *c) {
  tc_type t = *c->type[0];
  for (int i = 1; i < c->nin; i++) {
    tc_dtype d = tc_promote(&t, c->type[i]);
    t.weak = t.weak && c->type[i]->weak;
    t.rank = t.rank > c->type[i]->rank ? t.rank : c->type[i]->rank;
    t.dtype = (uint8_t)d;
  }
  tc_dtype out = (tc_dtype)c->out->key.dtype;
  return tc_is_float(out) ? out : (tc_dtype)t.dtype;
}

typedef struct elementwise {
  tc_op op;
  tc_dtype compute;
  int nin, bits;
  tc_seq in[MAX_OPERANDS], out;
} elementwise;

static elementwise prepare(const tc_eager_call *c) {
  const tc_tensor *y = c->out;
  elementwise e = {.op = c->op, .compute = compute_dtype(c), .nin = c->nin, .out = tc_seq_of(y)};
  e.bits = y->key.dtype == TC_BOOL ? 1 : 8 * (int)tc_dtype_bytes(y->key.dtype);
  for (int i = 0; i < c->nin; i++) e.in[i] = tc_seq_broadcast(c->in[i], y->key.rank, y->dim);
  return e;
}

static void run_floats(const elementwise *e, int64_t start, int64_t n) {
  floats b;
  for (int i = 0; i < e->nin; i++) tc_seq_read_as_f(&e->in[i], e->compute, start, n, b.v[i]);
  apply_floats(e->op, &b, n);
  tc_seq_write_f(&e->out, start, n, b.v[0]);
}

static void run_ints(const elementwise *e, int64_t start, int64_t n) {
  ints b;
  for (int i = 0; i < e->nin; i++) tc_seq_read_as_i(&e->in[i], e->compute, start, n, b.v[i]);
  apply_ints(e->op, &b, n, e->bits);
  tc_seq_write_i(&e->out, start, n, b.v[0]);
}

static void run_range(const void *p, int64_t start, int64_t end) {
  const elementwise *e = p;
  for (int64_t n; start < end; start += n) {
    n = end - start < TC_BLOCK ? end - start : TC_BLOCK;
    if (tc_is_float(e->compute)) run_floats(e, start, n);
    else run_ints(e, start, n);
  }
}

static bool run(tc_eager_call *c) {
  elementwise e = prepare(c);
  int64_t total = tc_elements(c->out);
  if (!(tc_is_float(e.compute) ? has_floats : has_ints)[c->op])
    return tc_fail("%s: not defined for %s", c->name, tc_dtype_text(e.compute));
  tc_for(total, TC_CHUNK, total, run_range, &e);
  return true;
}

bool tc_eager_unary(tc_eager_call *c) { return run(c); }
bool tc_eager_binary(tc_eager_call *c) { return run(c); }
bool tc_eager_ternary(tc_eager_call *c) { return run(c); }

bool tc_eager_cast(tc_eager_call *c) {
  tc_assign(c->out, c->in[0]);
  return true;
}

/* ---- selection by a bool --------------------------------------------------------------------- */

typedef struct choice {
  tc_dtype dtype;
  tc_seq s[3], y;
} choice;

/* At most TC_BLOCK elements. */
static void choose_block(const choice *c, int64_t start, int64_t n) {
  int64_t test[TC_BLOCK];
  tc_seq_read_i(&c->s[0], start, n, test);
  if (tc_is_float(c->dtype)) {
    double yes[TC_BLOCK], no[TC_BLOCK];
    tc_seq_read_as_f(&c->s[1], c->dtype, start, n, yes);
    tc_seq_read_as_f(&c->s[2], c->dtype, start, n, no);
    for (int64_t i = 0; i < n; i++) yes[i] = test[i] ? yes[i] : no[i];
    tc_seq_write_f(&c->y, start, n, yes);
  } else {
    int64_t yes[TC_BLOCK], no[TC_BLOCK];
    tc_seq_read_as_i(&c->s[1], c->dtype, start, n, yes);
    tc_seq_read_as_i(&c->s[2], c->dtype, start, n, no);
    for (int64_t i = 0; i < n; i++) yes[i] = test[i] ? yes[i] : no[i];
    tc_seq_write_i(&c->y, start, n, yes);
  }
}

static void choose_range(const void *p, int64_t begin, int64_t end) {
  for (int64_t start = begin; start < end; start += TC_BLOCK)
    choose_block(p, start, end - start < TC_BLOCK ? end - start : TC_BLOCK);
}

/* out = condition ? a : b, both converted to out's dtype. */
static void choose(const tc_tensor *condition, const tc_tensor *a, const tc_tensor *b,
                   tc_tensor *out) {
  const tc_tensor *operand[3] = {condition, a, b};
  const int64_t total = tc_elements(out);
  choice c = {.dtype = (tc_dtype)out->key.dtype, .y = tc_seq_of(out)};
  for (int i = 0; i < 3; i++) c.s[i] = tc_seq_broadcast(operand[i], out->key.rank, out->dim);
  tc_for(total, TC_BLOCK, total, choose_range, &c);
}

bool tc_eager_where(tc_eager_call *c) {
  choose(c->in[0], c->in[1], c->in[2], c->out);
  return true;
}

bool tc_eager_masked_fill(tc_eager_call *c) {
  choose(c->in[1], c->in[2], c->in[0], c->out);
  return true;
}
