/* chain_find.c - the kernels of which a chain of products is made (chain.c): scores, the softmax of their rows, the product
 * with it, and in training those that read weights again. */
#include "lower/chain.h"

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

/* Does it live in the program alone, row by row? */
static bool is_array(const lo *L, uint32_t buffer) {
  const tc_buffer *a = &L->p->buffer[buffer];
  return a->kind == TC_BUF_ARENA && !a->layout.strided;
}

/* The last kernel in front of `reader` that writes the array; NULL: none does, or it is more than
 * the reader's. */
static const tc_kernel *writer_of(const lo *L, uint32_t buffer, const tc_kernel *reader) {
  const tc_kernel *k = reader;
  if (!is_array(L, buffer)) return NULL;
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

/* And does it live in the program alone, row by row? */
static bool is_own_array(const lo *L, uint32_t buffer, const tc_kernel *writer) {
  return is_array(L, buffer) && is_made_by(L, buffer, writer);
}

/* Is nobody else to read the array, but for one? */
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

static bool is_local(const lo_attention *x, const tc_action *a) {
  return x->L->p->buffer[x->softmax.k->buffer[a->buffer]].kind == TC_BUF_LOCAL;
}

uint32_t lo_also(const lo_softmax *s, uint32_t i) { return s->k->buffer[s->also[i]->buffer]; }

static bool add_also(lo_softmax *s, const tc_action *a) {
  if (s->nalso == LO_ALSO) return false;
  s->also[s->nalso++] = a;
  return true;
}

static bool take_action(lo_attention *x, const tc_action *a) {
  lo_softmax *s = &x->softmax;
  const bool stores = a->kind == TC_ACT_STORE;
  if (stores && is_local(x, a)) return is_plain_store(a);
  if (stores && s->k->buffer[a->buffer] != x->weights) return add_also(s, a);
  const tc_action **to = NULL;
  if (stores) to = &s->store;
  else if (a->kind == TC_ACT_REDUCE && a->reducer == TC_REDUCE_MAX) to = &s->max;
  else if (a->kind == TC_ACT_REDUCE && a->reducer == TC_REDUCE_SUM && s->max) to = &s->sum;
  if (!to || *to) return false;
  *to = a;
  return true;
}

/* Stores of a row, which knows nothing of its keys. */
static bool take_row(lo_attention *x, const tc_stage *st) {
  lo_softmax *s = &x->softmax;
  for (uint32_t a = 0; a < st->naction; a++) {
    if (!is_plain_store(&st->action[a]) || is_local(x, &st->action[a]) || s->nrow == LO_ROW_VALUES)
      return false;
    s->row[s->nrow++] = &st->action[a];
  }
  return true;
}

/* Arrays that others read beside the weights are the program's own, too. */
static bool find_also(const lo_attention *x) {
  const lo_softmax *s = &x->softmax;
  for (uint32_t i = 0; i < s->nalso; i++)
    if (!is_plain_store(s->also[i]) || !is_own_array(x->L, lo_also(s, i), s->k)) return false;
  return true;
}

/* One nest of rows: maximum, sum, and the weights. */
static bool find_rows(lo_attention *x) {
  const lo_softmax *s = &x->softmax;
  const tc_nest *n = s->k->nest;
  if (s->k->kind != TC_KERNEL_NESTS || s->k->nnest != 1 || n->serial || n->when != TC_ALWAYS)
    return false;
  if (n->naxis != n->nparallel + 1) return false;
  for (int i = 0; i < n->naxis; i++)
    if (n->axis[i].of >= 0) return false;
  for (uint32_t i = 0; i < n->nstage; i++) {
    const tc_stage *st = &n->stage[i];
    if (st->skip_if.id || st->if_skipped) return false;
    if (!st->axes && take_row(x, st)) continue;
    if (st->axes != 1u << n->nparallel) return false;
    for (uint32_t a = 0; a < st->naction; a++)
      if (!take_action(x, &st->action[a])) return false;
  }
  return s->max && s->sum && s->store && is_plain_store(s->store) && find_also(x);
}

/* Which values of the softmax's kernel are one for a row, and have to do with its results? */
static void find_row_values(lo_attention *x) {
  const tc_kernel *k = x->softmax.k;
  uint8_t *of = lo_find_dependent(x->L, k, k->nest->nparallel, 0);
  for (uint32_t id = 1; id < k->nexpr; id++) of[id] = of[id] == LO_OF_ROWS;
  x->softmax.of_row = of;
}

uint32_t lo_operand_of(const tc_kernel *k, tc_val v) {
  return is_affine_load(&k->expr[v.id]) ? k->buffer[k->expr[v.id].buffer] : UINT32_MAX;
}

static bool is_operand(const tc_kernel *k, uint32_t buffer) {
  const tc_expr *e;
  return is_plain_product(k) && loads_of(k, buffer, &e) == 1 &&
         (lo_operand_of(k, k->mm.a) == buffer || lo_operand_of(k, k->mm.b) == buffer);
}

static bool find_kernels(lo_attention *x) {
  const tc_expr *e = NULL;
  if (!is_plain_product(x->outer)) return false;
  x->weights = lo_operand_of(x->outer, x->outer->mm.a);
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

static bool add_again(lo_attention *x, const tc_kernel *k) {
  if (x->nagain == LO_CHAINS || k < x->outer) return false;
  x->of[x->nagain] = (lo_products){.outer = k};
  x->again[x->nagain++] = k;
  return true;
}

/* Does it read weights or what stands beside them?  `affine`: by an address that depends on no value. */
static bool reads_again(const lo_attention *x, const tc_kernel *k, bool *affine) {
  const lo_softmax *s = &x->softmax;
  const tc_expr *e = NULL;
  bool any = false;
  for (uint32_t i = 0; i <= s->nalso; i++) {
    const uint32_t buffer = i < s->nalso ? lo_also(s, i) : x->weights;
    if (!reads(k, buffer)) continue;
    any = true;
    if (loads_of(k, buffer, &e) != 1 || !is_affine_load(e)) *affine = false;
  }
  return any;
}

/* A product whose epilogue makes one array of its elements, of weights and of what stands beside them. */
static bool take_cotangents(lo_attention *x, const tc_kernel *k) {
  if (x->cotangents || !is_simple_product(k)) return false;
  x->cotangents = k;
  x->derivative = k->mm.epilogue.action;
  x->derivatives = k->buffer[x->derivative->buffer];
  return is_own_array(x->L, x->derivatives, k);
}

bool lo_takes_derivatives(const lo_attention *x, const tc_kernel *k) {
  return x->cotangents && is_operand(k, x->derivatives);
}

static bool find_again(lo_attention *x) {
  const tc_program *p = x->L->p;
  for (uint32_t i = 0; i < p->nkernel; i++) {
    const tc_kernel *k = &p->kernel[i];
    bool affine = true;
    if (k == x->outer || !reads_again(x, k, &affine)) continue;
    if (!affine || (is_operand(k, x->weights) ? !add_again(x, k) : !take_cotangents(x, k))) return false;
  }
  for (uint32_t i = 0; x->cotangents && i < p->nkernel; i++) {
    const tc_kernel *k = &p->kernel[i];
    if (reads(k, x->derivatives) && (!lo_takes_derivatives(x, k) || !add_again(x, k))) return false;
  }
  return true;
}

/* ---- weights that a product makes ------------------------------------------------------------- */

/* Is it an exponential, or a multiple of one, where it is not hidden? */
static bool is_exponential(const tc_kernel *k, tc_val v) {
  const tc_expr *e = &k->expr[v.id];
  if (e->kind == TC_EX_ROUND) return is_exponential(k, e->in[0]);
  if (e->kind != TC_EX_OP) return false;
  if (e->op == OP_WHERE) return is_exponential(k, e->in[1]) || is_exponential(k, e->in[2]);
  return e->op == OP_EXP ||
         (e->op == OP_MUL && (is_exponential(k, e->in[0]) || is_exponential(k, e->in[1])));
}

static bool is_read_as_operand(const lo *L, uint32_t buffer) {
  for (uint32_t i = 0; i < L->p->nkernel; i++)
    if (is_operand(&L->p->kernel[i], buffer)) return true;
  return false;
}

/* Its epilogue stores weights, those that products read if there are such, and may store others beside them. */
static bool find_weights(lo_attention *x) {
  const tc_stage *st = &x->inner->mm.epilogue;
  lo_softmax *s = &x->softmax;
  if (!is_plain_product(x->inner)) return false;
  s->k = x->inner;
  for (uint32_t i = 0; i < st->naction; i++) {
    const tc_action *a = &st->action[i];
    if (!is_plain_store(a)) return false;
    if (!is_exponential(s->k, a->value)) continue;
    if (!s->store || is_read_as_operand(x->L, s->k->buffer[a->buffer])) s->store = a;
  }
  for (uint32_t i = 0; s->store && i < st->naction; i++)
    if (&st->action[i] != s->store && !add_also(s, &st->action[i])) return false;
  if (!s->store) return false;
  x->weights = s->k->buffer[s->store->buffer];
  return is_own_array(x->L, x->weights, s->k) && find_also(x);
}

/* The one kernel that reads the array; NULL: there is none, or there are several. */
static const tc_kernel *reader_of(const lo *L, uint32_t buffer) {
  const tc_kernel *reader = NULL;
  for (uint32_t i = 0; i < L->p->nkernel; i++) {
    if (!reads(&L->p->kernel[i], buffer)) continue;
    if (reader) return NULL;
    reader = &L->p->kernel[i];
  }
  return reader;
}

/* The product x->cotangents stores derivatives, which are made of it, and may store weights, which are not. */
static bool take_epilogue(lo_attention *x) {
  const tc_kernel *k = x->cotangents;
  const tc_stage *st = &k->mm.epilogue;
  const uint8_t *of = lo_find_dependent(x->L, k, k->mm.nbatch, 0);
  lo_softmax *s = &x->softmax;
  s->k = k;
  for (uint32_t i = 0; i < st->naction; i++) {
    const tc_action *a = &st->action[i];
    const tc_action **to = of[a->value.id] & LO_OF_ROWS ? &x->derivative : &s->store;
    if (*to || !is_plain_store(a)) return false;
    *to = a;
  }
  return x->derivative != NULL;
}

static bool made_here(const lo_attention *x, const tc_action *a, uint32_t *buffer) {
  *buffer = a ? x->cotangents->buffer[a->buffer] : UINT32_MAX;
  return !a || is_own_array(x->L, *buffer, x->cotangents);
}

/* x->inner makes scores, of which the epilogue of the product of cotangents makes weights. */
static bool find_scores(lo_attention *x) {
  const tc_expr *e = NULL;
  *x = (lo_attention){.L = x->L, .inner = x->inner};
  if (!is_simple_product(x->inner)) return false;
  x->scores = x->inner->buffer[x->inner->mm.epilogue.action->buffer];
  if (!is_own_array(x->L, x->scores, x->inner)) return false;
  x->cotangents = reader_of(x->L, x->scores);
  if (!x->cotangents || x->cotangents < x->inner || !is_plain_product(x->cotangents) ||
      is_operand(x->cotangents, x->scores) || loads_of(x->cotangents, x->scores, &e) != 1 ||
      !is_affine_load(e) || !take_epilogue(x))
    return false;
  const tc_action *weights = x->softmax.store ? x->softmax.store : x->derivative;
  return is_exponential(x->cotangents, weights->value) &&
         made_here(x, x->derivative, &x->derivatives) &&
         made_here(x, x->softmax.store, &x->weights);
}

/* Products that read weights or derivatives, as nothing else may. */
static bool find_products(lo_attention *x) {
  const tc_program *p = x->L->p;
  for (uint32_t i = 0; i < p->nkernel; i++) {
    const tc_kernel *k = &p->kernel[i];
    const bool weights = x->softmax.store && reads(k, x->weights), again = reads(k, x->derivatives);
    if (weights && again) return false;
    if ((weights && !is_operand(k, x->weights)) || (again && !lo_takes_derivatives(x, k)))
      return false;
    if ((weights || again) && !add_again(x, k)) return false;
  }
  return x->nagain > 0;
}

/* Is what the product reads multiplied with so many columns that making it again is little beside that? */
static bool has_columns(const lo_attention *x, const tc_kernel *k) {
  enum { FEW = 16 };
  const uint32_t a = lo_operand_of(k, k->mm.a);
  const bool left = a != UINT32_MAX && (a == x->weights || a == x->derivatives);
  int64_t least, most;
  tc_dim_range(x->L->dims, k->mm.axis[k->mm.nbatch + left].extent, &least, &most);
  return most >= FEW;
}

bool lo_find_backward(lo_attention *x) {
  bool found = find_weights(x) && find_again(x) && x->cotangents && x->nagain;
  if (!found) found = find_scores(x) && find_products(x);
  for (uint32_t i = 0; found && i < x->nagain; i++) found = has_columns(x, x->again[i]);
  return found;
}

bool lo_find_attention(lo_attention *x) {
  if (!find_kernels(x) || !find_again(x)) return false;
  find_row_values(x);
  return true;
}

/* ---- what may be done later ------------------------------------------------------------------- */

/* Does every kernel that writes the array write a piece of it that no other does? */
static bool has_pieces(const lo *L, uint32_t buffer) {
  const tc_ref of = L->p->buffer[buffer].node;
  return of.id && tc_graph_node(L->g, of)->op == OP_CONCAT;
}

bool lo_may_wait(const lo *L, const tc_kernel *first, const tc_kernel *second) {
  for (const tc_kernel *k = first + 1; k <= second; k++)
    for (uint32_t i = 0; i < first->nbuffer; i++) {
      const uint32_t buffer = first->buffer[i];
      const bool written = tc_kernel_writes(first, i);
      if (writes(k, buffer) && !(written && has_pieces(L, buffer))) return false;
      if (written && reads(k, buffer)) return false;
    }
  return first < second;
}
