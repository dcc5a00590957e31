/* The way in from libtcrt, the table of entries, and the pieces that all forms share. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/libtcrt-cuda/eager.h"
#include "runtime/libtcrt/src/cuda/build.h"

/* ---- entries --------------------------------------------------------------------------------- */

static int compare_key(const void *key, const void *row) {
  return strcmp(key, ((const tcrt_cuda_op *)row)->key);
}

tcrt_entry *tc_entry_find(const char *key) {
  const tcrt_cuda_table *t = &tcrt_cuda_one_ops;
  const tcrt_cuda_op *row = bsearch(key, t->op, t->count, sizeof *t->op, compare_key);
  return row ? row->entry : NULL;
}

tc_tensor *tc_entry_run(const tc_op_call *o, const char *key, const tc_tensor *const *in,
                        const tc_value *scalar) {
  tcrt_entry *entry = tc_entry_find(key);
  tc_tensor *y = NULL;
  if (!entry) return tcrt_fail("%s: libtcrt-cuda.so has no kernel %s", o->c->name, key);
  if (!entry(in, scalar, &y))
    return tcrt_fail("%s: the kernel %s could not run on cuda:%d (out of memory, or see "
                     "TC_LOGS=fallback)",
                     o->c->name, key, (int)o->c->device >> 8);
  tc_result_shape(y, &o->type);
  return y;
}

/* ---- results --------------------------------------------------------------------------------- */

void tc_result_shape(tc_tensor *t, const tc_type *type) {
  int64_t stride = 1;
  t->key.dtype = type->dtype;
  t->key.rank = type->rank;
  t->key.flags = (uint8_t)(TC_FLAG_CONTIGUOUS | (type->weak ? TC_FLAG_WEAK : 0));
  for (int i = TC_MAX_RANK - 1; i >= 0; i--) {
    t->dim[i] = i < type->rank ? tc_dim_value(type->dim[i]) : 1;
    t->stride[i] = i < type->rank ? stride : 0;
    if (t->dim[i] > 1) stride *= t->dim[i];
  }
}

tc_tensor *tc_result_new(const tc_op_call *o) {
  tc_tensor place = {.key = {.device = TC_CUDA}, .device_index = (int)o->c->device >> 8};
  int64_t dim[TC_MAX_RANK];
  tcrt_cuda_call c;
  for (int i = 0; i < o->type.rank; i++) dim[i] = tc_dim_value(o->type.dim[i]);
  if (!tcrt_cuda_begin(&c, &place)) return NULL;
  tc_tensor *y = tcrt_cuda_new(&c, (tc_dtype)o->type.dtype, o->type.rank, dim);
  tcrt_cuda_end(&c, 0);
  if (y && o->type.weak) y->key.flags |= TC_FLAG_WEAK;
  return y;
}

/* ---- operands -------------------------------------------------------------------------------- */

/* The next step's result takes the place of what was held. */
static bool step(tc_dense *d, tc_tensor *next) {
  tc_free(d->hold);
  d->hold = next;
  if (next) d->t = *next;
  return next != NULL;
}

static bool spread_to(tc_dense *d, const tc_type *type) {
  tc_ints dims = {type->rank, {0}};
  bool same = d->t.key.rank == type->rank;
  for (int i = 0; i < type->rank; i++) dims.v[i] = tc_dim_value(type->dim[i]);
  for (int i = 0; i < type->rank && same; i++) same = d->t.dim[i] == dims.v[i];
  return same || step(d, tc_expand(d->hold ? d->hold : &d->t, dims));
}

tc_dense tc_dense_of(const tc_tensor *x, tc_dtype dtype, const tc_type *spread, int rank,
                     const int64_t *dim) {
  tc_dense d = {.t = *x, .ok = true};
  if (x->key.dtype != dtype) d.ok = step(&d, tc_cast(x, dtype));
  if (d.ok && spread) d.ok = spread_to(&d, spread);
  if (d.ok && !(d.t.key.flags & TC_FLAG_CONTIGUOUS))
    d.ok = step(&d, tc_contiguous(d.hold ? d.hold : x));
  tc_type type = {.dtype = (uint8_t)dtype, .rank = (uint8_t)rank};
  for (int i = 0; i < rank; i++) type.dim[i] = tc_dim_const(dim[i]);
  tc_result_shape(&d.t, &type);
  return d;
}

void tc_dense_free(tc_dense *d, int n) {
  for (int i = 0; i < n; i++) tc_free(d[i].hold);
}

static void number(tc_number *n, tc_dtype dtype, void *at) {
  n->t = (tc_tensor){.key = {.dtype = (uint8_t)dtype, .flags = TC_FLAG_CONTIGUOUS | TC_FLAG_WEAK},
                     .data = at};
  for (int i = 0; i < TC_MAX_RANK; i++) n->t.dim[i] = 1;
}

void tc_number_f(tc_number *n, double v) {
  number(n, TC_F64, &n->f);
  n->f = v;
}

void tc_number_i(tc_number *n, int64_t v) {
  number(n, TC_I64, &n->i);
  n->i = v;
}

/* ---- one op ---------------------------------------------------------------------------------- */

enum { MESSAGE = 300, MOST_OPERANDS = 3, MOST_ATTRS = 2 * TC_MAX_RANK + 4 };

static bool infer(tc_op_call *o) {
  char message[MESSAGE] = "";
  tc_infer i = {.op = o->c->op,
                .nin = o->c->nin,
                .in = o->c->type,
                .nattr = o->nattr,
                .attr = o->c->attr,
                .string = o->c->string,
                .message = message,
                .message_size = sizeof message};
  if (tc_infer_type(&i, &o->type)) return true;
  tcrt_fail("%s: %s", o->c->name, message);
  return false;
}

static tc_type type_of(const tc_tensor *x) {
  tc_type t = {
      .dtype = x->key.dtype, .rank = x->key.rank, .weak = (x->key.flags & TC_FLAG_WEAK) != 0};
  for (int i = 0; i < t.rank; i++) t.dim[i] = tc_dim_const(x->dim[i]);
  return t;
}

tc_tensor *tc_op_on(const tc_op_call *o, tc_op op, int nin, const tc_tensor *const *in, int nattr,
                    const int64_t *attr) {
  tc_type type[MOST_OPERANDS];
  const tc_type *types[MOST_OPERANDS];
  tc_dim dims[MOST_ATTRS];
  for (int i = 0; i < nin; i++) {
    if (!in[i]) return NULL;
    type[i] = type_of(in[i]);
    types[i] = &type[i];
  }
  for (int i = 0; i < nattr; i++) dims[i] = tc_dim_const(attr[i]);
  tc_eager_call c = *o->c;
  c.op = op;
  c.nin = nin;
  c.in = in;
  c.type = types;
  c.attr = dims;
  c.string = NULL;
  tc_op_call inner = {.c = &c, .nattr = nattr};
  return infer(&inner) ? tc_op_run(&inner) : NULL;
}

tc_tensor *tc_op_run(const tc_op_call *o) {
  bool none = false;
  tc_tensor *y = tc_form_run(o, &none);
  return none ? tc_decomposed_run(o) : y;
}

static struct tc_tensor *run(const struct tc_eager_call *c, int nattr) {
  tc_op_call o = {.c = c, .nattr = nattr};
  tc_scope inside;
  if (!infer(&o)) return NULL;
  tc_scope_begin(&inside); /* what is made on the way goes with it */
  tc_tensor *y = tc_keep(tc_op_run(&o));
  tc_scope_end(&inside);
  return y;
}

const tcrt_cuda_eager tcrt_cuda_eager_ops = {TC_CUDA_BUILD, run};
