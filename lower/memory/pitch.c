/* pitch.c - operands whose rows may lie apart.
 *
 * An element of a row-major operand with rows of C elements is number q C + r, 0 <= r < C.  Where every address says so, by
 * steps that are multiples of C and others that stay within a row, the same kernel reads a matrix whose rows lie P >= C
 * elements apart, such as columns of a wider one: P stands for C in the former.  P is a symbol, the pitch, which the entry reads
 * from the operand; strided operands that have none are packed. */
#include "lower/lowering.h"

#include <stdio.h>

typedef struct rows {
  lo *L;
  const tc_kernel *k;
  const tc_axis *axis; /* of the nest or product at hand */
  int naxis;
  bool parts;          /* these may be parts of a product's axes, not chunks */
  uint32_t buffer;     /* of the program */
  tc_dim width, pitch; /* C, P */
  bool ok;
} rows;

/* ---- addresses ------------------------------------------------------------------------------- */

/* d is steps * width. */
static bool whole_rows(const rows *r, tc_dim d, tc_dim *steps) {
  *steps = tc_dim_div(r->L->dims, d, r->width);
  return !tc_dim_bad(*steps) && tc_dim_same(tc_dim_mul(r->L->dims, *steps, r->width), d);
}

/* The last point of an axis within rows: of a chunked one, with the axis over its chunks. */
static tc_dim last_point(const rows *r, const tc_address *a, int i) {
  const tc_axis *x = &r->axis[i];
  const bool chunks = !r->parts && x->of >= 0 &&
                      tc_dim_same(a->coef[x->of], tc_dim_mul(r->L->dims, a->coef[i], x->extent));
  return tc_dim_sub(r->L->dims, chunks ? x->total : x->extent, tc_dim_const(1));
}

/* Is axis i that over the chunks of another, which counts with it? */
static bool is_of_chunks(const rows *r, const tc_address *a, int i) {
  for (int j = 0; j < r->naxis && !r->parts; j++)
    if (r->axis[j].of == i && tc_dim_same(a->coef[i], tc_dim_mul(r->L->dims, a->coef[j], r->axis[j].extent))) return true;
  return false;
}

/* Do the steps that are no whole rows stay within one? */
static bool stays_in_row(const rows *r, const tc_address *a) {
  tc_dims *d = r->L->dims;
  const tc_dim zero = tc_dim_const(0);
  tc_dim steps, last = whole_rows(r, a->offset, &steps) ? zero : a->offset;
  if (!tc_dim_known_le(d, zero, last)) return false;
  for (int i = 0; i < r->naxis; i++) {
    if (whole_rows(r, a->coef[i], &steps) || is_of_chunks(r, a, i)) continue;
    if (!tc_dim_known_le(d, zero, a->coef[i])) return false;
    last = tc_dim_add(d, last, tc_dim_mul(d, a->coef[i], last_point(r, a, i)));
  }
  return !tc_dim_bad(last) && tc_dim_known_le(d, tc_dim_add(d, last, tc_dim_const(1)), r->width);
}

static bool is_by_rows(const rows *r, const tc_address *a) {
  tc_dim steps;
  for (int t = 0; t < a->nterm; t++)
    if (!whole_rows(r, a->term[t].stride, &steps)) return false;
  return stays_in_row(r, a);
}

/* ---- kernels --------------------------------------------------------------------------------- */

static void check_loads(rows *r, const uint8_t *used) {
  for (uint32_t id = 1; id < r->k->nexpr; id++) {
    const tc_expr *e = &r->k->expr[id];
    if (used && !used[id]) continue;
    if (e->kind == TC_EX_LOAD && r->k->buffer[e->buffer] == r->buffer) r->ok = r->ok && is_by_rows(r, &e->address);
  }
}

static void check_nest(rows *r, const tc_nest *n) {
  uint8_t *used = lo_alloc(r->L, r->L->scratch, r->k->nexpr + 1u);
  for (uint32_t s = 0; s < tc_nest_stages(n); s++) tc_mark_stage(&n->stage[s], used);
  tc_mark_operands(r->k, used);
  r->axis = n->axis, r->naxis = n->naxis, r->parts = false;
  check_loads(r, used);
}

static void check_kernel(rows *r) {
  if (tc_kernel_takes_arrays(r->k)) {
    r->ok = false;
    return;
  }
  for (uint32_t n = 0; n < r->k->nnest; n++) check_nest(r, &r->k->nest[n]);
  if (r->k->kind != TC_KERNEL_MATMUL) return;
  r->axis = r->k->mm.axis, r->naxis = tc_mm_axes(&r->k->mm), r->parts = true;
  check_loads(r, NULL);
}

static bool names(const tc_kernel *k, uint32_t buffer) {
  for (uint32_t i = 0; i < k->nbuffer; i++)
    if (k->buffer[i] == buffer) return true;
  return false;
}

/* May both have one text, as layers of a model have? */
static bool alike(const lo *L, const tc_kernel *x, const tc_kernel *y) {
  if (x->kind != y->kind || x->nexpr != y->nexpr || x->nnest != y->nnest || x->nfused != y->nfused) return false;
  for (uint32_t i = 0; i < x->nfused; i++)
    if (lo_node(L, x->fused[i])->op != lo_node(L, y->fused[i])->op) return false;
  return true;
}

