/* chain.c - a product, the softmax of its rows and a product with that become one kernel; and so do
 * their derivatives.
 *
 * Attention comes as three kernels: scores S = f(Q K'), weights P = softmax of the rows of S, and P
 * V.  Each score is written and read several times, though it takes a few multiplications only.  As
 * a chain (loop.h) no array has them (Rabe and Staats, Self-attention does not need O(n^2) memory,
 * 2021; Dao et al., FlashAttention, 2022):
 *
 *   P[m,k] = t[m,k] * r[m],  t = e^(S - max) and what else depends on k,  r = 1 / sum and what else does not
 *   sum_k P[m,k] V[k,n] = r[m] * sum_k t[m,k] V[k,n]
 *
 * so r goes to the epilogue, and maximum and sum are accumulators of online_softmax beside the
 * product.  Scores and weights are not rounded to the type that their arrays had.
 *
 * In training, weights are read again: by the product P' dO, and by the epilogue of the product of
 * cotangents dO V', which makes dS = g(dO V', P) that two products read.  These become chains of
 * inner products, too, which make P and dS again; for that the first chain keeps what P needs of
 * each row (its maximum and the reciprocal of its sum).
 *
 * The kernels are found in the program. */
#include "lower/chain.h"

#include <string.h>

/* The products that one chain makes: `outer`, or where another chain makes that, too, none. */
typedef struct products {
  const tc_kernel *outer, *beside, *across;
} products;

enum { LO_PRODUCTS = 3 };

/* Kernels that become chains: `outer` and, where weights are read again, `again`. */
typedef struct attention {
  lo *L;
  const tc_kernel *inner, *outer;
  lo_softmax softmax;
  uint32_t scores, weights;    /* program buffers */
  uint32_t wide;               /* weights that are not rounded; UINT32_MAX: nobody reads them */
  const tc_kernel *cotangents; /* a product whose epilogue reads weights; or NULL */
  uint32_t derivatives;        /* what it makes of them */
  uint32_t nagain;
  const tc_kernel *again[LO_CHAINS];
  products of[LO_CHAINS]; /* what becomes of each */
} attention;

/* ---- which kernels --------------------------------------------------------------------------- */

