/* chain.c - a product, the softmax of its rows and a product with that become one kernel.
 *
 * Attention comes as three kernels: scores S = f(Q K'), weights P = softmax of the rows of S, and P V.  Each score is
 * written and read several times, though it takes a few multiplications only.  As a chain (loop.h) no array has
 * them (Rabe and Staats, Self-attention does not need O(n^2) memory, 2021; Dao et al., FlashAttention, 2022):
 *
 *   P[m,k] = t[m,k] * r[m],  t = e^(S - max) and what else depends on k,  r = 1 / sum and what else does not
 *   sum_k P[m,k] V[k,n] = r[m] * sum_k t[m,k] V[k,n]
 *
 * so r goes to the epilogue, and maximum and sum are accumulators of online_softmax beside the product.  Scores and
 * weights are not rounded to the type that their arrays had.
 *
 * The three kernels are found in the program.  Their axes need not be the same, for each merged its own: a place in
 * an array tells which points of two kernels meet. */
#include "lower/lowering.h"

#include <string.h>

typedef struct chain {
  lo *L;
  const tc_kernel *inner, *rows, *outer;
  uint32_t scores, weights; /* program buffers */
  tc_mm_loop mm;            /* the chain */
  lo_kb b;                  /* its values */
  const tc_action *max, *sum, *store; /* of rows */
  tc_val total;             /* the sum of exponentials */
  bool failed;              /* a value could not be said */
} chain;

/* Values of one of the kernels as values of the chain. */
typedef struct translation {
  chain *c;
  const tc_kernel *k;
  tc_address axis[TC_MAX_AXES]; /* each axis as a sum over those of the chain */
  tc_val *to;
  const struct translation *from; /* of rows: the inner product */
} translation;

/* ---- which kernels --------------------------------------------------------------------------- */

static bool reads(const tc_kernel *k, uint32_t buffer) {
  if (k->kind == TC_KERNEL_CALL)
    for (uint32_t i = 0; i < k->nbuffer; i++)
      if (k->buffer[i] == buffer) return true;
  for (uint32_t i = 1; i < k->nexpr; i++)
    if (k->expr[i].kind == TC_EX_LOAD && k->buffer[k->expr[i].buffer] == buffer) return true;
  return false;
}

static bool writes(const tc_kernel *k, uint32_t buffer) {
  for (uint32_t i = 0; i < k->nbuffer; i++)
    if (k->buffer[i] == buffer && tc_kernel_writes(k, i)) return true;
  return false;
}

/* The last kernel in front of `reader` that writes the array; NULL: none does, or it is more than the reader's. */
static const tc_kernel *writer_of(const lo *L, uint32_t buffer, const tc_kernel *reader) {
  const tc_buffer *a = &L->p->buffer[buffer];
  const tc_kernel *k = reader;
  if (a->kind != TC_BUF_ARENA || a->layout.strided) return NULL;
  while (k > L->p->kernel)
    if (writes(--k, buffer)) return k;
  return NULL;
}

/* Does nobody else write the array, or read it? */
static bool is_between(const lo *L, uint32_t buffer, const tc_kernel *writer, const tc_kernel *reader) {
  for (uint32_t i = 0; i < L->nwrite; i++)
    if (L->write[i].buffer == buffer) return false;
  for (uint32_t i = 0; i < L->p->nkernel; i++) {
    const tc_kernel *k = &L->p->kernel[i];
    if ((k != reader && reads(k, buffer)) || (k != writer && writes(k, buffer))) return false;
  }
  return true;
}

static bool is_plain_product(const tc_kernel *k) {
  return k->kind == TC_KERNEL_MATMUL && !k->mm.npart && !tc_mm_is_chain(&k->mm) && tc_dtype_is_float(k->mm.operand);
}

/* Loads of the buffer, of which `e` is the last. */
static int loads_of(const tc_kernel *k, uint32_t buffer, const tc_expr **e) {
  int n = 0;
  for (uint32_t i = 1; i < k->nexpr; i++)
    if (k->expr[i].kind == TC_EX_LOAD && k->buffer[k->expr[i].buffer] == buffer) *e = &k->expr[i], n++;
  return n;
}

static bool is_affine_load(const tc_expr *e) { return e->kind == TC_EX_LOAD && !e->guard.id && !e->address.nterm; }

static bool is_plain_store(const tc_action *a) { return a->kind == TC_ACT_STORE && !a->guard.id && !a->address.nterm; }

