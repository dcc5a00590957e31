/* alone.c - a kernel as a program of its own. */
#include "lower/loop.h"

#include <string.h>

static bool reads(const tc_kernel *k, uint32_t buffer) {
  for (uint32_t i = 1; i < k->nexpr; i++)
    if (k->expr[i].kind == TC_EX_LOAD && k->buffer[k->expr[i].buffer] == buffer) return true;
  return false;
}

static bool is_read_by_others(const tc_program *p, uint32_t kernel, uint32_t buffer) {
  for (uint32_t k = 0; k < p->nkernel; k++)
    if (k != kernel && (p->kernel[k].kind == TC_KERNEL_CALL || reads(&p->kernel[k], buffer)))
      return true;
  return false;
}

/* A place behind the others in the workspace: stores to results may go past the caches, those that
 * are read soon may not. */
static void put_in_workspace(tc_program *alone, tc_buffer *b) {
  tc_dims *d = tc_graph_dims(alone->graph);
  const tc_dim line = tc_dim_const(64),
               bytes = tc_dim_mul(d, b->numel, tc_dim_const((int64_t)tc_dtype_bytes(b->dtype)));
  b->kind = TC_BUF_ARENA;
  b->index = 0;
  b->offset = tc_dim_mul(d, line, tc_dim_ceildiv(d, alone->workspace, line));
  alone->workspace = tc_dim_add(d, b->offset, bytes);
}

/* The buffers of the kernel, numbered as in its list, and results among them from 0 on. */
static bool take_buffers(const tc_program *p, uint32_t kernel, tc_kernel *k, tc_program *alone) {
  alone->nbuffer = k->nbuffer;
  alone->buffer = tc_arena_alloc(p->arena, (k->nbuffer + 1u) * sizeof *alone->buffer);
  alone->output = tc_arena_alloc(p->arena, (k->nbuffer + 1u) * sizeof *alone->output);
  uint32_t *number = tc_arena_alloc(p->arena, (k->nbuffer + 1u) * sizeof *number);
  if (!alone->buffer || !alone->output || !number) return false;
  alone->noutput = 0;
  for (uint32_t i = 0; i < k->nbuffer; i++) {
    tc_buffer *b = &alone->buffer[i];
    *b = p->buffer[k->buffer[i]];
    number[i] = i;
    if (b->kind != TC_BUF_OUTPUT) continue;
    if (is_read_by_others(p, kernel, k->buffer[i])) {
      put_in_workspace(alone, b);
      continue;
    }
    b->index = alone->noutput;
    alone->output[alone->noutput++] = i;
  }
  k->buffer = number;
  return true;
}

bool tc_kernel_alone(const tc_program *p, uint32_t kernel, const tc_kernel *k, tc_program *alone) {
  tc_kernel *own = tc_arena_alloc(p->arena, sizeof *own);
  if (!own) return false;
  *alone = *p;
  *own = *k;
  own->name = "kernel";
  alone->nkernel = 1;
  alone->kernel = own;
  return take_buffers(p, kernel, own, alone);
}
