/* reduce.c - reductions and scans of a group: what they combine, and their actions. */
#include "lower/lowering.h"

#include <string.h>

/* ---- reductions ------------------------------------------------------------------------------ */

/* Row-major number of the element among those that are reduced. */
static tc_val reduced_position(lo_kb *b, const lo_reduce *r, tc_loc loc) {
  lo_lin flat;
  memset(&flat, 0, sizeof flat);
  tc_dim stride = tc_dim_const(1);
  for (int i = r->naxis - 1; i >= 0; i--) {
    if (r->axis[i] < 0) continue;
    lo_lin axis = lo_axis_lin(r->axis[i]);
    lo_lin_add(b->L, &flat, &axis, stride);
    stride = tc_dim_mul(b->L->dims, stride, b->g->extent[r->axis[i]]);
  }
  tc_expr e = {.kind = TC_EX_INDEX, .dtype = TC_I64, .loc = loc};
  e.address = lo_lin_address(b, &flat);
  return lo_expr(b, &e);
}

/* The element and its position, as the reduction begins with them. */
static void lift(lo_kb *b, lo_combined *c, tc_val element, tc_val position, tc_loc loc) {
  const tc_val from[] = {element, position};
  tc_rule rule;
  if (!tc_lift_rule(c->reducer, c->type, &rule)) lo_fail(b->L, loc, "a reduction without a rule");
  lo_apply(b, &rule, from, loc, c->value);
}

static tc_reducer reducer_of(const tc_node *n) {
  return n->op == OP_MATMUL ? TC_REDUCE_SUM : tc_op_get(n->op)->reduction;
}

static bool has_position(tc_reducer r) {
  const tc_reducer_info *info = tc_reducer_get(r);
  for (int i = 0; i < info->n; i++)
    if (info->keep[i].type == TC_ACCUMULATES_POSITION) return true;
  return false;
}

static lo_combined operand_of_reduce(lo_kb *b, const lo_reduce *r) {
  const tc_node *n = lo_node(b->L, r->node);
  lo_combined c = {.reducer = reducer_of(n), .type = lo_compute_type(n->type.dtype)};
  tc_val x = lo_value(b, n->in[0], lo_reduce_operand(b->L, b->g, r, 0)), at = {0};
  if (n->op == OP_MATMUL) {
    tc_val y = lo_value(b, n->in[1], lo_reduce_operand(b->L, b->g, r, 1));
    x = lo_op(b, OP_MUL, c.type, lo_cast(b, x, c.type), lo_cast(b, y, c.type), (tc_val){0}, n->loc);
  } else if (has_position(c.reducer)) {
    c.type = b->k->expr[x.id].dtype;
    at = reduced_position(b, r, n->loc);
  }
  lift(b, &c, lo_cast(b, x, c.type), at, n->loc);
  return c;
}

/* Bits. */
static uint32_t reduced_slots(const lo_reduce *r) {
  uint32_t m = 0;
  for (int i = 0; i < r->naxis; i++)
    if (r->axis[i] >= 0) m |= 1u << r->axis[i];
  return m;
}

static tc_action action_of(tc_act_kind kind, const lo_combined *c) {
  tc_action a = {.kind = kind, .reducer = c->reducer, .dtype = c->type, .value = c->value[0]};
  for (int i = 1; i < TC_MAX_ACCUMULATORS; i++) a.further[i - 1] = c->value[i];
  return a;
}

/* Results for the accumulators, there after `level`; the first. */
static uint32_t new_results(lo_kb *b, const lo_combined *c, int level) {
  const uint32_t first = b->nresult;
  for (int i = 0; i < tc_reducer_get(c->reducer)->n; i++)
    lo_new_result(b, tc_accumulator_dtype(c->reducer, i, c->type), level);
  return first;
}

uint32_t lo_push_reduce(lo_kb *b, lo_combined c, uint32_t axes) {
  lo_act a = {.a = action_of(TC_ACT_REDUCE, &c), .axes = axes, .interval = b->interval};
  a.level = lo_value_level(b, &a.a);
  a.a.index = new_results(b, &c, a.level + 1);
  lo_push_act(b, a);
  return a.a.index;
}

/* Which accumulator the node's value is. */
static uint32_t result_of(tc_reducer r) { return (uint32_t)tc_reducer_get(r)->result; }

/* One element, as the reduction of it alone: 0 and -0 add up to 0. */
static tc_val of_one(lo_kb *b, const lo_combined *c, tc_loc loc) {
  const tc_val v = c->value[result_of(c->reducer)];
  if (c->reducer != TC_REDUCE_SUM || !tc_dtype_is_float(c->type)) return v;
  return lo_op(b, OP_ADD, c->type, v, lo_const_f(b, c->type, 0), (tc_val){0}, loc);
}