static bool is_local(const chain *c, const tc_action *a) {
  return c->L->p->buffer[c->rows->buffer[a->buffer]].kind == TC_BUF_LOCAL;
}

static bool take_action(chain *c, const tc_action *a) {
  const tc_action **to = a->kind == TC_ACT_STORE                                            ? &c->store
                         : a->kind == TC_ACT_REDUCE && a->reducer == TC_REDUCE_MAX           ? &c->max
                         : a->kind == TC_ACT_REDUCE && a->reducer == TC_REDUCE_SUM && c->max ? &c->sum
                                                                                             : NULL;
  if (a->kind == TC_ACT_STORE && is_local(c, a)) return is_plain_store(a);
  if (!to || *to) return false;
  *to = a;
  return true;
}

/* One nest of rows: maximum, sum, and the weights. */
static bool find_rows(chain *c) {
  const tc_nest *n = c->rows->nest;
  if (c->rows->kind != TC_KERNEL_NESTS || c->rows->nnest != 1 || n->serial || n->when != TC_ALWAYS) return false;
  if (n->naxis != n->nparallel + 1) return false;
  for (int i = 0; i < n->naxis; i++)
    if (n->axis[i].of >= 0) return false;
  for (uint32_t s = 0; s < n->nstage; s++) {
    const tc_stage *st = &n->stage[s];
    if (st->axes != 1u << n->nparallel || st->skip_if.id || st->if_skipped) return false;
    for (uint32_t a = 0; a < st->naction; a++)
      if (!take_action(c, &st->action[a])) return false;
  }
  return c->max && c->sum && c->store && is_plain_store(c->store);
}

static bool find_kernels(chain *c) {
  const tc_expr *a, *e = NULL;
  if (!is_plain_product(c->outer)) return false;
  a = &c->outer->expr[c->outer->mm.a.id];
  if (!is_affine_load(a)) return false;
  c->weights = c->outer->buffer[a->buffer];
  c->rows = writer_of(c->L, c->weights, c->outer);
  if (!c->rows || loads_of(c->outer, c->weights, &e) != 1 || !find_rows(c)) return false;
  for (uint32_t i = 0; i < c->rows->nbuffer; i++) {
    c->scores = c->rows->buffer[i];
    c->inner = writer_of(c->L, c->scores, c->rows);
    if (!c->inner || !is_plain_product(c->inner)) continue;
    const tc_stage *st = &c->inner->mm.epilogue;
    return st->naction == 1 && is_plain_store(st->action) && c->inner->mm.operand == c->outer->mm.operand &&
           loads_of(c->rows, c->scores, &e) == 1 && is_affine_load(e) &&
           is_between(c->L, c->scores, c->inner, c->rows) && is_between(c->L, c->weights, c->rows, c->outer);
  }
  return false;
}

/* ---- axes ------------------------------------------------------------------------------------ */

static tc_address no_address(void) {
  tc_address a = {.offset = tc_dim_const(0)};
  for (int i = 0; i < TC_MAX_AXES; i++) a.coef[i] = tc_dim_const(0);
  return a;
}

/* The chain's axis `at`, a batch or m, becomes two, of which the inner one has `inner` points; the other is a batch. */
static void split_axis(chain *c, translation *outer, int at, tc_dim inner) {
  tc_dims *d = c->L->dims;
  tc_mm_loop *mm = &c->mm;
  for (int i = mm->nbatch + 3; i > at; i--) mm->axis[i] = mm->axis[i - 1];
  mm->nbatch++;
  mm->axis[at + 1].extent = inner;
  mm->axis[at].extent = tc_dim_div(d, mm->axis[at].extent, inner);
  for (int y = 0; y < TC_MAX_AXES; y++) {
    tc_address *a = &outer->axis[y];
    for (int i = TC_MAX_AXES - 1; i > at; i--) a->coef[i] = a->coef[i - 1];
    a->coef[at] = tc_dim_mul(d, a->coef[at], inner);
  }
}

static tc_address translate_affine(const translation *t, const tc_address *a);

/* A kernel whose axes step over the array by `stride` knows more axes than the outer product, which has heads that share keys
 * in one batch, or in one m with their rows: as many are made. */
