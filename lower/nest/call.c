/* call.c - kernels of whole arrays: calls of functions of the program's own, between the kernels,
 * and sorts. */
#include <string.h>

#include "lower/lowering.h"

/* Operand k as the function takes it, by the C types of the node. */
static bool takes_tensor(const lo *L, const tc_node *n, int k) {
  const char *type = tc_graph_string(L->g, n->attr[n->nattr - 1]);
  for (; k > 0 && type; k--) type = strchr(type + 1, ',');
  const char *end = type ? strchr(type + 1, ',') : NULL,
             *tensor = type ? strstr(type, "tc_tensor") : NULL;
  return tensor && (!end || tensor < end);
}

static uint32_t array_of(lo *L, tc_ref r, tc_loc loc) {
  const tc_node *n = lo_node(L, r);
  if (n->op == OP_INPUT) return lo_input_buffer(L, (uint32_t)tc_dim_value(tc_attr_int(n, "index")));
  if (!L->place[r.id].buffer) lo_fail(L, loc, "a number is passed to what takes an array");
  return L->place[r.id].buffer - 1;
}

/* The host knows operand k. */
static void check_number(lo *L, const tc_node *n, int k) {
  if (lo_class(lo_node(L, n->in[k])) != TC_CLASS_LEAF)
    lo_fail(L, n->loc, "a number that kernels compute is passed to a function");
}

/* The axes in front of the sorted one, and those behind it, as one each. */
static void emit_sort(lo_kb *b, tc_ref r) {
  lo *L = b->L;
  const tc_node *n = lo_node(L, r);
  const tc_type *t = tc_graph_type(L->g, n->in[0]);
  const int axis = t->rank ? lo_axis_attr(n, t->rank) : 0;
  b->k->kind = TC_KERNEL_SORT;
  b->k->sort = (tc_sort_loop){
      .outer = lo_product(L, t->dim, axis),
      .n = t->rank ? t->dim[axis] : tc_dim_const(1),
      .inner = t->rank ? lo_product(L, t->dim + axis + 1, t->rank - axis - 1) : tc_dim_const(1),
      .k = tc_attr_int(n, "k"),
      .dtype = (tc_dtype)t->dtype,
      .descending = tc_dim_value(tc_attr_int(n, "descending")) != 0};
  lo_kernel_buffer(b, L->place[r.id].buffer - 1);
  lo_kernel_buffer(b, array_of(L, n->in[0], n->loc));
}

void lo_emit_call(lo_kb *b, lo_group *g) {
  lo *L = b->L;
  const tc_node *n = lo_node(L, g->call);
  if (lo_class(n) == TC_CLASS_SORT) {
    emit_sort(b, g->call);
    return;
  }
  tc_kernel *k = b->k;
  k->kind = TC_KERNEL_CALL;
  k->call = g->call;
  k->effect = n->op == OP_EFFECT;
  k->operand = lo_alloc(L, L->arena, n->nin * sizeof *k->operand);
  if (!k->effect) lo_kernel_buffer(b, L->place[g->call.id].buffer - 1);
  const int first = tc_call_first(n);
  for (int i = 0; i < n->nin; i++) k->operand[i] = UINT32_MAX;
  check_number(L, n, 0);
  for (int i = first; i < n->nin; i++) {
    if (!takes_tensor(L, n, i - first)) check_number(L, n, i);
    else k->operand[i] = lo_kernel_buffer(b, array_of(L, n->in[i], n->loc));
  }
}
