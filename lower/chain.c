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
               scaled = lo_times(c, product, row, c->outer->loc);
  for (uint32_t i = 1; i < c->outer->nexpr; i++)
    if (c->outer->expr[i].kind == TC_EX_RESULT) c->t.to[i] = scaled;
  c->mm.epilogue = (tc_stage){0};
  take_stores(c, &c->t, &c->mm.epilogue);
}

/* Stores of what other chains need of each row, and of what others read. */
static void take_kept(lo_chain *c, lo_translation *rows) {
  const lo_softmax *s = c->softmax;
  tc_action *a = lo_alloc(c->L, c->L->arena, (s->nkept + s->nrow + 1) * sizeof *a);
  const tc_address place = lo_row_place(c, s), at = lo_translate_affine(rows, &place);
  for (uint32_t i = 0; i < s->nkept; i++)
    a[i] = (tc_action){.kind = TC_ACT_STORE, .value = lo_translate(rows, s->kept[i].value),
                       .buffer = lo_kernel_buffer(&c->b, s->kept[i].buffer), .address = at};
  for (uint32_t i = 0; i < s->nrow; i++) a[s->nkept + i] = translate_store(rows, s->row[i]);
  c->mm.inner.finish = (tc_stage){.naction = s->nkept + s->nrow, .action = a};
}

/* Is the stored value made of a result? */
static bool knows_results(lo_chain *c, const tc_kernel *k, const tc_action *store) {
  uint8_t *used = lo_alloc(c->L, c->L->scratch, k->nexpr + 1u);
  bool any = false;
  tc_mark_action(store, used);
  tc_mark_operands(k, used);
  for (uint32_t i = 1; i < k->nexpr; i++) any |= used[i] && k->expr[i].kind == TC_EX_RESULT;
  return any;
}

static void add_made(lo_chain *c, uint32_t buffer, const tc_kernel *k, const tc_action *store) {
  const bool product = k->kind == TC_KERNEL_MATMUL;
  c->made[c->nmade++] = (lo_made){.buffer = buffer, .k = k, .store = store,
                                  .axis = product ? k->mm.axis : k->nest->axis,
                                  .n = product ? k->mm.nbatch + 2 : k->nest->naxis,
                                  .bare = product && !knows_results(c, k, store)};
}

