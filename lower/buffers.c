/* buffers.c - the buffers of a program. */
#include "lower/lowering.h"

uint32_t lo_new_buffer(lo *L, tc_buf_kind kind, uint32_t index, tc_dtype dtype, const tc_type *t,
                       const char *name) {
  tc_program *p = L->p;
  uint32_t n = p->nbuffer;
  p->buffer = lo_grow(L, L->arena, p->buffer, &L->cbuffer, n, sizeof *p->buffer);
  p->buffer[n] = (tc_buffer){.kind = kind,
                             .index = index,
                             .dtype = dtype,
                             .numel = tc_type_numel(L->dims, t),
                             .offset = tc_dim_const(0),
                             .name = name,
                             .type = *t};
  p->buffer[n].type.dtype = dtype;
  p->nbuffer++;
  return n;
}

uint32_t lo_input_buffer(lo *L, uint32_t input) {
  if (!L->input_buffer[input]) {
    const tc_input *in = tc_graph_input_at(L->g, input);
    L->input_buffer[input] =
        lo_new_buffer(L, TC_BUF_INPUT, input, in->type.dtype, &in->type, in->name) + 1;
  }
  return L->input_buffer[input] - 1;
}