static bool shares_text(const lo *L, const tc_kernel *k) {
  for (uint32_t i = 0; i < L->p->nkernel; i++)
    if (&L->p->kernel[i] != k && alike(L, k, &L->p->kernel[i])) return true;
  return false;
}

/* ---- the symbol ------------------------------------------------------------------------------ */

static bool is_of(const tc_sym *s, uint32_t input, int axis) {
  return s->pitch && s->input == (int32_t)input && s->axis == axis;
}

/* Programs of graphs with the same symbols share it, each with an input of that number. */
static tc_dim pitch_of(lo *L, uint32_t input, int axis) {
  char name[24];
  uint32_t number = input, sym;
  do snprintf(name, sizeof name, "pitch%u", number++);
  while (tc_dim_find_sym(L->dims, name, &sym) && !is_of(tc_dims_sym(L->dims, sym), input, axis));
  const tc_dim d = tc_dim_sym(L->dims, name, 0, INT64_MAX, 1);
  if (tc_dim_bad(d) || !tc_dim_find_sym(L->dims, name, &sym)) lo_fail(L, (tc_loc){0}, "out of memory");
  tc_sym *s = tc_dims_sym(L->dims, sym);
  s->input = (int32_t)input, s->axis = axis, s->pitch = true;
  return d;
}

static void take_pitch(const rows *r, tc_dim *d) {
  tc_dim steps;
  if (whole_rows(r, *d, &steps)) *d = tc_dim_mul(r->L->dims, steps, r->pitch);
}

static void rewrite(void *self, uint32_t *buffer, tc_address *a) {
  const rows *r = self;
  if (r->k->buffer[*buffer] != r->buffer) return;
  take_pitch(r, &a->offset);
  for (int i = 0; i < TC_MAX_AXES; i++) take_pitch(r, &a->coef[i]);
  for (int t = 0; t < a->nterm; t++) take_pitch(r, &a->term[t].stride);
}

/* ---- the program ----------------------------------------------------------------------------- */

/* Rows of a few elements are read as one piece of memory: neighbours in the lanes are so many elements apart. */
static bool has_rows(const lo *L, const tc_buffer *b) {
  if (b->kind != TC_BUF_INPUT || b->written || b->type.rank < 2) return false;
  const tc_dim width = b->type.dim[b->type.rank - 1];
  return !tc_dim_is_const(width) || tc_dim_value(width) > (L->target->interleave > 1 ? L->target->interleave : 1);
}

static void choose(lo *L, uint32_t buffer) {
  tc_buffer *b = &L->p->buffer[buffer];
  rows r = {.L = L, .buffer = buffer, .width = b->type.dim[b->type.rank - 1], .ok = true};
  for (uint32_t i = 0; i < L->p->nkernel && r.ok; i++) {
    r.k = &L->p->kernel[i];
    if (!names(r.k, buffer)) continue;
    check_kernel(&r);
    r.ok = r.ok && !shares_text(L, r.k);
  }
  if (!r.ok) return;
  b->pitched = true;
  r.pitch = pitch_of(L, b->index, b->type.rank - 1);
  for (uint32_t i = 0; i < L->p->nkernel; i++) {
    r.k = &L->p->kernel[i];
    if (names(r.k, buffer)) lo_each_access(&L->p->kernel[i], rewrite, &r);
  }
}

void lo_choose_pitches(lo *L) {
  if (tc_graph_input_count(L->g) > L->target->pitched) return;
  for (uint32_t input = 0; input < tc_graph_input_count(L->g); input++) /* in this order: functions share kernels of one text */
    for (uint32_t i = 0; i < L->p->nbuffer; i++)
      if (L->p->buffer[i].index == input && has_rows(L, &L->p->buffer[i])) choose(L, i);
}

bool tc_is_pitch(const tc_program *p, uint32_t sym) {
  const tc_sym *s = tc_dims_sym(tc_graph_dims(p->graph), sym);
  for (uint32_t i = 0; s->pitch && i < p->nbuffer; i++) {
    const tc_buffer *b = &p->buffer[i];
    if (b->kind == TC_BUF_INPUT && b->pitched && is_of(s, b->index, b->type.rank - 1)) return true;
  }
  return false;
}

tc_dim tc_dense_step(const tc_program *p, tc_dim step) {
  tc_dims *c = tc_graph_dims(p->graph);
  for (uint32_t i = 0; !tc_dim_is_const(step) && i < tc_dims_sym_count(c); i++) {
    if (!tc_is_pitch(p, i)) continue;
    const tc_sym *s = tc_dims_sym(c, i);
    const tc_dim pitch = tc_dims_sym_dim(c, i), steps = tc_dim_div(c, step, pitch);
    if (!tc_dim_bad(steps) && tc_dim_same(tc_dim_mul(c, steps, pitch), step))
      return tc_dim_mul(c, steps, tc_dim_norm(c, tc_graph_input_at(p->graph, (uint32_t)s->input)->type.dim[s->axis]));
  }
  return step;
}
