/* Losses: one value per sample or element in double, then left alone, averaged or summed. */
#include <inttypes.h>

#include "runtime/libtcrt/src/eager/rows.h"

/* loss[0..n-1] to the result, as the reduction says.  The mean of nothing is NaN. */
static void reduce_loss(const tc_eager_call *c, const double *loss, int64_t n) {
  tc_seq y = tc_seq_of(c->out);
  int64_t how = tc_arg(c, 0);
  if (how == TC_NONE) {
    tc_seq_write_f(&y, 0, n, loss);
    return;
  }
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += loss[i];
  if (how == TC_MEAN) sum /= (double)n;
  tc_seq_write_f(&y, 0, 1, &sum);
}

/* ---- classes --------------------------------------------------------------------------------- */

static double at(const tc_rows *x, tc_dtype dtype, int64_t row, int64_t i) {
  double v;
  tc_seq_read_as_f(&x->seq, dtype, row * x->inner + i, 1, &v);
  return v;
}

/* log sum exp(x) - x[target]; in this order, next to a large maximum the logarithm would be
 * lost. */
static double cross_entropy(const tc_rows *x, tc_dtype dtype, int64_t row, double target) {
  double max = tc_row_extremum(x, dtype, row, TC_LARGEST);
  return (max - target) + log(tc_row_exp_sum(x, dtype, row, max));
}

typedef struct class_loss {
  tc_op op;
  tc_dtype dtype;
  tc_rows x;
  tc_seq target;
  double *loss;
} class_loss;

/* nll: -x[target] */
static void class_losses(const void *p, int64_t begin, int64_t end) {
  const class_loss *s = p;
  for (int64_t o = begin; o < end; o++) {
    int64_t t;
    tc_seq_read_i(&s->target, o, 1, &t);
    double v = at(&s->x, s->dtype, o, t);
    s->loss[o] = s->op == OP_CROSS_ENTROPY ? cross_entropy(&s->x, s->dtype, o, v) : -v;
  }
}

bool tc_eager_nll(tc_eager_call *c) {
  const tc_tensor *x = c->in[0];
  tc_rows rows = tc_rows_of(x, 1u << (x->key.rank - 1));
  tc_seq target = tc_seq_of(c->in[1]);
  for (int64_t o = 0; o < rows.outer; o++) {
    int64_t t;
    tc_seq_read_i(&target, o, 1, &t);
    if (t >= 0 && t < rows.inner) continue;
    tc_fail_as(TC_ERROR_INDEX, "%s: target %" PRId64 " is out of range for %" PRId64 " classes",
               c->name, t, rows.inner);
    return false;
  }
  tc_storage *memory = tc_storage_new((size_t)rows.outer * sizeof(double));
  if (!memory) return false;
  const class_loss s = {c->op, (tc_dtype)c->out->key.dtype, rows, target, memory->data};
  tc_for_rows(&s.x, class_losses, &s);
  reduce_loss(c, memory->data, rows.outer);
  tc_storage_unref(memory);
  return true;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static double pair_loss(tc_op op, double a, double b) {
  return op == OP_MSE ? (a - b) * (a - b) : tc_f_bce_logits(a, b);
}

typedef struct paired {
  tc_op op;
  tc_dtype dtype;
  tc_seq in[2];
  double *loss;
} paired;

static void pair_losses(const void *p, int64_t begin, int64_t end) {
  const paired *s = p;
  for (int64_t start = begin; start < end; start += TC_BLOCK) {
    int64_t n = end - start < TC_BLOCK ? end - start : TC_BLOCK;
    double a[TC_BLOCK], b[TC_BLOCK];
    tc_seq_read_as_f(&s->in[0], s->dtype, start, n, a);
    tc_seq_read_as_f(&s->in[1], s->dtype, start, n, b);
    for (int64_t i = 0; i < n; i++) s->loss[start + i] = pair_loss(s->op, a[i], b[i]);
  }
}

bool tc_eager_pair_loss(tc_eager_call *c) {
  const tc_tensor *a = c->in[0], *b = c->in[1];
  int rank = a->key.rank > b->key.rank ? a->key.rank : b->key.rank;
  int64_t dim[TC_MAX_RANK] = {0}, total = 1;
  for (int i = 0; i < rank; i++) {
    int ia = i - (rank - a->key.rank), ib = i - (rank - b->key.rank);
    dim[i] = ia >= 0 && a->dim[ia] != 1 ? a->dim[ia] : ib >= 0 ? b->dim[ib] : 1;
    total *= dim[i];
  }
  tc_storage *memory = tc_storage_new((size_t)total * sizeof(double));
  if (!memory) return false;
  const paired s = {c->op, (tc_dtype)c->out->key.dtype,
                    {tc_seq_broadcast(a, rank, dim), tc_seq_broadcast(b, rank, dim)},
                    memory->data};
  tc_for(total, TC_BLOCK, total, pair_losses, &s);
  reduce_loss(c, memory->data, total);
  tc_storage_unref(memory);
  return true;
}
