/* matmul.c - a group with a matmul becomes the template: operands, product, epilogue. */
#include "lower/lowering.h"

#include <stdio.h>

/* The dtype in which a value is exact though it is computed in f32: f16 or bf16, or its own. */
static tc_dtype stored_type(const lo_kb *b, tc_val v) {
  const tc_expr *e = &b->k->expr[v.id];
  if (e->kind == TC_EX_ROUND) return e->storage;
  if (e->kind == TC_EX_LOAD) return b->L->p->buffer[b->k->buffer[e->buffer]].dtype;
  return e->dtype;
}

/* The dtype of a node, or of what it widens. */
static tc_dtype declared_type(const tc_graph *g, tc_ref r) {
  const tc_node *n = tc_graph_node(g, r);
  if (n->op == OP_CAST && n->type.dtype == TC_F32) n = tc_graph_node(g, n->in[0]);
  return tc_dtype_is_half((tc_dtype)n->type.dtype) ? n->type.dtype : tc_graph_type(g, r)->dtype;
}

/* What the multiplier is fed: both operands' narrow type, else the type of the product. */
static tc_dtype operand_type(const lo_kb *b, const tc_node *n, tc_val x, tc_val y) {
  tc_dtype declared = declared_type(b->L->g, n->in[0]);
  if (tc_dtype_is_half(declared) && declared == declared_type(b->L->g, n->in[1])) return declared;
  tc_dtype narrow = stored_type(b, x);
  if (tc_dtype_is_half(narrow) && narrow == stored_type(b, y) && n->type.dtype != TC_F64)
    return narrow;
  return lo_compute_type(n->type.dtype);
}

static void emit_operands(lo_kb *b, const tc_node *n, tc_mm_loop *mm) {
  lo_group *g = b->g;
  const lo_lin deep = lo_deep(b->L, g);
  tc_val v[2];
  for (int k = 0; k < 2; k++)
    v[k] = lo_value(b, n->in[k], lo_matmul_operand(b->L, n, k, g->at, &deep));
  mm->operand = operand_type(b, n, v[0], v[1]);
  mm->acc = lo_compute_type(mm->operand);
  for (int k = 0; k < 2; k++) {
    v[k] = lo_cast(b, v[k], mm->acc);
    const tc_expr *e = &b->k->expr[v[k].id];
    if (e->kind == TC_EX_ROUND && e->storage == mm->operand) v[k] = e->in[0]; /* packing rounds */
  }
  mm->a = v[0];
  mm->b = v[1];
}

static int unit_axis(const lo_lin *l) {
  for (int a = 0; a < LO_AXES; a++)
    if (tc_dim_is(l->coef[a], 1)) return a;
  return -1;
}

/* The slot of m: the finest cut of the result's rows, or what it was merged into. */
static int row_slot(const lo_kb *b, int m, int n, const tc_mm_loop *mm) {
  if (!b->slot[m].dead) return m;
  for (int s = 0; s < b->nslot; s++)
    if (!b->slot[s].dead && s != n && !(lo_deep_axes(b->g) >> s & 1) &&
        !(b->axes[mm->b.id] >> s & 1))
      return s;
  return m;
}

static void finish_epilogue(lo_kb *b, tc_mm_loop *mm) {
  mm->epilogue.action = lo_alloc(b->L, b->L->arena, (b->nact + 1) * sizeof *mm->epilogue.action);
  for (uint32_t i = 0; i < b->nact; i++) mm->epilogue.action[i] = b->act[i].a;
  mm->epilogue.naction = b->nact;
}

/* ---- axes of several parts ------------------------------------------------------------------- */

/* Slots of one of m, n, k, from the outermost to the innermost. */
typedef struct parts {
  int n, slot[TC_MAX_AXES], whole;
} parts;

