/* short_rows.c - axes shorter than a vector, of a length that is not known before: lanes along
 * another axis.
 *
 * A row shorter than a vector costs as much as one that fills it: every pass over it is one vector,
 * and every reduction is combined across lanes.  With neighbouring rows in the lanes nothing is
 * combined, and every lane works, but elements that were neighbours are loaded and stored one by
 * one.  That cost grows with the width, the other does not: below the width where they are equal,
 * the nest has lanes along its rows. */
#include "backends/openmp/schedule/plan.h"

/* Cycles of the vector units, roughly alike on all CPUs with gathers; of a vector of 16
 * elements. */
enum {
  PASS = 6,         /* a pass over a row begins and ends */
  TASK = 18,        /* a row that fills no vector is a task of its own */
  ACROSS = 19,      /* the lanes of an accumulator are combined, and what follows waits for that */
  FUNCTION = 20,    /* a transcendental; other operations: 1 */
  ONE_BY_ONE = 13,  /* elements that are apart are loaded or stored */
  GATHERED = 20,    /* at places that were loaded, such as rows of a table */
  HALF_BY_ONE = 12, /* the same of 16 bits, for which there are no gathers */
  IN_BLOCKS = 6,    /* of 32 bits, neighbours in their rows (row_blocks.c) */
  PREFIX = 24,      /* a scan along the lanes */
  LANES = 16
};

typedef struct cost {
  int64_t row;     /* of a row, whatever its width */
  /* of operations along the row, for each vector or, with lanes along rows, each place */
  int64_t inner;
  int64_t apart;   /* of accesses along the row, with lanes along rows, for each place */
} cost;

/* Is the element at the next point of the axis the next one in memory? */
static bool is_next(const tc_address *a, int axis) { return tc_dim_is(a->coef[axis], 1); }

static int64_t operation(const tc_expr *e) {
  return e->kind != TC_EX_OP ? 0 : tc_op_get(e->op)->transcendental ? FUNCTION : 1;
}

/* outer: the axis of rows. */
static int64_t access_apart(const tc_omp_facts *f, const tc_address *a, uint32_t buffer,
                            int outer) {
  if (!a->nterm && tc_dim_is(a->coef[outer], 0)) return 0; /* equal for all rows */
  if (!a->nterm && is_next(a, outer)) return 0;
  const size_t bytes = tc_dtype_bytes(tc_omp_buffer(f, buffer)->dtype);
  if (bytes == 4 && !a->nterm && is_next(a, f->vector)) return IN_BLOCKS;
  return bytes < 4 ? HALF_BY_ONE : a->nterm ? GATHERED : ONE_BY_ONE;
}

/* Does a stage before this one need the expression?  Blocks of rows are loaded once for all
 * stages. */
static bool is_loaded_before(const tc_omp_facts *f, const tc_stage *st, uint32_t id) {
  for (const tc_stage *s = f->nest->stage; s < st; ++s)
    if (tc_omp_along(f, s) && tc_omp_needs(f, s)[id]) return true;
  return false;
}

static int64_t loads_apart(const tc_omp_facts *f, const tc_stage *st, int outer) {
  int64_t apart = 0;
  for (uint32_t id = 1; id < f->k->nexpr; ++id) {
    const tc_expr *e = &f->k->expr[id];
    if (e->kind != TC_EX_LOAD || !(f->depends[id] >> f->vector & 1) || !tc_omp_needs(f, st)[id])
      continue;
    const int64_t cost = access_apart(f, &e->address, e->buffer, outer);
    if (cost != IN_BLOCKS || !is_loaded_before(f, st, id)) apart += cost;
  }
  return apart;
}

/* along: does the stage go along the row? */
static void add_stage(const tc_omp_facts *f, const tc_stage *st, int outer, bool along, cost *c) {
  const uint8_t *need = tc_omp_needs(f, st);
  if (along) c->row += PASS;
  for (uint32_t id = 1; id < f->k->nexpr; ++id) {
    const tc_expr *e = &f->k->expr[id];
    if (!need[id]) continue;
    const bool inner = along && (f->depends[id] >> f->vector & 1);
    *(inner ? &c->inner : &c->row) += operation(e);
  }
  if (along) c->apart += loads_apart(f, st, outer);
  for (uint32_t i = 0; i < st->naction; ++i) {
    const tc_action *a = &st->action[i];
    if (a->kind == TC_ACT_REDUCE && along && !a->serves) c->row += ACROSS;
    if (a->kind == TC_ACT_SCAN && along) c->row += PREFIX;
    if (a->kind == TC_ACT_STORE && along)
      c->apart += access_apart(f, &a->address, a->buffer, outer);
  }
}