static bool split_at(chain *c, translation *outer, tc_dim stride) {
  const tc_address a = translate_affine(outer, &c->outer->expr[c->outer->mm.a.id].address);
  tc_dims *d = c->L->dims;
  for (int i = 0; i < c->mm.nbatch + 3; i++)
    if (tc_dim_same(a.coef[i], stride)) return true;
  for (int i = 0; i <= c->mm.nbatch; i++) {
    if (tc_dim_is(a.coef[i], 0)) continue;
    const tc_dim inner = tc_dim_div(d, stride, a.coef[i]), rest = tc_dim_div(d, c->mm.axis[i].extent, inner);
    if (!tc_dim_same(tc_dim_mul(d, inner, a.coef[i]), stride) || tc_dim_is(inner, 1)) continue;
    if (!tc_dim_same(tc_dim_mul(d, inner, rest), c->mm.axis[i].extent)) continue;
    if (c->mm.nbatch == TC_MAX_RANK) return false;
    split_axis(c, outer, i, inner);
    return true;
  }
  return false;
}

/* An axis of `extent` points that steps by `stride` over an array, as axes of the chain, which steps by `at`. */
static bool cover(const chain *c, const tc_address *at, tc_dim stride, tc_dim extent, tc_address *out) {
  tc_dims *d = c->L->dims;
  tc_dim points = tc_dim_const(1);
  *out = no_address();
  while (!tc_dim_same(points, extent)) {
    int i = 0;
    while (i < c->mm.nbatch + 3 && !(tc_dim_same(at->coef[i], stride) && tc_dim_is(out->coef[i], 0))) i++;
    if (i == c->mm.nbatch + 3 || tc_dim_is(stride, 0)) return false;
    out->coef[i] = points;
    points = tc_dim_mul(d, points, c->mm.axis[i].extent);
    stride = tc_dim_mul(d, stride, c->mm.axis[i].extent);
  }
  return true;
}

static bool same_affine(const tc_address *a, const tc_address *b) {
  bool same = tc_dim_same(a->offset, b->offset);
  for (int i = 0; i < TC_MAX_AXES; i++) same = same && tc_dim_same(a->coef[i], b->coef[i]);
  return same;
}

/* The n axes of a kernel that meets the chain in an array, at its own `a` and the chain's `at`. */
static bool cover_axes(translation *t, const tc_axis *axis, int n, const tc_address *a, const tc_address *at) {
  for (int i = 0; i < n; i++)
    if (!cover(t->c, at, a->coef[i], axis[i].extent, &t->axis[i])) return false;
  const tc_address there = translate_affine(t, a);
  return same_affine(&there, at);
}

/* Is it axis `axis` of the chain? */
static bool is_axis(const tc_address *a, int axis) {
  tc_address one = no_address();
  one.coef[axis] = tc_dim_const(1);
  return same_affine(a, &one);
}

static void open_translation(translation *t, chain *c, const tc_kernel *k) {
  *t = (translation){.c = c, .k = k, .to = lo_alloc(c->L, c->L->scratch, (k->nexpr + 1u) * sizeof *t->to)};
  for (int i = 0; i < TC_MAX_AXES; i++) t->axis[i] = no_address();
}

/* Is it axis m of the chain, and batches that were split from it? */
static bool is_rows(const chain *c, const tc_address *a) {
  const int m = c->mm.nbatch;
  return tc_dim_is(a->coef[m], 1) && tc_dim_is(a->coef[m + 2], 0) && tc_dim_is(a->offset, 0);
}

/* And adds the inner one. */
static void name_axes(chain *c, tc_axis deep) {
  static const char *const batch[TC_MAX_AXES] = {"b", "c", "e", "f", "g", "h", "i", "j"};
  for (int i = 0; i < c->mm.nbatch; i++) c->mm.axis[i].name = batch[i];
  deep.name = "d";
  c->mm.axis[c->mm.nbatch + 3] = deep;
}

/* All three in axes of the chain: batches, m, n, k, d.  swapped: the inner product's rows are keys. */
static bool find_axes(chain *c, translation *inner, translation *rows, translation *outer, bool *swapped) {
  const tc_mm_loop *in = &c->inner->mm;
  const tc_nest *nest = c->rows->nest;
  const tc_expr *score = NULL;
  const tc_address *stored = &in->epilogue.action->address;
  c->mm = c->outer->mm;
  for (int i = 0; i < c->mm.nbatch + 3; i++) outer->axis[i].coef[i] = tc_dim_const(1);
  for (int i = 0; i < nest->nparallel; i++)
    if (!split_at(c, outer, c->store->address.coef[i])) return false;
  for (int i = 0; i < in->nbatch; i++)
    if (!split_at(c, outer, stored->coef[i])) return false;
  const int k = c->mm.nbatch + 2;
  const tc_address weights = translate_affine(outer, &c->outer->expr[c->outer->mm.a.id].address);
  if (!cover_axes(rows, nest->axis, nest->naxis, &c->store->address, &weights)) return false;
  loads_of(c->rows, c->scores, &score);
  const tc_address scores = translate_affine(rows, &score->address);
  if (!is_axis(&rows->axis[nest->nparallel], k)) return false;
  if (!cover_axes(inner, in->axis, in->nbatch + 2, stored, &scores)) return false;
  name_axes(c, in->axis[in->nbatch + 2]);
  inner->axis[in->nbatch + 2].coef[k + 1] = tc_dim_const(1);
  *swapped = is_axis(&inner->axis[in->nbatch], k) && is_rows(c, &inner->axis[in->nbatch + 1]);
  return *swapped || (is_rows(c, &inner->axis[in->nbatch]) && is_axis(&inner->axis[in->nbatch + 1], k));
}

