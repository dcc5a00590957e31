/* operand.c - what an entry asks of an operand. */
#include "backends/entry/entry.h"

/* Gradients of what is written are the body's; others are too, but where kernels compute them.
 * Where a tape would record nothing of an operand, it may be tracked. */
bool tc_entry_refuses_tracked(const tc_entry *e, const tc_input *in) {
  const bool differentiates = e->f->trains || e->f->part != TC_PART_WHOLE;
  return !in->leaf && !in->detached && (in->written || !differentiates);
}

bool tc_entry_refuses_results(const tc_entry *e, const tc_input *in) {
  bool leads = false;
  for (uint32_t i = 0; i < tc_graph_input_count(e->p->graph); ++i)
    leads |= tc_graph_input_at(e->p->graph, i)->leaf;
  return leads && in->detached;
}

uint32_t tc_entry_key(const tc_entry *e, const tc_input *in) {
  return in->type.dtype | (uint32_t)e->device << 8 | (uint32_t)in->type.rank << 16 |
         (in->type.weak ? 0x02000000u : 0);
}

bool tc_entry_binds(const tc_entry *e, uint32_t input, int axis) {
  uint32_t sym;
  const tc_dim d = tc_graph_input_at(e->p->graph, input)->type.dim[axis];
  if (!tc_dim_is_sym(e->dims, d, &sym)) return false;
  const tc_sym *s = tc_dims_sym(e->dims, sym);
  return s->input == (int32_t)input && s->axis == axis;
}

int tc_entry_input_buffer(const tc_program *p, uint32_t input) {
  for (uint32_t i = 0; i < p->nbuffer; ++i)
    if (p->buffer[i].kind == TC_BUF_INPUT && p->buffer[i].index == input) return (int)i;
  return -1;
}

bool tc_entry_may_be_strided(const tc_entry *e, uint32_t i) {
  const tc_input *in = tc_graph_input_at(e->p->graph, i);
  return !in->written || (e->style->unpack && !in->row_major);
}

const tc_sym *tc_entry_pitch(const tc_entry *e, uint32_t i) {
  for (uint32_t s = 0; e->style->pitched && s < tc_dims_sym_count(e->dims); ++s)
    if (tc_is_pitch(e->p, s) && tc_dims_sym(e->dims, s)->input == (int32_t)i)
      return tc_dims_sym(e->dims, s);
  return NULL;
}

int tc_entry_row_bytes(const tc_entry *e, uint32_t i) {
  if (!e->style->row_bytes || e->tabulates || !tc_entry_pitch(e, i)) return 0;
  return e->style->row_bytes(e, i);
}

/* Strided, operand i is copied to where kernels work on it, and back if they write it. */
bool tc_entry_is_packed(const tc_entry *e, uint32_t i) {
  return tc_entry_input_buffer(e->p, i) >= 0 && tc_entry_may_be_strided(e, i);
}