static lo_chain open_chain(lo_attention *x, const tc_kernel *outer, uint32_t operand, tc_kernel *k) {
  lo_chain c = {.L = x->L,
                .outer = outer,
                .softmax = &x->softmax,
                .swapped = lo_operand_of(outer, outer->mm.a) != operand};
  c.b = (lo_kb){.L = x->L, .k = k};
  lo_begin_pool(&c.b);
  for (int i = 0; i < TC_MM_RESULTS; i++) lo_new_result(&c.b, outer->mm.acc, 0);
  if (x->cotangents && operand == x->derivatives)
    add_made(&c, operand, x->cotangents, x->derivative);
  if (x->softmax.store) add_made(&c, x->weights, x->softmax.k, x->softmax.store);
  for (uint32_t i = 0; i < x->softmax.nalso; i++)
    add_made(&c, lo_also(&x->softmax, i), x->softmax.k, x->softmax.also[i]);
  if (x->softmax.k != x->inner) add_made(&c, x->scores, x->inner, x->inner->mm.epilogue.action);
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
static bool make_first(lo_attention *x, tc_kernel *k) {
  lo_chain c = open_chain(x, x->outer, x->weights, k);
  lo_translation *rows = &c.made[0].t;
  tc_val row = {0};
  c.reduces = true;
  if (!lo_open_axes(&c) || !find_operand(&c)) return false;
  if (!lo_is_chain_axis(&rows->axis[x->softmax.k->nest->nparallel], c.mm.nbatch + 2)) return false;
  if (!lo_take_softmax(&c, rows, &row)) return false;
  c.mm.b = lo_translate(&c.t, x->outer->mm.b);
  take_kept(&c, rows);
  take_epilogue(&c, where_any(&c, row, x->outer->loc));
  return close_chain(&c, k);
}

/* What the product reads that is made again. */
static uint32_t operand_again(const lo_attention *x, const tc_kernel *product) {
  return lo_takes_derivatives(x, product) ? x->derivatives : x->weights;
}

static tc_mm_factors factors_of(lo_chain *c, lo_translation *t, bool swapped) {
  const tc_mm_loop *mm = &t->k->mm;
  tc_mm_factors f = {.a = lo_unrounded(c, lo_translate(t, swapped ? mm->b : mm->a))};
  f.b = lo_translate(t, swapped ? mm->a : mm->b);
  return f;
}

typedef bool take_product(lo_chain *c, const lo_chain *other);

/* `take` of a further product, if there is one. */
static bool take_further(lo_attention *x, lo_chain *c, const tc_kernel *product, take_product *take) {
  tc_kernel none = {0};
  if (!product) return true;
  lo_chain other = open_chain(x, product, operand_again(x, product), &none);
  return product->mm.operand == c->mm.operand && lo_open_axes(&other) && take(c, &other);
}

/* Sums along rows, of what the chain's first product is made of. */
static void take_sums(lo_chain *c) {
  const tc_mm_factors of = factors_of(c, &c->across, c->across_swapped);
  if (of.a.id != c->mm.a.id) c->failed = true;
  c->mm.across.b = of.b;
  take_stores(c, &c->across, &c->mm.across.epilogue);
}

/* Products with weights or their derivatives, which are made again: one, a second one of the same
 * rows and columns, and one whose rows are their keys. */
static bool make_again(lo_attention *x, const lo_products *of, tc_kernel *k) {
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
  if (of->across) take_sums(&c);
  return c.mm.inner.n > 0 && close_chain(&c, k);
}

/* One chain makes `all`, which two made, where the later of them is; or nothing changes. */
static void join(lo_attention *x, uint32_t i, uint32_t j, const lo_products *all, tc_kernel *again) {
  const uint32_t first = x->again[i] < x->again[j] ? i : j, last = i + j - first;
  const tc_kernel *const each[LO_PRODUCTS] = {all->outer, all->beside, all->across};
  tc_kernel joined = {0};
  for (int p = 0; p < LO_PRODUCTS; p++)
    if (each[p] && each[p] != x->again[last] && !lo_may_wait(x->L, each[p], x->again[last])) return;
  if (!make_again(x, all, &joined)) return;
  again[last] = joined;
  x->of[last] = *all;
  x->of[first] = (lo_products){0};
}

/* Products with weights and their derivatives are made of the same scores: gradients of values are
 * made with those of keys, and then those of queries, which sum along the other axis. */
static void join_again(lo_attention *x, tc_kernel *again) {
  for (int across = 0; across < 2; across++)
    for (uint32_t i = 0; i < x->nagain; i++)
      for (uint32_t j = 0; j < x->nagain; j++) {
        const lo_products *with = &x->of[i], *of = &x->of[j];
        if (i == j || !with->outer || !of->outer || with->beside || with->across || of->across ||
            !lo_takes_derivatives(x, of->outer) || lo_takes_derivatives(x, with->outer) != across)
          continue;
        const lo_products all = {.outer = of->outer,
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

static void join_all_fused(const lo_attention *x, tc_kernel *first, tc_kernel *again) {
  if (x->outer)
    join_fused(x->L, first, (const tc_kernel *const[]){x->inner, x->softmax.k, x->outer}, 3);
  for (uint32_t i = 0; i < x->nagain; i++) {
    const tc_kernel *const each[LO_PRODUCTS] = {x->of[i].outer, x->of[i].beside, x->of[i].across};
    const tc_kernel *from[LO_PRODUCTS + 2] = {0};
    int n = 0;
    for (int p = 0; p < LO_PRODUCTS; p++)
      if (each[p]) from[n++] = each[p];
    if (n && (lo_takes_derivatives(x, from[0]) || x->softmax.k == x->cotangents))
      from[n++] = x->cotangents;
    if (n && !x->outer) from[n++] = x->inner;
    join_fused(x->L, &again[i], from, n);
  }
}

/* Is what the kernel made made by others now? */
static bool is_gone(const lo_attention *x, const tc_kernel *k) {
  bool gone = k == x->inner || k == x->softmax.k || k == x->cotangents;
  for (uint32_t i = 0; i < x->nagain; i++) gone = gone || (!x->of[i].outer && x->again[i] == k);
  return gone;
}

static void remove_kernels(const lo_attention *x) {
  tc_program *p = x->L->p;
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->nkernel; i++)
    if (!is_gone(x, &p->kernel[i])) p->kernel[n++] = p->kernel[i];
  p->nkernel = n;
}

/* Kernels of x become chains. */
static bool make(lo_attention *x) {
  tc_program *p = x->L->p;
  tc_kernel first = {0}, again[LO_CHAINS] = {0};
  const uint32_t nbuffer = p->nbuffer;
  bool made = true;
  for (uint32_t i = 0; made && i < x->nagain; i++) made = make_again(x, &x->of[i], &again[i]);
  if (made) join_again(x, again);
  if (!made || (x->outer && !make_first(x, &first))) {
    p->nbuffer = nbuffer; /* without those that rows would have been kept in */
    return false;
  }
  join_all_fused(x, &first, again);
  for (uint32_t i = 0; i < x->nagain; i++) p->kernel[x->again[i] - p->kernel] = again[i];
  if (x->outer) p->kernel[x->outer - p->kernel] = first;
  remove_kernels(x);
  return true;
}

/* Kernel `at` takes those that make its operand in; and so do all others that read that again. */
static bool make_attention(lo *L, uint32_t at) {
  lo_attention x = {.L = L, .outer = &L->p->kernel[at]};
  return lo_find_attention(&x) && make(&x);
}

/* Those that read weights, which kernel `at` makes, make them. */
static bool make_backward(lo *L, uint32_t at) {
  lo_attention x = {.L = L, .inner = &L->p->kernel[at]};
  return lo_find_backward(&x) && make(&x);
}

void lo_make_chains(lo *L) {
  for (uint32_t i = 0; L->target->chain && i < L->p->nkernel; i++)
    if (make_attention(L, i)) i -= 2; /* two stood in front of it */
    else if (make_backward(L, i)) i--;
}