/* Does the nest reduce or scan along its inner axis, and else store? */
static bool reduces_rows(const tc_omp_facts *f) {
  const tc_nest *n = f->nest;
  bool reduces = false;
  for (uint32_t i = 0; i < n->nstage; ++i)
    for (uint32_t j = 0; j < n->stage[i].naction; ++j) {
      const tc_action *a = &n->stage[i].action[j];
      if (a->kind == TC_ACT_REDUCE || a->kind == TC_ACT_SCAN)
        reduces |= tc_omp_along(f, &n->stage[i]);
      else if (a->kind != TC_ACT_STORE) return false;
    }
  return reduces && !n->serial;
}

/* May the length be below and above the width?  The width then, else 0: for known lengths the
 * vector axis was chosen. */
static int64_t if_unknown(const tc_omp_facts *f, tc_dim length, int64_t width) {
  int64_t lo, hi;
  tc_dim_range(tc_graph_dims(f->p->graph), length, &lo, &hi);
  return lo < width && hi > width ? width : 0;
}

/* The other axis of blocks that are transposed, along which what is loaded lies; -1: it is no such
 * nest. */
static int transposed_axis(const tc_omp_facts *f) {
  const tc_nest *n = f->nest;
  int axis = -1, loads = 0;
  if (n->nstage != 1 || n->serial || n->naxis != n->nparallel + 2 || f->vector < n->nparallel)
    return -1;
  for (uint32_t i = 0; i < n->stage[0].naction; ++i)
    if (!tc_omp_stores_in_order(f, &n->stage[0].action[i])) return -1;
  for (int i = n->nparallel; i < n->naxis; ++i)
    if (i != f->vector) axis = i;
  const uint8_t *need = tc_omp_needs(f, &n->stage[0]);
  for (uint32_t id = 1; id < f->k->nexpr; ++id)
    if (need[id] && f->k->expr[id].kind == TC_EX_LOAD)
      loads += is_next(&f->k->expr[id].address, axis) - is_next(&f->k->expr[id].address, f->vector);
  return n->axis[axis].of >= 0 && n->axis[f->vector].of >= 0 && loads >= 0 ? axis : -1;
}

int tc_omp_plan_short_columns(const tc_omp_facts *f) {
  const int axis = transposed_axis(f);
  return axis >= 0 && if_unknown(f, f->nest->axis[f->vector].total, TC_OMP_SHORT) ? axis : -1;
}

/* Rows of several vectors take the operations along them as often in either way: only what is apart
 * takes longer with lanes along rows.  most: the width that is looked at. */
static int64_t equal_width(const cost *c, int64_t most) {
  const int64_t place = c->apart + c->inner,
                equal = place ? LANES * (c->row + c->inner) / place : TC_OMP_SHORT;
  if (equal < TC_OMP_SHORT) return equal;
  const int64_t wide = c->apart ? LANES * c->row / c->apart : most;
  return wide < TC_OMP_SHORT ? TC_OMP_SHORT : wide < most ? wide : most;
}

/* Do lanes along the row cost more than blocks of rows that are transposed, however long it is?
 * Those of scans do, of which each takes up what lanes before it hold, and those of tuples. */
static bool is_dear_along(const tc_nest *n) {
  for (uint32_t i = 0; i < n->nstage; ++i)
    for (uint32_t j = 0; j < n->stage[i].naction; ++j) {
      const tc_action *a = &n->stage[i].action[j];
      if (a->kind == TC_ACT_SCAN ||
          (a->kind == TC_ACT_REDUCE && tc_print_is_tuple(a) && !a->term.id))
        return true;
    }
  return false;
}

/* Are all accesses at places of the rows that are apart in lanes along rows to blocks of these? */
static bool has_blocks_alone(const tc_omp_facts *f, int outer) {
  for (uint32_t i = 0; i < f->nest->nstage; ++i) {
    const tc_stage *st = &f->nest->stage[i];
    if (!tc_omp_along(f, st)) continue;
    const uint8_t *need = tc_omp_needs(f, st);
    for (uint32_t id = 1; id < f->k->nexpr; ++id) {
      const tc_expr *e = &f->k->expr[id];
      const bool inner = need[id] && e->kind == TC_EX_LOAD && (f->depends[id] >> f->vector & 1);
      if (inner && (e->guard.id || access_apart(f, &e->address, e->buffer, outer) > IN_BLOCKS))
        return false;
    }
    for (uint32_t j = 0; j < st->naction; ++j) {
      const tc_action *a = &st->action[j];
      if (a->kind == TC_ACT_STORE &&
          (a->guard.id || access_apart(f, &a->address, a->buffer, outer) > IN_BLOCKS))
        return false;
    }
  }
  return true;
}