static parts parts_of(const lo_kb *b, uint32_t axes) {
  parts p = {0};
  for (int s = 0; s < b->nslot; s++)
    if (axes >> s & 1 && !b->slot[s].dead) p.slot[p.n++] = s;
  p.whole = p.n ? p.slot[p.n - 1] : -1;
  /* batches, the rest */
  if (!b->g->parts && !b->L->target->epilogue_parts && p.n)
    p = (parts){.n = 1, .slot = {p.whole}, .whole = p.whole};
  return p;
}

/* Steps along all parts as along one axis are steps along the whole. */
static void step_along_whole(lo_kb *b, tc_address *a, const void *arg) {
  const parts *p = arg;
  for (int i = 0; i + 1 < p->n; i++) {
    const int outer = p->slot[i], inner = p->slot[i + 1];
    if (!tc_dim_same(a->coef[outer], tc_dim_mul(b->L->dims, a->coef[inner], b->slot[inner].extent)))
      return;
  }
  a->coef[p->whole] = a->coef[p->slot[p->n - 1]];
  for (int i = 0; i < p->n; i++) a->coef[p->slot[i]] = tc_dim_const(0);
}

/* Several slots become the parts of one. */
static void join(lo_kb *b, parts *p) {
  if (p->n < 2) return;
  tc_dim extent = tc_dim_const(1);
  for (int i = 0; i < p->n; i++)
    extent = tc_dim_mul(b->L->dims, extent, b->slot[p->slot[i]].extent);
  p->whole = lo_add_slot(b, extent, b->slot[p->slot[0]].sequential);
  lo_map_addresses(b, step_along_whole, p);
}

static const char *part_name(lo *L, char axis, int i) {
  char *name = lo_alloc(L, L->arena, 8);
  snprintf(name, 8, "%c%d", axis, i);
  return name;
}

/* Batches, m, n, k, and the parts of each. */
static void finish_product(lo_kb *b, tc_mm_loop *mm, const parts *role) {
  static const char *const batch[TC_MAX_RANK] = {"b", "c", "d", "e", "f", "g", "h", "i"};
  static const char *const name[3] = {"m", "n", "k"};
  int order[TC_MAX_AXES], count = 0;
  uint32_t taken = 0;
  for (int r = 0; r < 3; r++) {
    if (role[r].whole < 0)
      lo_fail(b->L, b->k->loc, "a product without an axis of rows, columns or sums");
    taken |= 1u << role[r].whole;
    for (int i = 0; role[r].n > 1 && i < role[r].n; i++) taken |= 1u << role[r].slot[i];
  }
  for (int s = 0; s < b->nslot; s++)
    if (!b->slot[s].dead && !(taken >> s & 1)) order[count++] = s;
  mm->nbatch = count;
  for (int r = 0; r < 3; r++) order[count++] = role[r].whole;
  for (int r = 0; r < 3; r++)
    for (int i = 0; role[r].n > 1 && i < role[r].n; i++) order[count++] = role[r].slot[i];
  mm->npart = count - mm->nbatch - 3;
  lo_finish_axes(b, order, count, mm->axis);
  for (int i = 0; i < mm->nbatch; i++) mm->axis[i].name = batch[i % TC_MAX_RANK];
  for (int r = 0, at = mm->nbatch + 3; r < 3; r++) {
    mm->axis[mm->nbatch + r].name = name[r];
    for (int i = 0; role[r].n > 1 && i < role[r].n; i++, at++) {
      mm->axis[at].name = part_name(b->L, *name[r], i);
      mm->axis[at].of = mm->nbatch + r;
    }
  }
}

/* Rows merge with batches; where no operand depends on rows or columns they would merge, too, and
 * one be missing. */
static void separate(lo_kb *b, uint32_t columns, uint32_t deep) {
  for (int s = 0; s < b->nslot; s++) {
    b->slot[s].sequential = deep >> s & 1;
    b->slot[s].columns = columns >> s & 1;
  }
}