/* ---- values ---------------------------------------------------------------------------------- */

static tc_address translate_affine(const translation *t, const tc_address *a) {
  tc_dims *d = t->c->L->dims;
  tc_address x = no_address();
  x.offset = a->offset;
  for (int y = 0; y < TC_MAX_AXES; y++)
    for (int i = 0; !tc_dim_is(a->coef[y], 0) && i < TC_MAX_AXES; i++)
      x.coef[i] = tc_dim_add(d, x.coef[i], tc_dim_mul(d, a->coef[y], t->axis[y].coef[i]));
  return x;
}

static tc_val translate(translation *t, tc_val v);

static tc_address translate_address(translation *t, const tc_address *a) {
  tc_address x = translate_affine(t, a);
  x.nterm = a->nterm;
  for (int i = 0; i < a->nterm; i++) {
    x.term[i] = a->term[i];
    x.term[i].value = translate(t, a->term[i].value);
  }
  return x;
}

/* What a row that is kept between stages holds at the load's place. */
static tc_val kept(translation *t, const tc_expr *e) {
  const tc_nest *n = t->k->nest;
  for (uint32_t s = 0; s < n->nstage; s++)
    for (uint32_t i = 0; i < n->stage[s].naction; i++) {
      const tc_action *a = &n->stage[s].action[i];
      if (a->kind == TC_ACT_STORE && a->buffer == e->buffer && lo_same_place(&a->address, &e->address))
        return translate(t, a->value);
    }
  t->c->failed = true;
  return (tc_val){0};
}

static tc_val translate_result(translation *t, const tc_expr *e) {
  chain *c = t->c;
  if (t->k == c->inner) return lo_result(&c->b, TC_MM_INNER, e->loc);
  if (t->k == c->outer) return lo_result(&c->b, TC_MM_PRODUCT, e->loc);
  return e->index == c->max->index ? lo_result(&c->b, TC_MM_ROWS, e->loc) : c->total;
}

static tc_val translate_load(translation *t, const tc_expr *e) {
  chain *c = t->c;
  const uint32_t buffer = t->k->buffer[e->buffer];
  if (t->from && buffer == c->scores) return translate((translation *)t->from, c->inner->mm.epilogue.action->value);
  if (c->L->p->buffer[buffer].kind == TC_BUF_LOCAL) return kept(t, e);
  tc_expr x = *e;
  x.buffer = lo_kernel_buffer(&c->b, buffer);
  x.guard = translate(t, e->guard);
  x.address = translate_address(t, &e->address);
  return lo_expr(&c->b, &x);
}

static tc_val translate(translation *t, tc_val v) {
  const tc_expr *e = &t->k->expr[v.id];
  if (!v.id || t->to[v.id].id) return t->to[v.id];
  if (e->kind == TC_EX_LOAD) return t->to[v.id] = translate_load(t, e);
  if (e->kind == TC_EX_RESULT) return t->to[v.id] = translate_result(t, e);
  tc_expr x = *e;
  for (int i = 0; i < 3; i++) x.in[i] = translate(t, e->in[i]);
  if (tc_expr_has_address(e)) x.address = translate_address(t, &e->address);
  return t->to[v.id] = lo_expr(&t->c->b, &x);
}

/* ---- the softmax ----------------------------------------------------------------------------- */

static const tc_expr *op_of(const chain *c, tc_val v, tc_op op) {
  const tc_expr *e = &c->b.k->expr[v.id];
  return e->kind == TC_EX_OP && e->op == op ? e : NULL;
}

