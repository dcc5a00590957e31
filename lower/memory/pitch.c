/* pitch.c - operands whose rows may lie apart.
 *
 * Where all accesses to an operand are by rows (rows.h), or count its elements through all of them
 * (flat_rows.c), the same kernels read a matrix whose rows lie apart, such as columns of a wider
 * one.  Their distance is a symbol, the pitch, which the entry reads from the operand; strided
 * operands that have none are packed. */
#include "lower/memory/rows.h"

#include <stdio.h>

/* May both have one text, as layers of a model have? */
static bool alike(const lo *L, const tc_kernel *x, const tc_kernel *y) {
  if (x->kind != y->kind || x->nexpr != y->nexpr || x->nnest != y->nnest || x->nfused != y->nfused)
    return false;
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
  if (tc_dim_bad(d) || !tc_dim_find_sym(L->dims, name, &sym))
    lo_fail(L, (tc_loc){0}, "out of memory");
  tc_sym *s = tc_dims_sym(L->dims, sym);
  s->input = (int32_t)input, s->axis = axis, s->pitch = true;
  return d;
}

/* ---- the program ----------------------------------------------------------------------------- */

/* Rows of a few elements are read as one piece of memory: neighbours in the lanes are so many
 * elements apart. */
static bool has_rows(const lo *L, const tc_buffer *b) {
  if (b->kind != TC_BUF_INPUT || b->written || b->type.rank < 2) return false;
  const tc_dim width = b->type.dim[b->type.rank - 1];
  return !tc_dim_is_const(width) ||
         tc_dim_value(width) > (L->target->interleave > 1 ? L->target->interleave : 1);
}

static void choose(lo *L, uint32_t buffer) {
  tc_buffer *b = &L->p->buffer[buffer];
  const lo_rows r = {L, buffer, b->type.dim[b->type.rank - 1]};
  for (uint32_t i = 0; i < L->p->nkernel; i++) {
    const tc_kernel *k = &L->p->kernel[i];
    if (lo_names(k, buffer) && ((!lo_is_by_rows(&r, k) && !lo_is_flat(&r, k)) || shares_text(L, k)))
      return;
  }
  b->pitched = true;
  const tc_dim pitch = pitch_of(L, b->index, b->type.rank - 1);
  for (uint32_t i = 0; i < L->p->nkernel; i++) {
    tc_kernel *k = &L->p->kernel[i];
    if (!lo_names(k, buffer)) continue;
    if (lo_is_by_rows(&r, k)) lo_set_pitch(&r, k, pitch);
    else lo_skip_gaps(&r, k, pitch);
  }
}

void lo_choose_pitches(lo *L) {
  if (tc_graph_input_count(L->g) > L->target->pitched) return;
  /* in this order: functions share kernels of one text */
  for (uint32_t input = 0; input < tc_graph_input_count(L->g); input++)
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
      return tc_dim_mul(
          c, steps,
          tc_dim_norm(c, tc_graph_input_at(p->graph, (uint32_t)s->input)->type.dim[s->axis]));
  }
  return step;
}

tc_dim tc_buffer_span(const tc_program *p, uint32_t buffer) {
  const tc_buffer *b = &p->buffer[buffer];
  tc_dims *c = tc_graph_dims(p->graph);
  for (uint32_t i = 0; b->pitched && i < tc_dims_sym_count(c); i++) {
    tc_dim span = tc_dims_sym_dim(c, i);
    if (!is_of(tc_dims_sym(c, i), b->index, b->type.rank - 1)) continue;
    for (int k = 0; k + 1 < b->type.rank; k++) span = tc_dim_mul(c, span, b->type.dim[k]);
    return span;
  }
  return b->numel;
}