/* Is A a load whose rows are apart in memory, so that it is packed for whatever reads it? */
static bool is_packed(const lo_kb *b, const tc_mm_loop *mm, uint32_t deep) {
  const tc_expr *a = &b->k->expr[mm->a.id];
  if (a->kind != TC_EX_LOAD || a->guard.id || a->address.nterm) return false;
  for (int s = 0; s < b->nslot; s++)
    if (deep >> s & 1 && tc_dim_is(a->address.coef[s], 1)) return false;
  return true;
}

/* Batches that have one B: such a product of (batch, m) rows fills its tiles where one of m rows,
 * for each batch, might not. */
static uint32_t batches_of_one_b(const lo_kb *b, const tc_mm_loop *mm, uint32_t roles,
                                 uint32_t deep) {
  uint32_t found = 0;
  if (!b->L->target->product_parts || !b->L->target->epilogue_parts || !is_packed(b, mm, deep))
    return 0;
  for (int s = 0; s < b->nslot; s++)
    if (!b->slot[s].dead && !((roles | b->axes[mm->b.id]) >> s & 1) && b->axes[mm->a.id] >> s & 1)
      found |= 1u << s;
  return found;
}

/* Are there so few columns that tiles are filled badly, and A is packed for little? */
static bool has_few_columns(const lo_kb *b, uint32_t columns) {
  enum { FEW = 256 };
  tc_dim all = tc_dim_const(1);
  for (int s = 0; s < b->nslot; s++)
    if (columns >> s & 1 && !b->slot[s].dead) all = tc_dim_mul(b->L->dims, all, b->slot[s].extent);
  return tc_dim_is_const(all) && tc_dim_value(all) < FEW;
}

/* Batches that have one A, and few columns each, such as small images that are convolved: a product
 * of (batch, n) columns. */
static uint32_t batches_of_one_a(const lo_kb *b, const tc_mm_loop *mm, uint32_t roles,
                                 uint32_t columns) {
  uint32_t found = 0;
  if (!b->L->target->product_parts || !b->L->target->epilogue_parts || !has_few_columns(b, columns))
    return 0;
  for (int s = 0; s < b->nslot; s++)
    if (!b->slot[s].dead && !((roles | b->axes[mm->a.id]) >> s & 1) && b->axes[mm->b.id] >> s & 1)
      found |= 1u << s;
  return found;
}

void lo_emit_matmul(lo_kb *b, lo_group *g) {
  const tc_node *n = lo_node(b->L, g->matmul);
  const lo_lin *dim = g->at->dim + n->type.rank - 2;
  const uint32_t deep = lo_deep_axes(g);
  tc_mm_loop *mm = &b->k->mm;
  b->k->kind = TC_KERNEL_MATMUL;
  lo_begin_nest(b, g);
  separate(b, lo_lin_axes(&dim[1]), deep);
  emit_operands(b, n, mm);
  lo_new_result(b, mm->acc, 0);
  lo_emit_stores(b);
  const int row = unit_axis(&dim[0]), column = unit_axis(&dim[1]);
  lo_coalesce(b);
  uint32_t columns = lo_lin_axes(&dim[1]), rows = lo_lin_axes(&dim[0]);
  if (row >= 0 && !b->slot[row].dead) rows |= batches_of_one_b(b, mm, rows | columns | deep, deep);
  if (column >= 0 && !b->slot[column].dead)
    columns |= batches_of_one_a(b, mm, rows | columns | deep, columns);
  parts role[3] = {parts_of(b, rows), parts_of(b, columns), parts_of(b, deep)};
  if (!role[0].n) role[0].whole = row_slot(b, row, column, mm);
  for (int r = 0; r < 3; r++) join(b, &role[r]);
  finish_product(b, mm, role);
  finish_epilogue(b, mm);
  mm->costly = tc_costly_epilogue(b->k, lo_alloc(b->L, b->L->scratch, b->k->nexpr));
}
