/* unroll_and_jam.c - a stage that runs for two rows of a group in one loop: unroll-and-jam over the rows.
 *
 * Some stages store rows made of their own elements and of elements that all rows share, such as the
 * weights of a layer norm.  Weights in 16 bits have to be widened, which takes as much of the machine as
 * the arithmetic; jammed rows load and widen them once.  For f32 only a load is saved, and rows one
 * after the other are faster. */
#include "backends/openmp/nest/nest.h"

#include <stdlib.h>

static bool is_half(const tc_omp_nest *x, const tc_expr *load) {
  const tc_dtype d = tc_omp_buffer(x, load->buffer)->dtype;
  return d == TC_BF16 || d == TC_F16;
}

bool tc_omp_shares_loads(const tc_omp_nest *x, const uint8_t *need, bool halves) {
  const uint32_t lanes = 1u << x->nest->vector;
  bool shared = false, own = false;
  for (uint32_t id = 1; id < x->s.k->nexpr; ++id) {
    const tc_expr *e = &x->s.k->expr[id];
    if (!need[id] || e->kind != TC_EX_LOAD || !(x->s.depends[id] & lanes)) continue;
    if (x->s.depends[id] & x->parallel) own = true;
    else shared |= !halves || is_half(x, e);
  }
  return shared && own;
}

bool tc_omp_can_jam_points(const tc_omp_nest *x, const tc_stage *st) {
  if (x->nest->nparallel != 1 || st->axes != 1u << x->nest->vector) return false;
  for (uint32_t i = 0; i < st->naction; ++i)
    if (st->action[i].kind != TC_ACT_STORE) return false;
  uint8_t *need = calloc(x->s.k->nexpr + 1, 1);
  if (need) tc_omp_mark_stage(x, st, need);
  const bool ok = need && tc_omp_shares_loads(x, need, true);
  free(need);
  return ok;
}

void tc_omp_begin_points(tc_omp_nest *x) {
  tc_print_line(&x->s, "TC_UNROLL for (int p = 0; p < %d; ++p) {", TC_OMP_JAM_POINTS);
  x->s.indent += 2;
  tc_print_line(&x->s, "const int64_t q = first + p, %s = task + q;", x->axis_text[0]);
}

void tc_omp_end_points(tc_omp_nest *x) {
  x->s.indent -= 2;
  tc_print_line(&x->s, "}");
}

static const char *type(const tc_omp_nest *x, uint32_t id) {
  return tc_print_compute(x->s.k->expr[id].dtype);
}

void tc_omp_use_hoisted(tc_omp_nest *x) {
  for (uint32_t id = 1; id < x->s.k->nexpr; ++id) {
    if (!x->hoisted[id]) continue;
    tc_print_line(&x->s, "const tc_v%s v%u = k%u[p];", type(x, id), id, id);
    x->s.printed[id] |= 1;
  }
}

/* Hoists what is equal along the stage's own axes; vectors among it are stored for each point. */
static void put_hoisted(tc_omp_nest *x, const tc_stage *st) {
  uint8_t *outer = tc_print_enter(&x->s);
  if (!outer) return;
  tc_omp_hoist(x, st, x->parallel);
  for (uint32_t id = 1; id < x->s.k->nexpr; ++id) {
    x->hoisted[id] = x->s.printed[id] & ~outer[id] & 1;
    if (x->hoisted[id]) tc_print_line(&x->s, "k%u[p] = v%u;", id, id);
  }
  tc_print_leave(&x->s, outer);
}

void tc_omp_hoist_points(tc_omp_nest *x, const tc_stage *st) {
  tc_buf body = {0}, *out = x->s.out;
  bool any = false;
  tc_omp_hoist(x, st, 0);
  x->s.out = &body;
  tc_omp_begin_points(x);
  put_hoisted(x, st);
  tc_omp_end_points(x);
  x->s.out = out;
  for (uint32_t id = 1; id < x->s.k->nexpr; ++id) {
    if (!x->hoisted[id]) continue;
    tc_print_line(&x->s, "tc_v%s k%u[%d];", type(x, id), id, TC_OMP_JAM_POINTS);
    any = true;
  }
  if (any) tc_put(out, body.text);
  out->failed |= body.failed;
  tc_buf_free(&body);
}
