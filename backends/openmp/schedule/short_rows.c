/* short_rows.c - rows shorter than a vector, of a length that is not known before: lanes along the rows.
 *
 * A row shorter than a vector costs as much as one that fills it: every pass over it is one vector, and every reduction
 * is combined across lanes.  With neighbouring rows in the lanes nothing is combined, and every lane works, but
 * elements that were neighbours are loaded and stored one by one.  That cost grows with the width, the other does not:
 * below the width where they are equal, the nest has lanes along its rows. */
#include "backends/openmp/schedule/plan.h"

/* Cycles of the vector units, roughly alike on all CPUs with gathers; of a vector of 16 elements. */
enum {
  PASS = 6,         /* a pass over a row begins and ends */
  ACROSS = 4,       /* the lanes of an accumulator are combined */
  FUNCTION = 20,    /* a transcendental; other operations: 1 */
  ONE_BY_ONE = 12,  /* elements that are apart are loaded or stored */
  HALF_BY_ONE = 16, /* the same of 16 bits, for which there are no gathers */
  LANES = 16
};

typedef struct cost {
  int64_t row;     /* of a row, whatever its width */
  int64_t inner;   /* of operations along the row, for each vector or, with lanes along rows, each place */
  int64_t apart;   /* of accesses along the row, with lanes along rows, for each place */
} cost;

static int64_t operation(const tc_expr *e) {
  return e->kind != TC_EX_OP ? 0 : tc_op_get(e->op)->transcendental ? FUNCTION : 1;
}

static int64_t access_apart(const tc_omp_facts *f, const tc_address *a, uint32_t buffer) {
  if (tc_dim_is(a->coef[0], 0)) return 0; /* equal for all rows */
  return tc_dtype_bytes(tc_omp_buffer(f, buffer)->dtype) < 4 ? HALF_BY_ONE : ONE_BY_ONE;
}

static void add_stage(const tc_omp_facts *f, const tc_stage *st, cost *c) {
  const bool along = tc_omp_along(f, st);
  const uint8_t *need = tc_omp_needs(f, st);
  if (along) c->row += PASS;
  for (uint32_t id = 1; id < f->k->nexpr; ++id) {
    const tc_expr *e = &f->k->expr[id];
    if (!need[id]) continue;
    const bool inner = along && (f->depends[id] >> f->vector & 1);
    *(inner ? &c->inner : &c->row) += operation(e);
    if (inner && e->kind == TC_EX_LOAD) c->apart += access_apart(f, &e->address, e->buffer);
  }
  for (uint32_t i = 0; i < st->naction; ++i) {
    const tc_action *a = &st->action[i];
    if (a->kind == TC_ACT_REDUCE && along && !a->serves) c->row += ACROSS;
    if (a->kind == TC_ACT_STORE && along) c->apart += access_apart(f, &a->address, a->buffer);
  }
}

/* Does the nest reduce along its inner axis, and else store? */
static bool reduces_rows(const tc_omp_facts *f) {
  const tc_nest *n = f->nest;
  bool reduces = false;
  for (uint32_t i = 0; i < n->nstage; ++i)
    for (uint32_t j = 0; j < n->stage[i].naction; ++j) {
      const tc_action *a = &n->stage[i].action[j];
      if (a->kind == TC_ACT_REDUCE) reduces |= tc_omp_along(f, &n->stage[i]);
      else if (a->kind != TC_ACT_STORE) return false;
    }
  return reduces && !n->serial;
}

static int64_t equal_width(const cost *c) {
  const int64_t place = c->apart + c->inner, equal = place ? LANES * (c->row + c->inner) / place : TC_OMP_SHORT;
  return equal < TC_OMP_SHORT ? equal : TC_OMP_SHORT;
}

int64_t tc_omp_plan_short_rows(const tc_omp_facts *f) {
  const tc_nest *n = f->nest;
  cost c = {0};
  int64_t lo, hi;
  if (n->nparallel != 1 || n->naxis != 2 || f->vector != 1 || !reduces_rows(f) || tc_omp_has_parts(f)) return 0;
  for (uint32_t i = 0; i < n->nstage; ++i) add_stage(f, &n->stage[i], &c);
  const int64_t width = tc_omp_only_reduces(f) ? TC_OMP_SHORT : equal_width(&c);
  tc_dim_range(tc_graph_dims(f->p->graph), n->axis[1].extent, &lo, &hi);
  return lo < width && hi > width ? width : 0;
}