/* Product of two values, either of which may be none. */
static tc_val times(chain *c, tc_val x, tc_val y, tc_loc loc) {
  if (!x.id || !y.id) return x.id ? x : y;
  return lo_op(&c->b, OP_MUL, c->mm.acc, x, y, (tc_val){0}, loc);
}

/* v as a product of what changes along k, and of what does not; of the exponentials `e` as `term`.  Without them, a
 * factor has to do with neither maximum nor sum. */
typedef struct factors {
  const uint8_t *of; /* per value: does it change ALONG k, has it to do with ROWS */
  tc_val along, row;
  int terms;
} factors;

enum { ALONG = 1, ROWS = 2 };

static const uint8_t *find_dependent(const chain *c) {
  const tc_kernel *k = c->b.k;
  uint8_t *of = lo_alloc(c->L, c->L->scratch, k->nexpr + 1u);
  for (uint32_t id = 1; id < k->nexpr; id++) {
    const tc_expr *e = &k->expr[id];
    of[id] = of[e->guard.id];
    for (int i = 0; i < 3; i++) of[id] |= of[e->in[i].id];
    if (e->kind == TC_EX_RESULT) of[id] |= e->index == TC_MM_INNER ? ALONG : ROWS;
    if (!tc_expr_has_address(e)) continue;
    if (!tc_dim_is(e->address.coef[c->mm.nbatch + 2], 0)) of[id] |= ALONG;
    for (int t = 0; t < e->address.nterm; t++) of[id] |= of[e->address.term[t].value.id];
  }
  return of;
}

static bool split_factors(chain *c, tc_val v, tc_val e, tc_val term, factors *f) {
  const tc_expr x = c->b.k->expr[v.id];
  if (v.id == e.id) {
    f->along = times(c, f->along, term, x.loc);
    f->terms++;
    return true;
  }
  if (!(f->of[v.id] & ALONG)) {
    f->row = times(c, f->row, v, x.loc);
    return true;
  }
  if (!(f->of[v.id] & ROWS)) {
    f->along = times(c, f->along, v, x.loc);
    return true;
  }
  if (x.kind == TC_EX_OP && x.op == OP_MUL)
    return split_factors(c, x.in[0], e, term, f) && split_factors(c, x.in[1], e, term, f);
  if (x.kind != TC_EX_OP || x.op != OP_DIV || f->of[x.in[1].id] & ALONG) return false;
  const tc_val by = lo_op(&c->b, OP_RECIPROCAL, c->mm.acc, x.in[1], (tc_val){0}, (tc_val){0}, x.loc);
  f->row = times(c, f->row, by, x.loc);
  return split_factors(c, x.in[0], e, term, f);
}

/* A and the factor of the result's rows; false: it is no softmax that can be taken apart. */
static bool take_softmax(chain *c, translation *rows, tc_val *row) {
  const tc_loc loc = rows->k->loc;
  const tc_val x = translate(rows, c->max->value), e = translate(rows, c->sum->value);
  const tc_expr *exp = op_of(c, e, OP_EXP), *apart = exp ? op_of(c, exp->in[0], OP_SUB) : NULL;
  if (c->max->dtype != c->mm.acc || c->sum->dtype != c->mm.acc) return false;
  if (!apart || apart->in[0].id != x.id || !lo_is_online_centre(&c->b, apart->in[1], TC_MM_ROWS)) return false;
  tc_action *a = lo_alloc(c->L, c->L->arena, sizeof *a);
  const tc_val centre = apart->in[1];
  *a = lo_online_action(&c->b, x, TC_MM_ROWS, loc);
  c->total = lo_online_total(&c->b, TC_MM_ROWS, centre, loc);
  tc_val v = translate(rows, c->store->value);
  const tc_expr *rounded = &c->b.k->expr[v.id];
  if (rounded->kind == TC_EX_ROUND && rounded->storage == c->mm.operand) v = rounded->in[0];
  factors f = {.of = find_dependent(c)};
  if (c->failed || !split_factors(c, v, e, a->term, &f) || f.terms != 1) return false;
  c->mm.inner.rows = (tc_stage){.naction = 1, .action = a};
  c->mm.a = f.along;
  *row = f.row;
  return true;
}

/* ---- the kernel ------------------------------------------------------------------------------ */