/* value[]: the accumulators from RESULT `first` on, joined to those in value[] where there are
 * some. */
static void join_results(lo_kb *b, const lo_combined *c, uint32_t first, bool some, tc_loc loc,
                         tc_val value[]) {
  const int n = tc_reducer_get(c->reducer)->n;
  tc_val from[2 * TC_MAX_ACCUMULATORS];
  tc_rule rule;
  for (int i = 0; i < n; i++) {
    from[i] = value[i];
    from[n + i] = lo_result(b, first + (uint32_t)i, loc);
    if (!some) value[i] = from[n + i];
  }
  if (!some) return;
  if (!tc_combine_rule(c->reducer, c->type, &rule))
    lo_fail(b->L, loc, "a reduction without a rule");
  lo_apply(b, &rule, from, loc, value);
}

/* Each interval is reduced by a stage of its own. */
static lo_combined reduce_intervals(lo_kb *b, const lo_reduce *r, tc_val value[]) {
  const lo_interval *const outer = b->interval;
  const tc_loc loc = lo_node(b->L, r->node)->loc;
  lo_combined c = {0};
  for (uint32_t i = 0; i < b->ninterval; i++) {
    b->interval = &b->intervals[i];
    lo_forget_values(b);
    c = operand_of_reduce(b, r);
    join_results(b, &c, lo_push_reduce(b, c, reduced_slots(r)), i, loc, value);
  }
  b->interval = outer;
  lo_forget_values(b);
  return c;
}

lo_combined lo_reduce_all(lo_kb *b, const lo_reduce *r, tc_val value[TC_MAX_ACCUMULATORS]) {
  const uint32_t axes = reduced_slots(r);
  if (b->ninterval && axes >> b->g->lane & 1) return reduce_intervals(b, r, value);
  const lo_combined c = operand_of_reduce(b, r);
  if (axes)
    join_results(b, &c, lo_push_reduce(b, c, axes), false, lo_node(b->L, r->node)->loc, value);
  else value[result_of(c.reducer)] = of_one(b, &c, lo_node(b->L, r->node)->loc);
  return c;
}

void lo_emit_reduce(lo_kb *b, uint32_t i) {
  tc_val value[TC_MAX_ACCUMULATORS] = {{0}};
  if (b->total && b->total[i].there) {
    b->reduced[i] = lo_load(b, b->total[i].buffer, b->total[i].at, lo_node(b->L, b->g->reduce[i].node)->loc);
    return;
  }
  const lo_combined c = lo_reduce_all(b, &b->g->reduce[i], value);
  b->reduced[i] = value[result_of(c.reducer)];
}

/* ---- scans ----------------------------------------------------------------------------------- */

/* Where the element stands along the scan's axis. */
static tc_val scanned_position(lo_kb *b, const tc_node *n) {
  lo_lin at;
  memset(&at, 0, sizeof at);
  if (n->type.rank) at = b->g->at->dim[lo_axis_attr(n, n->type.rank)];
  tc_expr e = {.kind = TC_EX_INDEX, .dtype = TC_I64, .loc = n->loc};
  e.address = lo_lin_address(b, &at);
  return lo_expr(b, &e);
}

lo_combined lo_operand_of_scan(lo_kb *b) {
  const tc_node *n = lo_node(b->L, b->g->scan);
  lo_combined c = {.reducer = reducer_of(n), .type = lo_compute_type(n->type.dtype)};
  const tc_val x = lo_value(b, n->in[0], b->g->at);
  const bool positions = has_position(c.reducer);
  if (positions) c.type = b->k->expr[x.id].dtype;
  lift(b, &c, lo_cast(b, x, c.type), positions ? scanned_position(b, n) : (tc_val){0}, n->loc);
  return c;
}

uint32_t lo_push_scan(lo_kb *b, lo_combined c, uint32_t axes) {
  lo_act a = {.a = action_of(TC_ACT_SCAN, &c), .axes = axes};
  a.a.index = new_results(b, &c, 0);
  b->result_axes = axes;
  lo_push_act(b, a);
  return a.a.index;
}

void lo_emit_scan(lo_kb *b) {
  const lo_combined c = lo_operand_of_scan(b);
  const uint32_t result = result_of(c.reducer), axes = b->g->sequential;
  if (axes)
    b->scanned = lo_result(b, lo_push_scan(b, c, axes) + result, lo_node(b->L, b->g->scan)->loc);
  else b->scanned = c.value[result]; /* one element along the axis */
}
