/* expr.c - sizes, and the addresses of buffers, as C expressions. */
#include "backends/entry/entry.h"

void tc_entry_dim(const tc_entry *e, tc_dim d) { tc_dim_print(e->dims, d, "s_", e->out); }

static uint32_t output_of(const tc_program *p, uint32_t buffer) {
  for (uint32_t i = 0; i < p->noutput; ++i)
    if (p->output[i] == buffer) return i;
  return 0;
}

void tc_entry_buffer(const tc_entry *e, uint32_t k, uint32_t i) {
  const uint32_t id = e->p->kernel[k].buffer[i];
  const tc_buffer *b = &e->p->buffer[id];
  switch (b->kind) {
  case TC_BUF_INPUT:
    tc_putf(e->out, e->tabulates ? "d[%u]" : "d%u", b->index);
    break;
  case TC_BUF_OUTPUT:
    tc_putf(e->out, "o%u->data", output_of(e->p, id));
    break;
  case TC_BUF_ARENA:
    tc_putf(e->out, "ws + at%u", id);
    break;
  case TC_BUF_LOCAL:
  case TC_BUF_PRIVATE:
    if (e->style->local) e->style->local(e, k, i);
    else tc_put(e->out, "0");
    break;
  case TC_BUF_KEPT: /* tc_entry_has_memory */
    tc_put(e->out, "0");
    break;
  }
}