/* Rows of known lengths, too: at that, the vector axis was chosen by whether they fill a vector. */
static int64_t wide_rows(const tc_omp_facts *f) {
  int64_t lo, hi;
  const int inner = f->nest->nparallel;
  if (inner != 1 || tc_omp_keeps_rows(f) || !is_dear_along(f->nest) || !has_blocks_alone(f, 0))
    return 0;
  tc_dim_range(tc_graph_dims(f->p->graph), f->nest->axis[inner].extent, &lo, &hi);
  return lo < TC_OMP_WIDE ? TC_OMP_WIDE : 0;
}

int64_t tc_omp_plan_short_rows(const tc_omp_facts *f) {
  const tc_nest *n = f->nest;
  const int inner = n->nparallel;
  cost c = {0};
  if (!inner || n->naxis != inner + 1 || f->vector != inner || !reduces_rows(f) ||
      tc_omp_has_parts(f))
    return 0;
  const int64_t wide = wide_rows(f);
  if (wide) return wide;
  const bool reduces = tc_omp_only_reduces(f);
  if (reduces && (inner > 1 || tc_omp_plan_collect(f))) {
    const bool blocks =
        inner > 1 && has_blocks_alone(f, inner - 1) && has_blocks_alone(f, inner - 2);
    return if_unknown(f, n->axis[inner].extent, blocks ? TC_OMP_BLOCK_ROWS : TC_OMP_SHORT);
  }
  if (inner > 1) return 0;
  for (uint32_t i = 0; i < n->nstage; ++i)
    add_stage(f, &n->stage[i], 0, tc_omp_along(f, &n->stage[i]), &c);
  const int64_t equal = equal_width(&c, TC_OMP_BLOCK_ROWS);
  return if_unknown(f, n->axis[1].extent, reduces && equal < TC_OMP_SHORT ? TC_OMP_SHORT : equal);
}

static bool only_stores(const tc_stage *st) {
  for (uint32_t i = 0; i < st->naction; ++i)
    if (st->action[i].kind != TC_ACT_STORE || st->action[i].guard.id || st->action[i].address.nterm)
      return false;
  return true;
}

/* Rows of two vectors, the second one not full, take what is done along them twice, and little else. */
static int64_t equal_width_of_two(const cost *c) {
  const int64_t wide = LANES * (c->row - TASK + 2 * c->inner) / (c->apart + c->inner);
  return wide < 2 * LANES ? wide : 2 * LANES;
}

/* Rows, their chunks | points of a chunk. */
int64_t tc_omp_plan_short_points(const tc_omp_facts *f) {
  const tc_nest *n = f->nest;
  cost c = {.row = TASK};
  if (n->nparallel != 2 || n->naxis != 3 || f->vector != 2 || n->axis[2].of != 1 ||
      n->axis[0].of >= 0 || n->nstage != 1 || n->serial || !only_stores(&n->stage[0]))
    return 0;
  add_stage(f, &n->stage[0], 0, true, &c);
  const int64_t width = equal_width(&c, TC_OMP_SHORT), wide = width < TC_OMP_SHORT || !c.apart ? 0 : equal_width_of_two(&c);
  return if_unknown(f, n->axis[2].total, wide > width ? wide : width);
}

/* ---- one column ------------------------------------------------------------------------------ */

/* Matrices that have the axis contiguous, of those that do not change along `one`. */
static int matrices_along(const tc_omp_facts *f, int axis, int one) {
  const uint8_t *need = tc_omp_needs(f, &f->nest->stage[0]);
  int n = 0;
  for (uint32_t id = 1; id < f->k->nexpr; ++id) {
    const tc_expr *e = &f->k->expr[id];
    const uint32_t axes = f->depends[id];
    if (need[id] && e->kind == TC_EX_LOAD && !(axes >> one & 1) && (axes & (axes - 1)))
      n += is_next(&e->address, axis);
  }
  return n;
}

int tc_omp_plan_one_column(const tc_omp_facts *f) {
  const tc_nest *n = f->nest;
  const int one = n->nparallel - 1;
  int most = 0, best = -1;
  int64_t lo, hi;
  if (one < 1 || n->naxis != n->nparallel + 1 || n->nstage != 2 || !n->stage[0].axes ||
      n->stage[1].axes || n->serial || tc_omp_has_parts(f) || !tc_omp_only_reduces(f))
    return -1;
  tc_dim_range(tc_graph_dims(f->p->graph), n->axis[one].extent, &lo, &hi);
  if (lo > 1 || lo == hi) return -1;
  for (int i = 0; i < n->naxis; ++i) {
    const int matrices = i == one ? 0 : matrices_along(f, i, one);
    if (matrices > most) most = matrices, best = i;
  }
  return best == f->vector ? -1 : best;
}
