/* flat_rows.c - rows that lie apart, read by nests that count the elements of an array through all
 * of its rows.
 *
 * Element e of rows of C elements is element e % C of row e / C.  Where rows lie P apart it is
 * e + e / C * (P - C) elements from the first one: the address gets a term of that value. */
#include "lower/flat_rows.h"
#include "lower/memory/rows.h"

#include <string.h>

static bool only_stores(const tc_nest *n) {
  for (uint32_t i = 0; i < n->stage->naction; i++)
    if (n->stage->action[i].kind != TC_ACT_STORE) return false;
  return n->nstage == 1;
}

/* Does the address count all elements of the array, along one axis or by the nest's chunks of it? */
static bool counts_elements(const lo_rows *r, const tc_nest *n, const tc_expr *load) {
  const tc_address *a = &load->address;
  const int v = n->vector, outer = v < 0 ? -1 : n->axis[v].of;
  if (v < 0 || load->guard.id || a->nterm || !tc_dim_is(a->offset, 0)) return false;
  if (!tc_dim_is(a->coef[v], 1) || (outer < 0 ? n->naxis > 1 || !only_stores(n) : !tc_dim_same(a->coef[outer], n->axis[v].extent)))
    return false;
  for (int i = 0; i < n->naxis; i++)
    if (i != v && i != outer && !tc_dim_is(a->coef[i], 0)) return false;
  return tc_dim_same(outer < 0 ? n->axis[v].extent : n->axis[v].total, r->L->p->buffer[r->buffer].numel);
}

static bool is_flat_nest(const lo_rows *r, const tc_kernel *k, const tc_nest *n) {
  uint8_t *used = lo_alloc(r->L, r->L->scratch, k->nexpr + 1u);
  bool named = false, flat = n->nstage == 1 && !n->nstreamed && !n->serial && !n->stage->if_skipped;
  for (uint32_t s = 0; s < tc_nest_stages(n); s++) tc_mark_stage(&n->stage[s], used);
  tc_mark_operands(k, used);
  for (uint32_t id = 1; id < k->nexpr; id++) {
    const tc_expr *e = &k->expr[id];
    if (!used[id] || e->kind != TC_EX_LOAD || k->buffer[e->buffer] != r->buffer) continue;
    named = true;
    flat = flat && counts_elements(r, n, e);
  }
  return flat || !named;
}

/* Arrays of a kernel whose rows lie apart so far, which have a place each in the near caches. */
static uint32_t flat_arrays(const tc_program *p, const tc_kernel *k) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < k->nbuffer; i++) {
    bool apart = false;
    for (uint32_t id = 1; id < k->nexpr; id++)
      apart |= k->expr[id].kind == TC_EX_LOAD && k->expr[id].buffer == i &&
               p->buffer[k->buffer[i]].pitched && k->expr[id].address.nterm;
    count += apart;
  }
  return count;
}

bool lo_is_flat(const lo_rows *r, const tc_kernel *k) {
  enum { MOST = 4 };
  bool flat = k->kind == TC_KERNEL_NESTS && !k->outer.fused && flat_arrays(r->L->p, k) < MOST;
  for (uint32_t i = 0; flat && i < k->nbuffer; i++)
    flat = k->buffer[i] != r->buffer || !tc_kernel_stores(k, i);
  for (uint32_t n = 0; flat && n < k->nnest; n++) flat = is_flat_nest(r, k, &k->nest[n]);
  return flat;
}

/* ---- the term -------------------------------------------------------------------------------- */

static bool same_expr(const tc_expr *x, const tc_expr *y) {
  return x->kind == y->kind && x->op == y->op && x->dtype == y->dtype && x->in[0].id == y->in[0].id &&
         x->in[1].id == y->in[1].id && tc_dim_same(x->dim, y->dim) &&
         (x->kind != TC_EX_INDEX || tc_address_same(&x->address, &y->address));
}

/* x, behind the others of k unless it is there. */
static tc_val add(lo *L, tc_kernel *k, const tc_expr *x) {
  uint32_t id = 1;
  while (id < k->nexpr && !same_expr(&k->expr[id], x)) id++;
  if (id < k->nexpr) return (tc_val){id};
  tc_expr *pool = lo_alloc(L, L->arena, (k->nexpr + 2u) * sizeof *pool);
  memcpy(pool, k->expr, k->nexpr * sizeof *pool);
  pool[k->nexpr] = *x;
  k->expr = pool;
  return (tc_val){k->nexpr++};
}

/* The row of the element that the address names. */
static tc_val row_of(const lo_rows *r, tc_kernel *k, const tc_expr *load) {
  const tc_expr element = {.kind = TC_EX_INDEX, .dtype = TC_I64, .address = load->address, .loc = load->loc},
                width = {.kind = TC_EX_DIM, .dtype = TC_I64, .dim = r->width, .loc = load->loc};
  const tc_expr row = {.kind = TC_EX_OP, .op = OP_FLOORDIV, .dtype = TC_I64, .in = {add(r->L, k, &element), add(r->L, k, &width)}, .loc = load->loc};
  return add(r->L, k, &row);
}

void lo_skip_gaps(const lo_rows *r, tc_kernel *k, tc_dim pitch) {
  const uint32_t n = k->nexpr;
  const tc_dim gap = tc_dim_sub(r->L->dims, pitch, r->width);
  for (uint32_t id = 1; id < n; id++) {
    if (k->expr[id].kind != TC_EX_LOAD || k->buffer[k->expr[id].buffer] != r->buffer) continue;
    const tc_val row = row_of(r, k, &k->expr[id]);
    tc_address *a = &k->expr[id].address;
    a->term[a->nterm++] = (tc_term){.value = row, .stride = gap, .free = true};
  }
  *k = lo_canonical(r->L, k); /* operands in front of what they make */
}

/* row: element / width, of the elements that `a` names without it. */
static bool is_row(const tc_kernel *k, const tc_expr *row, const tc_address *a) {
  const tc_expr *element = &k->expr[row->in[0].id], *width = &k->expr[row->in[1].id];
  tc_address whole = *a;
  whole.nterm = 0;
  return row->kind == TC_EX_OP && row->op == OP_FLOORDIV && element->kind == TC_EX_INDEX &&
         width->kind == TC_EX_DIM && tc_address_same(&element->address, &whole);
}

const tc_expr *tc_flat_row_width(const tc_kernel *k, const tc_expr *load) {
  const tc_address *a = &load->address;
  if (load->kind != TC_EX_LOAD || load->guard.id || a->nterm != 1 || !a->term[0].free) return NULL;
  const tc_expr *row = &k->expr[a->term[0].value.id];
  return is_row(k, row, a) ? &k->expr[row->in[1].id] : NULL;
}