/* Of no keys there is no sum, and the product is 0. */
static tc_val where_any(chain *c, tc_val row, tc_loc loc) {
  const tc_dim k = c->mm.axis[c->mm.nbatch + 2].extent;
  int64_t lo, hi;
  tc_dim_range(c->L->dims, k, &lo, &hi);
  if (!row.id || lo > 0) return row;
  const tc_expr size = {.kind = TC_EX_DIM, .dtype = TC_I64, .dim = k, .loc = loc};
  const tc_val any = lo_op(&c->b, OP_GT, TC_BOOL, lo_expr(&c->b, &size), lo_const_i(&c->b, TC_I64, 0), (tc_val){0}, loc);
  return lo_op(&c->b, OP_WHERE, c->mm.acc, any, row, lo_const_f(&c->b, c->mm.acc, 0), loc);
}

static void take_epilogue(chain *c, translation *outer, tc_val row) {
  const tc_stage *from = &c->outer->mm.epilogue;
  tc_action *a = lo_alloc(c->L, c->L->arena, (from->naction + 1) * sizeof *a);
  const tc_val product = lo_result(&c->b, TC_MM_PRODUCT, c->outer->loc), scaled = times(c, product, row, c->outer->loc);
  for (uint32_t i = 1; i < c->outer->nexpr; i++)
    if (c->outer->expr[i].kind == TC_EX_RESULT) outer->to[i] = scaled;
  for (uint32_t i = 0; i < from->naction; i++) {
    a[i] = from->action[i];
    a[i].value = translate(outer, a[i].value);
    a[i].guard = translate(outer, a[i].guard);
    a[i].buffer = lo_kernel_buffer(&c->b, c->outer->buffer[a[i].buffer]);
    a[i].address = translate_address(outer, &from->action[i].address);
  }
  c->mm.epilogue.action = a;
}

static void open_values(chain *c, tc_kernel *k) {
  c->b = (lo_kb){.L = c->L, .k = k};
  lo_begin_pool(&c->b);
  for (int i = 0; i < TC_MM_RESULTS; i++) lo_new_result(&c->b, c->outer->mm.acc, 0);
}

static bool make_kernel(chain *c, tc_kernel *k) {
  translation inner, rows, outer;
  tc_val row = {0};
  bool swapped;
  open_values(c, k);
  open_translation(&inner, c, c->inner), open_translation(&rows, c, c->rows), open_translation(&outer, c, c->outer);
  rows.from = &inner;
  if (!find_axes(c, &inner, &rows, &outer, &swapped) || !take_softmax(c, &rows, &row)) return false;
  c->mm.inner.a = translate(&inner, swapped ? c->inner->mm.b : c->inner->mm.a);
  c->mm.inner.b = translate(&inner, swapped ? c->inner->mm.a : c->inner->mm.b);
  c->mm.b = translate(&outer, c->outer->mm.b);
  take_epilogue(c, &outer, where_any(c, row, c->outer->loc));
  if (c->failed) return false;
  k->kind = TC_KERNEL_MATMUL;
  k->loc = c->outer->loc;
  k->mm = c->mm;
  k->mm.costly = true;
  return true;
}

static void join_fused(lo *L, tc_kernel *k, const tc_kernel *const from[3]) {
  uint32_t n = 0;
  for (int i = 0; i < 3; i++) n += from[i]->nfused;
  k->fused = lo_alloc(L, L->arena, (n + 1) * sizeof *k->fused);
  for (int i = 0; i < 3; i++) {
    if (from[i]->nfused) memcpy(k->fused + k->nfused, from[i]->fused, from[i]->nfused * sizeof *k->fused);
    k->nfused += from[i]->nfused;
  }
}

static void remove_kernel(tc_program *p, uint32_t at) {
  memmove(&p->kernel[at], &p->kernel[at + 1], (p->nkernel - at - 1) * sizeof *p->kernel);
  p->nkernel--;
}

/* Kernel `at` takes those that make its operand in. */
static bool make_chain(lo *L, uint32_t at) {
  chain c = {.L = L, .outer = &L->p->kernel[at]};
  tc_kernel k = {0};
  if (!find_kernels(&c) || !make_kernel(&c, &k) || !L->target->chain(L->p, &k)) return false;
  const tc_kernel *const from[3] = {c.inner, c.rows, c.outer};
  const uint32_t inner = (uint32_t)(c.inner - L->p->kernel), rows = (uint32_t)(c.rows - L->p->kernel);
  join_fused(L, &k, from);
  L->p->kernel[at] = k;
  remove_kernel(L->p, rows);
  remove_kernel(L->p, inner < rows ? inner : inner - 1);
  return true;
}

void lo_make_chains(lo *L) {
  for (uint32_t i = 0; L->target->chain && i < L->p->nkernel; i++)
    if (make_chain(L, i)) i -= 2; /* the two stood in front of it */
}