static bool reads(const tc_kernel *k, uint32_t buffer) {
  if (tc_kernel_takes_arrays(k))
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

/* The last kernel in front of `reader` that writes the array; NULL: none does, or it is more than
 * the reader's. */
static const tc_kernel *writer_of(const lo *L, uint32_t buffer, const tc_kernel *reader) {
  const tc_buffer *a = &L->p->buffer[buffer];
  const tc_kernel *k = reader;
  if (a->kind != TC_BUF_ARENA || a->layout.strided) return NULL;
  while (k > L->p->kernel)
    if (writes(--k, buffer)) return k;
  return NULL;
}

/* Is nobody else to have the array, or to write it? */
static bool is_made_by(const lo *L, uint32_t buffer, const tc_kernel *writer) {
  for (uint32_t i = 0; i < L->nwrite; i++)
    if (L->write[i].buffer == buffer) return false;
  for (uint32_t i = 0; i < L->p->nkernel; i++)
    if (&L->p->kernel[i] != writer && writes(&L->p->kernel[i], buffer)) return false;
  return true;
}

/* And to read it, but for one? */
static bool is_between(const lo *L, uint32_t buffer, const tc_kernel *writer,
                       const tc_kernel *reader) {
  for (uint32_t i = 0; i < L->p->nkernel; i++)
    if (&L->p->kernel[i] != reader && reads(&L->p->kernel[i], buffer)) return false;
  return is_made_by(L, buffer, writer);
}

static bool is_plain_product(const tc_kernel *k) {
  return k->kind == TC_KERNEL_MATMUL && !k->mm.npart && !tc_mm_is_chain(&k->mm) &&
         tc_dtype_is_float(k->mm.operand);
}

/* Loads of the buffer, of which `e` is the last. */
static int loads_of(const tc_kernel *k, uint32_t buffer, const tc_expr **e) {
  int n = 0;
  for (uint32_t i = 1; i < k->nexpr; i++)
    if (k->expr[i].kind == TC_EX_LOAD && k->buffer[k->expr[i].buffer] == buffer)
      *e = &k->expr[i], n++;
  return n;
}

static bool is_affine_load(const tc_expr *e) {
  return e->kind == TC_EX_LOAD && !e->guard.id && !e->address.nterm;
}

static bool is_plain_store(const tc_action *a) {
  return a->kind == TC_ACT_STORE && !a->guard.id && !a->address.nterm;
}

/* A product that stores one array, element by element. */
static bool is_simple_product(const tc_kernel *k) {
  return is_plain_product(k) && k->mm.epilogue.naction == 1 &&
         is_plain_store(k->mm.epilogue.action);
}

static bool is_local(const attention *x, const tc_action *a) {
  return x->L->p->buffer[x->softmax.k->buffer[a->buffer]].kind == TC_BUF_LOCAL;
}

static bool take_action(attention *x, const tc_action *a) {
  lo_softmax *s = &x->softmax;
  const bool rounded = a->kind == TC_ACT_STORE && s->k->buffer[a->buffer] == x->weights;
  const tc_action **to = a->kind == TC_ACT_STORE ? (rounded ? &s->store : &s->wide)
                         : a->kind == TC_ACT_REDUCE && a->reducer == TC_REDUCE_MAX ? &s->max
                         : a->kind == TC_ACT_REDUCE && a->reducer == TC_REDUCE_SUM && s->max
                             ? &s->sum
                             : NULL;
  if (a->kind == TC_ACT_STORE && is_local(x, a)) return is_plain_store(a);
  if (!to || *to) return false;
  *to = a;
  return true;
}

/* Weights that are read unrounded, too, beside those that are stored: an array of the same
 * places. */
static bool find_wide(attention *x) {
  const lo_softmax *s = &x->softmax;
  x->wide = UINT32_MAX;
  if (!s->wide) return true;
  const tc_expr *e = &s->k->expr[s->store->value.id];
  const uint32_t of = e->kind == TC_EX_ROUND ? e->in[0].id : s->store->value.id;
  x->wide = s->k->buffer[s->wide->buffer];
  return of == s->wide->value.id && is_plain_store(s->wide) &&
         lo_same_place(&s->wide->address, &s->store->address) &&
         writer_of(x->L, x->wide, x->outer) == s->k && is_made_by(x->L, x->wide, s->k);
}

/* One nest of rows: maximum, sum, and the weights. */
static bool find_rows(attention *x) {
  const lo_softmax *s = &x->softmax;
  const tc_nest *n = s->k->nest;
  if (s->k->kind != TC_KERNEL_NESTS || s->k->nnest != 1 || n->serial || n->when != TC_ALWAYS)
    return false;
  if (n->naxis != n->nparallel + 1) return false;
  for (int i = 0; i < n->naxis; i++)
    if (n->axis[i].of >= 0) return false;
  for (uint32_t i = 0; i < n->nstage; i++) {
    const tc_stage *st = &n->stage[i];
    if (st->axes != 1u << n->nparallel || st->skip_if.id || st->if_skipped) return false;
    for (uint32_t a = 0; a < st->naction; a++)
      if (!take_action(x, &st->action[a])) return false;
  }
  return s->max && s->sum && s->store && is_plain_store(s->store) && find_wide(x);
}

enum { ALONG = 1, ROWS = 2 };

/* Per value of k: does it change ALONG the axis, as results do that `along` has a bit for, or has
 * it to do with others, of ROWS? */
static uint8_t *find_dependent(lo *L, const tc_kernel *k, int axis, uint32_t along) {
  uint8_t *of = lo_alloc(L, L->scratch, k->nexpr + 1u);
  for (uint32_t id = 1; id < k->nexpr; id++) {
    const tc_expr *e = &k->expr[id];
    of[id] = of[e->guard.id];
    for (int i = 0; i < 3; i++) of[id] |= of[e->in[i].id];
    if (e->kind == TC_EX_RESULT) of[id] |= along >> e->index & 1 ? ALONG : ROWS;
    if (!tc_expr_has_address(e)) continue;
    if (!tc_dim_is(e->address.coef[axis], 0)) of[id] |= ALONG;
    for (int t = 0; t < e->address.nterm; t++) of[id] |= of[e->address.term[t].value.id];
  }
  return of;
}

/* Which values of the softmax's kernel are one for a row, and have to do with its results? */
static void find_row_values(attention *x) {
  const tc_kernel *k = x->softmax.k;
  uint8_t *of = find_dependent(x->L, k, k->nest->nparallel, 0);
  for (uint32_t id = 1; id < k->nexpr; id++) of[id] = of[id] == ROWS;
  x->softmax.of_row = of;
}

/* The array that is the product's operand a or b as it is; UINT32_MAX: it is none. */
static uint32_t operand_of(const tc_kernel *k, tc_val v) {
  return is_affine_load(&k->expr[v.id]) ? k->buffer[k->expr[v.id].buffer] : UINT32_MAX;
}

static bool is_operand(const tc_kernel *k, uint32_t buffer) {
  const tc_expr *e;
  return is_plain_product(k) && loads_of(k, buffer, &e) == 1 &&
         (operand_of(k, k->mm.a) == buffer || operand_of(k, k->mm.b) == buffer);
}

static bool find_kernels(attention *x) {
  const tc_expr *e = NULL;
  if (!is_plain_product(x->outer)) return false;
  x->weights = operand_of(x->outer, x->outer->mm.a);
  if (x->weights == UINT32_MAX) return false;
  x->softmax.k = writer_of(x->L, x->weights, x->outer);
  if (!x->softmax.k || !is_operand(x->outer, x->weights) || !find_rows(x)) return false;
  for (uint32_t i = 0; i < x->softmax.k->nbuffer; i++) {
    x->scores = x->softmax.k->buffer[i];
    x->inner = writer_of(x->L, x->scores, x->softmax.k);
    if (!x->inner || !is_plain_product(x->inner)) continue;
    return is_simple_product(x->inner) && x->inner->mm.operand == x->outer->mm.operand &&
           loads_of(x->softmax.k, x->scores, &e) == 1 && is_affine_load(e) &&
           is_between(x->L, x->scores, x->inner, x->softmax.k) &&
           is_made_by(x->L, x->weights, x->softmax.k);
  }
  return false;
}

/* ---- who reads weights again ----------------------------------------------------------------- */

static bool add_again(attention *x, const tc_kernel *k) {
  if (x->nagain == LO_CHAINS || k < x->outer) return false;
  x->of[x->nagain] = (products){.outer = k};
  x->again[x->nagain++] = k;
  return true;
}

/* A product whose epilogue makes one array of its elements and of weights. */
static bool take_cotangents(attention *x, const tc_kernel *k) {
  const tc_expr *e = NULL;
  const int loads =
      loads_of(k, x->weights, &e) + (x->wide == UINT32_MAX ? 0 : loads_of(k, x->wide, &e));
  if (x->cotangents || !is_simple_product(k) || loads != 1 || !is_affine_load(e)) return false;
  x->cotangents = k;
  x->derivatives = k->buffer[k->mm.epilogue.action->buffer];
  return x->L->p->buffer[x->derivatives].kind == TC_BUF_ARENA &&
         !x->L->p->buffer[x->derivatives].layout.strided && is_made_by(x->L, x->derivatives, k);
}

static bool takes_derivatives(const attention *x, const tc_kernel *k) {
  return x->cotangents && is_operand(k, x->derivatives);
}

static bool find_again(attention *x) {
  const tc_program *p = x->L->p;
  for (uint32_t i = 0; i < p->nkernel; i++) {
    const tc_kernel *k = &p->kernel[i];
    const bool wide = x->wide != UINT32_MAX && reads(k, x->wide);
    if ((k == x->outer || !reads(k, x->weights)) && !wide) continue;
    if (is_operand(k, x->weights) ? !add_again(x, k) : !take_cotangents(x, k)) return false;
  }
  for (uint32_t i = 0; x->cotangents && i < p->nkernel; i++) {
    const tc_kernel *k = &p->kernel[i];
    if (reads(k, x->derivatives) && (!takes_derivatives(x, k) || !add_again(x, k))) return false;
  }
  return true;
}

/* ---- the softmax ----------------------------------------------------------------------------- */

static const tc_expr *op_of(const lo_chain *c, tc_val v, tc_op op) {
  const tc_expr *e = &c->b.k->expr[v.id];
  return e->kind == TC_EX_OP && e->op == op ? e : NULL;
}

/* v without the rounding that it has as an operand anyway, also in front of a factor. */
static tc_val unrounded(lo_chain *c, tc_val v) {
  const tc_expr e = c->b.k->expr[v.id];
  if (e.kind == TC_EX_ROUND && e.storage == c->mm.operand) return unrounded(c, e.in[0]);
  for (int i = 0; i < 2 && e.kind == TC_EX_OP && e.op == OP_MUL; i++) {
    const tc_val x = unrounded(c, e.in[i]);
    if (c->b.k->expr[e.in[1 - i].id].kind != TC_EX_CONST || x.id == e.in[i].id) continue;
    return lo_op(&c->b, OP_MUL, e.dtype, i ? e.in[0] : x, i ? x : e.in[1], (tc_val){0}, e.loc);
  }
  return v;
}

/* Product of two values, either of which may be none. */
static tc_val times(lo_chain *c, tc_val x, tc_val y, tc_loc loc) {
  if (!x.id || !y.id) return x.id ? x : y;
  return lo_op(&c->b, OP_MUL, c->mm.acc, x, y, (tc_val){0}, loc);
}

/* v as a product of what changes along k, and of what does not; of the exponentials `e` as `term`.
 * Without them, a factor has to do with neither maximum nor sum. */
typedef struct factors {
  const uint8_t *of; /* per value: does it change ALONG k, has it to do with ROWS */
  tc_val along, row;
  int terms;
} factors;

static bool split_factors(lo_chain *c, tc_val v, tc_val e, tc_val term, factors *f) {
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
  const tc_val by =
      lo_op(&c->b, OP_RECIPROCAL, c->mm.acc, x.in[1], (tc_val){0}, (tc_val){0}, x.loc);
  f->row = times(c, f->row, by, x.loc);
  return split_factors(c, x.in[0], e, term, f);
}

/* A and the factor of the result's rows; false: it is no softmax that can be taken apart. */
static bool take_softmax(lo_chain *c, lo_translation *rows, tc_val *row) {
  const tc_loc loc = rows->k->loc;
  const tc_val x = lo_translate(rows, c->softmax->max->value),
               e = lo_translate(rows, c->softmax->sum->value);
  const tc_expr *exp = op_of(c, e, OP_EXP), *apart = exp ? op_of(c, exp->in[0], OP_SUB) : NULL;
  if (c->softmax->max->dtype != c->mm.acc || c->softmax->sum->dtype != c->mm.acc) return false;
  if (!apart || apart->in[0].id != x.id || !lo_is_online_centre(&c->b, apart->in[1], TC_MM_ROWS))
    return false;
  tc_action *a = lo_alloc(c->L, c->L->arena, sizeof *a);
  const tc_val centre = apart->in[1];
  *a = lo_online_action(&c->b, x, TC_MM_ROWS, loc);
  c->total = lo_online_total(&c->b, TC_MM_ROWS, centre, loc);
  const tc_val v = unrounded(c, lo_translate(rows, c->softmax->store->value));
  factors f = {.of = find_dependent(c->L, c->b.k, c->mm.nbatch + 2, 1u << TC_MM_INNER)};
  if (c->failed || !split_factors(c, v, e, a->term, &f) || f.terms != 1) return false;
  c->mm.inner.rows = (tc_stage){.naction = 1, .action = a};
  c->mm.a = f.along;
  *row = f.row;
  return true;
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* Of no keys there is no sum, and the product is 0. */
static tc_val where_any(lo_chain *c, tc_val row, tc_loc loc) {
  const tc_dim k = c->mm.axis[c->mm.nbatch + 2].extent;
  int64_t lo, hi;
  tc_dim_range(c->L->dims, k, &lo, &hi);
  if (!row.id || lo > 0) return row;
  const tc_expr size = {.kind = TC_EX_DIM, .dtype = TC_I64, .dim = k, .loc = loc};
  const tc_val any = lo_op(&c->b, OP_GT, TC_BOOL, lo_expr(&c->b, &size),
                           lo_const_i(&c->b, TC_I64, 0), (tc_val){0}, loc);
  return lo_op(&c->b, OP_WHERE, c->mm.acc, any, row, lo_const_f(&c->b, c->mm.acc, 0), loc);
}

static tc_action translate_store(lo_translation *t, const tc_action *from) {
  lo_chain *c = t->c;
  tc_action a = *from;
  a.value = lo_translate(t, from->value);
  a.guard = lo_translate(t, from->guard);
  a.buffer = lo_kernel_buffer(&c->b, t->k->buffer[from->buffer]);
  a.address = lo_translate_address(t, &from->address);
  return a;
}

/* The chain's stage stores what the epilogue of a product does, too. */
static void take_stores(lo_chain *c, lo_translation *t, tc_stage *to) {
  const tc_stage *from = &t->k->mm.epilogue;
  tc_action *a = lo_alloc(c->L, c->L->arena, (to->naction + from->naction + 1) * sizeof *a);
  if (to->naction) memcpy(a, to->action, to->naction * sizeof *a);
  for (uint32_t i = 0; i < from->naction; i++)
    a[to->naction + i] = translate_store(t, &from->action[i]);
  *to = (tc_stage){.naction = to->naction + from->naction, .action = a};
}

/* Stores of the outer product, scaled row by row. */
static void take_epilogue(lo_chain *c, tc_val row) {
  const tc_val product = lo_result(&c->b, TC_MM_PRODUCT, c->outer->loc),
               scaled = times(c, product, row, c->outer->loc);
  for (uint32_t i = 1; i < c->outer->nexpr; i++)
    if (c->outer->expr[i].kind == TC_EX_RESULT) c->t.to[i] = scaled;
  c->mm.epilogue = (tc_stage){0};
  take_stores(c, &c->t, &c->mm.epilogue);
}

/* Stores of what other chains need of each row. */
static void take_kept(lo_chain *c, lo_translation *rows) {
  const lo_softmax *s = c->softmax;
  tc_action *a = lo_alloc(c->L, c->L->arena, (s->nkept + 1) * sizeof *a);
  const tc_address place = lo_row_place(c, s), at = lo_translate_affine(rows, &place);
  for (uint32_t i = 0; i < s->nkept; i++)
    a[i] = (tc_action){.kind = TC_ACT_STORE, .value = lo_translate(rows, s->kept[i].value),
                       .buffer = lo_kernel_buffer(&c->b, s->kept[i].buffer), .address = at};
  c->mm.inner.finish = (tc_stage){.naction = s->nkept, .action = a};
}

static void add_made(lo_chain *c, uint32_t buffer, const tc_kernel *k, const tc_action *store) {
  const bool product = k->kind == TC_KERNEL_MATMUL;
  c->made[c->nmade++] = (lo_made){.buffer = buffer, .k = k, .store = store,
                                  .axis = product ? k->mm.axis : k->nest->axis,
                                  .n = product ? k->mm.nbatch + 2 : k->nest->naxis};
}

static lo_chain open_chain(attention *x, const tc_kernel *outer, uint32_t operand, tc_kernel *k) {
  lo_chain c = {.L = x->L,
                .outer = outer,
                .softmax = &x->softmax,
                .swapped = operand_of(outer, outer->mm.a) != operand};
  c.b = (lo_kb){.L = x->L, .k = k};
  lo_begin_pool(&c.b);
  for (int i = 0; i < TC_MM_RESULTS; i++) lo_new_result(&c.b, outer->mm.acc, 0);
  if (x->cotangents && operand == x->derivatives)
    add_made(&c, operand, x->cotangents, x->cotangents->mm.epilogue.action);
  add_made(&c, x->weights, x->softmax.k, x->softmax.store);
  if (x->softmax.wide) add_made(&c, x->wide, x->softmax.k, x->softmax.wide);
  add_made(&c, x->scores, x->inner, x->inner->mm.epilogue.action);
  return c;
}

/* The array that the outer product reads, in its axes. */
static bool find_operand(lo_chain *c) {
  const tc_address at = lo_translate_affine(&c->t, &lo_chain_operand(c)->address);
  return lo_find_made(c, &c->made[0], &at);
}

static bool close_chain(lo_chain *c, tc_kernel *k) {
  k->kind = TC_KERNEL_MATMUL;
  k->loc = c->outer->loc;
  k->mm = c->mm;
  k->mm.costly = true;
  return !c->failed && c->L->target->chain(c->L->p, k);
}

/* The product with weights, beside which its rows are reduced. */
static bool make_first(attention *x, tc_kernel *k) {
  lo_chain c = open_chain(x, x->outer, x->weights, k);
  lo_translation *rows = &c.made[0].t;
  tc_val row = {0};
  c.reduces = true;
  if (!lo_open_axes(&c) || !find_operand(&c)) return false;
  if (!lo_is_chain_axis(&rows->axis[x->softmax.k->nest->nparallel], c.mm.nbatch + 2)) return false;
  if (!take_softmax(&c, rows, &row)) return false;
  c.mm.b = lo_translate(&c.t, x->outer->mm.b);
  take_kept(&c, rows);
  take_epilogue(&c, where_any(&c, row, x->outer->loc));
  return close_chain(&c, k);
}

/* What the product reads that is made again. */
static uint32_t operand_again(const attention *x, const tc_kernel *product) {
  return takes_derivatives(x, product) ? x->derivatives : x->weights;
}

static tc_mm_factors factors_of(lo_chain *c, lo_translation *t, bool swapped) {
  const tc_mm_loop *mm = &t->k->mm;
  tc_mm_factors f = {.a = unrounded(c, lo_translate(t, swapped ? mm->b : mm->a))};
  f.b = lo_translate(t, swapped ? mm->a : mm->b);
  return f;
}

typedef bool take_product(lo_chain *c, const lo_chain *other);

/* `take` of a further product, if there is one. */
static bool take_further(attention *x, lo_chain *c, const tc_kernel *product, take_product *take) {
  tc_kernel none = {0};
  if (!product) return true;
  lo_chain other = open_chain(x, product, operand_again(x, product), &none);
  return product->mm.operand == c->mm.operand && lo_open_axes(&other) && take(c, &other);
}

/* Sums along rows, of what the chain's first product is made of. */
static void take_sums(lo_chain *c, bool swapped) {
  const tc_mm_factors of = factors_of(c, &c->across, swapped);
  if (of.a.id != c->mm.a.id) c->failed = true;
  c->mm.across.b = of.b;
  take_stores(c, &c->across, &c->mm.across.epilogue);
}

/* Products with weights or their derivatives, which are made again: one, a second one of the same
 * rows and columns, and one whose rows are their keys. */
static bool make_again(attention *x, const products *of, tc_kernel *k) {
  lo_chain c = open_chain(x, of->outer, operand_again(x, of->outer), k);
  if (c.outer->mm.operand != x->inner->mm.operand || !lo_open_axes(&c) || !find_operand(&c))
    return false;
  if (!take_further(x, &c, of->beside, lo_take_beside) ||
      !take_further(x, &c, of->across, lo_take_across))
    return false;
  const tc_mm_factors first = factors_of(&c, &c.t, c.swapped);
  c.mm.a = first.a, c.mm.b = first.b;
  take_epilogue(&c, (tc_val){0});
  if (of->beside) {
    c.mm.beside = factors_of(&c, &c.beside, c.beside_swapped);
    take_stores(&c, &c.beside, &c.mm.epilogue);
  }
  if (of->across) take_sums(&c, operand_of(of->across, of->across->mm.a) != x->derivatives);
  return c.mm.inner.n > 0 && close_chain(&c, k);
}

/* Does every kernel that writes the array write a piece of it that no other does? */
static bool has_pieces(const lo *L, uint32_t buffer) {
  const tc_ref of = L->p->buffer[buffer].node;
  return of.id && tc_graph_node(L->g, of)->op == OP_CONCAT;
}

/* May what `first` does be done by `second`, a later kernel, behind all that stands between
 * them? */
static bool may_wait(const lo *L, const tc_kernel *first, const tc_kernel *second) {
  for (const tc_kernel *k = first + 1; k <= second; k++)
    for (uint32_t i = 0; i < first->nbuffer; i++) {
      const uint32_t buffer = first->buffer[i];
      const bool written = tc_kernel_writes(first, i);
      if (writes(k, buffer) && !(written && has_pieces(L, buffer))) return false;
      if (written && reads(k, buffer)) return false;
    }
  return first < second;
}

/* One chain makes `all`, which two made, where the later of them is; or nothing changes. */
static void join(attention *x, uint32_t i, uint32_t j, const products *all, tc_kernel *again) {
  const uint32_t first = x->again[i] < x->again[j] ? i : j, last = i + j - first;
  const tc_kernel *const each[LO_PRODUCTS] = {all->outer, all->beside, all->across};
  tc_kernel joined = {0};
  for (int p = 0; p < LO_PRODUCTS; p++)
    if (each[p] && each[p] != x->again[last] && !may_wait(x->L, each[p], x->again[last])) return;
  if (!make_again(x, all, &joined)) return;
  again[last] = joined;
  x->of[last] = *all;
  x->of[first] = (products){0};
}

/* Products with weights and their derivatives are made of the same scores: gradients of values are
 * made with those of keys, and then those of queries, which sum along the other axis. */
static void join_again(attention *x, tc_kernel *again) {
  for (int across = 0; across < 2; across++)
    for (uint32_t i = 0; i < x->nagain; i++)
      for (uint32_t j = 0; j < x->nagain; j++) {
        const products *with = &x->of[i], *of = &x->of[j];
        if (i == j || !with->outer || !of->outer || with->beside || with->across || of->across ||
            !takes_derivatives(x, of->outer) || takes_derivatives(x, with->outer) != across)
          continue;
        const products all = {.outer = of->outer,
                              .beside = across ? of->beside : with->outer,
                              .across = across ? with->outer : NULL};
        if (across || !of->beside) join(x, i, j, &all, again);
      }
}

/* ---- the program ----------------------------------------------------------------------------- */

static void join_fused(lo *L, tc_kernel *k, const tc_kernel *const *from, int nfrom) {
  uint32_t n = 0;
  for (int i = 0; i < nfrom; i++) n += from[i]->nfused;
  k->fused = lo_alloc(L, L->arena, (n + 1) * sizeof *k->fused);
  for (int i = 0; i < nfrom; i++) {
    if (from[i]->nfused)
      memcpy(k->fused + k->nfused, from[i]->fused, from[i]->nfused * sizeof *k->fused);
    k->nfused += from[i]->nfused;
  }
}

static void join_all_fused(const attention *x, tc_kernel *first, tc_kernel *again) {
  join_fused(x->L, first, (const tc_kernel *const[]){x->inner, x->softmax.k, x->outer}, 3);
  for (uint32_t i = 0; i < x->nagain; i++) {
    const tc_kernel *const each[LO_PRODUCTS] = {x->of[i].outer, x->of[i].beside, x->of[i].across};
    const tc_kernel *from[LO_PRODUCTS + 1] = {0};
    int n = 0;
    for (int p = 0; p < LO_PRODUCTS; p++)
      if (each[p]) from[n++] = each[p];
    if (n && takes_derivatives(x, from[0])) from[n++] = x->cotangents;
    join_fused(x->L, &again[i], from, n);
  }
}

/* Is what the kernel made made by others now? */
static bool is_gone(const attention *x, const tc_kernel *k) {
  bool gone = k == x->inner || k == x->softmax.k || k == x->cotangents;
  for (uint32_t i = 0; i < x->nagain; i++) gone = gone || (!x->of[i].outer && x->again[i] == k);
  return gone;
}

static void remove_kernels(const attention *x) {
  tc_program *p = x->L->p;
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->nkernel; i++)
    if (!is_gone(x, &p->kernel[i])) p->kernel[n++] = p->kernel[i];
  p->nkernel = n;
}

/* Kernel `at` takes those that make its operand in; and so do all others that read that again. */
static bool make_chains(lo *L, uint32_t at) {
  attention x = {.L = L, .outer = &L->p->kernel[at]};
  tc_kernel first = {0}, again[LO_CHAINS] = {0};
  const uint32_t nbuffer = L->p->nbuffer;
  if (!find_kernels(&x) || !find_again(&x)) return false;
  find_row_values(&x);
  bool made = true;
  for (uint32_t i = 0; made && i < x.nagain; i++)
    made = make_again(&x, &x.of[i], &again[i]);
  if (made) join_again(&x, again);
  if (!made || !make_first(&x, &first)) {
    L->p->nbuffer = nbuffer; /* without those that rows would have been kept in */
    return false;
  }
  join_all_fused(&x, &first, again);
  for (uint32_t i = 0; i < x.nagain; i++) L->p->kernel[x.again[i] - L->p->kernel] = again[i];
  L->p->kernel[at] = first;
  remove_kernels(&x);
  return true;
}

void lo_make_chains(lo *L) {
  for (uint32_t i = 0; L->target->chain && i < L->p->nkernel; i++)
    if (make_chains(L, i)) i -= 2; /* two stood in front of it */
}
