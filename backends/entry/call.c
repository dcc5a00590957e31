/* call.c - prints calls of functions of the program's own: headers on the stack stand for the
 * buffers, so that no tensor is made. */
#include "backends/entry/entry.h"

bool tc_entry_calls(const tc_program *p) {
  for (uint32_t k = 0; k < p->nkernel; ++k)
    if (p->kernel[k].kind == TC_KERNEL_CALL) return true;
  return false;
}

/* Row-major; strides in bytes. */
static void put_strides(const tc_entry *e, const tc_type *t) {
  tc_dim stride[TC_MAX_RANK], at = tc_dim_const((int64_t)tc_dtype_bytes(t->dtype));
  for (int i = t->rank; i-- > 0;) {
    stride[i] = at;
    at = tc_dim_mul(e->dims, at, t->dim[i]);
  }
  for (int i = 0; i < t->rank; ++i) {
    tc_put(e->out, i ? ", " : "");
    tc_entry_dim(e, stride[i]);
  }
}

/* Declares t<i>, a tensor over buffer i of the kernel. */
static void put_header(const tc_entry *e, uint32_t k, uint32_t i, bool readonly, const tc_type *t) {
  tc_putf(e->out, "    struct tc_tensor t%u; /* ", i);
  tc_type_print(e->dims, t, e->out);
  tc_putf(e->out, " */\n    tcrt_borrow(&t%u, &(const tc_layout){.data = ", i);
  tc_entry_buffer(e, k, i);
  tc_putf(e->out, ", .dtype = %d, .rank = %d, .readonly = %d, .dim = {", t->dtype, t->rank,
          readonly);
  for (int a = 0; a < t->rank; ++a) {
    tc_put(e->out, a ? ", " : "");
    tc_entry_dim(e, t->dim[a]);
  }
  tc_put(e->out, t->rank ? "}, .stride = {" : "0}, .stride = {0");
  put_strides(e, t);
  tc_put(e->out, "}});\n");
}

static void put_number(const tc_entry *e, const tc_node *n) {
  double f;
  int64_t i;
  if (n->op == OP_SCALAR)
    tc_putf(e->out, "scalar[%lld].%c", (long long)tc_dim_value(tc_attr_int(n, "index")),
            tc_dtype_is_float(n->type.dtype) ? 'f' : 'i');
  else if (n->op == OP_DIM) tc_entry_dim(e, n->attr[0]);
  else if (!tc_node_const(n, &f, &i)) tc_put(e->out, "0");
  else if (tc_dtype_is_float(n->type.dtype)) tc_put_double(e->out, f);
  else tc_putf(e->out, "(%lldll)", (long long)i);
}

static void put_headers(const tc_entry *e, uint32_t k, const tc_node *n) {
  const tc_kernel *kernel = &e->p->kernel[k];
  if (!kernel->effect) put_header(e, k, 0, false, &n->type);
  for (uint32_t b = kernel->effect ? 0 : 1; b < kernel->nbuffer; ++b)
    for (int i = tc_call_first(n); i < n->nin; ++i)
      if (kernel->operand[i] == b) {
        put_header(e, k, b, true, tc_graph_type(e->p->graph, n->in[i]));
        break;
      }
}

static void put_operand(const tc_entry *e, uint32_t k, int i) {
  const tc_kernel *kernel = &e->p->kernel[k];
  const tc_node *n = tc_graph_node(e->p->graph, kernel->call);
  if (kernel->operand[i] != UINT32_MAX) tc_putf(e->out, "&t%u", kernel->operand[i]);
  else put_number(e, tc_graph_node(e->p->graph, n->in[i]));
}

void tc_entry_call(const tc_entry *e, uint32_t k) {
  const tc_kernel *kernel = &e->p->kernel[k];
  tc_graph *g = e->p->graph;
  const tc_node *n = tc_graph_node(g, kernel->call);
  const char *types = tc_graph_string(g, n->attr[n->nattr - 1]);
  tc_put(e->out, "  {\n");
  put_headers(e, k, n);
  if (kernel->effect)
    tc_putf(e->out, "    ((void (*)(%s))(uintptr_t)", *types ? types + 2 : "void");
  else tc_putf(e->out, "    bad |= !((_Bool (*)(struct tc_tensor *%s))(uintptr_t)", types);
  put_number(e, tc_graph_node(g, n->in[0]));
  tc_put(e->out, kernel->effect ? ")(" : ")(&t0");
  const int first = tc_call_first(n);
  for (int i = first; i < n->nin; ++i) {
    if (i > first || !kernel->effect) tc_put(e->out, ", ");
    put_operand(e, k, i);
  }
  tc_put(e->out, ");\n  }\n");
}
