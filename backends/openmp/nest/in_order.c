/* in_order.c - reductions to the place of an element, as argmax is, whose lanes each have their elements in order, one behind
 * the other: what comes later takes the place by the column `later` of the table, without a look at positions.  So few
 * operations do only behind an element, hence the place is that of the first one to begin with. */
#include "backends/openmp/nest/stage.h"

/* Is the position a place along the axis, which grows with it? */
static bool counts(const tc_omp_nest *x, tc_val position, int axis) {
  const tc_expr *e = &x->s.k->expr[position.id];
  const tc_dim step = e->kind == TC_EX_INDEX ? e->address.coef[axis] : tc_dim_const(0);
  return e->kind == TC_EX_INDEX && !e->address.nterm && tc_dim_is_const(step) && tc_dim_value(step) > 0;
}

bool tc_omp_is_in_order(const tc_omp_nest *x, const tc_omp_run *r, const tc_action *a) {
  if (a->kind != TC_ACT_REDUCE || !tc_reducer_has_later(a->reducer) || r->along || r->unroll != 1 ||
      x->collecting || x->interchanged || x->stage[r->index].short_runs || __builtin_popcount(r->st->axes) != 1)
    return false;
  const int axis = __builtin_ctz(r->st->axes);
  const tc_axis *along = &x->nest->axis[axis];
  int64_t least, most;
  tc_dim_range(tc_graph_dims(x->s.p->graph), along->extent, &least, &most);
  return along->of < 0 && least > 0 && counts(x, a->further[0], axis);
}

void tc_omp_put_first_place(tc_omp_nest *x, const tc_omp_run *r, const tc_action *a, const char *each) {
  const int axis = __builtin_ctz(r->st->axes);
  const char *const name = x->s.axis[axis];
  tc_buf id = {0};
  tc_print_line(&x->s, "{");
  x->s.indent += 2;
  uint8_t *outer = tc_print_enter(&x->s);
  x->s.axis[axis] = "0";
  tc_print_value(&x->s, a->further[0]);
  x->s.axis[axis] = name;
  tc_print_accumulator_identity(x->s.words, a->reducer, 0, a->dtype, &id);
  tc_print_line(&x->s, "%s acc%u[u] = tc_pack_%s(%s, v%u);", each, a->index,
                tc_print_tuple_type(a->reducer, a->dtype).text, id.text ? id.text : "", a->further[0].id);
  tc_print_leave(&x->s, outer);
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
  tc_buf_free(&id);
}
