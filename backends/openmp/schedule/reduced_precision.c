/* reduced_precision.c - exponentials and sigmoids that are only ever stored in 16 bits.
 *
 * Where e^x is a probability that is stored as bf16 or f16, or 1 / (1 + e^-x) a gate of what is, an approximation of 17 bits
 * loses nothing and takes half the operations.  That holds where the value reaches nothing but such
 * stores, through operations that keep relative errors small: products, and quotients by a sum of
 * such values.  Differences and logarithms do not keep them. */
#include "backends/openmp/schedule/plan.h"

#include <string.h>

typedef struct search {
  const tc_kernel *k;
  const tc_program *p;
  uint8_t *marked;
  bool changed;
} search;

bool tc_omp_is_approximated(const tc_expr *e) { return tc_print_approximation(e); }

/* Does operand i of the op pass its relative error on, and no more? */
static bool keeps_error(const tc_expr *e, int i) {
  return e->dtype == TC_F32 && (tc_op_get(e->op)->keeps_error >> i & 1);
}

/* Not negative: a sum of such terms has no larger relative error than the terms. */
static bool is_positive(const tc_kernel *k, uint32_t id) { return k->expr[id].op == OP_EXP; }

/* May all readers of the result, or of the LOCAL row, take one of reduced precision? */
static bool all_readers(const search *x, tc_ex_kind kind, uint32_t what) {
  for (uint32_t id = 1; id < x->k->nexpr; ++id) {
    const tc_expr *e = &x->k->expr[id];
    const uint32_t read = kind == TC_EX_RESULT ? e->index : e->buffer;
    if (e->kind == kind && read == what && !x->marked[id]) return false;
  }
  return true;
}

static bool action_may(const search *x, const tc_action *a) {
  if (a->kind == TC_ACT_REDUCE)
    return a->reducer == TC_REDUCE_SUM && is_positive(x->k, a->value.id) &&
           all_readers(x, TC_EX_RESULT, a->index);
  if (a->kind != TC_ACT_STORE) return false;
  const tc_buffer *b = &x->p->buffer[x->k->buffer[a->buffer]];
  return tc_omp_is_half(b->dtype) ||
         (b->kind == TC_BUF_LOCAL && all_readers(x, TC_EX_LOAD, a->buffer));
}

static void refuse(search *x, tc_val v) {
  x->changed |= x->marked[v.id];
  x->marked[v.id] = 0;
}

static void refuse_operands(search *x, uint32_t id) {
  const tc_expr *e = &x->k->expr[id];
  const bool whole = e->kind == TC_EX_ROUND || e->kind == TC_EX_OP;
  for (int i = 0; i < 3; ++i)
    if (!x->marked[id] || !whole || (e->kind == TC_EX_OP && !keeps_error(e, i)))
      refuse(x, e->in[i]);
  refuse(x, e->guard);
  for (int t = 0; t < e->address.nterm; ++t) refuse(x, e->address.term[t].value);
}

static void refuse_action(search *x, const tc_action *a) {
  if (!is_positive(x->k, a->term.id) || !all_readers(x, TC_EX_RESULT, a->index + 1))
    refuse(x, a->term);
  if (!action_may(x, a)) refuse(x, a->value);
  for (int i = 0; i + 1 < TC_MAX_ACCUMULATORS; ++i) refuse(x, a->further[i]);
  refuse(x, a->guard);
  for (int t = 0; t < a->address.nterm; ++t) refuse(x, a->address.term[t].value);
}

/* Of a product without chains. */
static void refuse_product(search *x, const tc_mm_loop *mm) {
  refuse(x, mm->a);
  refuse(x, mm->b);
  for (uint32_t i = 0; i < mm->epilogue.naction; ++i) refuse_action(x, &mm->epilogue.action[i]);
}

/* The largest set: all, less what some reader refuses, until nothing changes. */
void tc_omp_find_reduced_precision(const tc_kernel *k, const tc_program *p, uint8_t *marked) {
  search x = {.k = k, .p = p, .marked = marked, .changed = true};
  memset(marked, 1, k->nexpr + 1);
  marked[0] = 0;
  while (x.changed) {
    x.changed = false;
    for (uint32_t id = k->nexpr; id-- > 1;) refuse_operands(&x, id);
    if (k->kind == TC_KERNEL_MATMUL) refuse_product(&x, &k->mm);
    for (uint32_t n = 0; n < k->nnest; ++n)
      for (uint32_t i = 0; i < k->nest[n].nstage; ++i)
        for (uint32_t j = 0; j < k->nest[n].stage[i].naction; ++j)
          refuse_action(&x, &k->nest[n].stage[i].action[j]);
  }
}
